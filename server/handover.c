/* A reload as the supervisor sees it: what each worker has been told, and what it has answered. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "server/supervisor.h"

enum { POLL_MS = 5, RETRY_MS = 50, IDLE_WAKE_MS = 1000 };

static bool lives(const struct slot *slot)
{
	return slot->state != SLOT_AWAY && slot->retire_ends_ms == 0;
}

/* ---- telling */

/* False: the channel is full or gone; it is tried again. */
static bool post(const struct tp_supervisor *s, unsigned to, const struct tp_control_message *m,
		 const int *fds, size_t n)
{
	union {
		char bytes[CMSG_SPACE(TP_CONTROL_SOCKETS_MAX * sizeof(int))];
		struct cmsghdr align;
	} beside = {{0}};
	struct iovec v = {(void *)(uintptr_t)m, sizeof *m};
	struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};
	if (n > 0) {
		h.msg_control = beside.bytes;
		h.msg_controllen = CMSG_SPACE(n * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	return s->control_fds[to] >= 0 &&
	       sendmsg(s->control_fds[to], &h, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof *m;
}

static bool post_word(const struct tp_supervisor *s, unsigned to, enum tp_control what, unsigned slot)
{
	const struct tp_control_message m = {
		.what = (uint8_t)what, .slot = (uint8_t)slot, .attempt = s->attempt};
	return post(s, to, &m, NULL, 0);
}

static bool post_sockets(const struct tp_supervisor *s, unsigned to, struct slot_reload *r)
{
	const struct tp_listeners *added = s->spawn.handover->added;
	while (r->sockets_told < added->n_sockets) {
		struct tp_control_message m = {.what = TP_CONTROL_SOCKETS, .attempt = s->attempt};
		int fds[TP_CONTROL_SOCKETS_MAX];
		size_t n = 0;
		for (size_t i = r->sockets_told; i < added->n_sockets && n < TP_CONTROL_SOCKETS_MAX;
		     i++, n++) {
			fds[n] = added->sockets[i].fd;
			m.sockets[n].conf = (uint16_t)added->sockets[i].conf;
			m.sockets[n].slot = (int16_t)added->sockets[i].slot;
		}
		m.n_sockets = (uint8_t)n;
		if (!post(s, to, &m, fds, n))
			return false;
		r->sockets_told += n;
	}
	return true;
}

static void post_handover(const struct tp_supervisor *s, unsigned to, struct slot_reload *r)
{
	const struct tp_control_message m = {.what = TP_CONTROL_PREPARE, .attempt = s->attempt};
	if (!r->told && post_sockets(s, to, r))
		r->told = post(s, to, &m, &s->spawn.handover->bundle_fd, 1);
}

static bool post_forgets(const struct tp_supervisor *s, unsigned to, struct slot_reload *r)
{
	for (unsigned slot = 0; slot < TP_SHM_SLOTS; slot++) {
		uint8_t bit = (uint8_t)(1 << slot % 8);
		if ((r->forget[slot / 8] & bit) == 0)
			continue;
		if (!post_word(s, to, TP_CONTROL_FORGET, slot))
			return false;
		r->forget[slot / 8] = (uint8_t)(r->forget[slot / 8] & ~bit);
	}
	return true;
}

static void post_due(const struct tp_supervisor *s, unsigned to, struct slot_reload *r)
{
	static const struct {
		enum slot_due due;
		enum tp_control what;
	} words[] = {{DUE_SWITCH, TP_CONTROL_SWITCH},
		     {DUE_ABORT, TP_CONTROL_ABORT},
		     {DUE_CLOSE, TP_CONTROL_CLOSE}};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if ((r->due & words[i].due) != 0) {
			if (!post_word(s, to, words[i].what, 0))
				return;
			r->due = (uint8_t)(r->due & ~words[i].due);
		}
	if ((r->due & DUE_FORGET) != 0 && post_forgets(s, to, r))
		r->due = (uint8_t)(r->due & ~DUE_FORGET);
}

void tp_handover_tick(struct tp_supervisor *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct slot *slot = &s->slots[i];
		if (!lives(slot))
			continue;
		if (slot->reload.due != 0)
			post_due(s, i, &slot->reload);
		else if (s->spawn.handover != NULL)
			post_handover(s, i, &slot->reload);
	}
}

bool tp_supervisor_idle(const struct tp_supervisor *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (lives(&s->slots[i]) && s->slots[i].reload.due != 0)
			return false;
	return true;
}

uint64_t tp_handover_wake(const struct tp_supervisor *s)
{
	if (s->spawn.handover != NULL || !tp_supervisor_switched(s))
		return POLL_MS;
	return tp_supervisor_idle(s) ? IDLE_WAKE_MS : RETRY_MS;
}

/* ---- answers */

void tp_handover_hear(struct tp_supervisor *s, unsigned from, const struct tp_report_message *m, size_t n)
{
	struct slot *slot = &s->slots[from];
	struct slot_reload *r = &slot->reload;
	if (m->when_ms != s->attempt)
		return;
	switch ((enum tp_report)m->what) {
	case TP_REPORT_PREPARED: r->ready = s->spawn.handover != NULL; break;
	case TP_REPORT_SWITCHED: r->switched = true; break;
	case TP_REPORT_CANNOT:
		r->refused = true;
		if (s->refusal.len == 0)
			tp_buf_printf(&s->refusal, "worker %u: %.*s", slot->number,
				      (int)(n - offsetof(struct tp_report_message, json)), m->json);
		break;
	case TP_REPORT_ALERT: break;
	}
}

enum tp_handed tp_supervisor_handed(const struct tp_supervisor *s, struct tp_buf *why)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->slots[i].reload.refused) {
			tp_buf_add_str(why, tp_buf_str(&s->refusal));
			return TP_HANDED_REFUSED;
		}
	for (unsigned i = 0; i < s->n; i++)
		if (lives(&s->slots[i]) && !s->slots[i].reload.ready) {
			tp_buf_printf(why, "worker %u (pid %ld) gave no answer in time", s->slots[i].number,
				      (long)s->slots[i].pid);
			return TP_HANDED_PENDING;
		}
	return TP_HANDED_READY;
}

