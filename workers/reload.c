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
	uint64_t attempt;                   /* that is under way; 0 = none */
	struct tp_runtime *next;            /* NULL: not ready */
	struct tp_worker_listener *sockets; /* that it brings */
	size_t n_sockets;
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
	for (size_t i = 0; i < r->n_sockets; i++)
		(void)close(r->sockets[i].fd);
	free(r->sockets);
	r->sockets = NULL;
	r->n_sockets = 0;
	tp_runtime_unref(r->next);
	r->next = NULL;
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

static bool take_sockets(struct tp_reload *r, const struct tp_control_message *m, const int *fds, size_t n)
{
	struct tp_worker_listener *more = reallocarray(r->sockets, r->n_sockets + n, sizeof *more);
	if (more == NULL || n != m->n_sockets || n == 0)
		return false;
	r->sockets = more;
	for (size_t i = 0; i < n; i++)
		r->sockets[r->n_sockets++] = (struct tp_worker_listener){
			.fd = fds[i], .conf = m->sockets[i].conf, .slot = m->sockets[i].slot};
	return true;
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

static void prepare(struct tp_reload *r, int fd, struct tp_buf *why)
{
	struct tp_files *files = read_bundle(fd, why);
	struct tp_config *c = files != NULL ? load(r, files, why) : NULL;
	if (c != NULL)
		r->next = tp_runtime_new(r->worker, c, why);
	tp_config_unref(c);
	tp_files_unref(files);
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
	if (r->next == NULL || !tp_secrets_guard_log(r->next->config) ||
	    !tp_acceptor_switch(w->acceptor, r->next, r->sockets, r->n_sockets)) {
		tp_error("out of memory: generation %llu cannot be left; another worker begins with the next",
			 (unsigned long long)w->config->generation);
		w->stopping = true; /* the next worker begins with it */
		(void)event_base_loopbreak(w->base);
		return;
	}
	r->n_sockets = 0;
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
	bool taken = false;
	switch ((enum tp_control)m->what) {
	case TP_CONTROL_SOCKETS:
		begin(r, m->attempt);
		taken = take_sockets(r, m, fds, n_fds);
		break;
	case TP_CONTROL_PREPARE:
		begin(r, m->attempt);
		if (n_fds == 1 && r->next == NULL)
			prepare(r, fds[0], &why);
		answer(r, &why);
		break;
	case TP_CONTROL_SWITCH:
		if (m->attempt == r->attempt && !w->draining)
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
	for (size_t i = 0; i < n_fds && !taken; i++)
		(void)close(fds[i]);
	tp_buf_free(&why);
}
