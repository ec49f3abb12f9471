#include "server/request/request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/config/quote.h"

enum { READ = 64 * 1024 };

/* ---- configuration */

/* Where path and query begin: the end of the origin. */
static size_t origin_length(const char *url)
{
	const char *behind = strstr(url, "://");
	size_t scheme = behind != NULL ? (size_t)(behind - url) + 3 : 0;
	return scheme + strcspn(url + scheme, "/?#");
}

static void add_key(struct tp_buf *yaml, const char *key, const char *value)
{
	if (value == NULL)
		return;
	tp_buf_printf(yaml, "%s: ", key);
	tp_config_quote(yaml, (struct tp_str){value, strlen(value)});
	tp_buf_add_str(yaml, TP_STR("\n"));
}

static void write_config(const struct tp_request_order *o, struct tp_buf *yaml)
{
	/* The address is of a kind that needs no clients; nobody listens there. */
	tp_buf_add_str(yaml, TP_STR("workers: 1\nlisten: unix:/turnpike\nallow_anonymous: true\n"
				    "routes: [ { path: /, provider: provider } ]\n"
				    "providers:\n  provider:\n    url: "));
	tp_config_quote(yaml, (struct tp_str){o->url, origin_length(o->url)});
	tp_buf_printf(yaml, "\n    tls:\n      verify: %s\n", o->insecure ? "false" : "true");
	add_key(yaml, "      ca", o->ca);
	if (o->profile != NULL || o->deadline != NULL)
		tp_buf_add_str(yaml, TP_STR("retry:\n"));
	add_key(yaml, "  profile", o->profile);
	add_key(yaml, "  deadline", o->deadline);
}

/* Places in a text that nobody wrote help nobody. */
static void print_errors(const struct tp_request_order *o, struct tp_buf *errors)
{
	const char *line = tp_buf_cstr(errors);
	while (line != NULL && *line != '\0') {
		const char *text = strstr(line, ": ");
		text = text != NULL ? text + 2 : line;
		int n = (int)strcspn(text, "\n");
		(void)fprintf(stderr, "turnpike %s: %.*s\n", o->options.command->name, n, text);
		line = text + n + (text[n] == '\n');
	}
}

struct tp_config *tp_request_config(const struct tp_request_order *o)
{
	struct tp_buf yaml = {0}, errors = {0};
	struct tp_config *c = NULL;
	if (strncasecmp(o->url, "http://", 7) != 0 && strncasecmp(o->url, "https://", 8) != 0) {
		(void)tp_options_wrong(&o->options, "%s is not an http or https URL", o->url);
		return NULL;
	}
	write_config(o, &yaml);
	if (!yaml.failed)
		c = tp_config_parse("request", tp_buf_str(&yaml), &errors);
	print_errors(o, &errors);
	tp_buf_free(&yaml);
	tp_buf_free(&errors);
	return c;
}

/* ---- body */

bool tp_request_read_body(struct tp_request_order *o)
{
	const char *name = o->data_file;
	if (o->data != NULL)
		tp_buf_add_str(&o->body, tp_str_from(o->data));
	if (name == NULL)
		return !o->body.failed;
	bool standard = strcmp(name, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? 1 : -1;
	while (n > 0 && tp_buf_reserve(&o->body, READ)) {
		n = read(fd, o->body.data + o->body.len, READ);
		o->body.len += n > 0 ? (size_t)n : 0;
		if (n < 0 && errno == EINTR)
			n = 1;
	}
	if (n != 0)
		(void)fprintf(stderr, "turnpike %s: cannot read %s: %s\n", o->options.command->name,
			      standard ? "standard input" : name, strerror(errno));
	if (fd >= 0 && !standard)
		(void)close(fd);
	return n == 0 && !o->body.failed;
}

/* ---- head */

static bool has_control(const char *text)
{
	for (; *text != '\0'; text++)
		if (((unsigned char)*text < 0x20 && *text != '\t') || *text == 0x7f)
			return true;
	return false;
}

/* The name of a header that is good to be sent, else 0. */
static size_t name_length(const char *header)
{
	size_t n = strcspn(header, ": \t");
	return header[n] == ':' && !has_control(header) ? n : 0;
}

static bool is_ours(struct tp_str name)
{
	static const char *const ours[] = {"host",       "content-length", "transfer-encoding",
					   "connection", "expect",         "upgrade",
					   "te",         "trailer"};
	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
		if (tp_str_ieq(name, tp_str_from(ours[i])))
			return true;
	return false;
}

static bool add_headers(const struct tp_request_order *o, struct tp_buf *out)
{
	bool typed = false;
	for (size_t i = 0; i < o->n_headers; i++) {
		struct tp_str name = {o->headers[i], name_length(o->headers[i])};
		if (name.n == 0 || is_ours(name)) {
			(void)tp_options_wrong(&o->options,
					       name.n == 0 ? "-H \"%s\" is not of the form \"Name: value\""
							   : "-H \"%s\" is written by turnpike itself",
					       o->headers[i]);
			return false;
		}
		typed = typed || tp_str_ieq(name, TP_STR("content-type"));
		tp_buf_printf(out, "%s\r\n", o->headers[i]);
	}
	if (!typed && o->body.len > 0)
		tp_buf_add_str(out, TP_STR("Content-Type: application/json\r\n"));
	return true;
}

bool tp_request_write(const struct tp_request_order *o, struct tp_buf *out, int *ret_status)
{
	const char *target = o->url + origin_length(o->url);
	int n = (int)strcspn(target, "#");
	*ret_status = TP_REQUEST_USAGE;
	if (strpbrk(target, " \t") != NULL || has_control(target)) {
		(void)tp_options_wrong(&o->options,
				       "the URL has blanks or control characters: write them as %%20");
		return false;
	}
	tp_buf_printf(out, "%s %s%.*s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", o->method,
		      target[0] != '/' ? "/" : "", n, target);
	if (!add_headers(o, out))
		return false;
	if (o->max_sends != NULL)
		tp_buf_printf(out, "X-Turnpike-Max-Sends: %s\r\n", o->max_sends);
	if (strcmp(o->method, "POST") == 0)
		tp_buf_printf(out, "Content-Length: %zu\r\n", o->body.len);
	tp_buf_add_str(out, TP_STR("\r\n"));
	tp_buf_add(out, o->body.data, o->body.len);
	*ret_status = TP_REQUEST_FAILED;
	return !out->failed;
}
