/* Tells the worker's observer, if there is one: see workers/observer.h. */
#ifndef TP_WORKERS_OBSERVE_H
#define TP_WORKERS_OBSERVE_H

#include "workers/turn.h"

/* The present send was charged, and begins. */
void tp_observe_send(const struct tp_turn *t);
/* `why`: the failure in plain words, where the provider gave no answer. */
void tp_observe_wait(const struct tp_turn *t, const struct tp_outcome *o, const struct tp_decision *d,
		     const char *why);
/* The check of a provider at start has ended; `why`: what was found, in plain words. */
void tp_observe_check(const struct tp_provider_rt *p, bool good, const char *why);

#endif
