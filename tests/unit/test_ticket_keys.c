#include "common/base/ticket_keys.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/suite.h"

enum { PERIOD = TP_TICKET_PERIOD_MS };

static const uint64_t start_ms = 5 * (uint64_t)PERIOD + 1000;

START_TEST(nothing_before_the_secret)
{
	bool newest = false;
	const unsigned char name[16] = {0};
	ck_assert_ptr_null(tp_ticket_keys_newest(start_ms));
	ck_assert_ptr_null(tp_ticket_keys_find(name, start_ms, &newest));
}
END_TEST

START_TEST(each_period_has_its_key)
{
	bool newest = false;
	ck_assert(tp_ticket_keys_begin(start_ms));
	struct tp_ticket_key first = *tp_ticket_keys_newest(start_ms);
	ck_assert_mem_eq(tp_ticket_keys_newest(start_ms + PERIOD - 1001), &first, sizeof first);
	ck_assert_ptr_nonnull(tp_ticket_keys_find(first.name, start_ms, &newest));
	ck_assert(newest);
	struct tp_ticket_key second = *tp_ticket_keys_newest(start_ms + PERIOD);
	ck_assert_mem_ne(second.name, first.name, sizeof first.name);
	ck_assert_mem_ne(second.cipher, first.cipher, sizeof first.cipher);
	ck_assert_mem_ne(second.mac, first.mac, sizeof first.mac);
	ck_assert_mem_ne(second.mac, second.cipher, sizeof second.mac);
}
END_TEST

START_TEST(the_key_before_is_good_for_one_period)
{
	bool newest = true;
	ck_assert(tp_ticket_keys_begin(start_ms));
	struct tp_ticket_key first = *tp_ticket_keys_newest(start_ms);
	const struct tp_ticket_key *found = tp_ticket_keys_find(first.name, start_ms + PERIOD, &newest);
	ck_assert_ptr_nonnull(found);
	ck_assert(!newest);
	ck_assert_mem_eq(found, &first, sizeof first);
	ck_assert_ptr_null(tp_ticket_keys_find(first.name, start_ms + 2 * (uint64_t)PERIOD, &newest));
}
END_TEST

START_TEST(a_secret_is_not_that_of_another_server)
{
	bool newest = false;
	ck_assert(tp_ticket_keys_begin(start_ms));
	struct tp_ticket_key first = *tp_ticket_keys_newest(start_ms);
	ck_assert(tp_ticket_keys_begin(start_ms));
	ck_assert_ptr_null(tp_ticket_keys_find(first.name, start_ms, &newest));
}
END_TEST

/* A worker that was forked long ago and one of a master that has gone on agree. */
START_TEST(processes_agree_without_a_word)
{
	int fds[2];
	struct tp_ticket_key of_child;
	const uint64_t later = start_ms + 3 * (uint64_t)PERIOD;
	ck_assert(tp_ticket_keys_begin(start_ms));
	ck_assert_int_eq(pipe(fds), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		bool put = write(fds[1], tp_ticket_keys_newest(later), sizeof of_child) == sizeof of_child;
		_exit(put ? 0 : 1);
	}
	for (unsigned i = 1; i <= 3; i++)
		tp_ticket_keys_advance(start_ms + i * (uint64_t)PERIOD);
	ck_assert_int_eq((int)read(fds[0], &of_child, sizeof of_child), sizeof of_child);
	ck_assert_mem_eq(tp_ticket_keys_newest(later), &of_child, sizeof of_child);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	(void)close(fds[0]);
	(void)close(fds[1]);
}
END_TEST

TP_TESTS(ticket_keys)
{
	tcase_add_test(t, nothing_before_the_secret);
	tcase_add_test(t, each_period_has_its_key);
	tcase_add_test(t, the_key_before_is_good_for_one_period);
	tcase_add_test(t, a_secret_is_not_that_of_another_server);
	tcase_add_test(t, processes_agree_without_a_word);
}
