#include "workers/reload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/config/files.h"
#include "common/config/keep.h"
#include "common/config/secrets.h"
#include "workers/acceptor.h"
#include "workers/access_log.h"
#include "workers/client.h"
#include "workers/runtime.h"

struct tp_reload {
	struct tp_worker *worker;
	const struct tp_worker_start *start;
	uint64_t attempt;        /* that is under way; 0 = none */
	struct tp_runtime *next; /* NULL: not ready */
	const char *lacks;       /* why not all of its sockets are here; NULL: they are */
};

struct tp_reload *tp_reload_new(struct tp_worker *w, const struct tp_worker_start *start)
{
	struct tp_reload *r = calloc(1, sizeof *r);
	if (r == NULL)
		return NULL;
	r->worker = w;
	r->start = start;
	return r;
}

/* Nothing of it is left. */
static void forget(struct tp_reload *r)
{
	tp_acceptor_drop_brought(r->worker->acceptor);
	tp_runtime_unref(r->next);
	r->next = NULL;
	r->lacks = NULL;
	r->attempt = 0;
}

void tp_reload_free(struct tp_reload *r)
{
	if (r == NULL)
		return;
	forget(r);
	free(r);
}

/* A new generation's first message: what an earlier one left is void. */
static void begin(struct tp_reload *r, uint64_t attempt)
{
	if (r->attempt != attempt)
		forget(r);
	r->attempt = attempt;
}

static const char too_few_files[] = "its limit of open files is too low for the new sockets";

/* Takes over the descriptors. What is missing is said when all are asked to prepare. */
static void take_sockets(struct tp_reload *r, const struct tp_control_message *m, const int *fds, size_t n)
{
	if (n != m->n_sockets)
		r->lacks = too_few_files;
	for (size_t i = 0; i < n; i++) {
		const struct tp_worker_listener one = {
			.fd = fds[i], .conf = m->sockets[i].conf, .slot = m->sockets[i].slot};
		if (!tp_acceptor_bring(r->worker->acceptor, &one))
			r->lacks = "out of memory";
	}
}

/* ---- making it */

static struct tp_files *read_bundle(int fd, struct tp_buf *why)
{
	struct stat st;
	if (fstat(fd, &st) != 0 || st.st_size <= 0) {
		tp_buf_printf(why, "the bundle cannot be read: %s\n", strerror(errno));
		return NULL;
	}
	void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED) {
		tp_buf_printf(why, "the bundle cannot be read: %s\n", strerror(errno));
		return NULL;
	}
	struct tp_files *files = tp_files_unpack((struct tp_str){bytes, (size_t)st.st_size});
	if (files == NULL)
		tp_buf_add_str(why, TP_STR("out of memory\n"));
	(void)munmap(bytes, (size_t)st.st_size);
	return files;
}

static struct tp_config *load(const struct tp_reload *r, struct tp_files *files, struct tp_buf *why)
{
	struct tp_buf restart = {0};
	struct tp_files *before = tp_files_use(files);
	struct tp_config *c = r->start->load(r->start->load_arg, why);
	(void)tp_files_use(before);
	if (c != NULL && !tp_config_keep(c, r->worker->config, &restart)) {
		tp_config_unref(c);
		c = NULL;
	}
	tp_buf_free(&restart); /* the master has said it */
	if (c != NULL)
		c->generation = r->worker->config->generation + 1;
	return c;
}

/* Everything that can fail: after the master's decision nothing may. */
static void prepare(struct tp_reload *r, int fd, struct tp_buf *why)
{
	struct tp_files *files = read_bundle(fd, why);
	struct tp_config *c = files != NULL ? load(r, files, why) : NULL;
	if (c != NULL && tp_secrets_guard_log(c))
		r->next = tp_runtime_new(r->worker, c, why);
	tp_config_unref(c);
	tp_files_unref(files);
}

/* `fds`: the bundle's, alone. */
static void hear_prepare(struct tp_reload *r, const int *fds, size_t n_fds, struct tp_buf *why)
{
	const char *lacks = r->lacks != NULL ? r->lacks : n_fds != 1 ? too_few_files : NULL;
	if (lacks != NULL)
		tp_buf_add_str(why, tp_str_from(lacks));
	else if (r->next == NULL)
		prepare(r, fds[0], why);
}

/* A full channel: the master waits in vain, and goes on without. */
static void report(const struct tp_reload *r, enum tp_report what, const char *text)
{
	struct tp_report_message m = {.when_ms = r->attempt, .what = (uint8_t)what};
	size_t n = strlen(text) < sizeof m.json ? strlen(text) : sizeof m.json;
	memcpy(m.json, text, n);
	(void)send(r->worker->control_fd, &m, offsetof(struct tp_report_message, json) + n,
		   MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void answer(const struct tp_reload *r, struct tp_buf *why)
{
	if (r->next != NULL)
		report(r, TP_REPORT_PREPARED, "");
	else
		report(r, TP_REPORT_CANNOT, tp_buf_reason(why));
}

/* ---- the switch */

static void open_logs(struct tp_worker *w, const struct tp_config *c, const struct tp_config *before)
{
	if (!tp_config_same_access_log(c, before))
		tp_access_log_open(w, c);
	tp_config_follow_log(c, before);
}

static void follow_clients(struct tp_worker *w)
{
	struct tp_client *c, *next;
	for (c = TAILQ_FIRST(&w->clients); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		tp_client_follow(c);
	}
}

static void switch_over(struct tp_reload *r)
{
	struct tp_worker *w = r->worker;
	tp_acceptor_switch(w->acceptor, r->next);
	struct tp_runtime *before = tp_runtime_ref(w->runtime);
	tp_runtime_enter(r->next);
	r->next = NULL;
	open_logs(w, w->config, before->config);
	tp_runtime_unref(before);
	follow_clients(w);
	tp_debug("generation %llu serves", (unsigned long long)w->config->generation);
	report(r, TP_REPORT_SWITCHED, "");
	forget(r);
}

void tp_reload_hear(struct tp_reload *r, const struct tp_control_message *m, const int *fds, size_t n_fds)
{
	struct tp_worker *w = r->worker;
	struct tp_buf why = {0};
	switch ((enum tp_control)m->what) {
	case TP_CONTROL_SOCKETS:
		begin(r, m->attempt);
		take_sockets(r, m, fds, n_fds);
		n_fds = 0;
		break;
	case TP_CONTROL_PREPARE:
		begin(r, m->attempt);
		hear_prepare(r, fds, n_fds, &why);
		answer(r, &why);
		break;
	case TP_CONTROL_SWITCH:
		if (m->attempt == r->attempt && r->next != NULL && !w->draining)
			switch_over(r);
		break;
	case TP_CONTROL_ABORT: forget(r); break;
	case TP_CONTROL_CLOSE: tp_acceptor_close_gone(w->acceptor); break;
	case TP_CONTROL_FORGET: tp_acceptor_forget(w->acceptor, m->slot); break;
	case TP_CONTROL_DRAIN:
	case TP_CONTROL_QUIT:
	case TP_CONTROL_ADOPT:
	case TP_CONTROL_REOPEN:
	case TP_CONTROL_RETURN: break;
	}
	for (size_t i = 0; i < n_fds; i++)
		(void)close(fds[i]);
	tp_buf_free(&why);
}
