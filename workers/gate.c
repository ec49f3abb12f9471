#include "workers/gate.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "workers/dispatch.h"
#include "workers/numbers.h"
#include "workers/runtime.h"
#include "workers/turn.h"
#include "workers/worker.h"

enum {
	SWEEP_MS = 100,
	PATIENCE = 10 /* sweeps: a permit that lies about for a second is not being fetched by its worker */
};

TAILQ_HEAD(line, tp_turn);

struct tp_gates {
	struct tp_worker *worker;
	const int *wake_fds;
	struct line lines[TP_GATES]; /* who waits in this worker, lowest ticket first */
	unsigned waiting;            /* in all of them */
	uint32_t limits[TP_GATES];   /* of the present configuration; TP_LIMIT_OFF: it has none */
	struct event woken;
	struct tp_timer sweep;
	struct tp_deferred look;
};

/* A turn ends on the configuration that it began with, but a provider that now takes less takes less from it,
 * too. */
static uint32_t limit_of(const struct tp_provider_rt *p)
{
	uint32_t now = p->worker->gates->limits[p->gate];
	uint32_t limit = now != TP_LIMIT_OFF ? now : p->conf->capacity_limit;
	return limit == TP_LIMIT_AUTO ? tp_gate_learned(p->worker->region, p->gate) : limit;
}

void tp_gates_enter(struct tp_gates *g, const struct tp_runtime *r)
{
	for (unsigned i = 0; i < TP_GATES; i++)
		g->limits[i] = TP_LIMIT_OFF;
	for (size_t i = 0; i < r->config->n_providers; i++)
		if (r->providers[i].gate < TP_GATES)
			g->limits[r->providers[i].gate] = r->config->providers[i].capacity_limit;
	if (g->waiting > 0)
		tp_worker_defer(g->worker, &g->look); /* more may go now */
}

/* A permit is free and somebody waits for it: its worker is told. `looked`: this one has just looked. */
static void wake_next(struct tp_gates *g, const struct tp_provider_rt *p, bool looked)
{
	uint8_t slot;
	uint64_t one = 1;
	if (!tp_gate_next(g->worker->region, p->gate, limit_of(p), &slot))
		return;
	if (slot == g->worker->stamp.slot) {
		if (!looked)
			tp_worker_defer(g->worker, &g->look);
	} else if (write(g->wake_fds[slot % TP_WAKE_FDS], &one, sizeof one) < 0) {
		tp_debug("worker %u is not woken: its sweep will find it", (unsigned)slot);
	}
}

/* ---- the queue */

static void arm_sweep(struct tp_gates *g)
{
	if (g->waiting > 0 && g->sweep.deadline == 0)
		tp_timer_set(&g->sweep, SWEEP_MS);
}

static void join_line(struct tp_gates *g, struct tp_turn *t)
{
	struct line *line = &g->lines[t->gate.provider->gate];
	struct tp_turn *after = TAILQ_LAST(line, line);
	while (after != NULL && after->gate.ticket.number > t->gate.ticket.number)
		after = TAILQ_PREV(after, line, gate.link);
	if (after != NULL)
		TAILQ_INSERT_AFTER(line, after, t, gate.link);
	else
		TAILQ_INSERT_HEAD(line, t, gate.link);
	t->gate.queued = true;
	t->gate.passed_over = 0;
	t->gate.since_ms = tp_clock_boot_ms();
	g->waiting++;
	tp_numbers_queued(t->gate.provider, 1);
	arm_sweep(g);
}

static void leave_line(struct tp_gates *g, struct tp_turn *t)
{
	if (!t->gate.queued)
		return;
	TAILQ_REMOVE(&g->lines[t->gate.provider->gate], t, gate.link);
	t->gate.queued = false;
	g->waiting--;
	tp_numbers_queued(t->gate.provider, -1);
	tp_numbers_wait(g->worker, (uint32_t)(tp_clock_boot_ms() - t->gate.since_ms));
}

static enum tp_gate_answer ask(struct tp_turn *t, bool impatient)
{
	const struct tp_provider_conf *conf = t->gate.provider->conf;
	return tp_gate_ask(t->worker->region, t->worker->stamp, t->gate.provider->gate,
			   limit_of(t->gate.provider), conf->capacity_queue, impatient, tp_clock_boot_ms(),
			   &t->gate.ticket, &t->gate.permit);
}

/* ---- those who wait */

/* Lets go who may, in order. */
static void serve(struct tp_gates *g, struct line *line)
{
	struct tp_turn *t;
	const struct tp_provider_rt *p = NULL;
	while ((t = TAILQ_FIRST(line)) != NULL) {
		p = t->gate.provider;
		if (ask(t, t->gate.passed_over >= PATIENCE) != TP_GATE_GO)
			break;
		leave_line(g, t);
		tp_debug("turn %s: its turn at %s has come", t->id, p->conf->name);
		tp_dispatch_again(t);
	}
	if (p != NULL)
		wake_next(g, p, true);
}

static void look(void *arg)
{
	struct tp_gates *g = arg;
	for (unsigned i = 0; i < TP_GATES && g->waiting > 0; i++)
		serve(g, &g->lines[i]);
}

static void on_woken(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	look(arg);
}

