#include "server/commands.h"

#include <getopt.h>
#include <stdio.h>

#include "common/config/config.h"
#include "common/config/show.h"

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

static int show(int what, const char *file)
{
	struct tp_buf out = {0};
	int status = 0;
	switch (what) {
	case TP_FLAG_DEFAULTS: tp_config_show_defaults(&out); break;
	case TP_FLAG_EFFECTIVE: status = show_effective(file, &out); break;
	case TP_FLAG_SCHEMA: out.failed |= !tp_config_show_schema(&out); break;
	case TP_FLAG_MARKDOWN: tp_config_show_markdown(&out); break;
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
	const char *file = TP_CONFIG_DEFAULT_FILE;
	int flag, what = TP_FLAG_END;
	while ((flag = tp_options_next(&o)) != TP_FLAG_END) {
		if (flag == TP_FLAG_HELP || flag == TP_FLAG_WRONG)
			return flag == TP_FLAG_HELP ? 0 : 2;
		if (flag == TP_FLAG_CONFIG)
			file = optarg;
		else if (what == TP_FLAG_END)
			what = flag;
		else
			return tp_options_wrong(&o, "one thing at a time");
	}
	if (what == TP_FLAG_END)
		return tp_options_wrong(&o, "--defaults, --effective, --schema or --markdown?");
	return tp_options_operands(&o, 0) ? show(what, file) : 2;
}
