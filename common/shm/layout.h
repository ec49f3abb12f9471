/*
 * Inside of common/shm: what lies where in the shared table, and the process-local handle of a mapping.
 * Only the files of this folder and their tests include it. docs/shared-memory.md tells how to change it.
 */
#ifndef TP_SHM_LAYOUT_H
#define TP_SHM_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/shm/breaker.h"
#include "common/shm/cooldown.h"
#include "common/shm/counters.h"
#include "common/shm/directory.h"
#include "common/shm/failures.h"
#include "common/shm/gate.h"
#include "common/shm/histogram.h"
#include "common/shm/history.h"
#include "common/shm/marks.h"
#include "common/shm/open_turns.h"
#include "common/shm/region.h"
#include "common/shm/sealed.h"
#include "common/shm/series.h"
#include "common/shm/shared_wait.h"
#include "common/shm/token.h"

/* Bump TP_LAYOUT_VERSION whenever the meaning or the place of any byte changes: an older table is then
 * replaced, never misread. */
enum {
	TP_LAYOUT_VERSION = 7,
	TP_CACHE_LINE = 64,
	/* A worker's idea of now may be that of its last loop turn: a time further ahead is damage. */
	TP_CLOCKS_APART_MS = 60 * 1000,
	TP_BUCKET_CELLS = 16,
	/* One credential reaches one bucket of each group: an eighth of the table (see ledger_join.c). */
	TP_GROUP_BUCKETS = 8,
	TP_LEDGER_MAX_CELLS = 1 << 26,
	TP_URLS_DEFAULT = 4096,
	TP_URLS_MAX = 1 << 20,
	/* Bounded by what cools and waits at one time, and by the configuration: no option. */
	TP_COOLDOWNS = 2048,
	TP_SHARED_WAITS = 1024,
	TP_SERIES = 2048,
	TP_STREAKS = 256,      /* providers, of all configurations since the table was made */
	TP_ROUNDS = 1024,      /* round robin combos, the same */
	TP_BREAKER_TIMES = 16, /* times kept of a run of failures */
	TP_FAILURES = 64,      /* more than are shown: the oldest may be written over while they are read */
	TP_HISTORY_CELLS = 64  /* minutes; the same */
};

#define TP_REGION_MAGIC                                                                                      \
	UINT64_C(0x656b69706e727554) /* "Turnpike" in memory order of a little endian host                   \
				      */

enum tp_part {
	TP_PART_SLOTS,
	TP_PART_COUNTERS,
	TP_PART_HISTOGRAMS,
	TP_PART_NUMBERS,
	TP_PART_STREAKS,
	TP_PART_ROUNDS,
	TP_PART_FAILURES,
	TP_PART_HISTORY,
	TP_PART_OPEN_TURNS,
	TP_PART_SERIES_DIR,
	TP_PART_SERIES,
	TP_PART_VALUES,
	TP_PART_BREAKER_DIR,
	TP_PART_BREAKER,
	TP_PART_COOLDOWN_DIR,
	TP_PART_COOLDOWN,
	TP_PART_WAIT_DIR,
	TP_PART_WAIT,
	TP_PART_TOKENS,
	TP_PART_GATES,
	TP_PART_LEDGER,
	TP_PART_COUNT
};

struct tp_part_place {
	uint64_t offset, size; /* bytes from the start of the object; offsets are cache-line aligned */
};

/* Written by the creator before the magic, read-only ever after. */
struct tp_region_header {
	_Atomic uint64_t magic; /* last: a creator that is killed leaves a table without it */
	uint32_t layout;
	uint32_t buckets;
	uint32_t url_buckets;
	uint32_t unused;
	uint64_t total_size;
	uint8_t seed[16];
	char boot_id[40]; /* text of the kernel, zero padded */
	struct tp_part_place parts[TP_PART_COUNT];
};

/* Written by the master, save for what its comment gives to the worker. One line each: a heartbeat then
 * disturbs nobody who looks at a neighbour's generation. */
struct tp_slot {
	_Alignas(TP_CACHE_LINE) _Atomic uint32_t owner; /* generation | TP_SLOT_ASSIGNED */
	_Atomic uint32_t ready;                         /* worker */
	_Atomic uint64_t beat;                          /* worker */
	_Atomic uint64_t pid, started; /* worker: /proc/PID/stat, so that a reused pid is seen */
	_Atomic uint64_t died;         /* generation << 48 | last beat of the one that died last */
};

#define TP_SLOT_ASSIGNED (UINT32_C(1) << 16)