static void on_sweep(void *arg)
{
	struct tp_gates *g = arg;
	struct tp_region *r = g->worker->region;
	for (unsigned i = 0; i < TP_GATES; i++) {
		struct tp_turn *t = TAILQ_FIRST(&g->lines[i]);
		if (t == NULL)
			continue;
		if (t->gate.provider->conf->capacity_limit == TP_LIMIT_AUTO)
			(void)tp_gate_grow(r, t->gate.provider->gate, tp_clock_boot_ms());
		bool lies = tp_gate_in_progress(r, t->gate.provider->gate) < limit_of(t->gate.provider);
		t->gate.passed_over =
			lies ? (uint8_t)(t->gate.passed_over + (t->gate.passed_over < PATIENCE)) : 0;
	}
	look(g);
	arm_sweep(g);
}

/* ---- for turns */

static struct tp_obstacle turned_away(const struct tp_turn *t, enum tp_code code)
{
	const struct tp_provider_rt *p = t->gate.provider;
	uint32_t limit = limit_of(p);
	/* What comes of it has a line of its own: another target is asked, or the turn ends with this code.
	 */
	tp_debug("turn %s: %s is at its capacity of %u: %s", t->id, p->conf->name, limit, tp_code_name(code));
	return (struct tp_obstacle){.kind = TP_OBSTACLE_ENDS,
				    .code = code,
				    .left_ms = tp_gate_backlog_ms(t->worker->region, p->gate, limit),
				    .elsewhere = "is at its capacity"};
}

static struct tp_obstacle wait_in_line(struct tp_turn *t)
{
	uint64_t now = tp_clock_boot_ms(), wait = t->gate.provider->conf->capacity_wait_ms;
	uint64_t left = t->deadline_ms > now ? t->deadline_ms - now : 0;
	/* What was taken for this send is free for others meanwhile; it is asked for again. */
	tp_waits_put_back(t);
	wait = wait < left ? wait : left;
	join_line(t->worker->gates, t);
	tp_debug("turn %s: waits for its turn at %s", t->id, t->gate.provider->conf->name);
	return (struct tp_obstacle){.kind = TP_OBSTACLE_HOLDS,
				    .wait = TP_OPEN_WAIT_CAPACITY,
				    .until_ms = now + wait,
				    .again_ms = wait};
}

bool tp_turn_gate_may_send(struct tp_turn *t, enum tp_class klass, struct tp_obstacle *ret)
{
	struct tp_turn_gate *g = &t->gate;
	if (t->provider->gate == TP_GATE_NONE || g->permit.word != 0)
		return true;
	/* Without budget there is nothing to wait for: the dispatch says so. */
	if (!tp_ledger_fits(&t->ledger, &t->limits, klass))
		return true;
	if (g->provider != t->provider)
		*g = (struct tp_turn_gate){.provider = t->provider};
	switch (ask(t, false)) {
	case TP_GATE_GO: return true;
	case TP_GATE_QUEUED: *ret = wait_in_line(t); break;
	case TP_GATE_FULL: *ret = turned_away(t, TP_CODE_CAPACITY_QUEUE_FULL); break;
	}
	return false;
}

void tp_turn_gate_expired(const struct tp_turn *t, struct tp_obstacle *ret)
{
	*ret = turned_away(t, TP_CODE_CAPACITY_WAIT_EXPIRED);
}

void tp_turn_gate_leave(struct tp_turn *t)
{
	struct tp_turn_gate *g = &t->gate;
	if (g->permit.word == 0 && g->ticket.word == 0)
		return;
	leave_line(t->worker->gates, t);
	tp_gate_give_back(t->worker->region, g->provider->gate, &g->permit, tp_clock_boot_ms());
	tp_gate_leave(t->worker->region, g->provider->gate, &g->ticket);
	wake_next(t->worker->gates, g->provider, false);
}

void tp_turn_gate_learn(struct tp_turn *t, const struct tp_outcome *o)
{
	const struct tp_provider_rt *p = t->provider;
	if (!o->capacity || p->gate == TP_GATE_NONE || p->conf->capacity_limit != TP_LIMIT_AUTO)
		return;
	struct tp_region *r = t->worker->region;
	uint32_t others = tp_gate_in_progress(r, p->gate), was = tp_gate_learned(r, p->gate);
	others -= others > 0 && t->gate.permit.word != 0;
	uint32_t now = tp_gate_refused(r, p->gate, others, o->capacity_told, tp_clock_boot_ms());
	if (now != was)
		tp_info("provider %s: takes %u requests at once, it seems", p->conf->name, now);
}

/* ---- begin and end */

struct tp_gates *tp_gates_new(struct tp_worker *w, const int *wake_fds)
{
	struct tp_gates *g = calloc(1, sizeof *g);
	if (g == NULL)
		return NULL;
	g->worker = w;
	g->wake_fds = wake_fds;
	g->look = (struct tp_deferred){.fn = look, .arg = g};
	for (unsigned i = 0; i < TP_GATES; i++)
		TAILQ_INIT(&g->lines[i]);
	tp_timer_init(&g->sweep, w->base, on_sweep, g);
	/* Edges: each write wakes, and nobody has to read. */
	(void)event_assign(&g->woken, w->base, wake_fds[w->stamp.slot % TP_WAKE_FDS],
			   EV_READ | EV_PERSIST | EV_ET, on_woken, g);
	(void)event_add(&g->woken, NULL);
	return g;
}

void tp_gates_free(struct tp_gates *g)
{
	if (g == NULL)
		return;
	(void)event_del(&g->woken);
	tp_timer_close(&g->sweep);
	tp_worker_undefer(g->worker, &g->look);
	free(g);
}
