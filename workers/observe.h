/* Tells the worker's observer, if there is one: see workers/observer.h. */
#ifndef TP_WORKERS_OBSERVE_H
#define TP_WORKERS_OBSERVE_H

#include "workers/turn.h"

void tp_observe_send(const struct tp_turn *t);
/* `why`: the failure in plain words, where the provider gave no answer. */
void tp_observe_wait(const struct tp_turn *t, const struct tp_outcome *o, const struct tp_decision *d,
		     const char *why);
void tp_observe_check(const struct tp_provider_rt *p, bool good, const char *why);

#endif
