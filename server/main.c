/* The command line: finds the command and hands over. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/config/suggest.h"
#include "server/cmd_serve.h"
#include "server/cmd_stats.h"
#include "server/commands.h"
#include "server/simulate/simulate.h"
#include "server/upgrade.h"

static int cmd_version(int argc, char **argv);
static int cmd_help(int argc, char **argv);

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *does; /* NULL: another spelling, not listed */
} commands[] = {
	{"serve", tp_cmd_serve, "run the server in the foreground"},
	{"check", tp_cmd_check, "validate a configuration"},
	{"config", tp_cmd_config, "print the defaults, what a file amounts to, or the schema"},
	{"reload", tp_cmd_reload, "have a running server take over its changed configuration"},
	{"stats", tp_cmd_stats, "print the numbers of a running server"},
	{"blacklist", tp_cmd_blacklist, "show the URLs that get no requests for now, or give them back"},
	{"cooldown", tp_cmd_cooldown, "show the targets and keys that cool, or give them back"},
	{"simulate", tp_cmd_simulate, "a fake provider with scripted faults, for demos and tests"},
	{"version", cmd_version, "print the version"},
	{"help", cmd_help, "this text, or the help of a command"},
	{"--version", cmd_version, NULL},
	{"-V", cmd_version, NULL},
	{"--help", cmd_help, NULL},
	{"-h", cmd_help, NULL},
};

enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static void print_usage(FILE *to)
{
	(void)fprintf(to, "Turnpike is a reverse proxy for LLM traffic that makes retrying safe.\n\n"
			  "Usage: turnpike COMMAND [OPTIONS]\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (commands[i].does != NULL)
			(void)fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].does);
	(void)fprintf(to, "\n\"turnpike COMMAND --help\" tells more.\n"
			  "Exit status: 0 ok, 1 configuration or start error, 2 wrong usage.\n");
}

static int cmd_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	(void)printf("turnpike %s\n", TP_VERSION);
	return 0;
}

static int unknown_command(const char *name);

static int cmd_help(int argc, char **argv)
{
	if (argc < 2) {
		print_usage(stdout);
		return 0;
	}
	const struct command *c = find_command(argv[1]);
	if (c == NULL)
		return unknown_command(argv[1]);
	if (c->run == cmd_help || c->run == cmd_version)
		return cmd_help(1, argv);
	char help[] = "--help";
	char *arguments[] = {argv[1], help, NULL};
	return c->run(2, arguments);
}

static int unknown_command(const char *name)
{
	struct tp_suggestion near = tp_suggest_begin(name);
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (commands[i].does != NULL)
			tp_suggest_candidate(&near, commands[i].name);
	(void)fprintf(stderr, "turnpike: there is no command \"%s\"", name);
	if (near.best != NULL)
		(void)fprintf(stderr, "; did you mean \"%s\"?", near.best);
	(void)fprintf(stderr, "\nTry: turnpike --help\n");
	return 2;
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
		print_usage(stderr);
		return 2;
	}
	const struct command *c = find_command(argv[1]);
	if (c == NULL)
		return unknown_command(argv[1]);
	return c->run(argc - 1, argv + 1);
}
