/* Stamps go stale with one store of the master, and only then. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/shm/counters.h"
#include "common/shm/layout.h"
#include "common/shm/slots.h"

#include "tests/unit/dies.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

START_TEST(stamp_of_nobody_is_not_live)
{
	for (unsigned slot = 0; slot < TP_SHM_SLOTS; slot++)
		ck_assert(!tp_stamp_live(region, (struct tp_stamp){.slot = (uint8_t)slot}));
}
END_TEST

START_TEST(release_makes_stale)
{
	struct tp_stamp first = tp_slot_assign(region, 3), other = tp_slot_assign(region, 4);
	ck_assert(tp_stamp_live(region, first));
	worker_dies(region, 3);
	ck_assert(!tp_stamp_live(region, first));
	ck_assert(tp_stamp_live(region, other));
	struct tp_stamp second = tp_slot_assign(region, 3);
	ck_assert(tp_stamp_live(region, second));
	ck_assert(!tp_stamp_live(region, first));
}
END_TEST

START_TEST(generation_wraps_past_nobody)
{
	for (int n = 0; n < 0x10001; n++) {
		struct tp_stamp s = tp_slot_assign(region, 255);
		ck_assert_uint_ne(s.generation, 0);
		worker_dies(region, 255);
		ck_assert(!tp_stamp_live(region, s));
	}
}
END_TEST

START_TEST(beat_and_ready_restart)
{
	tp_slot_assign(region, 7);
	ck_assert_uint_eq(tp_slot_last_beat(region, 7), 0);
	ck_assert(!tp_slot_ready(region, 7));
	tp_slot_beat(region, 7, 123456);
	tp_slot_set_ready(region, 7, true);
	ck_assert_uint_eq(tp_slot_last_beat(region, 7), 123456);
	ck_assert_uint_eq(tp_slot_last_beat(region, 8), 0);
	ck_assert(tp_slot_ready(region, 7));
	worker_dies(region, 7);
	ck_assert(!tp_slot_ready(region, 7));
	tp_slot_assign(region, 7);
	ck_assert_uint_eq(tp_slot_last_beat(region, 7), 0);
}
END_TEST

START_TEST(described_while_somebody_lives_there)
{
	struct tp_slot_info info;
	ck_assert(!tp_slot_describe(region, 5, &info));
	(void)tp_slot_assign(region, 5);
	ck_assert(!tp_slot_describe(region, 5, &info)); /* nobody has entered yet */
	tp_slot_enter(region, 5);
	tp_slot_beat(region, 5, 77);
	tp_slot_set_ready(region, 5, true);
	ck_assert(tp_slot_describe(region, 5, &info));
	ck_assert_uint_eq(info.pid, (uint64_t)getpid());
	ck_assert_uint_eq(info.last_beat_ms, 77);
	ck_assert(info.ready);
	uint64_t now = tp_clock_boot_ms();
	ck_assert(info.started_ms <= now + 10 && now - info.started_ms < 600 * 1000);
	worker_dies(region, 5);
	ck_assert(!tp_slot_describe(region, 5, &info));
	ck_assert(!tp_slot_describe(region, TP_SHM_SLOTS, &info));
}
END_TEST

START_TEST(occupied_while_its_process_runs)
{
	int to_child[2], from_child[2];
	char byte;
	ck_assert_int_eq(pipe(to_child), 0);
	ck_assert_int_eq(pipe(from_child), 0);
	tp_slot_assign(region, 9);
	ck_assert(!tp_slot_occupied(region, 9));
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		tp_slot_enter(region, 9);
		_exit(write(from_child[1], "e", 1) == 1 && read(to_child[0], &byte, 1) == 1 ? 0 : 1);
	}
	ck_assert_int_eq(read(from_child[0], &byte, 1), 1);
	ck_assert(tp_slot_occupied(region, 9));
	/* Another process under the same number does not count. */
	atomic_fetch_add(&region->slots[9].started, 1);
	ck_assert(!tp_slot_occupied(region, 9));
	atomic_fetch_sub(&region->slots[9].started, 1);
	ck_assert(tp_slot_occupied(region, 9));

	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	siginfo_t info;
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_msg(!tp_slot_occupied(region, 9), "a zombie holds its slot");
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert(!tp_slot_occupied(region, 9));
	for (int i = 0; i < 2; i++) {
		close(to_child[i]);
		close(from_child[i]);
	}
}
END_TEST

/* Two masters see the same slot: the first one to release it does, and the second undoes nothing. */
START_TEST(released_once)
{
	struct tp_stamp dead = tp_slot_assign(region, 4);
	tp_slot_release_stamp(region, dead);
	ck_assert(!tp_stamp_live(region, dead));
	struct tp_stamp next = tp_slot_assign(region, 4);
	ck_assert_uint_ne(next.generation, dead.generation);
	tp_slot_set_ready(region, 4, true);
	tp_slot_release_stamp(region, dead);
	ck_assert(tp_stamp_live(region, next));
	ck_assert(tp_slot_ready(region, 4));
}
END_TEST

START_TEST(released_when_its_process_is_gone)
{
	tp_slot_release_dead(region, 6); /* nobody's */
	struct tp_stamp s = tp_slot_assign(region, 6);
	tp_slot_enter(region, 6);
	tp_slot_release_dead(region, 6);
	ck_assert(tp_stamp_live(region, s));
	atomic_fetch_add(&region->slots[6].started, 1); /* another process under the same number */
	tp_slot_release_dead(region, 6);
	ck_assert(!tp_stamp_live(region, s));
	ck_assert_uint_eq(tp_slot_assign(region, 6).generation, s.generation + 1U);
}
END_TEST

TP_TESTS(slots)
{
	tcase_add_checked_fixture(t, open_region, close_region);
	tcase_add_test(t, stamp_of_nobody_is_not_live);
	tcase_add_test(t, release_makes_stale);
	tcase_add_test(t, generation_wraps_past_nobody);
	tcase_add_test(t, beat_and_ready_restart);
	tcase_add_test(t, described_while_somebody_lives_there);
	tcase_add_test(t, released_once);
	tcase_add_test(t, released_when_its_process_is_gone);
	tcase_add_test(t, occupied_while_its_process_runs);
}
