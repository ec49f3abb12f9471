/* The rows of the table of commands. */
#include "server/commands.h"

#include <stdio.h>
#include <string.h>

#include "common/config/config.h"
#include "common/config/suggest.h"
#include "server/simulate/simulate.h"

/* clang-format off */

/* ---- options that several commands have */

const struct tp_flag tp_flag_help = {TP_FLAG_HELP, "help", NULL, NULL, "this text"};

static const struct tp_flag config = {TP_FLAG_CONFIG, "config", "FILE", NULL,
	"the configuration (default: " TP_CONFIG_DEFAULT_FILE ")"};
static const struct tp_flag of_server = {TP_FLAG_CONFIG, "config", "FILE", NULL,
	"the server's configuration: its state.name is looked up"};
static const struct tp_flag name = {TP_FLAG_NAME, "name", "NAME", NULL, "state.name itself (default: /turnpike)"};
static const struct tp_flag json = {TP_FLAG_JSON, "json", NULL, NULL, "JSON instead of lines"};

/* ---- serve, check, config */

static const struct tp_flag endpoint = {TP_FLAG_ENDPOINT, "endpoint", "URL", NULL,
	"serve one provider, without a file: https://api.openai.com/v1"};
static const struct tp_flag env_file = {TP_FLAG_ENV_FILE, "env-file", "FILE", NULL,
	"CODEX_ENDPOINT and its like in NAME=VALUE lines, instead of a configuration"};
static const struct tp_flag listen_on = {TP_FLAG_LISTEN, "listen", "ADDR", NULL,
	"listen here instead of where the configuration says: 127.0.0.1:8080,\n"
	"[::1]:8080, unix:/run/turnpike/http.sock; may be given several times"};
static const struct tp_flag fresh_state = {TP_FLAG_FRESH_STATE, "fresh-state", NULL, NULL,
	"forget all budgets and statistics of earlier runs"};
static const struct tp_flag connect_too = {TP_FLAG_CONNECT, "connect", NULL, NULL,
	"ask each provider as well: its health path, else whether it can be reached"};
static const struct tp_flag defaults = {TP_FLAG_DEFAULTS, "defaults", NULL, NULL,
	"every key with its default and help; a file to begin with"};
static const struct tp_flag effective = {TP_FLAG_EFFECTIVE, "effective", NULL, NULL,
	"what a file amounts to, defaults filled in, secrets masked"};
static const struct tp_flag schema = {TP_FLAG_SCHEMA, "schema", NULL, NULL, "a JSON schema for editors"};
static const struct tp_flag markdown = {TP_FLAG_MARKDOWN, "markdown", NULL, NULL, "the reference of all keys"};
static const struct tp_flag man = {TP_FLAG_MAN, "man", NULL, NULL, "the same as a manual page, turnpike.yaml(5)"};

static const char serve_more[] =
	"Without -c, --endpoint and --env-file, and where the default file does not exist, the variables of\n"
	"--env-file are taken from the environment: CODEX_ENDPOINT (needed), CODEX_API_KEY, MAX_RETRIES (3),\n"
	"TOTAL_TIMEOUT (120), ENABLE_LOGGING, LOG_LEVEL, LOG_FILE, REFRESH_TOKEN (with REFRESH_URL,\n"
	"REFRESH_STATE_FILE), SNAPSHOT_FAILED_REQUESTS, SSL_CERT_FILE, METRICS_PORT, STATE_NAME (turnpike; a\n"
	"second server on the machine needs another).\n"
	"\n"
	"Signals: HUP takes over a changed configuration (see turnpike reload); USR1 opens the logs anew; USR2\n"
	"replaces the binary by the one that is now where this one was started from, while everything goes on;\n"
	"TERM, INT or QUIT stop accepting, let running requests finish for up to shutdown.drain, and exit 0; a\n"
	"second one ends everything at once.";

/* ---- post, get */

static const struct tp_flag header = {TP_FLAG_HEADER, "header", "HEADER", NULL,
	"\"Name: value\", sent as it is; may be given several times"};
static const struct tp_flag data = {TP_FLAG_DATA, "data", "BODY", NULL,
	"the body; JSON unless a Content-Type is given"};
static const struct tp_flag data_file = {TP_FLAG_DATA_FILE, "data-file", "FILE", NULL, "the body is in this file"};
static const struct tp_flag include = {TP_FLAG_INCLUDE, "include", NULL, NULL, "status and headers before the answer"};
static const struct tp_flag profile = {TP_FLAG_PROFILE, "profile", "NAME", "guarded patient",
	"guarded (default), or patient: more sends, longer waits"};
static const struct tp_flag deadline = {TP_FLAG_DEADLINE, "deadline", "TIME", NULL,
	"no wait is begun that would end after it: 30s, 5m (default 120s)"};
