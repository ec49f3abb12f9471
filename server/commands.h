/*
 * The commands of the command line: one table of them and their options, out of which come the reading of
 * arguments, the help, and the shell completions.
 */
#ifndef TP_SERVER_COMMANDS_H
#define TP_SERVER_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

/* What tp_options_next() returns for an option: its letter, or a number of its own. */
enum tp_flag_id {
	TP_FLAG_END = -1,
	TP_FLAG_WRONG = '?', /* said on standard error */
	TP_FLAG_CONFIG = 'c',
	TP_FLAG_HELP = 'h', /* the help was printed */
	TP_FLAG_HEADER = 'H',
	TP_FLAG_DATA = 'd',
	TP_FLAG_INCLUDE = 'i',
	TP_FLAG_QUIET = 'q',
	TP_FLAG_VERBOSE = 'v',
	TP_FLAG_INSECURE = 'k',
	TP_FLAG_NUMBERED = 256,
	TP_FLAG_JSON,
	TP_FLAG_NAME,
	TP_FLAG_ENDPOINT,
	TP_FLAG_LISTEN,
	TP_FLAG_ENV_FILE,
	TP_FLAG_FRESH_STATE,
	TP_FLAG_CONNECT,
	TP_FLAG_DEFAULTS,
	TP_FLAG_EFFECTIVE,
	TP_FLAG_SCHEMA,
	TP_FLAG_MARKDOWN,
	TP_FLAG_MAN,
	TP_FLAG_DATA_FILE,
	TP_FLAG_PROFILE,
	TP_FLAG_DEADLINE,
	TP_FLAG_MAX_SENDS,
	TP_FLAG_CA,
	TP_FLAG_ONCE,
	TP_FLAG_EVERY,
};

struct tp_flag {
	int id;               /* enum tp_flag_id; below 256 it is the letter too */
	const char *name;     /* "config" */
	const char *argument; /* "FILE" (completed as a file), "URL"; NULL = takes none */
	const char *words;    /* the values it may have, "guarded patient"; NULL = any */
	const char *help;     /* lines separated by \n */
};

enum { TP_FLAGS_MAX = 16 };

struct tp_command {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the name; the exit status */
	const char *does;                  /* one line; NULL: another spelling, not shown */
	const char *usage;                 /* what stands behind the name; several forms: lines */
	const char *about;                 /* paragraphs, wrapped */
	const char *operands;              /* words the first operand may be, for completion; NULL = none */
	const struct tp_flag *flags[TP_FLAGS_MAX + 1]; /* without --help, which all have */
	const char *more;                              /* behind the options; NULL = nothing */
	const char *exits;                             /* "0 good\n1 ..."; NULL = those of most commands */
};

extern const struct tp_command tp_commands[];
extern const size_t tp_n_commands;
extern const struct tp_flag tp_flag_help;

/* NULL: there is none. */
const struct tp_command *tp_command_find(const char *name);
/* Says that there is none of that name, with the nearest; returns the exit status. */
int tp_command_unknown(const char *name);

/*
 * Reading of arguments.  Options may stand anywhere; what is left stands behind optind at the end.  A word
 * that is no option of the command, or lacks its value, is told on standard error, with where to find help.
 */
struct tp_options {
	const struct tp_command *command;
	int argc;
	char **argv;
};
/* argv[0] names the command. */
struct tp_options tp_options_begin(int argc, char **argv);
/* The next one; its value, if it takes one, is in optarg. */
int tp_options_next(struct tp_options *o);
/* More operands than `most` are wrong usage, which is said. True: they are not more. */
bool tp_options_operands(const struct tp_options *o, int most);
/* For what else is wrong: "turnpike NAME: ..." and where to find help. Returns the exit status. */
int tp_options_wrong(const struct tp_options *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The commands, each in a file of its own, by name. */
int tp_cmd_serve(int argc, char **argv);
int tp_cmd_check(int argc, char **argv);
int tp_cmd_config(int argc, char **argv);
int tp_cmd_reload(int argc, char **argv);
int tp_cmd_request(int argc, char **argv); /* post, get */
int tp_cmd_stats(int argc, char **argv);
int tp_cmd_top(int argc, char **argv);
int tp_cmd_blacklist(int argc, char **argv);
int tp_cmd_cooldown(int argc, char **argv);
int tp_cmd_simulate(int argc, char **argv);
int tp_cmd_completion(int argc, char **argv);
int tp_cmd_help(int argc, char **argv);
int tp_cmd_version(int argc, char **argv);

#endif
