#include "workers/overhead.h"

#include "common/base/clock.h"
#include "workers/attempt.h"

static uint64_t from_to(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

void tp_overhead_run(struct tp_overhead *o)
{
	if (o->since_us == 0)
		o->since_us = tp_clock_mono_us();
}

void tp_overhead_stand(struct tp_overhead *o)
{
	if (o->since_us != 0)
		o->sum_us += from_to(o->since_us, tp_clock_mono_us());
	o->since_us = 0;
}

void tp_overhead_heard(struct tp_overhead *o, const struct tp_attempt *a)
{
	uint64_t heard = a->heard_us > o->heard_us ? a->heard_us : tp_clock_mono_us();
	if (o->since_us != 0) {
		uint64_t until = a->written_us != 0 ? a->written_us : heard;
		uint64_t connecting = a->dialled_us != 0 && a->connected_us != 0
					      ? from_to(a->dialled_us, a->connected_us)
					      : 0;
		o->sum_us += from_to(o->since_us + connecting, until);
	}
	o->heard_us = o->since_us = heard;
}

uint64_t tp_overhead_total(const struct tp_overhead *o)
{
	return o->sum_us + (o->since_us != 0 ? from_to(o->since_us, tp_clock_mono_us()) : 0);
}
