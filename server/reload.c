/* Reload (design section 11): prepare everywhere, then switch everywhere, or nothing at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/config/files.h"
#include "common/config/keep.h"
#include "common/config/secrets.h"
#include "common/shm/marks.h"
#include "server/master_parts.h"
#include "server/notify.h"
#include "workers/worker.h"

enum { PREPARE_MS = 10000, SWITCH_MS = 3000, IDLE_MS = 1000 };

/* ---- how it ends */

static void tell_ready(void)
{
	(void)tp_notify("READY=1\n");
}

static void tell_begin(void)
{
	struct timespec t;
	char lines[80];
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	(void)snprintf(lines, sizeof lines, "RELOADING=1\nMONOTONIC_USEC=%llu\n",
		       (unsigned long long)t.tv_sec * 1000000 + (unsigned long long)t.tv_nsec / 1000);
	(void)tp_notify(lines);
}

/* One log line for each line of `lines`. */
static void log_lines(struct tp_str lines)
{
	while (lines.n > 0) {
		const char *end = memchr(lines.p, '\n', lines.n);
		size_t n = end != NULL ? (size_t)(end - lines.p) : lines.n;
		tp_error("reload refused: %.*s", (int)n, lines.p);
		n += end != NULL;
		lines = (struct tp_str){lines.p + n, lines.n - n};
	}
}

/* Nothing has changed, and `lines` say why. Frees them. */
static void refuse(struct master *m, struct tp_buf *lines)
{
	struct reload *r = &m->reload;
	if (lines->len == 0 || lines->failed) {
		tp_buf_free(lines);
		tp_buf_add_str(lines, TP_STR("out of memory"));
	}
	log_lines(tp_buf_str(lines));
	tp_admin_reload_ended(m->admin, false, m->config->generation, tp_buf_str(lines));
	tp_buf_free(lines);
	tp_listeners_close(&r->added);
	tp_admin_abort(m->admin);
	if (r->handover.bundle_fd > 0)
		(void)close(r->handover.bundle_fd);
	r->handover = (struct tp_handover){0};
	tp_config_unref(r->next);
	r->next = NULL;
	tp_buf_free(&r->warnings);
	r->state = RELOAD_IDLE;
	tell_ready();
}

static void abandon(struct master *m, struct tp_buf *lines)
{
	tp_supervisor_abort(m->supervisor);
	refuse(m, lines);
}

static void finish(struct master *m)
{
	tp_admin_reload_ended(m->admin, true, m->config->generation, tp_buf_str(&m->reload.warnings));
	tp_buf_free(&m->reload.warnings);
	tell_ready();
}

/* ---- the first phase: everything that can fail */

/* What a reload leaves as it is, in words. False: out of memory. */
static bool keep_restart_keys(struct master *m)
{
	struct tp_buf kept = {0};
	bool good = tp_config_keep(m->reload.next, m->config, &kept);
	if (good && kept.len > 0) {
		tp_warn("reload: a change of %s needs a restart; the running value stays",
			tp_buf_cstr(&kept));
		tp_buf_printf(&m->reload.warnings,
			      "a change of %s needs a restart; the running value stays\n",
			      tp_buf_cstr(&kept));
	}
	tp_buf_free(&kept);
	return good;
}

static bool can_open(const char *what, const char *path, struct tp_buf *why)
{
	if (path[0] != '/') /* stderr, syslog */
		return true;
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
	if (fd < 0)
		tp_buf_printf(why, "cannot open the %s %s: %s", what, path, strerror(errno));
	else
		(void)close(fd);
	return fd >= 0;
}

static bool load(struct master *m, struct tp_buf *why)
{
	struct reload *r = &m->reload;
	r->next = tp_load_config(m->load, why);
	if (r->next == NULL || !keep_restart_keys(m))
		return false;
	r->next->generation = m->config->generation + 1;
	if (!tp_secrets_guard_log(r->next))
		return false;
	return tp_worker_can_load(r->next, why) && can_open("log", r->next->log.output, why) &&
	       can_open("access log", r->next->access_log.output, why);
}

static struct tp_listeners_want want_of(const struct reload *r)
{
	return (struct tp_listeners_want){r->next->listeners, r->next->n_listeners, r->places.slots,
					  r->places.n};
}

static bool open_sockets(struct master *m, struct tp_buf *why)
{
	struct reload *r = &m->reload;
	r->places = m->places;
	tp_places_resize(&r->places, m->region, r->next->workers);
	const struct tp_listeners_want want = want_of(r);
	return tp_listeners_prepare(&m->listeners, m->config->listeners, m->config->n_listeners, &want,
				    &r->added, why) == 0 &&
	       tp_admin_prepare(m->admin, r->next, why) == 0;
}

/* Sealed: what one worker reads is what the next one reads. */
static bool write_bundle(int fd, struct tp_str bytes)
{
	while (bytes.n > 0) {
		ssize_t n = write(fd, bytes.p, bytes.n);
		if (n <= 0)
			return false;
		bytes = (struct tp_str){bytes.p + n, bytes.n - (size_t)n};
	}
	return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0;
}

