#include "workers/open_turns.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "workers/record.h"
#include "workers/turn.h"

enum { SLOW_MS = 1000 };

void tp_open_turns_begin(struct tp_turn *t)
{
	TAILQ_INSERT_TAIL(&t->worker->turns, t, open.link);
}

void tp_open_turns_end(struct tp_turn *t)
{
	TAILQ_REMOVE(&t->worker->turns, t, open.link);
	if (t->open.place != 0)
		tp_open_turn_drop(t->worker->region, t->worker->stamp, t->open.place - 1u);
}

static enum tp_open_state state_of(const struct tp_turn *t)
{
	switch (t->state) {
	case TP_TURN_RECEIVE: return TP_OPEN_RECEIVING;
	case TP_TURN_JOIN: return TP_OPEN_JOINING;
	case TP_TURN_WAIT: return TP_OPEN_WAITING;
	case TP_TURN_SEND: break;
	case TP_TURN_FLOW:
	case TP_TURN_OVER: return TP_OPEN_STREAMING;
	}
	return t->relay.mode != TP_RELAY_NONE ? TP_OPEN_HOLDING
	       : t->attempt.up == NULL        ? TP_OPEN_CONNECTING
					      : TP_OPEN_SENDING;
}

static uint64_t until_of(const struct tp_turn *t)
{
	return t->state == TP_TURN_WAIT ? t->open.until_ms : t->state == TP_TURN_JOIN ? t->deadline_ms : 0;
}

/* The name of a model is the client's word: what is none by its looks, or is long, is not shown. */
static bool is_name(const char *p, size_t n)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:/@+";
	for (size_t i = 0; i < n; i++)
		if (memchr(allowed, p[i], sizeof allowed - 1) == NULL)
			return false;
	return n > 0;
}

static void say_model(const struct tp_turn_waits *w, char *out, size_t size)
{
	if (w->model_n < size && is_name(w->model, w->model_n))
		(void)snprintf(out, size, "%.*s", (int)w->model_n, w->model);
}

#define PUT(field, text) ((void)snprintf((field), sizeof(field), "%s", (text)))

static void publish(struct tp_turn *t, unsigned place)
{
	struct tp_open_turn o = {.begun_ms = t->begun_ms,
				 .until_ms = until_of(t),
				 .sends = tp_turn_about(t).sends,
				 .state = (uint8_t)state_of(t),
				 .wait = t->state == TP_TURN_WAIT ? t->open.wait : TP_OPEN_WAIT_NONE,
				 .klass = (uint8_t)t->klass};
	char logical[TP_LOGICAL_SIZE];
	tp_record_logical(t, logical);
	PUT(o.id, t->id);
	PUT(o.logical, logical);
	PUT(o.family, tp_family_name(t->family));
	PUT(o.provider, t->provider != NULL ? t->provider->conf->name : "");
	say_model(&t->waits, o.model, sizeof o.model);
	tp_open_turn_put(t->worker->region, t->worker->stamp, place, &o);
	t->open.place = (uint8_t)(place + 1);
}

/* The list is in the order of time: who has a place is among the first, and those are written anew. */
void tp_open_turns_publish(struct tp_worker *w)
{
	uint64_t now = tp_clock_boot_ms();
	unsigned place = 0;
	struct tp_turn *t;
	TAILQ_FOREACH(t, &w->turns, open.link)
	{
		if (place == TP_OPEN_TURNS || now - t->begun_ms < SLOW_MS)
			break;
		publish(t, place++);
	}
	for (unsigned over = place; over < w->n_published; over++)
		tp_open_turn_drop(w->region, w->stamp, over);
	w->n_published = place;
}
