#include "common/shm/slots.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/shm/layout.h"

#define BEAT_MASK ((UINT64_C(1) << 48) - 1)

static uint16_t generation_of(uint32_t owner)
{
	return (uint16_t)(owner & 0xffff);
}

struct tp_stamp tp_slot_assign(struct tp_region *r, unsigned slot)
{
	struct tp_slot *s = &r->slots[slot % TP_SHM_SLOTS];
	struct tp_counter_block *block = &r->counters[slot % TP_SHM_SLOTS];
	uint16_t generation = generation_of(atomic_load_explicit(&s->owner, memory_order_relaxed));
	/* 0 is nobody's: zeroed memory then never looks like a live owner's. */
	if (generation == 0)
		generation = 1;
	for (int g = 0; g < TP_GAUGE_TOTAL; g++)
		atomic_store_explicit(&block->gauges[g], 0, memory_order_relaxed);
	tp_series_reset_gauges(r, slot % TP_SHM_SLOTS);
	tp_open_turns_reset(r, slot % TP_SHM_SLOTS);
	atomic_store_explicit(&s->ready, 0, memory_order_relaxed);
	atomic_store_explicit(&s->beat, 0, memory_order_relaxed);
	atomic_store_explicit(&s->pid, 0, memory_order_relaxed);
	/* Release: who sees the slot as assigned sees the zeroes above. */
	atomic_store_explicit(&s->owner, generation | TP_SLOT_ASSIGNED, memory_order_release);
	return (struct tp_stamp){.generation = generation, .slot = (uint8_t)(slot % TP_SHM_SLOTS)};
}

/*
 * One step makes every stamp of the dead stale.  Release: what the master saw of the dead (waitpid() has
 * returned, so all its stores have happened) comes before.  `owner` is the word as it was when its owner was
 * known to be dead; when it is another one by now, somebody else has released the slot.
 */
static void release_from(struct tp_slot *s, uint32_t owner)
{
	uint16_t generation = generation_of(owner);
	uint64_t beat = atomic_load_explicit(&s->beat, memory_order_relaxed) & BEAT_MASK;
	if (atomic_load_explicit(&s->owner, memory_order_relaxed) != owner)
		return;
	/* Relaxed: published by the exchange below. */
	atomic_store_explicit(&s->died, (uint64_t)generation << 48 | beat, memory_order_relaxed);
	atomic_store_explicit(&s->ready, 0, memory_order_relaxed);
	generation = (uint16_t)(generation + 1);
	(void)atomic_compare_exchange_strong_explicit(&s->owner, &owner, generation == 0 ? 1 : generation,
						      memory_order_release, memory_order_relaxed);
}

void tp_slot_release_stamp(struct tp_region *r, struct tp_stamp s)
{
	release_from(&r->slots[s.slot], s.generation | TP_SLOT_ASSIGNED);
}

void tp_slot_release_dead(struct tp_region *r, unsigned slot)
{
	struct tp_slot *s = &r->slots[slot % TP_SHM_SLOTS];
	/* Acquire: the pid that is looked at next is that of this owner, or of a later one. */
	uint32_t owner = atomic_load_explicit(&s->owner, memory_order_acquire);
	if ((owner & TP_SLOT_ASSIGNED) != 0 && !tp_slot_occupied(r, slot))
		release_from(s, owner);
}

/* Acquire: who finds a stamp stale goes on to read what its owner left. */
bool tp_stamp_live(const struct tp_region *r, struct tp_stamp s)
{
	return atomic_load_explicit(&r->slots[s.slot].owner, memory_order_acquire) ==
	       (s.generation | TP_SLOT_ASSIGNED);
}

/* Relaxed: who asks has found the stamp stale, with acquire. */
uint64_t tp_slot_died_ms(const struct tp_region *r, struct tp_stamp s)
{
	uint64_t died = atomic_load_explicit(&r->slots[s.slot].died, memory_order_relaxed);
	return died >> 48 == s.generation ? died & BEAT_MASK : 0;
}

/* Relaxed, here and below: single words that are looked at by themselves. */
void tp_slot_beat(struct tp_region *r, unsigned slot, uint64_t now_ms)
{
	atomic_store_explicit(&r->slots[slot % TP_SHM_SLOTS].beat, now_ms, memory_order_relaxed);
}

uint64_t tp_slot_last_beat(const struct tp_region *r, unsigned slot)
{
	return atomic_load_explicit(&r->slots[slot % TP_SHM_SLOTS].beat, memory_order_relaxed);
}

void tp_slot_set_ready(struct tp_region *r, unsigned slot, bool ready)
{
	atomic_store_explicit(&r->slots[slot % TP_SHM_SLOTS].ready, ready, memory_order_relaxed);
}

bool tp_slot_ready(const struct tp_region *r, unsigned slot)
{
	return atomic_load_explicit(&r->slots[slot % TP_SHM_SLOTS].ready, memory_order_relaxed) != 0;
}

/* Start time of a process in ticks since boot (field 22 of /proc/PID/stat); 0 = no such process, or dead and
 * not yet waited for. */
static uint64_t start_time(uint64_t pid)
{
	char path[64], text[1024];
	(void)snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* The command's name, field 2, may hold blanks and brackets: fields are counted from its end. */
	const char *p = strrchr(text, ')');
	if (p == NULL || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X')
		return 0;
	for (int field = 2; field < 22 && p != NULL; field++)
		p = strchr(p + 1, ' ');
	return p != NULL ? strtoull(p + 1, NULL, 10) : 0;
}

void tp_slot_enter(struct tp_region *r, unsigned slot)
{
	struct tp_slot *s = &r->slots[slot % TP_SHM_SLOTS];
	uint64_t pid = (uint64_t)getpid();
	atomic_store_explicit(&s->started, start_time(pid), memory_order_relaxed);
	/* Release: the pid is looked at first, its start time is there by then. */
	atomic_store_explicit(&s->pid, pid, memory_order_release);
}

bool tp_slot_occupied(const struct tp_region *r, unsigned slot)
{
	const struct tp_slot *s = &r->slots[slot % TP_SHM_SLOTS];
	uint32_t owner = atomic_load_explicit(&s->owner, memory_order_acquire);
	uint64_t pid = atomic_load_explicit(&s->pid, memory_order_acquire);
	if ((owner & TP_SLOT_ASSIGNED) == 0 || pid == 0)
		return false;
	uint64_t started = start_time(pid);
	return started != 0 && started == atomic_load_explicit(&s->started, memory_order_relaxed);
}

bool tp_slot_describe(const struct tp_region *r, unsigned slot, struct tp_slot_info *ret_info)
{
	if (slot >= TP_SHM_SLOTS)
		return false;
	const struct tp_slot *s = &r->slots[slot];
	/* Acquire: as in tp_slot_enter() and tp_slot_assign(), for what belongs to them. */
	uint32_t owner = atomic_load_explicit(&s->owner, memory_order_acquire);
	uint64_t pid = atomic_load_explicit(&s->pid, memory_order_acquire);
	if ((owner & TP_SLOT_ASSIGNED) == 0 || pid == 0)
		return false;
	long ticks = sysconf(_SC_CLK_TCK);
	uint64_t started = atomic_load_explicit(&s->started, memory_order_relaxed);
	*ret_info = (struct tp_slot_info){
		.pid = pid,
		.started_ms = started * 1000 / (ticks > 0 ? (uint64_t)ticks : 100),
		.last_beat_ms = tp_slot_last_beat(r, slot),
		.ready = tp_slot_ready(r, slot),
	};
	return true;
}