static const struct tp_flag max_sends = {TP_FLAG_MAX_SENDS, "max-sends", "N", NULL,
	"at most so many sends (never more than the profile allows)"};
static const struct tp_flag ca = {TP_FLAG_CA, "ca", "FILE", NULL, "trust the authorities in this PEM file instead"};
static const struct tp_flag insecure = {TP_FLAG_INSECURE, "insecure", NULL, NULL,
	"accept any certificate: whoever sits on the line reads all"};
static const struct tp_flag quiet = {TP_FLAG_QUIET, "quiet", NULL, NULL, "say nothing of waits"};
static const struct tp_flag verbose = {TP_FLAG_VERBOSE, "verbose", NULL, NULL, "the log of the engine on standard error"};

static const char request_exits[] =
	"0    the answer is a 2xx\n"
	"1    out of memory, or the answer could not be written\n"
	"2    wrong usage\n"
	"7    the provider could not be reached\n"
	"18   the answer was cut\n"
	"22   another answer than 2xx, or a refusal of Turnpike's own\n"
	"130  stopped by Ctrl-C (143: by TERM)";

#define REQUEST_ABOUT \
	"The request goes through the same engine as in a server, in this process, with a send budget of its own: " \
	"what a provider declined waits and is sent again, what may have run is not. The answer goes to standard " \
	"output as it comes; standard error tells each wait, in one line that counts down where it is a terminal. " \
	"Ctrl-C cancels at once."

/* ---- top, completion */

static const struct tp_flag once = {TP_FLAG_ONCE, "once", NULL, NULL,
	"print the view once; so it does where standard output is no terminal"};
static const struct tp_flag every = {TP_FLAG_EVERY, "every", "TIME", NULL, "how often it looks (default: 1s)"};

static const char no_table[] =
	"0  good\n"
	"1  no such table, not allowed to use it, or the output could not be written\n"
	"2  wrong usage";

