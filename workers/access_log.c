#include "workers/access_log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/http/access_line.h"
#include "common/http/mask.h"
#include "workers/client.h"
#include "workers/secrets.h"
#include "workers/turn.h"

enum { TELL_EVERY_MS = 60 * 1000 };

struct tp_access_request {
	struct tp_buf method, target, referer, agent;
	int64_t begun_ms; /* wall clock */
	char address[INET6_ADDRSTRLEN];
};

/* ---- the place */

void tp_access_log_open(struct tp_worker *w, const struct tp_config *config)
{
	const char *output = config->access_log.output;
	tp_sink_close(&w->access_log);
	w->access_format = config->access_log.format;
	w->access_log_on = strcmp(output, "off") != 0;
	if (!w->access_log_on || strcmp(output, "stderr") == 0)
		return;
	int error = tp_sink_open(&w->access_log, output);
	if (error != 0) {
		tp_error("cannot open the access log %s: %s", output, tp_sink_error(-error));
		tp_sink_absent(&w->access_log, output, -error);
	}
}

void tp_access_log_reopen(struct tp_worker *w)
{
	int error = w->access_log_on ? tp_sink_reopen(&w->access_log) : 0;
	if (error != 0)
		tp_error("cannot reopen the access log %s: %s; the old file is used on", w->access_log.path,
			 tp_sink_error(-error));
}

bool tp_access_log_flush(struct tp_worker *w)
{
	struct tp_sink *s = &w->access_log;
	uint64_t now = tp_clock_boot_ms();
	bool done = tp_sink_flush(s);
	/* Not while the log itself loses its lines. */
	if (s->lost == w->access_losses_told || now < w->access_losses_due_ms || !tp_log_flush())
		return done;
	tp_warn("%" PRIu64 " lines of the access log%s%s were lost: %s", s->lost - w->access_losses_told,
		s->path != NULL ? " " : "", s->path != NULL ? s->path : "", tp_sink_error(s->why));
	w->access_losses_told = s->lost;
	w->access_losses_due_ms = now + TELL_EVERY_MS;
	return done;
}

void tp_access_log_close(struct tp_worker *w)
{
	tp_sink_close(&w->access_log);
}

/* ---- a request */

static void tell_address(const struct tp_client *c, char out[INET6_ADDRSTRLEN])
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_storage room;
	} a;
	socklen_t n = sizeof a;
	(void)snprintf(out, INET6_ADDRSTRLEN, "unix");
	if (getpeername(c->io.fd, &a.any, &n) != 0)
		out[0] = '\0';
	else if (a.any.sa_family == AF_INET)
		(void)inet_ntop(AF_INET, &a.v4.sin_addr, out, INET6_ADDRSTRLEN);
	else if (a.any.sa_family == AF_INET6)
		(void)inet_ntop(AF_INET6, &a.v6.sin6_addr, out, INET6_ADDRSTRLEN);
}

static void add_masked(struct tp_buf *out, struct tp_str text, const struct tp_mask_secrets *secrets)
{
	if (!tp_mask_line(text, secrets, out))
		tp_buf_add_str(out, text);
}

static void free_request(struct tp_access_request *a)
{
	tp_buf_free(&a->method);
	tp_buf_free(&a->target);
	tp_buf_free(&a->referer);
	tp_buf_free(&a->agent);
	free(a);
}

void tp_access_log_begin(struct tp_turn *t)
{
	if (!t->worker->access_log_on)
		return;
	const struct tp_request *r = t->request;
	struct tp_access_request *a = calloc(1, sizeof *a);
	struct tp_turn_secrets secrets;
	tp_turn_secrets_take(t, &secrets);
	if (a == NULL || secrets.failed) {
		tp_sink_lose(&t->worker->access_log);
		free(a);
		tp_turn_secrets_free(&secrets);
		return;
	}
	a->begun_ms = tp_clock_wall_ms();
	tell_address(t->client, a->address);
	tp_buf_add_str(&a->method, tp_request_str(r, r->head->method));
	add_masked(&a->target, tp_request_str(r, r->head->target), &secrets.list);
	const struct tp_field *referer = tp_head_find_name(r->head, r->bytes, TP_STR("referer"));
	const struct tp_field *agent = tp_head_find_name(r->head, r->bytes, TP_STR("user-agent"));
	if (referer != NULL)
		add_masked(&a->referer, tp_request_str(r, referer->value), &secrets.list);
	if (agent != NULL)
		add_masked(&a->agent, tp_request_str(r, agent->value), &secrets.list);
	tp_turn_secrets_free(&secrets);
	t->record.access = a;
}

static void write_line(struct tp_worker *w, const struct tp_access_line *line, bool failed)
{
	struct tp_buf out = {0};
	tp_access_line_write(line, w->access_format, &out);
	if (failed || out.failed)
		tp_sink_lose(&w->access_log);
	else
		(void)tp_sink_write(&w->access_log, tp_buf_str(&out));
	tp_buf_free(&out);
}

void tp_access_log_end(struct tp_turn *t)
{
	struct tp_access_request *a = t->record.access;
	if (a == NULL)
		return;
	const struct tp_access_line line = {
		.address = tp_str_from(a->address),
		.client = tp_str_from(t->who != NULL ? t->who->name : ""),
		.id = tp_str_from(t->id),
		.method = tp_buf_str(&a->method),
		.target = tp_buf_str(&a->target),
		.referer = tp_buf_str(&a->referer),
		.agent = tp_buf_str(&a->agent),
		.minor = t->minor,
		.status = t->record.status,
		.bytes = t->record.bytes_out,
		.received = t->request->received,
		.begun_ms = a->begun_ms,
		.took_ms = tp_clock_boot_ms() - t->begun_ms,
	};
	bool failed = a->method.failed || a->target.failed || a->referer.failed || a->agent.failed;
	write_line(t->worker, &line, failed);
	free_request(a);
	t->record.access = NULL;
}

void tp_access_log_bad_head(struct tp_client *c, const char *id, struct tp_str line, int status,
			    uint64_t bytes)
{
	enum { SHOWN = 2048 };
	char address[INET6_ADDRSTRLEN];
	struct tp_buf masked = {0};
	if (!c->worker->access_log_on)
		return;
	const char *end = memchr(line.p, '\n', line.n);
	line.n = end != NULL ? (size_t)(end - line.p) : line.n;
	line.n -= line.n > 0 && line.p[line.n - 1] == '\r';
	line.n = line.n < SHOWN ? line.n : SHOWN;
	tell_address(c, address);
	tp_log_add_masked(&masked, line);
	const struct tp_access_line told = {
		.address = tp_str_from(address),
		.id = tp_str_from(id),
		.target = tp_buf_str(&masked),
		.minor = 1,
		.status = status,
		.bytes = bytes,
		.received = 0,
		.begun_ms = tp_clock_wall_ms(),
	};
	write_line(c->worker, &told, masked.failed);
	tp_buf_free(&masked);
}