bool tp_supervisor_switched(const struct tp_supervisor *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (lives(&s->slots[i]) && s->slots[i].reload.ready && !s->slots[i].reload.switched)
			return false;
	return true;
}

/* ---- the steps */

/* Room for as many more as the switch may bring. */
static bool make_room(struct tp_supervisor *s, unsigned more)
{
	struct slot *slots = reallocarray(s->slots, s->n + more, sizeof *slots);
	if (slots == NULL)
		return false;
	s->slots = slots;
	int *fds = reallocarray(s->control_fds, s->n + more, sizeof *fds);
	if (fds == NULL)
		return false;
	s->control_fds = fds;
	return true;
}

bool tp_supervisor_prepare(struct tp_supervisor *s, const struct tp_handover *h, unsigned n)
{
	if (!make_room(s, n))
		return false;
	s->spawn.handover = h;
	s->attempt = h->attempt;
	tp_buf_free(&s->refusal);
	for (unsigned i = 0; i < s->n; i++)
		s->slots[i].reload = (struct slot_reload){0};
	tp_handover_tick(s);
	return true;
}

void tp_supervisor_abort(struct tp_supervisor *s)
{
	s->spawn.handover = NULL;
	for (unsigned i = 0; i < s->n; i++) {
		struct slot_reload *r = &s->slots[i].reload;
		bool knows = r->told || r->sockets_told > 0;
		*r = (struct slot_reload){.due = knows ? DUE_ABORT : 0};
	}
	tp_handover_tick(s);
}

static bool has(const uint8_t *slots, unsigned n, uint8_t number)
{
	return n > 0 && memchr(slots, number, n) != NULL;
}

static void add_slot(struct tp_supervisor *s, uint8_t number)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->slots[i].number == number && !s->slots[i].retiring)
			return;
	s->slots[s->n] = (struct slot){.number = number, .served_by = NOBODY};
	s->control_fds[s->n] = -1;
	s->n++;
}

void tp_supervisor_switch(struct tp_supervisor *s, struct tp_config *config, const uint8_t *slots, unsigned n,
			  const struct tp_listeners *leaving)
{
	s->spawn.handover = NULL;
	s->spawn.config = config;
	s->spawn.slots = slots;
	s->spawn.n_slots = n;
	s->spawn.leaving = leaving;
	for (unsigned i = 0; i < s->n; i++) {
		struct slot *slot = &s->slots[i];
		slot->retiring = slot->retiring || !has(slots, n, slot->number);
		if (lives(slot))
			slot->reload.due = DUE_SWITCH;
	}
	for (unsigned i = 0; i < n; i++)
		add_slot(s, slots[i]);
	tp_handover_tick(s);
}

void tp_supervisor_close_leaving(struct tp_supervisor *s, uint64_t drain_ms)
{
	uint64_t now = tp_clock_boot_ms();
	uint8_t forget[32] = {0};
	s->spawn.leaving = NULL;
	for (unsigned i = 0; i < s->n; i++) {
		struct slot *slot = &s->slots[i];
		if (!slot->retiring || slot->retire_ends_ms != 0)
			continue;
		slot->retire_ends_ms = now + drain_ms + 1;
		forget[slot->number / 8] = (uint8_t)(forget[slot->number / 8] | 1 << slot->number % 8);
		tp_info("worker %u retires: it finishes what is running, for up to %llu s", slot->number,
			(unsigned long long)drain_ms / 1000);
	}
	for (unsigned i = 0; i < s->n; i++) {
		struct slot_reload *r = &s->slots[i].reload;
		if (!lives(&s->slots[i]) || !(r->ready || r->switched))
			continue; /* forked since: it knows nothing of them */
		r->due = (uint8_t)(r->due | DUE_CLOSE | DUE_FORGET);
		memcpy(r->forget, forget, sizeof forget);
	}
	tp_handover_tick(s);
}