static bool make_bundle(struct reload *r, struct tp_buf *why)
{
	struct tp_buf bytes = {0};
	int fd = memfd_create("turnpike-reload", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	bool good = fd >= 0 && tp_files_pack(r->next->files, &bytes) && write_bundle(fd, tp_buf_str(&bytes));
	if (!good)
		tp_buf_printf(why, "cannot make the bundle for the workers: %s", strerror(errno));
	if (!good && fd >= 0)
		(void)close(fd);
	if (bytes.data != NULL)
		explicit_bzero(bytes.data, bytes.len);
	tp_buf_free(&bytes);
	r->handover = (struct tp_handover){
		.attempt = ++r->attempts, .bundle_fd = good ? fd : -1, .added = &r->added};
	return good;
}

static void begin(struct master *m)
{
	struct reload *r = &m->reload;
	struct tp_buf why = {0};
	tp_info("reloading %s", m->config->file);
	tell_begin();
	r->wanted = false;
	tp_admin_reload_begins(m->admin);
	if (!load(m, &why) || !open_sockets(m, &why) || !make_bundle(r, &why) ||
	    !tp_supervisor_prepare(m->supervisor, &r->handover, r->places.n)) {
		refuse(m, &why);
		return;
	}
	r->ends_ms = tp_clock_boot_ms() + PREPARE_MS;
	r->state = RELOAD_PREPARING;
	tp_buf_free(&why);
}

/* ---- the second: nothing can fail */

static void switch_over(struct master *m)
{
	struct reload *r = &m->reload;
	struct tp_config *before = m->config;
	const struct tp_listeners_want want = {r->next->listeners, r->next->n_listeners, m->places.slots,
					       r->places.n};
	m->places = r->places; /* workers, admin and listeners borrow its slots */
	tp_listeners_switch(&m->listeners, before->listeners, before->n_listeners, &want, &r->added,
			    &r->leaving);
	tp_listeners_begin(&m->listeners);
	tp_supervisor_switch(m->supervisor, r->next, m->places.slots, m->places.n, &r->leaving);
	(void)close(r->handover.bundle_fd);
	r->handover = (struct tp_handover){0};
	tp_admin_switch(m->admin, r->next, m->places.n);
	tp_snapshots_switch(m->snapshots, r->next);
	m->alerts.config = m->config = r->next;
	r->next = NULL;
	tp_number_set(m->region, TP_NUMBER_CONFIG_GENERATION, m->config->generation);
	tp_config_follow_log(m->config, before);
	tp_config_unref(before);
	tp_secrets_guard_tidy();
}

static void begin_switch(struct master *m)
{
	switch_over(m);
	tp_info("generation %llu of the configuration serves: %zu providers, %zu listeners, %u workers",
		(unsigned long long)m->config->generation, m->config->n_providers, m->config->n_listeners,
		m->places.n);
	m->reload.ends_ms = tp_clock_boot_ms() + SWITCH_MS;
	m->reload.state = RELOAD_SWITCHING;
}

/* The next generation serves everywhere, or as good as: a worker that hangs is replaced by one that has it.
 */
static void begin_settling(struct master *m)
{
	struct reload *r = &m->reload;
	finish(m);
	tp_listeners_stop(&r->leaving);
	r->ends_ms =
		tp_clock_boot_ms() + (r->leaving.n_sockets > 0 ? tp_listeners_settle_ms(&r->leaving) : 0);
	r->state = RELOAD_SETTLING;
}

static void close_leaving(struct master *m)
{
	tp_supervisor_close_leaving(m->supervisor, m->config->drain_ms);
	tp_listeners_close(&m->reload.leaving);
	m->reload.state = RELOAD_IDLE;
}

/* ---- the loop */

void tp_reload_want(struct master *m)
{
	m->reload.wanted = true;
}

void tp_reload_cancel(struct master *m, const char *why)
{
	struct tp_buf line = {0};
	switch (m->reload.state) {
	case RELOAD_IDLE: break;
	case RELOAD_PREPARING:
		tp_buf_add_str(&line, tp_str_from(why));
		abandon(m, &line);
		break;
	case RELOAD_SWITCHING:
		finish(m);
		close_leaving(m);
		break;
	case RELOAD_SETTLING: close_leaving(m); break;
	}
}

static void look_at_answers(struct master *m, uint64_t now)
{
	struct tp_buf why = {0};
	switch (tp_supervisor_handed(m->supervisor, &why)) {
	case TP_HANDED_PENDING:
		if (now >= m->reload.ends_ms)
			abandon(m, &why);
		break;
	case TP_HANDED_READY: begin_switch(m); break;
	case TP_HANDED_REFUSED: abandon(m, &why); break;
	}
	tp_buf_free(&why);
}

static void ignore(struct master *m)
{
	struct tp_buf why = {0};
	tp_warn("the server stops: the reload is ignored");
	m->reload.wanted = false;
	tp_admin_reload_begins(m->admin);
	tp_buf_add_str(&why, TP_STR("the server stops"));
	tp_admin_reload_ended(m->admin, false, m->config->generation, tp_buf_str(&why));
	tp_buf_free(&why);
}

static uint64_t left(const struct reload *r, uint64_t now)
{
	return r->ends_ms > now ? r->ends_ms - now : 1;
}

uint64_t tp_reload_tick(struct master *m)
{
	struct reload *r = &m->reload;
	uint64_t now = tp_clock_boot_ms();
	bool wanted = tp_admin_asked(m->admin) || r->wanted;
	if (wanted && m->state > MASTER_READY)
		ignore(m);
	switch (r->state) {
	case RELOAD_IDLE:
		if (!wanted || m->state != MASTER_READY || tp_upgrade_runs(m) || !tp_succession_settled(m) ||
		    !tp_supervisor_idle(m->supervisor))
			return IDLE_MS;
		begin(m);
		return 1;
	case RELOAD_PREPARING: look_at_answers(m, now); return left(r, now);
	case RELOAD_SWITCHING:
		if (!tp_supervisor_switched(m->supervisor) && now < r->ends_ms)
			return left(r, now);
		begin_settling(m);
		return left(r, now);
	case RELOAD_SETTLING:
		if (now < r->ends_ms)
			return left(r, now);
		close_leaving(m);
		return 1;
	}
	return IDLE_MS;
}
