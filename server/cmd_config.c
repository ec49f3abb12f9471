#include "server/commands.h"

#include <getopt.h>
#include <stdio.h>

#include "common/config/config.h"
#include "common/config/show.h"

enum what { NOTHING, DEFAULTS = 'd', EFFECTIVE = 'e', SCHEMA = 's', MARKDOWN = 'm', MAN = 'M' };

static void print_usage(FILE *to)
{
	(void)fprintf(to,
		      "Usage: turnpike config --defaults | --effective [-c FILE] | --schema | --markdown | "
		      "--man\n\n"
		      "      --defaults     every key with its default and help; a file to begin with\n"
		      "      --effective    what a file amounts to, defaults filled in, secrets masked\n"
		      "      --schema       a JSON schema for editors\n"
		      "      --markdown     the reference of all keys\n"
		      "      --man          the same as a manual page, turnpike.yaml(5)\n"
		      "  -c, --config FILE  the configuration (default %s)\n"
		      "  -h, --help         this text\n",
		      TP_CONFIG_DEFAULT_FILE);
}

/* Standard output closes here, since a full disk shows only now. */
static int print(const struct tp_buf *text)
{
	if (!text->failed && fwrite(text->data, 1, text->len, stdout) == text->len && fflush(stdout) == 0)
		return 0;
	perror("turnpike config: cannot write");
	return 1;
}

static int show_effective(const char *file, struct tp_buf *out)
{
	struct tp_buf errors = {0};
	struct tp_config *c = tp_config_load(file, &errors);
	if (c == NULL)
		(void)fwrite(errors.data, 1, errors.len, stderr);
	else
		tp_config_show_effective(c, out);
	bool good = c != NULL;
	tp_buf_free(&errors);
	tp_config_unref(c);
	return good ? 0 : 1;
}

static int show(enum what what, const char *file)
{
	struct tp_buf out = {0};
	int status = 0;
	switch (what) {
	case DEFAULTS: tp_config_show_defaults(&out); break;
	case EFFECTIVE: status = show_effective(file, &out); break;
	case SCHEMA: out.failed |= !tp_config_show_schema(&out); break;
	case MARKDOWN: tp_config_show_markdown(&out); break;
	case MAN: tp_config_show_man(&out); break;
	case NOTHING: break;
	}
	if (status == 0)
		status = print(&out);
	tp_buf_free(&out);
	return status;
}

int tp_cmd_config(int argc, char **argv)
{
	static const struct option options[] = {
		{"defaults", no_argument, NULL, DEFAULTS}, {"effective", no_argument, NULL, EFFECTIVE},
		{"schema", no_argument, NULL, SCHEMA},     {"markdown", no_argument, NULL, MARKDOWN},
		{"man", no_argument, NULL, MAN},           {"config", required_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
	const char *file = TP_CONFIG_DEFAULT_FILE;
	enum what what = NOTHING;
	int option;
	optind = 0; /* getopt may have run over the global options before */
	while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		if (option == 'h') {
			print_usage(stdout);
			return 0;
		}
		if (option == 'c') {
			file = optarg;
		} else if (option != '?' && what == NOTHING) {
			what = (enum what)option;
		} else {
			print_usage(stderr);
			return 2;
		}
	}
	if (what == NOTHING || optind < argc) {
		print_usage(stderr);
		return 2;
	}
	return show(what, file);
}
