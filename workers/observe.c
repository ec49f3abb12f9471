#include "workers/observe.h"

#include <stdio.h>

#include "common/http/answer.h"
#include "workers/observer.h"

static void tell(const struct tp_provider_rt *p, struct tp_notice *n)
{
	const struct tp_observer *o = p->worker->observer;
	(void)snprintf(n->provider, sizeof n->provider, "%s", p->conf->name);
	o->tell(o->arg, n);
}

void tp_observe_send(const struct tp_turn *t)
{
	if (t->worker->observer == NULL)
		return;
	struct tp_notice n = {.kind = TP_NOTICE_SEND, .send = t->ledger.used};
	tell(t->provider, &n);
}

/* The provider's own word for it: how full the model is, else the code of its error. */
static void say_answer(const struct tp_saved_answer *s, struct tp_notice *n)
{
	const struct tp_field *f = tp_head_find(s->head, TP_FIELD_X_CODEX_MODEL_CAPACITY);
	struct tp_answer_error e;
	if (f != NULL) {
		struct tp_str full = tp_span_str(s->bytes, f->value);
		(void)snprintf(n->words, sizeof n->words, "capacity %.*s", (int)full.n, full.p);
		return;
	}
	if (s->error != NULL)
		e = *s->error;
	else if (!tp_answer_error_body(tp_buf_str(&s->body), &e))
		return;
	(void)snprintf(n->words, sizeof n->words, "%s", e.code[0] != '\0' ? e.code : e.type);
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

void tp_observe_wait(const struct tp_turn *t, const struct tp_outcome *o, const struct tp_decision *d,
		     const char *why)
{
	if (t->worker->observer == NULL)
		return;
	struct tp_notice n = {
		.kind = TP_NOTICE_WAIT,
		.status = (uint16_t)o->status,
		.wait_ms = d->wait_ms,
		.send = t->ledger.used + 1,
		.most = least(t->ledger.used + d->retries_left,
			      tp_class_may_take_reserve(d->klass) ? t->limits.total : t->limits.base),
	};
	if (o->cause == TP_CAUSE_ANSWER && t->saved != NULL)
		say_answer(t->saved, &n);
	else
		(void)snprintf(n.words, sizeof n.words, "%s", why);
	tell(t->provider, &n);
}

void tp_observe_check(const struct tp_provider_rt *p, bool good, const char *why)
{
	if (p->worker->observer == NULL)
		return;
	struct tp_notice n = {.kind = TP_NOTICE_CHECKED, .good = good};
	(void)snprintf(n.words, sizeof n.words, "%s", why);
	tell(p, &n);
}
