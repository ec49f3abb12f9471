/*
 * Replacing another master, as the new one sees it: it takes the descriptors that it was started with, starts
 * its workers beside the other's, and owns nothing until the other has let go.  Should it end before, the
 * other finds everything as it was: no file is removed, no socket stopped, no name taken.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/shm/marks.h"
#include "server/instance.h"
#include "server/master_parts.h"
#include "server/pidfile.h"

enum { IDLE_MS = 1000, SETTLE_MS = 5000 };

/* ---- start */

bool tp_succession_begin(struct master *m)
{
	struct tp_buf why = {0};
	m->succession.from = tp_inherit(&why);
	bool good = why.len == 0 && !why.failed;
	if (!good)
		tp_error("%s", tp_buf_reason(&why));
	tp_buf_free(&why);
	if (m->succession.from == NULL)
		return good;
	m->fds.predecessor = m->succession.from->channel_fd;
	m->succession.from->channel_fd = -1;
	m->succession.state = SUCCESSION_STARTING;
	m->config->generation = m->succession.from->generation + 1;
	return true;
}

bool tp_succession_pending(const struct master *m)
{
	return m->succession.state == SUCCESSION_STARTING || m->succession.state == SUCCESSION_TOLD;
}

bool tp_succession_lock(struct master *m)
{
	struct tp_inheritance *in = m->succession.from;
	const char *name = m->config->state.name;
	if (strcmp(name, in->state_name) != 0) {
		tp_error("state.name is %s and the running server's is %s: that needs a restart", name,
			 in->state_name);
		return false;
	}
	if (!tp_instance_inherited(name, in->lock_fd)) {
		tp_error("the instance lock of %s was not handed over", name);
		return false;
	}
	m->fds.lock = in->lock_fd;
	in->lock_fd = -1;
	return true;
}

int tp_succession_open_table(struct master *m, struct tp_region_sizes sizes, struct tp_buf *why,
			     enum tp_region_result *ret_result)
{
	int error = tp_region_open_beside(m->config->state.name, sizes, why, &m->region, ret_result);
	m->succession.beside = error == 0 && *ret_result == TP_REGION_REPLACED;
	return error;
}

int tp_succession_open_listeners(struct master *m, struct tp_buf *why)
{
	struct tp_inheritance *in = m->succession.from;
	const struct tp_listeners_want want = {m->config->listeners, m->config->n_listeners, m->places.slots,
					       m->places.n};
	return tp_listeners_take_over(&in->public, in->slots, in->n_slots, &want, &m->listeners,
				      &m->succession.leaving, why);
}

/* ---- the handover */

static void own_table(struct master *m)
{
	int error = m->succession.beside ? tp_region_put_in_place(m->config->state.name) : 0;
	if (error != 0)
		tp_error("the fresh shared table does not get its name %s: %s; no command finds it until a "
			 "restart",
			 m->config->state.name, strerror(-error));
	m->succession.nameless = error != 0;
	m->succession.beside = false;
	if (m->fds.predecessor < 0)
		tp_region_drop_beside(m->config->state.name); /* what the predecessor had, which is gone */
	tp_number_set(m->region, TP_NUMBER_STARTED_MS, tp_clock_boot_ms());
	tp_number_set(m->region, TP_NUMBER_CONFIG_GENERATION, m->config->generation);
}

static void own_listeners(struct master *m)
{
	tp_listeners_begin(&m->listeners);
	tp_listeners_own_paths(&m->listeners, m->config->listeners);
	tp_admin_take_over(m->admin);
}

/* What this configuration does not want is the predecessor's until it takes nothing back any more. Then it
 * empties the queues. */
static void settle(struct master *m)
{
	const char word = TP_UPGRADE_STOPPED;
	struct succession *s = &m->succession;
	if (s->nameless)
		tp_region_drop(m->config->state.name); /* the predecessor's numbers, which stand still */
	tp_listeners_own_paths(&s->leaving, s->from->public.confs);
	tp_listeners_stop(&s->leaving);
	tp_listeners_close(&s->leaving);
	tp_admin_settle(m->admin, &s->from->admin);
	tp_inheritance_free(s->from);
	s->from = NULL;
	if (m->fds.predecessor >= 0)
		(void)send(m->fds.predecessor, &word, sizeof word, MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool tp_succession_settled(const struct master *m)
{
	return m->succession.from == NULL;
}

static void own_everything(struct master *m)
{
	const char *path = m->config->pid_file;
	int error = path != NULL ? tp_pidfile_write(path) : 0;
	if (error != 0)
		tp_error("cannot write the pid file %s: %s", path, strerror(-error));
	tp_instance_sign(m->fds.lock);
	own_table(m);
	own_listeners(m);
	m->succession.settles_ms = tp_clock_boot_ms() + SETTLE_MS;
	m->succession.state = SUCCESSION_DONE;
	tp_info("upgrade: this is the master now");
	tp_master_is_ready(m);
}

/* Nobody is left who could own it. */
static void lose_predecessor(struct master *m)
{
	(void)close(m->fds.predecessor);
	m->fds.predecessor = -1;
	tp_places_adopt(&m->places, m->region);
	if (!m->succession.beside)
		tp_region_drop_beside(m->config->state.name); /* its table, if ours has taken its name */
	if (tp_succession_pending(m))
		tp_warn("upgrade: the running server has ended before this one was ready; it goes on");
}

void tp_succession_ready(struct master *m)
{
	const char word = TP_UPGRADE_READY;
	if (m->fds.predecessor < 0) {
		own_everything(m);
		return;
	}
	(void)send(m->fds.predecessor, &word, sizeof word, MSG_DONTWAIT | MSG_NOSIGNAL);
	m->succession.state = SUCCESSION_TOLD;
	tp_debug("upgrade: ready; the running server is told");
}

uint64_t tp_succession_tick(struct master *m)
{
	struct succession *s = &m->succession;
	char word;
	ssize_t n = m->fds.predecessor >= 0 ? recv(m->fds.predecessor, &word, sizeof word, MSG_DONTWAIT) : -1;
	if (n == 0)
		lose_predecessor(m);
	if (s->state == SUCCESSION_TOLD && (m->fds.predecessor < 0 || (n == 1 && word == TP_UPGRADE_GO))) {
		own_everything(m);
		return 1;
	}
	if (s->state == SUCCESSION_DONE && !tp_succession_settled(m) &&
	    (m->fds.predecessor < 0 || (n == 1 && word == TP_UPGRADE_LET_GO) ||
	     tp_clock_boot_ms() >= s->settles_ms)) {
		settle(m);
		return 1; /* a reload or an upgrade may have waited for it */
	}
	return IDLE_MS;
}

void tp_succession_end(struct master *m)
{
	if (m->succession.beside)
		tp_region_drop_beside(m->config->state.name);
	bool owns = m->succession.state == SUCCESSION_DONE && !tp_succession_settled(m);
	if (owns && m->state == MASTER_FAILED && m->fds.predecessor >= 0) {
		tp_listeners_disown_paths(&m->listeners); /* it takes them back */
		tp_admin_retire(m->admin);
	} else if (owns) {
		settle(m);
	}
	tp_listeners_close(&m->succession.leaving);
	tp_inheritance_free(m->succession.from);
	if (m->fds.predecessor >= 0)
		(void)close(m->fds.predecessor);
}
