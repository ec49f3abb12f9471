/* What the tests of the decision start from: the default policy, outcomes, an untouched allowance. */
#ifndef TESTS_UNIT_RETRY_TURN_H
#define TESTS_UNIT_RETRY_TURN_H

#include <check.h>

#include "common/retry/decide.h"

static inline struct tp_retry_conf defaults(void)
{
	static const int transient[] = {500, 502, 503, 504, 520, 521, 522}, overload[] = {429, 529};
	struct tp_retry_conf p = {.deadline_ms = 120000,
				  .slow_attempt_ms = 15000,
				  .floor_ms = 1500,
				  .ceiling_ms = 60000,
				  .reset_sends = 3,
				  .reset_base_ms = 150,
				  .reset_cap_ms = 1000,
				  .transient_sends = 3,
				  .transient_base_ms = 400,
				  .transient_cap_ms = 5000,
				  .overload_sends = 4,
				  .overload_429_sends = 4,
				  .overload_base_ms = 1500,
				  .overload_cap_ms = 60000,
				  .budget_sends = 4,
				  .budget_reserve = 1};

	for (size_t i = 0; i < sizeof(transient) / sizeof(transient[0]); i++)
		p.transient_statuses.bits[transient[i] / 64] |= (uint64_t)1 << (transient[i] % 64);
	for (size_t i = 0; i < sizeof(overload) / sizeof(overload[0]); i++)
		p.overload_statuses.bits[overload[i] / 64] |= (uint64_t)1 << (overload[i] % 64);
	return p;
}

/* retry.profile: patient */
static inline struct tp_retry_conf patient(void)
{
	struct tp_retry_conf p = defaults();

	p.profile = TP_PROFILE_PATIENT;
	p.ceiling_ms = 300000;
	p.overload_sends = 6;
	p.overload_statuses.bits[503 / 64] |= (uint64_t)1 << (503 % 64);
	p.transient_statuses.bits[503 / 64] &= ~((uint64_t)1 << (503 % 64));
	p.budget_sends = 6;
	return p;
}

static inline struct tp_outcome answer(int status)
{
	return (struct tp_outcome){.stage = TP_STAGE_HEAD,
				   .cause = TP_CAUSE_ANSWER,
				   .status = status,
				   .told_ms = -1,
				   .should_retry = -1};
}

static inline struct tp_outcome failure(enum tp_stage stage, enum tp_cause cause)
{
	return (struct tp_outcome){.stage = stage, .cause = cause, .told_ms = -1, .should_retry = -1};
}

static inline struct tp_allowance plenty(void)
{
	return (struct tp_allowance){.base_left = true, .reserve_left = true, .deadline_left_ms = 120000};
}

static inline void expect_again(struct tp_decision d, enum tp_class klass)
{
	ck_assert_int_eq(d.action, TP_ACT_SEND_AGAIN);
	ck_assert_int_eq(d.klass, klass);
	ck_assert(!d.stop && !d.give_back);
	ck_assert_int_eq(d.code != TP_CODE_NONE, d.ambiguous);
	ck_assert_ptr_nonnull(d.reason);
}

#endif
