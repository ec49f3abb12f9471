/*
 * The shared table in the hands of chance: attaching to objects with arbitrary headers and sizes, and turns
 * on a ledger of arbitrary bytes. Whatever is there, nothing may crash, hang or spend more than the limit.
 *
 * Input: 'h' OFFSET BYTES... overwrites a good header; 's' BYTES... makes an object of just these bytes;
 * anything else overwrites the ledger, from the bucket that the first byte names.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/shm/layout.h"
#include "common/shm/ledger.h"
#include "tests/unit/dies.h"

enum { NOW_MS = 5000000 };
static const struct tp_region_sizes small = {.logical_requests = 128};
static const struct tp_ledger_limits four = {4, 3};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Turns of both kinds on whatever the ledger holds. */
static void use(struct tp_region *r, bool resend)
{
	const struct tp_ledger_windows windows = {600000, 120000};
	struct tp_stamp owner = tp_slot_assign(r, 1);
	for (uint64_t n = 0; n < 64; n++) {
		const struct tp_identity id = {
			.kind = n % 2 == 0 ? TP_IDENTITY_ID : TP_IDENTITY_FINGERPRINT,
			.key = {n << 60 | n, n << 58 | n},
			.credential = n / 8,
			.resend = resend,
		};
		struct tp_ledger_handle h;
		struct tp_ledger_memory m;
		enum tp_join got = tp_ledger_join(r, owner, &id, &windows, &four, NOW_MS, &h, &m);
		assert(got != TP_JOIN_MEMORY || m.refusal < TP_CODE_COUNT);
		if (got != TP_JOIN_NEW && got != TP_JOIN_AGAIN)
			continue;
		uint32_t sends = 0;
		while (tp_ledger_charge(&h, &four, TP_CLASS_OVERLOAD, NOW_MS))
			sends++;
		assert(sends <= four.total && h.used <= 127);
		assert(!h.no_room || sends <= 1);
		const struct tp_ledger_ending end = {.end = (enum tp_end)(n % 5), .status = 503};
		tp_ledger_end(&h, &end, NOW_MS);
	}
	(void)tp_ledger_entries(r);
	worker_dies(r, 1);
}

static void put(const char *name, const void *bytes, size_t n, off_t offset, int flags)
{
	int fd = shm_open(name, O_RDWR | flags, 0600);
	assert(fd >= 0);
	ssize_t written = pwrite(fd, bytes, n, offset);
	assert(written == (ssize_t)n);
	close(fd);
}

static void attach(const char *name)
{
	struct tp_buf why = {0};
	struct tp_region *r;
	enum tp_region_result result;
	if (tp_region_open_readonly(name, &why, &r) == 0) {
		(void)tp_ledger_entries(r);
		(void)tp_counter_sum(r, TP_COUNT_TURNS);
		tp_region_close(r);
	}
	int error = tp_region_open(name, small, false, &why, &r, &result);
	assert(error == 0);
	use(r, false);
	tp_region_close(r);
	tp_buf_free(&why);
}

static void try_header(const uint8_t *data, size_t size)
{
	char name[64];
	(void)snprintf(name, sizeof name, "/tp-fuzz-region-%ld", (long)getpid());
	(void)shm_unlink(name);
	if (data[0] == 'h' && size > 2) {
		struct tp_buf why = {0};
		struct tp_region *r;
		enum tp_region_result result;
		int error = tp_region_open(name, small, false, &why, &r, &result);
		assert(error == 0);
		tp_region_close(r);
		put(name, data + 2, size - 2, data[1], 0);
	} else {
		put(name, data + 1, size - 1, 0, O_CREAT | O_EXCL);
	}
	attach(name);
	(void)shm_unlink(name);
}

static void try_ledger(const uint8_t *data, size_t size)
{
	struct tp_region *r;
	int error = tp_region_open_anonymous(small, &r);
	assert(error == 0);
	size_t start = (data[0] % r->n_buckets) * sizeof(struct tp_bucket);
	size_t room = r->n_buckets * sizeof(struct tp_bucket) - start;
	memcpy((char *)r->buckets + start, data + 1, size - 1 < room ? size - 1 : room);
	use(r, data[0] & 0x80);
	use(r, true);
	tp_region_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] == 'h' || data[0] == 's')
		try_header(data, size);
	else
		try_ledger(data, size);
	return 0;
}
