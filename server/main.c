/* The command line: finds the command and hands over. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/commands.h"
#include "server/help.h"
#include "server/upgrade.h"

int tp_cmd_help(int argc, char **argv)
{
	struct tp_options o = tp_options_begin(argc, argv);
	int flag = tp_options_next(&o);
	if (flag != TP_FLAG_END)
		return flag == TP_FLAG_HELP ? 0 : 2;
	if (optind >= argc) {
		tp_help_overview(stdout);
		return 0;
	}
	const struct tp_command *c = tp_command_find(argv[optind]);
	if (c == NULL || c->does == NULL)
		return tp_command_unknown(argv[optind]);
	tp_help_command(c);
	return 0;
}

/* A descriptor 0..2 that is closed would be given to a socket, and a message would then go to a client.  What
 * takes its place fails as the closed one would: what is printed then is lost, and the exit status says so.
 */
static bool fill_standard_descriptors(void)
{
	static const int modes[] = {
		[STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDWR};
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
			return false;
	return true;
}

/* For all commands: what they print counts only when it has arrived; a full disk may show only now. */
static int close_output(const char *command, int status)
{
	errno = 0;
	bool lost = fflush(stdout) != 0 || ferror(stdout);
	int error = errno;
	if (fclose(stdout) != 0 && !lost) { /* where a file server tells it */
		lost = true;
		error = errno;
	}
	if (!lost)
		return status;
	(void)fprintf(stderr, "turnpike %s: cannot write to standard output%s%s\n", command,
		      error != 0 ? ": " : "", error != 0 ? strerror(error) : "");
	return status == 0 ? 1 : status;
}

int main(int argc, char **argv)
{
	if (!fill_standard_descriptors())
		return 1;
	if (!tp_upgrade_remember(argc, argv)) {
		(void)fputs("turnpike: out of memory\n", stderr);
		return 1;
	}
	if (argc < 2) {
		tp_help_overview(stderr);
		return 2;
	}
	const struct tp_command *c = tp_command_find(argv[1]);
	if (c == NULL)
		return tp_command_unknown(argv[1]);
	return close_output(c->name, c->run(argc - 1, argv + 1));
}