/* Written by the worker in the slot alone. */
struct tp_counter_block {
	_Alignas(TP_CACHE_LINE) _Atomic uint64_t counters[TP_COUNT_TOTAL];
	_Atomic int64_t gauges[TP_GAUGE_TOTAL];
};

/* As above. */
struct tp_histogram_block {
	_Alignas(TP_CACHE_LINE) _Atomic uint64_t counts[TP_HISTOGRAM_COUNT][TP_HISTOGRAM_BUCKETS];
	_Atomic uint64_t sum_us[TP_HISTOGRAM_COUNT];
};

struct tp_numbers {
	_Alignas(TP_CACHE_LINE) _Atomic uint64_t numbers[TP_NUMBER_COUNT];
	_Atomic uint64_t marks[TP_MARK_COUNT]; /* ms: when each was last due */
	_Atomic uint64_t series_lost;
};

/* A combo whose turns are counted: see rounds.c. */
struct tp_round_cell {
	_Atomic uint64_t name; /* its hash; 0 = free */
	_Atomic uint64_t turns;
};

/* The last failures: see failures.c. */
enum { TP_FAILURE_WORDS = TP_SEALED_HEAD + sizeof(struct tp_failure) / sizeof(uint64_t) };
struct tp_failure_ring {
	_Alignas(TP_CACHE_LINE) _Atomic uint64_t noted; /* how many there were */
	struct {
		_Alignas(TP_CACHE_LINE) _Atomic uint64_t words[TP_FAILURE_WORDS];
	} cells[TP_FAILURES];
};

/* A sample of the last hour: see history.c. */
enum { TP_HISTORY_WORDS = TP_SEALED_HEAD + TP_HISTORY_VALUES };
struct tp_history_cell {
	_Alignas(TP_CACHE_LINE) _Atomic uint64_t words[TP_HISTORY_WORDS];
};

/* The turns that have been open for longest, written by the worker in the slot alone: see open_turns.c. */
enum { TP_OPEN_WORDS = TP_SEALED_HEAD + sizeof(struct tp_open_turn) / sizeof(uint64_t) };
struct tp_open_row {
	struct {
		_Alignas(TP_CACHE_LINE) _Atomic uint64_t words[TP_OPEN_WORDS];
	} cells[TP_OPEN_TURNS];
};

/* The meaning of a series; its values are in tp_value_row. */
struct tp_series_cell {
	_Atomic uint64_t meta;                     /* see series.c */
	_Atomic uint64_t text[TP_SERIES_TEXT / 8]; /* the values, each with its terminator */
};

/* One row for each slot, written by its worker alone, and one more for processes without a slot. */
struct tp_value_row {
	_Alignas(TP_CACHE_LINE) _Atomic uint64_t values[TP_SERIES];
};
enum { TP_VALUE_ROWS = TP_SHM_SLOTS + 1 };

/* A URL or a base: see breaker.c. */
struct tp_breaker_cell {
	_Alignas(TP_CACHE_LINE) _Atomic uint64_t state; /* decides */
	_Atomic uint64_t probe;                         /* owner-stamped */
	_Atomic uint64_t base_lo, base_hi;
	_Atomic uint64_t checked_ms;                  /* grows: who raises it makes the check */
	_Atomic uint64_t failed_ms[TP_BREAKER_TIMES]; /* of the run, a ring */
	_Atomic uint64_t text[TP_BREAKER_PROVIDER / 8 + TP_BREAKER_URL / 8];
};

/* What cools: see cooldown.c. */
struct tp_cooldown_cell {
	_Alignas(TP_CACHE_LINE) _Atomic uint64_t state;
	_Atomic uint64_t probe; /* owner-stamped */
	_Atomic uint64_t since_ms;
	_Atomic uint64_t text[TP_COOLDOWN_NAME / 8];
};

/* A shared wait: see shared_wait.c. */
struct tp_wait_cell {
	_Alignas(TP_CACHE_LINE) _Atomic uint64_t state;
	_Atomic uint64_t leader; /* owner-stamped */
	_Atomic uint64_t text[TP_SHARED_WAIT_NAME / 8];
};

/* One of the two last tokens of a provider, written by the holder of the lease alone. */
struct tp_token_text {
	_Atomic uint64_t origin, got_ms, expires_ms, renew_ms;
	_Atomic uint64_t run; /* tokens in a row before it that the provider never accepted */
	_Atomic uint64_t n;   /* bytes */
	_Atomic uint64_t words[TP_TOKEN_MAX / 8];
};

