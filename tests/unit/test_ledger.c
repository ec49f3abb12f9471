/*
 * The rules of the ledger, as scripts: each line of a script is one call and what it must give. The clock is
 * the script's own, in milliseconds from its start.
 */
#include "tests/unit/dies.h"
#include "tests/unit/ledger_table.h"
#include "tests/unit/suite.h"

enum { STEPS = 40, TURNS = 6 };

enum op {
	OP_STOP,
	OP_AT,
	OP_JOIN,
	OP_SEND,
	OP_BACK,
	OP_SETTLE,
	OP_COMMIT,
	OP_REPLAY,
	OP_END,
	OP_DIE,
	OP_COUNT
};
enum who { NOBODY, ID, ID_OTHER, ID_OTHER_TEAM, FP, FP_AGAIN, FP_OTHER };

struct step {
	enum op op;
	int turn;
	enum who who;
	enum tp_class klass;
	struct tp_ledger_ending ending;
	uint64_t ms;
	int expect; /* enum tp_join, or a bool */
	uint32_t used;
	enum tp_code refusal;
	uint16_t status;
	uint32_t total, base; /* limits of this turn; 0 = those of the script */
};

struct script {
	const char *name;
	struct tp_ledger_limits limits;
	struct step steps[STEPS];
};

#define AT(t)                                                                                                \
	{                                                                                                    \
		.op = OP_AT, .ms = (t)                                                                       \
	}
#define NEW(n, w)                                                                                            \
	{                                                                                                    \
		.op = OP_JOIN, .turn = (n), .who = (w), .expect = TP_JOIN_NEW                                \
	}
#define AGAIN(n, w, u)                                                                                       \
	{                                                                                                    \
		.op = OP_JOIN, .turn = (n), .who = (w), .expect = TP_JOIN_AGAIN, .used = (u)                 \
	}
#define BUSY(n, w)                                                                                           \
	{                                                                                                    \
		.op = OP_JOIN, .turn = (n), .who = (w), .expect = TP_JOIN_BUSY                               \
	}
#define MEMORY(w, c, u)                                                                                      \
	{                                                                                                    \
		.op = OP_JOIN, .who = (w), .expect = TP_JOIN_MEMORY, .refusal = (c), .used = (u)             \
	}
#define SHOWN(w, s, u)                                                                                       \
	{                                                                                                    \
		.op = OP_JOIN, .who = (w), .expect = TP_JOIN_MEMORY, .status = (s), .used = (u)              \
	}
#define SEND(n, k, u)                                                                                        \
	{                                                                                                    \
		.op = OP_SEND, .turn = (n), .klass = TP_CLASS_##k, .expect = true, .used = (u)               \
	}
#define NO_SEND(n, k, u)                                                                                     \
	{                                                                                                    \
		.op = OP_SEND, .turn = (n), .klass = TP_CLASS_##k, .expect = false, .used = (u)              \
	}
#define BACK(n, k, u)                                                                                        \
	{                                                                                                    \
		.op = OP_BACK, .turn = (n), .klass = TP_CLASS_##k, .used = (u)                               \
	}
#define SETTLE(n)                                                                                            \
	{                                                                                                    \
		.op = OP_SETTLE, .turn = (n)                                                                 \
	}
#define COMMIT(n)                                                                                            \
	{                                                                                                    \
		.op = OP_COMMIT, .turn = (n)                                                                 \
	}
#define REPLAY(n, ok)                                                                                        \
	{                                                                                                    \
		.op = OP_REPLAY, .turn = (n), .expect = (ok)                                                 \
	}
