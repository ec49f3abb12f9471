/*
 * Breaker, cooldowns, shared waits, series, gates, tokens and rounds on arbitrary bytes: a damaged
 * table must not crash, hang, or keep anything out or waiting for longer than its kind may last.
 *
 * Input: PART OFFSET_LO OFFSET_HI BYTES... overwrites one part of the table, once more or less often; the
 * bytes are repeated to the end of what fits.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "common/shm/layout.h"
#include "common/shm/rounds.h"
#include "tests/unit/dies.h"

enum { NOW_MS = 5000000, APART_MS = 60000, /* clocks of processes */ GAP_MS = 300000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_breaker(struct tp_region *r, struct tp_stamp owner)
{
	const struct tp_breaker_policy policy = {2, 300000, 600000, owner.slot & 1};
	for (unsigned n = 0; n < 24; n++) {
		const char path[3] = {'/', (char)('a' + n % 6), '\0'};
		const struct tp_breaker_url u =
			tp_breaker_url(r, TP_STR("p"), TP_STR("http://h"), tp_str_from(path));
		struct tp_breaker_pass pass;
		uint64_t wait;
		if (tp_breaker_ask(r, owner, &u, &policy, NOW_MS + n, &pass, &wait) != TP_BREAKER_LISTED)
			(void)tp_breaker_report(&pass, (enum tp_breaker_outcome)(n % 4), NOW_MS + n);
		else
			assert(wait >= 1000 && wait <= 3600000 + 60000);
		(void)tp_breaker_connect_check_due(r, u.base, 5000, NOW_MS);
		(void)tp_breaker_health_check_due(r, u.base, 5000, NOW_MS);
		if (n % 8 == 7) {
			(void)tp_breaker_clear_connection(r, u.base);
			(void)tp_breaker_clear_status(r, u.base);
		}
	}
	struct tp_breaker_row row;
	for (uint32_t cursor = 0; tp_breaker_next(r, &policy, &cursor, &row);)
		assert(strlen(row.url) < TP_BREAKER_URL && strlen(row.provider) < TP_BREAKER_PROVIDER &&
		       strpbrk(row.url, "\033\n") == NULL);
	(void)tp_breaker_clear(r, NULL);
	/* Cleared by hand is cleared, whatever was there. */
	for (uint32_t cursor = 0; tp_breaker_next(r, &policy, &cursor, &row);)
		assert(!row.listed);
}

static void use_cooldowns(struct tp_region *r, struct tp_stamp owner)
{
	for (unsigned n = 0; n < 8; n++) {
		const struct tp_cooldown_name name =
			tp_cooldown_target(r, TP_STR("p"), (struct tp_str){&"abcdefgh"[n], 1}, TP_STR("t"));
		const struct tp_cooldown c = {NOW_MS + 1000 * n, n & 1, (uint8_t)n};
		struct tp_cooldown_probe p = {0};
		uint64_t wait;
		struct tp_cooldown now;
		if (tp_cooldown_get(r, name.key, NOW_MS, &now))
			assert(now.until_ms <= NOW_MS + TP_COOLDOWN_MAX_MS + APART_MS);
		(void)tp_cooldown_set(r, owner, &name, c, NOW_MS);
		if (!tp_cooldown_take_probe(r, owner, name.key, n & 1 ? GAP_MS : 0, NOW_MS, &p, &wait))
			assert(wait <= GAP_MS + APART_MS);
		tp_cooldown_end_probe(&p, n & 2);
		(void)tp_cooldown_clear(r, name.key, NOW_MS);
		assert(!tp_cooldown_get(r, name.key, NOW_MS, NULL));
	}
	struct tp_cooldown_row row;
	for (uint32_t cursor = 0; tp_cooldown_next(r, NOW_MS, &cursor, &row);)
		assert(strlen(row.text) < TP_COOLDOWN_NAME &&
		       row.cooldown.until_ms <= NOW_MS + TP_COOLDOWN_MAX_MS + APART_MS);
	(void)tp_cooldown_clear_all(r, NOW_MS);
}

static void use_waits(struct tp_region *r, struct tp_stamp owner)
{
	for (uint64_t n = 0; n < 16; n++) {
		struct tp_hash128 key = tp_shared_wait_key(r, TP_STR("p"), TP_STR("m"), n % 4);
		struct tp_shared_wait_pass pass;
		uint64_t hold, left;
		if (n < 8)
			tp_shared_wait_begin(r, owner, key, TP_STR("codex/gpt-5"), NOW_MS + n, NOW_MS);
		if (tp_shared_wait_ask(r, owner, key, NOW_MS + 4, &pass, &hold, &left))
			tp_shared_wait_report(&pass, n & 1);
		else
			assert(hold <= TP_SHARED_WAIT_MAX_MS + APART_MS &&
			       left <= TP_SHARED_WAIT_MAX_MS + APART_MS);
	}
}

