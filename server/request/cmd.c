#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "server/request/request.h"

static int wrong(const struct tp_request_order *o, const char *what, const char *value)
{
	return tp_options_wrong(&o->options, "%s%s", what, value);
}

/* -1: go on; else the exit status. */
static int read_options(struct tp_request_order *o)
{
	int flag;
	while ((flag = tp_options_next(&o->options)) != TP_FLAG_END) {
		switch (flag) {
		case TP_FLAG_HEADER:
			if (o->n_headers == TP_REQUEST_HEADERS_MAX)
				return wrong(o, "too many headers", "");
			o->headers[o->n_headers++] = optarg;
			break;
		case TP_FLAG_DATA: o->data = optarg; break;
		case TP_FLAG_DATA_FILE: o->data_file = optarg; break;
		case TP_FLAG_PROFILE: o->profile = optarg; break;
		case TP_FLAG_DEADLINE: o->deadline = optarg; break;
		case TP_FLAG_MAX_SENDS: o->max_sends = optarg; break;
		case TP_FLAG_CA: o->ca = optarg; break;
		case TP_FLAG_INSECURE: o->insecure = true; break;
		case TP_FLAG_INCLUDE: o->include = true; break;
		case TP_FLAG_QUIET: o->quiet = true; break;
		case TP_FLAG_VERBOSE: o->verbose = true; break;
		case TP_FLAG_HELP: return 0;
		default: return TP_REQUEST_USAGE;
		}
	}
	return -1;
}

static int read_operands(struct tp_request_order *o)
{
	char **argv = o->options.argv;
	bool post = strcmp(o->method, "POST") == 0;
	if (optind >= o->options.argc)
		return wrong(o, "which URL?", "");
	o->url = argv[optind];
	if (post && optind + 1 < o->options.argc && strcmp(argv[optind + 1], "-") == 0) {
		if (o->data_file != NULL)
			return wrong(o, "\"-\" and --data-file exclude each other", "");
		o->data_file = "-";
		optind++;
	}
	optind++;
	if (!tp_options_operands(&o->options, 0))
		return TP_REQUEST_USAGE;
	if (o->data != NULL && o->data_file != NULL)
		return wrong(o, "-d, --data-file and \"-\" exclude each other", "");
	size_t digits = o->max_sends != NULL ? strspn(o->max_sends, "0123456789") : 1;
	if (digits == 0 || digits > 3 || (o->max_sends != NULL && o->max_sends[digits] != '\0'))
		return wrong(o, "--max-sends takes a number, not ", o->max_sends);
	return -1;
}

int tp_cmd_request(int argc, char **argv)
{
	struct tp_request_order o = {.options = tp_options_begin(argc, argv)};
	o.method = strcmp(argv[0], "get") == 0 ? "GET" : "POST";
	int status = read_options(&o);
	if (status < 0)
		status = read_operands(&o);
	if (status >= 0)
		return status;
	(void)signal(SIGPIPE, SIG_IGN);
	struct tp_buf request = {0};
	struct tp_config *config = tp_request_config(&o);
	status = TP_REQUEST_USAGE;
	if (config != NULL && !tp_request_read_body(&o))
		status = TP_REQUEST_FAILED;
	else if (config != NULL && tp_request_write(&o, &request, &status))
		status = tp_request_run(&o, config, &request);
	tp_config_unref(config);
	tp_buf_free(&request);
	tp_buf_free(&o.body);
	return status;
}