const struct tp_command tp_commands[] = {
	{"serve", tp_cmd_serve, "run the server in the foreground",
	 "[-c FILE | --endpoint URL | --env-file FILE] [--listen ADDR]... [--fresh-state]",
	 "Starts the server in the foreground. When it is ready, one line on standard output says where it listens; the "
	 "log goes where the configuration says (standard error by default).",
	 NULL, {&config, &endpoint, &env_file, &listen_on, &fresh_state}, serve_more,
	 "0  stopped as asked\n1  wrong configuration, or the server could not start\n2  wrong usage"},
	{"check", tp_cmd_check, "validate a configuration, or ask its providers",
	 "[-c FILE | --env-file FILE] [--connect]",
	 "Checks a configuration and tells every mistake with line and column. With --connect it also asks each provider "
	 "once and says in plain words how that went; nothing is sent that could cost anything.",
	 NULL, {&config, &env_file, &connect_too}, NULL,
	 "0  good\n1  a mistake in the configuration, a provider that does not answer, or the output could not be "
	 "written\n2  wrong usage"},
	{"config", tp_cmd_config, "print the defaults, what a file amounts to, or the schema",
	 "--defaults\n--effective [-c FILE | --env-file FILE]\n--schema\n--markdown\n--man",
	 "Prints what can be configured, and what a file amounts to.",
	 NULL, {&defaults, &effective, &schema, &markdown, &man, &config, &env_file}, NULL, NULL},
	{"reload", tp_cmd_reload, "have a running server take over its changed configuration",
	 "[-c FILE | --env-file FILE]",
	 "Checks the file, then asks the server that runs with it to take it over, and waits for the outcome. Nothing is "
	 "interrupted: running requests end on the configuration they began with. A file that cannot be taken over, for "
	 "whatever reason, changes nothing.\n\n"
	 "It speaks to the server through `admin.listen` (a unix socket, or an address with a token); without one it sends "
	 "SIGHUP and looks whether the new configuration comes to serve.",
	 NULL, {&config, &env_file}, NULL,
	 "0  taken over\n1  refused, no server runs, or the output could not be written\n2  wrong usage"},
	{"post", tp_cmd_request, "send one request, with retries, without a server",
	 "URL [-H HEADER]... [-d BODY | --data-file FILE | -] [OPTIONS]",
	 "Sends one POST. \"-\" reads the body from standard input.\n\n" REQUEST_ABOUT,
	 NULL, {&data, &data_file, &header, &include, &profile, &deadline, &max_sends, &ca, &insecure, &quiet, &verbose},
	 NULL, request_exits},
	{"get", tp_cmd_request, "the same with GET",
	 "URL [-H HEADER]... [OPTIONS]",
	 "Sends one GET.\n\n" REQUEST_ABOUT,
	 NULL, {&header, &include, &profile, &deadline, &max_sends, &ca, &insecure, &quiet, &verbose},
	 NULL, request_exits},
	{"stats", tp_cmd_stats, "print the numbers of a running server",
	 "[--json] [-c FILE | --name NAME]",
	 "Prints the numbers of a server, summed over its workers, out of its shared table: the same as GET /stats. "
	 "Nothing is changed, and the server does not notice. Counters go on over restarts on the same boot.",
	 NULL, {&of_server, &name, &json}, NULL, no_table},
	{"top", tp_cmd_top, "watch a running server",
	 "[--once] [--every TIME] [-c FILE | --name NAME]",
	 "A view of a server that refreshes in place, out of its shared table: requests, sends, waits, why it sent again, "
	 "providers, what gets no requests for now, and the slowest open requests. Arrows and page keys scroll, q quits. Nothing is changed.",
	 NULL, {&of_server, &name, &once, &every}, NULL, no_table},
	{"blacklist", tp_cmd_blacklist, "show the URLs that get no requests for now, or give them back",
	 "[list] [--json] [-c FILE | --name NAME]\nclear [URL] [--json] [-c FILE | --name NAME]",
	 "list shows the URLs that failed too often in a row and get no requests for now: why, since when, and when the "
	 "next probe may pass. clear forgets all of them and what counts towards them, or those of one URL as list shows "
	 "it; the next request is then sent. It works on a running server at once.",
	 "list clear", {&of_server, &name, &json}, NULL, no_table},
	{"cooldown", tp_cmd_cooldown, "show the targets and keys that cool, or give them back",
	 "[list | clear] [--json] [-c FILE | --name NAME]",
	 "list shows the targets and keys that are left alone for now, as a provider told or after a failure, and the "
	 "waits that all requests for a model share; clear ends all of these. It works on a running server at once.",
	 "list clear", {&of_server, &name, &json}, NULL, no_table},
	{"simulate", tp_cmd_simulate, "a fake provider with scripted faults, for demos and tests",
	 "[--listen HOST:PORT]",
	 "A fake provider: Chat Completions, Responses, Messages, count_tokens and models, as JSON and as streams. What "
	 "goes wrong is asked for by each request: as its model (\"model\": \"sim:503,200\") or in a header (x-simulate: "
	 "503,200).",
	 NULL, {&(const struct tp_flag){TP_FLAG_LISTEN, "listen", "HOST:PORT", NULL,
		"where to listen (default: " TP_SIMULATE_LISTEN "); port 0 takes a free one"}},
	 tp_simulate_scripts, "0  stopped by a signal\n1  cannot listen, or say where\n2  wrong usage"},
	{"completion", tp_cmd_completion, "print the completions for a shell",
	 "bash | zsh",
	 "Prints what makes bash or zsh complete the commands and their options. For bash: turnpike completion bash > "
	 "/etc/bash_completion.d/turnpike; for zsh: turnpike completion zsh > _turnpike in a folder of $fpath.",
	 "bash zsh", {0}, NULL, NULL},
	{"version", tp_cmd_version, "print the version, the libraries and how it was built", "",
	 "Prints the version, the libraries it runs with, and how it was built.", NULL, {0}, NULL, NULL},
	{"help", tp_cmd_help, "all commands, or the help of one",
	 "[COMMAND]", "Shows all commands, or what one of them does: the same as turnpike COMMAND --help.", NULL, {0},
	 NULL, NULL},
	{"--version", tp_cmd_version, NULL, "", "", NULL, {0}, NULL, NULL},
	{"-V", tp_cmd_version, NULL, "", "", NULL, {0}, NULL, NULL},
	{"--help", tp_cmd_help, NULL, "", "", NULL, {0}, NULL, NULL},
	{"-h", tp_cmd_help, NULL, "", "", NULL, {0}, NULL, NULL},
};
/* clang-format on */

const size_t tp_n_commands = sizeof tp_commands / sizeof tp_commands[0];

const struct tp_command *tp_command_find(const char *name_of)
{
	for (size_t i = 0; i < tp_n_commands; i++)
		if (strcmp(tp_commands[i].name, name_of) == 0)
			return &tp_commands[i];
	return NULL;
}

int tp_command_unknown(const char *name_of)
{
	struct tp_suggestion near = tp_suggest_begin(name_of);
	for (size_t i = 0; i < tp_n_commands; i++)
		if (tp_commands[i].does != NULL)
			tp_suggest_candidate(&near, tp_commands[i].name);
	(void)fprintf(stderr, "turnpike: there is no command \"%s\"", name_of);
	if (near.best != NULL)
		(void)fprintf(stderr, "; did you mean \"%s\"?", near.best);
	(void)fprintf(stderr, "\nTry: turnpike --help\n");
	return 2;
}