static void use_series(struct tp_region *r, struct tp_stamp owner)
{
	for (int m = 0; m < TP_METRIC_COUNT; m++) {
		const struct tp_str values[TP_METRIC_MAX_LABELS] = {TP_STR("a"), TP_STR("b"), TP_STR("c")};
		tp_series_add(r, owner.slot, tp_series_open(r, owner, (enum tp_metric)m, values), 1);
		struct tp_series_row row;
		for (uint32_t cursor = 0; tp_series_next(r, (enum tp_metric)m, &cursor, &row);)
			for (unsigned i = 0; i < row.n_values; i++)
				assert(strlen(row.values[i].p) == row.values[i].n);
	}
}

static void use_gate(struct tp_region *r, struct tp_stamp owner)
{
	tp_gate_id id = tp_gate_open(r, TP_STR("p"));
	for (uint32_t n = 0; n < 12; n++) {
		struct tp_gate_ticket ticket = {0};
		struct tp_gate_permit permit;
		uint8_t slot;
		enum tp_gate_answer a =
			tp_gate_ask(r, owner, id, n % 5 + 1, n % 3, n & 1, NOW_MS, &ticket, &permit);
		assert(a != TP_GATE_FULL || (permit.word == 0 && ticket.word == 0));
		(void)tp_gate_next(r, id, n, &slot);
		assert(tp_gate_backlog_ms(r, id, n) <= TP_GATE_BACKLOG_MAX_MS);
		assert(tp_gate_in_progress(r, id) <= TP_GATE_PERMITS &&
		       tp_gate_waiting(r, id) <= TP_GATE_TICKETS);
		uint32_t learned = tp_gate_refused(r, id, n, n % 4, NOW_MS);
		assert(learned >= 1 && learned <= TP_GATE_PERMITS);
		(void)tp_gate_grow(r, id, NOW_MS + 60000);
		tp_gate_give_back(r, id, &permit, NOW_MS);
		tp_gate_leave(r, id, &ticket);
	}
}

/* A damaged lease may hold until its owner is found dead; what is read as a token lies in its text. */
static void use_tokens(struct tp_region *r, struct tp_stamp owner)
{
	static struct tp_token t;
	for (unsigned n = 0; n < 4; n++) {
		tp_token_id id = tp_token_open(r, (struct tp_str){&"abab"[n], 1});
		if (id == TP_TOKEN_NONE)
			continue;
		assert(id < TP_TOKENS);
		if (tp_token_get(r, id, &t))
			assert(t.n <= TP_TOKEN_MAX);
		struct tp_token_lease lease = {0};
		uint64_t wait = 0, known = tp_token_generation(r, id);
		enum tp_token_taking taken = tp_token_take(r, id, owner, known, n & 1, NOW_MS, &lease, &wait);
		if (taken != TP_TOKEN_TAKEN) {
			assert(taken != TP_TOKEN_LATER || wait <= TP_TOKEN_LATER_MAX_MS + APART_MS);
			tp_token_proved(r, id, known);
			continue;
		}
		const struct tp_token next = {.expires_ms = NOW_MS + 60000, .n = 5, .text = "token"};
		if (n == 1)
			tp_token_failed(&lease, 1000, NOW_MS);
		else if (n == 2)
			tp_token_release(&lease);
		else
			tp_token_publish(&lease, &next, NOW_MS);
		if (n == 0 && known != UINT64_MAX)
			assert(tp_token_get(r, id, &t) && t.n == 5 && memcmp(t.text, "token", 5) == 0);
	}
}

static void use_rounds(struct tp_region *r)
{
	for (unsigned n = 0; n < 8; n++) {
		uint64_t a, b;
		struct tp_str combo = {&"abcdefgh"[n], 1};
		if (tp_round_next(r, combo, &a) && tp_round_next(r, combo, &b))
			assert(b == a + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4)
		return 0;
	struct tp_region *r;
	const struct tp_region_sizes sizes = {.logical_requests = 128, .urls = 16};
	int error = tp_region_open_anonymous(sizes, &r);
	assert(error == 0);
	/* The seed too, so that an input means the same each time. */
	memset(r->header->seed, 7, sizeof r->header->seed);
	const struct tp_part_place *part =
		&r->header->parts[TP_PART_SLOTS + data[0] % (TP_PART_LEDGER - TP_PART_SLOTS)];
	struct tp_stamp owner = tp_slot_assign(r, 1 + (data[0] >> 7));
	size_t at = (data[1] | (size_t)data[2] << 8) % part->size;
	for (size_t n = 0; n < 4096 && at + n < part->size; n++)
		((char *)r->header + part->offset + at)[n] = (char)data[3 + n % (size - 3)];
	for (int round = 0; round < 2; round++) {
		use_breaker(r, owner);
		use_cooldowns(r, owner);
		use_waits(r, owner);
		use_series(r, owner);
		use_gate(r, owner);
		use_tokens(r, owner);
		use_rounds(r);
	}
	worker_dies(r, owner.slot);
	tp_region_close(r);
	return 0;
}