/* A provider's access token: see token.c. */
struct tp_token_cell {
	_Alignas(TP_CACHE_LINE) _Atomic uint64_t name;
	_Atomic uint64_t generation;
	_Atomic uint64_t proved;
	_Atomic uint64_t lease; /* owner-stamped */
	_Atomic uint64_t trouble;
	struct tp_token_text texts[2];
};

/* The capacity gate of a provider: see gate.c. */
struct tp_gate_cell {
	_Alignas(TP_CACHE_LINE) _Atomic uint64_t name; /* hash; 0 = free */
	_Atomic uint64_t numbers;                      /* tickets drawn */
	_Atomic uint64_t learned;                      /* `auto` */
	_Atomic uint64_t service_ms;                   /* how long a permit is held, of late */
	_Atomic uint64_t permits_high, tickets_high;   /* only grow: no word behind was ever used */
	_Alignas(TP_CACHE_LINE) _Atomic uint64_t permits[TP_GATE_PERMITS]; /* owner-stamped */
	_Atomic uint64_t tickets[TP_GATE_TICKETS];                         /* owner-stamped */
};

/* A record of the ledger. `word` decides, the rest is what it speaks of: see ledger_cell.h. */
struct tp_cell {
	_Alignas(TP_CACHE_LINE) _Atomic uint64_t word;
	_Atomic uint64_t key_lo, key_hi;
	_Atomic uint64_t last_send; /* ms of CLOCK_BOOTTIME */
	_Atomic uint64_t last_turn; /* epoch << 44 | ms: a late writer cannot touch a successor's */
	_Atomic uint64_t memory;    /* how it ended: see tp_memory_pack() */
	_Atomic uint64_t kind;      /* enum tp_identity_kind */
};

/* The head line is all that a search reads of cells which do not match. */
struct tp_bucket {
	_Alignas(TP_CACHE_LINE) _Atomic uint64_t
		inserts;                        /* ids whose first bucket this is: counts insertions */
	_Atomic uint16_t tags[TP_BUCKET_CELLS]; /* of the key; 0 = surely free of records to find */
	struct tp_cell cells[TP_BUCKET_CELLS];
};

_Static_assert(sizeof(struct tp_slot) == TP_CACHE_LINE, "a slot is one line");
_Static_assert(sizeof(struct tp_dir_entry) == 32 && _Alignof(struct tp_dir_bucket) == TP_CACHE_LINE,
	       "a line holds two entries of a directory");
_Static_assert(sizeof(struct tp_cell) == TP_CACHE_LINE, "a cell is one line");
_Static_assert(sizeof(struct tp_bucket) == TP_CACHE_LINE * (TP_BUCKET_CELLS + 1), "head line and cells");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_SHORT_LOCK_FREE == 2,
	       "a lock inside an atomic would be held for ever by a killed process");

/* Process-local. Sizes are kept here, not read again from memory that a stray write could have changed. */
struct tp_region {
	struct tp_region_header *header;
	size_t size;
	struct tp_slot *slots;                 /* TP_SHM_SLOTS */
	struct tp_counter_block *counters;     /* TP_SHM_SLOTS */
	struct tp_histogram_block *histograms; /* TP_SHM_SLOTS */
	struct tp_numbers *numbers;
	_Atomic uint64_t *streaks;    /* TP_STREAKS, see streak.c */
	struct tp_round_cell *rounds; /* TP_ROUNDS */
	struct tp_failure_ring *failures;
	struct tp_history_cell *history; /* TP_HISTORY_CELLS */
	struct tp_open_row *open_turns;  /* TP_SHM_SLOTS */
	struct tp_dir series_dir, breaker_dir, cooldown_dir, wait_dir;
	struct tp_series_cell *series;
	struct tp_value_row *values; /* TP_VALUE_ROWS */
	struct tp_breaker_cell *breaker;
	struct tp_cooldown_cell *cooldowns;
	struct tp_wait_cell *waits;
	struct tp_token_cell *tokens; /* TP_TOKENS */
	struct tp_gate_cell *gates;   /* TP_GATES */
	struct tp_bucket *buckets;
	uint32_t n_buckets; /* a multiple of TP_GROUP_BUCKETS */
};

/* For tp_slot_assign(): the gauges of a slot begin at zero. */
void tp_series_reset_gauges(struct tp_region *r, unsigned slot);
/* The same: nobody's turns are open in it. */
void tp_open_turns_reset(struct tp_region *r, unsigned slot);

/* Named points at which the kill test ends a process; nothing in a normal build. */
#ifdef TP_SHM_INJECT
void tp_shm_inject(const char *point);
#define TP_INJECT(point) tp_shm_inject(point)
#else
#define TP_INJECT(point) ((void)0)
#endif

#endif
