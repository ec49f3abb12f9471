#include "server/commands.h"

#include <getopt.h>
#include <stdio.h>

#include "common/config/config.h"
#include "common/config/show.h"
#include "server/load.h"

static int print(const struct tp_buf *text)
{
	if (text->failed) {
		(void)fputs("turnpike config: out of memory\n", stderr);
		return 1;
	}
	(void)fwrite(text->data, 1, text->len, stdout);
	return 0;
}

static int show_effective(const struct tp_load_options *load, struct tp_buf *out)
{
	struct tp_buf errors = {0};
	struct tp_config *c = tp_load_config(load, &errors);
	if (errors.len > 0)
		(void)fwrite(errors.data, 1, errors.len, stderr);
	if (c != NULL)
		tp_config_show_effective(c, out);
	bool good = c != NULL;
	tp_buf_free(&errors);
	tp_config_unref(c);
	return good ? 0 : 1;
}

static int show(int what, const struct tp_load_options *load)
{
	struct tp_buf out = {0};
	int status = 0;
	switch (what) {
	case TP_FLAG_DEFAULTS: tp_config_show_defaults(&out); break;
	case TP_FLAG_EFFECTIVE: status = show_effective(load, &out); break;
	case TP_FLAG_SCHEMA: out.failed |= !tp_config_show_schema(&out); break;
	case TP_FLAG_MARKDOWN: tp_config_show_markdown(&out); break;
	case TP_FLAG_MAN: tp_config_show_man(&out); break;
	default: break;
	}
	if (status == 0)
		status = print(&out);
	tp_buf_free(&out);
	return status;
}

int tp_cmd_config(int argc, char **argv)
{
	struct tp_options o = tp_options_begin(argc, argv);
	struct tp_load_options load = {0};
	int flag, what = TP_FLAG_END;
	while ((flag = tp_options_next(&o)) != TP_FLAG_END) {
		if (flag == TP_FLAG_HELP || flag == TP_FLAG_WRONG)
			return flag == TP_FLAG_HELP ? 0 : 2;
		if (flag == TP_FLAG_CONFIG)
			load.file = optarg;
		else if (flag == TP_FLAG_ENV_FILE)
			load.env_file = optarg;
		else if (what == TP_FLAG_END)
			what = flag;
		else
			return tp_options_wrong(&o, "one thing at a time");
	}
	if (what == TP_FLAG_END)
		return tp_options_wrong(&o, "--defaults, --effective, --schema, --markdown or --man?");
	if (load.file != NULL && load.env_file != NULL)
		return tp_options_wrong(&o, "-c and --env-file exclude each other");
	tp_load_choose(&load);
	return tp_options_operands(&o, 0) ? show(what, &load) : 2;
}
