/* The command line: finds the command and hands over. */
#include <fcntl.h>
#include <stdio.h>
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

/* A descriptor 0..2 that is closed would be given to a socket, and a message would then go to a client. */
static bool fill_standard_descriptors(void)
{
	int fd;
	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return false;
	(void)close(fd);
	return true;
}

int main(int argc, char **argv)
{
	if (!fill_standard_descriptors() || !tp_upgrade_remember(argc, argv))
		return 1;
	if (argc < 2) {
		tp_help_overview(stderr);
		return 2;
	}
	const struct tp_command *c = tp_command_find(argv[1]);
	if (c == NULL)
		return tp_command_unknown(argv[1]);
	return c->run(argc - 1, argv + 1);
}
