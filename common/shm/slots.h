/*
 * Worker slots: who owns what (design section 3).  An owner stamp is {slot, slot generation}; the master
 * alone bumps a generation, with one store, when it reaps the worker, and every stamp of the dead is stale at
 * once.
 */
#ifndef TP_SHM_SLOTS_H
#define TP_SHM_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/shm/region.h"

struct tp_stamp {
	uint16_t generation;
	uint8_t slot;
};

/* Master: before each fork into `slot`; returns the stamp the child lives under. Gauges of the slot start at
 * zero, counters go on. */
struct tp_stamp tp_slot_assign(struct tp_region *r, unsigned slot);
/* Master: after waitpid() for that worker; nothing happens when the stamp is stale.  While one master hands
 * over to the next, both see the slots: whoever comes second must not release what has been assigned since.
 */
void tp_slot_release_stamp(struct tp_region *r, struct tp_stamp s);
/* The same at a master's start, for a slot whose owner's process is gone (see tp_slot_occupied()); nothing
 * happens when it is there, or nobody owns the slot. */
void tp_slot_release_dead(struct tp_region *r, unsigned slot);
bool tp_stamp_live(const struct tp_region *r, struct tp_stamp s);
/* The last heartbeat of the owner of a stale stamp; 0 when it is not known (no beat, or another has died in
 * that slot since). */
uint64_t tp_slot_died_ms(const struct tp_region *r, struct tp_stamp s);

/* Heartbeat: a worker stores the time each second; the master reads it. Milliseconds of CLOCK_BOOTTIME; 0 =
 * none yet since tp_slot_assign(). */
void tp_slot_beat(struct tp_region *r, unsigned slot, uint64_t now_ms);
uint64_t tp_slot_last_beat(const struct tp_region *r, unsigned slot);
/* A worker has opened everything and serves. */
void tp_slot_set_ready(struct tp_region *r, unsigned slot, bool ready);
bool tp_slot_ready(const struct tp_region *r, unsigned slot);

/* Worker, first thing after the fork: notes which process lives here. */
void tp_slot_enter(struct tp_region *r, unsigned slot);
/* For a master at its start: the process that entered the slot still runs (an orphan that drains after its
 * master was killed; compared by pid and start time). Such a slot is neither released nor assigned. */
bool tp_slot_occupied(const struct tp_region *r, unsigned slot);

/* For those who look: who lives in a slot. */
struct tp_slot_info {
	uint64_t pid, started_ms; /* CLOCK_BOOTTIME */
	uint64_t last_beat_ms;    /* 0 = none yet */
	bool ready;
};
/* False: nobody does. Says what the table says; whether the process still runs is not asked. */
bool tp_slot_describe(const struct tp_region *r, unsigned slot, struct tp_slot_info *ret_info);

#endif