#define END(n, e)                                                                                            \
	{                                                                                                    \
		.op = OP_END, .turn = (n), .ending = {.end = TP_END_##e }                                    \
	}
#define DECLINED(n, s)                                                                                       \
	{                                                                                                    \
		.op = OP_END, .turn = (n), .ending = {                                                       \
			.end = TP_END_DECLINED,                                                              \
			.status = (s),                                                                       \
			.code_index = 7                                                                      \
		}                                                                                            \
	}
#define REFUSED(n, c)                                                                                        \
	{                                                                                                    \
		.op = OP_END, .turn = (n), .ending = {.end = TP_END_REFUSED, .code = TP_CODE_##c }           \
	}
#define LATER(n, s, wait)                                                                                    \
	{                                                                                                    \
		.op = OP_END, .turn = (n), .ending = {                                                       \
			.end = TP_END_DECLINED,                                                              \
			.status = (s),                                                                       \
			.retry_after_ms = (wait)                                                             \
		}                                                                                            \
	}
#define DIE(n)                                                                                               \
	{                                                                                                    \
		.op = OP_DIE, .turn = (n)                                                                    \
	}
#define ENTRIES(n)                                                                                           \
	{                                                                                                    \
		.op = OP_COUNT, .used = (n)                                                                  \
	}

/* One turn that sends once and ends as `end`. */
#define ONCE(n, w, end) NEW(n, w), SEND(n, INITIAL, 1), SETTLE(n), end

/* Turn n runs in worker n % WORKERS. ttl is 10 min, rejoin 120 s. */
static const struct script scripts[] = {
	{"BU-1: transient draws on the base only",
	 {4, 3},
	 {NEW(0, ID), SEND(0, INITIAL, 1), SETTLE(0), SEND(0, TRANSIENT, 2), SETTLE(0), SEND(0, TRANSIENT, 3),
	  SETTLE(0), NO_SEND(0, TRANSIENT, 3), NO_SEND(0, RESET, 3), DECLINED(0, 500),
	  MEMORY(ID, TP_CODE_BUDGET_EXHAUSTED, 3)}},
	{"BU-8: overload may take the reserve, and not more",
	 {4, 3},
	 {NEW(0, ID), SEND(0, INITIAL, 1), SETTLE(0), SEND(0, OVERLOAD, 2), SETTLE(0), SEND(0, OVERLOAD, 3),
	  SETTLE(0), SEND(0, OVERLOAD, 4), SETTLE(0), NO_SEND(0, OVERLOAD, 4), NO_SEND(0, HOP, 4),
	  DECLINED(0, 429), MEMORY(ID, TP_CODE_BUDGET_EXHAUSTED, 4)}},
	{"the reserve opens behind a spent base for refresh, rotate and hop",
	 {6, 3},
	 {NEW(0, ID), SEND(0, INITIAL, 1), SEND(0, RESET, 2), SEND(0, TRANSIENT, 3), NO_SEND(0, TRANSIENT, 3),
	  SEND(0, REFRESH, 4), SEND(0, ROTATE, 5), SEND(0, HOP, 6), NO_SEND(0, HOP, 6)}},
	{"BU-4: the client's own calls share two sends",
	 {2, 2},
	 {NEW(0, ID), SEND(0, INITIAL, 1), SETTLE(0), SEND(0, TRANSIENT, 2), SETTLE(0),
	  NO_SEND(0, OVERLOAD, 2), DECLINED(0, 503), AT(200), MEMORY(ID, TP_CODE_BUDGET_EXHAUSTED, 2),
	  AT(400), MEMORY(ID, TP_CODE_BUDGET_EXHAUSTED, 2)}},
	{"BU-5: zero is zero", {0, 0}, {NEW(0, ID), NO_SEND(0, INITIAL, 0), REFUSED(0, BUDGET_EXHAUSTED)}},
	{"BU-5: zero is zero without a record", {0, 0}, {NEW(0, NOBODY), NO_SEND(0, INITIAL, 0)}},
	{"BU-6: one send", {1, 1}, {NEW(0, FP), SEND(0, INITIAL, 1), SETTLE(0), NO_SEND(0, OVERLOAD, 1)}},
	{"a base of zero leaves the reserve to those that may take it",
	 {1, 0},
	 {NEW(0, ID), NO_SEND(0, INITIAL, 0), SEND(0, HOP, 1), NO_SEND(0, HOP, 1)}},
	{"the limit is each turn's own",
	 {4, 3},
	 {ONCE(0, ID, DECLINED(0, 503)),
	  {.op = OP_JOIN,
	   .who = ID,
	   .expect = TP_JOIN_MEMORY,
	   .refusal = TP_CODE_BUDGET_EXHAUSTED,
	   .used = 1,
	   .total = 1,
	   .base = 1},
	  AGAIN(1, ID, 1),
	  SEND(1, INITIAL, 2)}},
	{"the largest limit",
	 {127, 127},
	 {NEW(0, ID), SEND(0, INITIAL, 1), SEND(0, INITIAL, 2), SEND(0, INITIAL, 3), DECLINED(0, 503),
	  AGAIN(0, ID, 3)}},
	{"what was not written is given back",
	 {2, 1},
	 {NEW(0, ID), SEND(0, INITIAL, 1), BACK(0, INITIAL, 0), SEND(0, INITIAL, 1), SETTLE(0),
	  BACK(0, INITIAL, 1), SEND(0, HOP, 2), BACK(0, HOP, 1), NO_SEND(0, INITIAL, 1), SEND(0, HOP, 2),
	  BACK(0, HOP, 1), BACK(0, HOP, 1), DECLINED(0, 503), MEMORY(ID, TP_CODE_BUDGET_EXHAUSTED, 1)}},
	{"without a record the turn counts for itself",
	 {2, 2},
	 {NEW(0, NOBODY), SEND(0, INITIAL, 1), BACK(0, INITIAL, 0), SEND(0, INITIAL, 1), SEND(0, RESET, 2),
	  NO_SEND(0, RESET, 2), END(0, SUCCESS), NEW(1, NOBODY), SEND(1, INITIAL, 1), ENTRIES(0)}},
	{"nothing sent, nothing remembered",
	 {4, 3},
	 {NEW(0, ID), SEND(0, INITIAL, 1), BACK(0, INITIAL, 0), ENTRIES(1), DECLINED(0, 502), ENTRIES(0),
	  NEW(1, ID)}},

	/* ids */
	{"ID-2: another client's same name is another logical request",
	 {4, 3},
	 {ONCE(0, ID, DECLINED(0, 503)), NEW(1, ID_OTHER_TEAM), NEW(2, ID_OTHER), AGAIN(3, ID, 1)}},
	{"an id whose turn is in flight is busy until it ends",
	 {4, 3},
	 {NEW(0, ID), BUSY(1, ID), SEND(0, INITIAL, 1), BUSY(1, ID), AT(3600000), BUSY(1, ID), SETTLE(0),
	  COMMIT(0), BUSY(1, ID), DECLINED(0, 503)}},
	{"after a success the id keeps what is left",
	 {4, 3},
	 {ONCE(0, ID, END(0, SUCCESS)), AGAIN(1, ID, 1), SEND(1, INITIAL, 2), SETTLE(1),
	  SEND(1, TRANSIENT, 3), END(1, SUCCESS), MEMORY(ID, TP_CODE_BUDGET_EXHAUSTED, 3)}},
	{"an id joins for the ttl after its last send",
	 {4, 3},
	 {NEW(0, ID), AT(1000), SEND(0, INITIAL, 1), SETTLE(0), AT(300000), DECLINED(0, 503), AT(600999),
	  AGAIN(1, ID, 1), DECLINED(1, 503), AT(601000), NEW(2, ID), SEND(2, INITIAL, 1), ENTRIES(1)}},
	{"an id joins what its client left",
	 {4, 3},
	 {NEW(0, ID), SEND(0, INITIAL, 1), END(0, LEFT), AT(599999), AGAIN(1, ID, 1)}},
	{"an id's refusal stays its answer, and ends with the ttl",
	 {4, 3},
	 {ONCE(0, ID, REFUSED(0, NO_RESPONSE)), AT(500000), MEMORY(ID, TP_CODE_NO_RESPONSE, 1), AT(599999),
	  MEMORY(ID, TP_CODE_NO_RESPONSE, 1), AT(600000), NEW(1, ID), SEND(1, INITIAL, 1)}},
	{"a 4xx is asked again while sends are left, then shown again",
	 {2, 2},
	 {ONCE(0, ID, DECLINED(0, 404)), AGAIN(1, ID, 1), SEND(1, INITIAL, 2), SETTLE(1), DECLINED(1, 404),
	  SHOWN(ID, 404, 2), SHOWN(ID, 404, 2)}},

	/* fingerprints */
	{"ID-3: a success is over",
	 {4, 3},
	 {ONCE(0, FP, END(0, SUCCESS)), ENTRIES(0), ONCE(1, FP, END(1, SUCCESS)), NEW(2, FP), ENTRIES(1)}},
	{"twice side by side",
	 {4, 3},
	 {NEW(0, FP), NEW(1, FP), NEW(2, FP_AGAIN), SEND(0, INITIAL, 1), SEND(1, INITIAL, 1), ENTRIES(3),
	  END(0, SUCCESS), ENTRIES(2), DECLINED(1, 503), AGAIN(3, FP, 1), NEW(4, FP)}},
	{"one of two re-sends takes the failed record",
	 {4, 3},
	 {ONCE(0, FP, DECLINED(0, 503)), AGAIN(1, FP, 1), NEW(2, FP), SEND(2, INITIAL, 1)}},
	{"a refusal stands for its twins",
	 {4, 3},
	 {NEW(0, FP), NEW(1, FP), SEND(0, INITIAL, 1), SEND(1, INITIAL, 1), DECLINED(0, 503),
	  REFUSED(1, RESET_REPLAY_REFUSED), MEMORY(FP, TP_CODE_RESET_REPLAY_REFUSED, 1)}},
	{"of twins the one with sends left is taken",
	 {1, 1},
	 {ONCE(0, FP, DECLINED(0, 503)),
	  MEMORY(FP, TP_CODE_BUDGET_EXHAUSTED, 1),
	  {.op = OP_JOIN, .turn = 1, .who = FP, .expect = TP_JOIN_AGAIN, .used = 1, .total = 2, .base = 2}}},
	{"ID-4: unknown joins for budget.rejoin after the last send",
	 {4, 3},
	 {NEW(0, FP), SEND(0, INITIAL, 1), SETTLE(0), AT(50000), END(0, UNKNOWN), AT(119999), AGAIN(1, FP, 1),
	  SEND(1, INITIAL, 2), SETTLE(1), SEND(1, TRANSIENT, 3), NO_SEND(1, TRANSIENT, 3), END(1, UNKNOWN)}},
	{"ID-4: later it is another one",
	 {4, 3},
	 {ONCE(0, FP, END(0, UNKNOWN)), AT(120000), NEW(1, FP), SEND(1, INITIAL, 1), SEND(1, TRANSIENT, 2),
	  SEND(1, TRANSIENT, 3)}},
	{"ID-4: later, but said to be a re-send",
	 {4, 3},
	 {ONCE(0, FP, END(0, UNKNOWN)), AT(599999), NEW(1, FP), END(1, LEFT), AGAIN(2, FP_AGAIN, 1),
	  END(2, UNKNOWN), AT(719999), NEW(3, FP_AGAIN)}},
	{"declined joins for 30s from the last turn",
	 {4, 3},
	 {NEW(0, FP), SEND(0, INITIAL, 1), SETTLE(0), AT(5000), DECLINED(0, 503), AT(34999), AGAIN(1, FP, 1),
	  AT(40000), DECLINED(1, 503), AT(70000), NEW(2, FP)}},
	{"answers from memory are turns, too; 120s from the last send at most",
	 {1, 1},
	 {ONCE(0, FP, DECLINED(0, 503)), AT(29999), MEMORY(FP, TP_CODE_BUDGET_EXHAUSTED, 1), AT(59998),
	  MEMORY(FP, TP_CODE_BUDGET_EXHAUSTED, 1), AT(89997), MEMORY(FP, TP_CODE_BUDGET_EXHAUSTED, 1),
	  AT(119996), MEMORY(FP, TP_CODE_BUDGET_EXHAUSTED, 1), AT(120000), NEW(1, FP)}},
	{"a Retry-After that we handed out lengthens the window",
	 {4, 3},
	 {ONCE(0, FP, LATER(0, 429, 61000)), AT(90999), AGAIN(1, FP, 1), LATER(1, 429, 0), AT(120999),
	  NEW(2, FP)}},
	{"a Retry-After beyond the ttl",
	 {4, 3},
	 {ONCE(0, FP, LATER(0, 429, 3600000)), AT(3629999), AGAIN(1, FP, 1)}},
	{"a refusal is remembered for budget.rejoin",
	 {4, 3},
	 {ONCE(0, FP, REFUSED(0, CLOSED_BEFORE_RESPONSE)), AT(119999),
	  MEMORY(FP, TP_CODE_CLOSED_BEFORE_RESPONSE, 1), AT(120000),
	  MEMORY(FP_AGAIN, TP_CODE_CLOSED_BEFORE_RESPONSE, 1), NEW(1, FP)}},
	{"an unknown end is remembered from the end of its turn, which a long timeout puts far behind the "
	 "send",
	 {4, 3},
	 {NEW(0, FP), SEND(0, INITIAL, 1), AT(300000), REFUSED(0, NO_RESPONSE), AT(419999),
	  MEMORY(FP, TP_CODE_NO_RESPONSE, 1), AT(420000), NEW(1, FP)}},
	{"the same for what may have run",
	 {4, 3},
	 {NEW(0, FP), SEND(0, INITIAL, 1), AT(300000), END(0, UNKNOWN), AT(419999), AGAIN(1, FP, 1),
	  AT(420000), END(1, UNKNOWN), AT(539999), AGAIN(2, FP, 1)}},
	{"answers from memory do not prolong a refusal",
	 {4, 3},
	 {ONCE(0, FP, REFUSED(0, NO_RESPONSE)), AT(60000), MEMORY(FP, TP_CODE_NO_RESPONSE, 1), AT(119999),
	  MEMORY(FP, TP_CODE_NO_RESPONSE, 1), AT(120000), NEW(1, FP)}},
	{"what its client left is joined by an announced re-send only",
	 {4, 3},
	 {NEW(0, FP), SEND(0, INITIAL, 1), END(0, LEFT), AT(100), NEW(1, FP), AT(599999),
	  AGAIN(2, FP_AGAIN, 1)}},
	{"the same 4xx is shown again when nothing is left",
	 {1, 1},
	 {ONCE(0, FP, DECLINED(0, 400)), SHOWN(FP, 400, 1), NEW(1, FP_OTHER)}},

	/* the ambiguous allowance */
	{"one ambiguous replay for a logical request",
	 {4, 3},
	 {NEW(0, ID), SEND(0, INITIAL, 1), SETTLE(0), REPLAY(0, true), REPLAY(0, false), SEND(0, RESET, 2),
	  SETTLE(0), DECLINED(0, 503), AGAIN(1, ID, 2), REPLAY(1, false)}},
	{"also without a record", {4, 3}, {NEW(0, NOBODY), REPLAY(0, true), REPLAY(0, false)}},

	/* death */
	{"killed with a send open: it ended unknown, and says so",
	 {4, 3},
	 {NEW(0, ID), SEND(0, INITIAL, 1), DIE(0), MEMORY(ID, TP_CODE_CLOSED_BEFORE_RESPONSE, 1), AT(599999),
	  MEMORY(ID, TP_CODE_CLOSED_BEFORE_RESPONSE, 1), AT(600000), NEW(1, ID)}},
	{"killed with a send open, by fingerprint",
	 {4, 3},
	 {NEW(0, FP), SEND(0, INITIAL, 1), NEW(1, FP), DIE(0), MEMORY(FP, TP_CODE_CLOSED_BEFORE_RESPONSE, 1),
	  AT(120000), NEW(2, FP), MEMORY(FP_AGAIN, TP_CODE_CLOSED_BEFORE_RESPONSE, 1)}},
	{"killed long after its send: remembered from its last heartbeat",
	 {4, 3},
	 {NEW(0, FP), SEND(0, INITIAL, 1), AT(250000), DIE(0), AT(369999),
	  MEMORY(FP, TP_CODE_CLOSED_BEFORE_RESPONSE, 1), AT(370000), NEW(1, FP)}},
	{"another death in that slot is not its own",
	 {4, 3},
	 {NEW(0, FP), SEND(0, INITIAL, 1), DIE(0), AT(115000), DIE(0), AT(119999),
	  MEMORY(FP, TP_CODE_CLOSED_BEFORE_RESPONSE, 1), AT(120000), NEW(1, FP)}},
	{"killed after the commit: unknown",
	 {4, 3},
	 {NEW(0, FP), SEND(0, INITIAL, 1), COMMIT(0), DIE(0), AT(119999), AGAIN(1, FP, 1)}},
	{"killed in a wait: declined",
	 {4, 3},
	 {NEW(0, FP), SEND(0, INITIAL, 1), SETTLE(0), DIE(0), AT(29999), AGAIN(1, FP, 1), DIE(1), AT(29999),
	  AGAIN(2, FP, 1)}},
	{"killed in a wait, and one of two sends may have run",
	 {4, 3},
	 {NEW(0, FP), SEND(0, INITIAL, 1), REPLAY(0, true), DIE(0), AT(119999),
	  MEMORY(FP, TP_CODE_CLOSED_BEFORE_RESPONSE, 1), AT(120000), NEW(1, FP)}},
	{"killed in a wait, long ago",
	 {4, 3},
	 {NEW(0, FP), SEND(0, INITIAL, 1), SETTLE(0), DIE(0), AT(30000), NEW(1, FP)}},
	{"killed before its first send: nothing happened",
	 {4, 3},
	 {NEW(0, ID), DIE(0), NEW(1, ID), SEND(1, INITIAL, 1)}},
	{"killed in its second turn: the first one's memory is gone",
	 {2, 2},
	 {ONCE(0, ID, DECLINED(0, 404)), AGAIN(1, ID, 1), SEND(1, INITIAL, 2), SETTLE(1), DIE(1),
	  MEMORY(ID, TP_CODE_BUDGET_EXHAUSTED, 2)}},
	{"a record that somebody else took: only the first send of the turn goes",
	 {4, 3},
	 {NEW(0, ID), DIE(0), NEW(1, ID), SEND(0, INITIAL, 1), NO_SEND(0, OVERLOAD, 1), SEND(1, INITIAL, 1)}},
	{"a record that somebody else took: nothing is given back",
	 {4, 3},
	 {NEW(0, ID), SEND(0, INITIAL, 1), SETTLE(0), DIE(0), AGAIN(1, ID, 1), BACK(0, INITIAL, 1),
	  NO_SEND(0, INITIAL, 1), DECLINED(0, 503), SEND(1, INITIAL, 2), BUSY(2, ID)}},
};

static struct tp_identity identity_of(enum who who)
{
	switch (who) {
	case ID: return identity_for(TP_IDENTITY_ID, 1, 1);
	case ID_OTHER: return identity_for(TP_IDENTITY_ID, 2, 1);
	case ID_OTHER_TEAM: return identity_for(TP_IDENTITY_ID, 1, 2);
	case FP_AGAIN: {
		struct tp_identity id = identity_for(TP_IDENTITY_FINGERPRINT, 1, 1);
		id.resend = true;
		return id;
	}
	case FP: return identity_for(TP_IDENTITY_FINGERPRINT, 1, 1);
	case FP_OTHER: return identity_for(TP_IDENTITY_FINGERPRINT, 2, 1);
	case NOBODY: break;
	}
	return (struct tp_identity){.kind = TP_IDENTITY_NONE};
}

struct run {
	const struct script *script;
	struct tp_ledger_handle turns[TURNS];
	struct tp_ledger_limits limits[TURNS];
	uint64_t now;
	int step;
};

#define CHECK(run, condition)                                                                                \
	ck_assert_msg(condition, "\"%s\", step %d: " #condition, (run)->script->name, (run)->step)

static void run_join(struct run *run, const struct step *s)
{
	struct tp_identity id = identity_of(s->who);
	struct tp_ledger_limits *limits = &run->limits[s->turn];
	*limits = run->script->limits;
	if (s->total != 0)
		*limits = (struct tp_ledger_limits){s->total, s->base};
	struct tp_ledger_memory memory = {0};
	struct tp_ledger_handle h = {0};
	int got = (int)tp_ledger_join(region, workers[s->turn % WORKERS], &id, &windows, limits, run->now, &h,
				      &memory);
	ck_assert_msg(got == s->expect, "\"%s\", step %d: join gave %d, not %d", run->script->name, run->step,
		      got, s->expect);
	if (got == TP_JOIN_MEMORY) {
		CHECK(run, memory.refusal == s->refusal);
		CHECK(run, memory.status == s->status);
		CHECK(run, memory.code_index == (s->status != 0 ? 7 : 0));
		CHECK(run, memory.used == s->used);
	} else if (got != TP_JOIN_BUSY) {
		CHECK(run, h.used == s->used);
		CHECK(run, !h.no_room);
		run->turns[s->turn] = h;
	}
}

static void run_step(struct run *run, const struct step *s)
{
	struct tp_ledger_handle *h = &run->turns[s->turn];
	const struct tp_ledger_limits *limits = &run->limits[s->turn];
	switch (s->op) {
	case OP_AT: run->now = START_MS + s->ms; break;
	case OP_JOIN: run_join(run, s); break;
	case OP_SEND:
		/* A lost record is found by the charge alone. */
		if (s->expect)
			CHECK(run, tp_ledger_fits(h, limits, s->klass));
		CHECK(run, tp_ledger_charge(h, limits, s->klass, run->now) == s->expect);
		CHECK(run, tp_ledger_fits(h, limits, s->klass) || !s->expect || h->used <= limits->total);
		CHECK(run, h->used == s->used);
		break;
	case OP_BACK:
		tp_ledger_give_back(h, s->klass);
		CHECK(run, h->used == s->used);
		break;
	case OP_SETTLE: tp_ledger_settle(h); break;
	case OP_COMMIT: tp_ledger_commit(h); break;
	case OP_REPLAY: CHECK(run, tp_ledger_take_ambiguous(h) == (s->expect != 0)); break;
	case OP_END:
		tp_ledger_end(h, &s->ending, run->now);
		CHECK(run, h->region == NULL);
		CHECK(run, !tp_ledger_charge(h, limits, TP_CLASS_INITIAL, run->now));
		break;
	case OP_DIE: {
		unsigned slot = workers[s->turn % WORKERS].slot;
		tp_slot_beat(region, slot, run->now);
		worker_dies(region, slot);
		workers[s->turn % WORKERS] = tp_slot_assign(region, slot);
		break;
	}
	case OP_COUNT: CHECK(run, tp_ledger_entries(region) == s->used); break;
	case OP_STOP: break;
	}
}

START_TEST(script)
{
	struct run run = {.script = &scripts[_i], .now = START_MS};
	for (; run.step < STEPS && run.script->steps[run.step].op != OP_STOP; run.step++)
		run_step(&run, &run.script->steps[run.step]);
}
END_TEST

/* Which statuses are shown again from memory once nothing is left. */
START_TEST(statuses_shown_from_memory)
{
	const struct tp_ledger_limits one = {1, 1};
	for (uint16_t status = 300; status <= 599; status++) {
		struct tp_identity id = identity_for(TP_IDENTITY_ID, 1000u + status, status);
		struct tp_ledger_handle h;
		struct tp_ledger_memory m;
		ck_assert_int_eq(
			(int)tp_ledger_join(region, workers[0], &id, &windows, &one, START_MS, &h, &m),
			TP_JOIN_NEW);
		ck_assert(tp_ledger_charge(&h, &one, TP_CLASS_INITIAL, START_MS));
		const struct tp_ledger_ending end = {
			.end = TP_END_DECLINED, .status = status, .code_index = 65535};
		tp_ledger_end(&h, &end, START_MS);
		ck_assert_int_eq(
			(int)tp_ledger_join(region, workers[1], &id, &windows, &one, START_MS, &h, &m),
			TP_JOIN_MEMORY);
		bool shown =
			status / 100 == 4 && status != 408 && status != 409 && status != 425 && status != 429;
		ck_assert_int_eq((int)m.refusal, shown ? TP_CODE_NONE : TP_CODE_BUDGET_EXHAUSTED);
		ck_assert_uint_eq(m.status, shown ? status : 0);
		ck_assert_uint_eq(m.code_index, shown ? 65535 : 0);
	}
}
END_TEST

/* Each code and each end comes back as it was written. */
START_TEST(codes_come_back)
{
	const struct tp_ledger_limits four = {4, 3};
	for (int code = TP_CODE_NONE + 1; code < TP_CODE_COUNT; code++) {
		struct tp_identity id = identity_for(TP_IDENTITY_FINGERPRINT, (uint64_t)code, 5);
		struct tp_ledger_handle h;
		struct tp_ledger_memory m;
		tp_ledger_join(region, workers[0], &id, &windows, &four, START_MS, &h, &m);
		ck_assert(tp_ledger_charge(&h, &four, TP_CLASS_INITIAL, START_MS));
		const struct tp_ledger_ending end = {.end = TP_END_REFUSED, .code = (enum tp_code)code};
		tp_ledger_end(&h, &end, START_MS);
		ck_assert_int_eq(
			(int)tp_ledger_join(region, workers[1], &id, &windows, &four, START_MS, &h, &m),
			TP_JOIN_MEMORY);
		ck_assert_int_eq((int)m.refusal, code);
	}
}
END_TEST

/* A handle is good for its own possession, also when the next one is the same worker's. */
START_TEST(old_handle_has_no_hold)
{
	const struct tp_ledger_limits four = {4, 3};
	const struct tp_ledger_ending end = {.end = TP_END_DECLINED, .status = 503};
	struct tp_identity id = identity_for(TP_IDENTITY_ID, 1, 1);
	struct tp_ledger_handle h, old, look;
	struct tp_ledger_memory m;
	(void)tp_ledger_join(region, workers[0], &id, &windows, &four, START_MS, &h, &m);
	ck_assert(tp_ledger_charge(&h, &four, TP_CLASS_INITIAL, START_MS));
	old = h;
	tp_ledger_end(&h, &end, START_MS);
	ck_assert_int_eq((int)tp_ledger_join(region, workers[0], &id, &windows, &four, START_MS, &h, &m),
			 TP_JOIN_AGAIN);
	ck_assert(tp_ledger_charge(&h, &four, TP_CLASS_INITIAL, START_MS));
	tp_ledger_give_back(&old, TP_CLASS_INITIAL);
	ck_assert(!tp_ledger_take_ambiguous(&old));
	ck_assert(!tp_ledger_charge(&old, &four, TP_CLASS_INITIAL, START_MS));
	tp_ledger_end(&old, &end, START_MS);
	ck_assert_int_eq((int)tp_ledger_join(region, workers[1], &id, &windows, &four, START_MS, &look, &m),
			 TP_JOIN_BUSY);
	tp_ledger_end(&h, &end, START_MS);
	ck_assert_int_eq((int)tp_ledger_join(region, workers[1], &id, &windows, &four, START_MS, &h, &m),
			 TP_JOIN_AGAIN);
	ck_assert_uint_eq(h.used, 2);
	ck_assert(tp_ledger_take_ambiguous(&h));
}
END_TEST

TP_TESTS(ledger)
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, script, 0, sizeof scripts / sizeof *scripts);
	tcase_add_test(t, statuses_shown_from_memory);
	tcase_add_test(t, codes_come_back);
	tcase_add_test(t, old_handle_has_no_hold);
}
