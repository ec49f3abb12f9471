#include "common/shm/region.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/shm/layout.h"

static uint64_t line_up(uint64_t n)
{
	return (n + TP_CACHE_LINE - 1) / TP_CACHE_LINE * TP_CACHE_LINE;
}

/* What the sizes asked for amount to. */
struct shape {
	uint32_t buckets, url_buckets;
};

/* The one description of the layout: everything in the header but magic, seed and boot id. */
static struct tp_region_header layout_for(struct shape shape)
{
	const uint64_t sizes[TP_PART_COUNT] = {
		[TP_PART_SLOTS] = TP_SHM_SLOTS * sizeof(struct tp_slot),
		[TP_PART_COUNTERS] = TP_SHM_SLOTS * sizeof(struct tp_counter_block),
		[TP_PART_HISTOGRAMS] = TP_SHM_SLOTS * sizeof(struct tp_histogram_block),
		[TP_PART_NUMBERS] = sizeof(struct tp_numbers),
		[TP_PART_STREAKS] = TP_STREAKS * sizeof(_Atomic uint64_t),
		[TP_PART_ROUNDS] = TP_ROUNDS * sizeof(struct tp_round_cell),
		[TP_PART_FAILURES] = sizeof(struct tp_failure_ring),
		[TP_PART_HISTORY] = TP_HISTORY_CELLS * sizeof(struct tp_history_cell),
		[TP_PART_OPEN_TURNS] = TP_SHM_SLOTS * sizeof(struct tp_open_row),
		[TP_PART_SERIES_DIR] = TP_SERIES / TP_DIR_WAYS * sizeof(struct tp_dir_bucket),
		[TP_PART_SERIES] = TP_SERIES * sizeof(struct tp_series_cell),
		[TP_PART_VALUES] = TP_VALUE_ROWS * sizeof(struct tp_value_row),
		[TP_PART_BREAKER_DIR] = (uint64_t)shape.url_buckets * sizeof(struct tp_dir_bucket),
		[TP_PART_BREAKER] =
			(uint64_t)shape.url_buckets * TP_DIR_WAYS * sizeof(struct tp_breaker_cell),
		[TP_PART_COOLDOWN_DIR] = TP_COOLDOWNS / TP_DIR_WAYS * sizeof(struct tp_dir_bucket),
		[TP_PART_COOLDOWN] = TP_COOLDOWNS * sizeof(struct tp_cooldown_cell),
		[TP_PART_WAIT_DIR] = TP_SHARED_WAITS / TP_DIR_WAYS * sizeof(struct tp_dir_bucket),
		[TP_PART_WAIT] = TP_SHARED_WAITS * sizeof(struct tp_wait_cell),
		[TP_PART_TOKENS] = TP_TOKENS * sizeof(struct tp_token_cell),
		[TP_PART_GATES] = TP_GATES * sizeof(struct tp_gate_cell),
		[TP_PART_LEDGER] = (uint64_t)shape.buckets * sizeof(struct tp_bucket),
	};
	struct tp_region_header h = {
		.layout = TP_LAYOUT_VERSION,
		.buckets = shape.buckets,
		.url_buckets = shape.url_buckets,
	};
	uint64_t end = line_up(sizeof h);
	for (int i = 0; i < TP_PART_COUNT; i++) {
		h.parts[i] = (struct tp_part_place){.offset = end, .size = sizes[i]};
		end = line_up(end + sizes[i]);
	}
	h.total_size = end;
	return h;
}

/* Whole groups of buckets, at least one: below that an eighth could not be cut. */
static uint32_t buckets_for(uint32_t cells)
{
	enum { GROUP_CELLS = TP_BUCKET_CELLS * TP_GROUP_BUCKETS };
	uint32_t groups = cells / GROUP_CELLS + (cells % GROUP_CELLS != 0 || cells == 0);
	return groups * TP_GROUP_BUCKETS;
}

static struct shape shape_for(struct tp_region_sizes sizes)
{
	uint32_t urls = sizes.urls == 0 ? TP_URLS_DEFAULT : sizes.urls;
	return (struct shape){
		.buckets = buckets_for(sizes.logical_requests),
		.url_buckets = urls / TP_DIR_WAYS + (urls % TP_DIR_WAYS != 0),
	};
}

static bool too_large(struct tp_region_sizes sizes)
{
	return sizes.logical_requests > TP_LEDGER_MAX_CELLS || sizes.urls > TP_URLS_MAX;
}

static int read_boot_id(char id[40])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	memset(id, 0, 40);
	ssize_t n = read(fd, id, 39);
	int error = n < 0 ? -errno : n < 36 ? -EIO : 0;
	close(fd);
	id[36] = '\0';
	return error;
}

/* A fresh table in zeroed memory. The magic comes last and with release: whoever sees it sees all the rest.
 */
static int fill(void *base, const struct tp_region_header *layout)
{
	struct tp_region_header *h = base;
	struct tp_region_header fresh = *layout;
	int error = read_boot_id(fresh.boot_id);
	if (error != 0)
		return error;
	if (getrandom(fresh.seed, sizeof fresh.seed, 0) != (ssize_t)sizeof fresh.seed)
		return -EIO;
	*h = fresh;
	atomic_store_explicit(&h->magic, TP_REGION_MAGIC, memory_order_release);
	return 0;
}

/* NULL when the bytes are a table that this build can use, of the boot that `want` names, else what is wrong
 * with it.
 */
static const char *fault_of(const struct tp_region_header *h, const struct tp_region_header *want)
{
	if (atomic_load_explicit(&h->magic, memory_order_acquire) != TP_REGION_MAGIC)
		return "it is damaged, or its creator was killed while making it";
	if (h->layout != want->layout)
		return "it has another layout version";
	if (h->total_size != want->total_size || h->buckets != want->buckets ||
	    h->url_buckets != want->url_buckets)
		return "it has another size";
	if (memcmp(h->parts, want->parts, sizeof h->parts) != 0)
		return "its header is damaged";
	if (memcmp(h->boot_id, want->boot_id, sizeof h->boot_id) != 0)
		return "it is of another boot of this machine";
	return NULL;
}

static void *part(void *base, const struct tp_region_header *layout, enum tp_part p)
{
	return (char *)base + layout->parts[p].offset;
}

static struct tp_dir directory(void *base, const struct tp_region_header *layout, enum tp_part p)
{
	return (struct tp_dir){
		.buckets = part(base, layout, p),
		.n_buckets = (uint32_t)(layout->parts[p].size / sizeof(struct tp_dir_bucket)),
	};
}

static struct tp_region *handle_for(void *base, const struct tp_region_header *layout)
{
	struct tp_region *r = malloc(sizeof *r);
	if (r == NULL)
		return NULL;
	*r = (struct tp_region){
		.header = base,
		.size = (size_t)layout->total_size,
		.slots = part(base, layout, TP_PART_SLOTS),
		.counters = part(base, layout, TP_PART_COUNTERS),
		.histograms = part(base, layout, TP_PART_HISTOGRAMS),
		.numbers = part(base, layout, TP_PART_NUMBERS),
		.streaks = part(base, layout, TP_PART_STREAKS),
		.rounds = part(base, layout, TP_PART_ROUNDS),
		.failures = part(base, layout, TP_PART_FAILURES),
		.history = part(base, layout, TP_PART_HISTORY),
		.open_turns = part(base, layout, TP_PART_OPEN_TURNS),
		.series_dir = directory(base, layout, TP_PART_SERIES_DIR),
		.series = part(base, layout, TP_PART_SERIES),
		.values = part(base, layout, TP_PART_VALUES),
		.breaker_dir = directory(base, layout, TP_PART_BREAKER_DIR),
		.breaker = part(base, layout, TP_PART_BREAKER),
		.cooldown_dir = directory(base, layout, TP_PART_COOLDOWN_DIR),
		.cooldowns = part(base, layout, TP_PART_COOLDOWN),
		.wait_dir = directory(base, layout, TP_PART_WAIT_DIR),
		.waits = part(base, layout, TP_PART_WAIT),
		.tokens = part(base, layout, TP_PART_TOKENS),
		.gates = part(base, layout, TP_PART_GATES),
		.buckets = part(base, layout, TP_PART_LEDGER),
		.n_buckets = layout->buckets,
	};
	return r;
}

/* Maps `fd` whole, fills or checks it, and makes the handle; closes nothing. `fault` non-NULL on -EINVAL. */
static int map(int fd, int protection, bool create, const struct tp_region_header *layout,
	       const char **ret_fault, struct tp_region **ret_region)
{
	size_t size = (size_t)layout->total_size;
	void *base = mmap(NULL, size, protection, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	int error = 0;
	if (create) {
		error = fill(base, layout);
	} else {
		const char *fault = fault_of(base, layout);
		if (fault != NULL) {
			*ret_fault = fault;
			error = -EINVAL;
		}
	}
	struct tp_region *r = error == 0 ? handle_for(base, layout) : NULL;
	if (r == NULL) {
		munmap(base, size);
		return error != 0 ? error : -ENOMEM;
	}
	*ret_region = r;
	return 0;
}

/* Space is taken now: a page that cannot be had later would be SIGBUS in the middle of a turn. */
static int allocate(int fd, uint64_t size)
{
	int error;
	if (fchmod(fd, 0600) != 0) /* whatever the umask made of it */
		return -errno;
	do {
		error = posix_fallocate(fd, 0, (off_t)size);
	} while (error == EINTR);
	return -error;
}

static int create(const char *name, const struct tp_region_header *layout, struct tp_buf *why,
		  struct tp_region **ret_region)
{
	int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0) {
		int error = -errno;
		tp_buf_printf(why, "cannot create shared memory %s: %s", name, strerror(-error));
		return error;
	}
	const char *fault = NULL;
	int error = allocate(fd, layout->total_size);
	if (error == 0)
		error = map(fd, PROT_READ | PROT_WRITE, true, layout, &fault, ret_region);
	close(fd);
	if (error != 0) {
		(void)shm_unlink(name);
		tp_buf_printf(why, "cannot allocate shared memory %s of %llu KiB in /dev/shm: %s", name,
			      (unsigned long long)(layout->total_size / 1024), strerror(-error));
	}
	return error;
}

/* Opens what is there, if it is ours. Returns the descriptor, -ENOENT, or another -errno with `why`. */
static int open_ours(const char *name, int flags, struct tp_buf *why, struct stat *ret_stat)
{
	/* Nonblocking: a FIFO of that name must not hold us. */
	int fd = shm_open(name, flags | O_NONBLOCK, 0);
	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0) {
		int error = -errno;
		const char *reason = NULL;
		if (error == -EACCES)
			reason = "it belongs to another user";
		else if (error == -ELOOP || error == -ENXIO)
			reason = "it is not a regular file";
		else if (error == -EINVAL) /* what the C library makes of a folder, too */
			reason = "it is not a regular file, or the name is not valid";
		bool foreign = reason != NULL;
		tp_buf_printf(why, "shared memory %s cannot be used: %s", name,
			      foreign ? reason : strerror(-error));
		return foreign ? -EPERM : error;
	}
	struct stat st;
	const char *fault = NULL;
	if (fstat(fd, &st) != 0)
		fault = "its owner cannot be read";
	else if (!S_ISREG(st.st_mode))
		fault = "it is not a regular file";
	else if (st.st_uid != geteuid())
		fault = "it belongs to another user";
	else if ((st.st_mode & 07777) != 0600)
		fault = "its mode is not 0600";
	if (fault != NULL) {
		tp_buf_printf(why, "shared memory %s cannot be used: %s", name, fault);
		close(fd);
		return -EPERM;
	}
	*ret_stat = st;
	return fd;
}

static int replace(const char *name, const char *reason, const struct tp_region_header *layout,
		   struct tp_buf *why, struct tp_region **ret_region, enum tp_region_result *ret_result)
{
	if (shm_unlink(name) != 0 && errno != ENOENT) {
		int error = -errno;
		tp_buf_printf(why, "cannot remove the old shared memory %s: %s", name, strerror(-error));
		return error;
	}
	struct tp_region *r;
	int error = create(name, layout, why, &r);
	if (error != 0)
		return error;
	tp_buf_printf(why, "the earlier shared memory %s was replaced by a fresh one: %s", name, reason);
	*ret_region = r;
	*ret_result = TP_REGION_REPLACED;
	return 0;
}

/* The table that is wanted: of these sizes and this boot. */
static int want_layout(const char *name, struct tp_region_sizes sizes, struct tp_buf *why,
		       struct tp_region_header *ret_layout)
{
	if (!too_large(sizes)) {
		*ret_layout = layout_for(shape_for(sizes));
		int error = read_boot_id(ret_layout->boot_id);
		if (error != 0)
			tp_buf_printf(why, "the id of this boot cannot be read: %s", strerror(-error));
		return error;
	}
	tp_buf_printf(why, "%u logical requests and %u URLs are more than shared memory %s can hold",
		      (unsigned)sizes.logical_requests, (unsigned)sizes.urls, name);
	return -EINVAL;
}

/* Attaches. -EINVAL with *ret_reason: it is ours, but not to be used; -ENOENT: there is none. */
static int join(const char *name, const struct tp_region_header *layout, struct tp_buf *why,
		struct tp_region **ret_region, const char **ret_reason)
{
	struct stat st;
	int fd = open_ours(name, O_RDWR, why, &st);
	if (fd < 0)
		return fd;
	int error = -EINVAL;
	if ((uint64_t)st.st_size != layout->total_size)
		*ret_reason = "it has another size";
	else
		error = map(fd, PROT_READ | PROT_WRITE, false, layout, ret_reason, ret_region);
	close(fd);
	if (error != 0 && *ret_reason == NULL)
		tp_buf_printf(why, "cannot map shared memory %s: %s", name, strerror(-error));
	return error;
}

int tp_region_open(const char *name, struct tp_region_sizes sizes, bool fresh, struct tp_buf *why,
		   struct tp_region **ret_region, enum tp_region_result *ret_result)
{
	struct tp_region_header layout;
	int error = want_layout(name, sizes, why, &layout);
	if (error != 0)
		return error;
	const char *reason = NULL;
	error = join(name, &layout, why, ret_region, &reason);
	if (error == -ENOENT) {
		error = create(name, &layout, why, ret_region);
		if (error == 0)
			*ret_result = TP_REGION_CREATED;
		return error;
	}
	if (error == 0 && fresh) {
		tp_region_close(*ret_region);
		reason = "a fresh state was asked for";
	}
	if (reason != NULL)
		return replace(name, reason, &layout, why, ret_region, ret_result);
	if (error == 0)
		*ret_result = TP_REGION_ATTACHED;
	return error;
}

/* ---- beside a running master */

#define BESIDE ".next"

static int name_beside(const char *name, char out[NAME_MAX])
{
	return (size_t)snprintf(out, NAME_MAX, "%s" BESIDE, name) < NAME_MAX ? 0 : -ENAMETOOLONG;
}

int tp_region_open_beside(const char *name, struct tp_region_sizes sizes, struct tp_buf *why,
			  struct tp_region **ret_region, enum tp_region_result *ret_result)
{
	char beside[NAME_MAX];
	const char *reason = NULL;
	struct tp_region_header layout;
	int error = want_layout(name, sizes, why, &layout);
	if (error == 0)
		error = name_beside(name, beside);
	if (error != 0)
		return error;
	error = join(name, &layout, why, ret_region, &reason);
	if (error == 0)
		*ret_result = TP_REGION_ATTACHED;
	if (error != -ENOENT && reason == NULL)
		return error;
	(void)shm_unlink(beside); /* of one that came to nothing */
	error = create(beside, &layout, why, ret_region);
	if (error != 0)
		return error;
	tp_buf_printf(why, "the shared memory %s of the running server is replaced by a fresh one: %s", name,
		      reason != NULL ? reason : "it is gone");
	*ret_result = TP_REGION_REPLACED;
	return 0;
}

int tp_region_put_in_place(const char *name)
{
	char beside[NAME_MAX], from[NAME_MAX + 16], to[NAME_MAX + 16];
	int error = name_beside(name, beside);
	if (error != 0)
		return error;
	/* There is no shm_rename(); this is where shm_open() has them. */
	(void)snprintf(from, sizeof from, "/dev/shm%s", beside);
	(void)snprintf(to, sizeof to, "/dev/shm%s", name);
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0)
		return 0;
	return errno == ENOENT && rename(from, to) == 0 ? 0 : -errno;
}

uint64_t tp_region_identity(const char *name)
{
	struct stat st;
	int fd = shm_open(name, O_RDONLY | O_CLOEXEC, 0);
	bool there = fd >= 0 && fstat(fd, &st) == 0;
	if (fd >= 0)
		(void)close(fd);
	return there ? (uint64_t)st.st_ino : 0;
}

void tp_region_drop(const char *name)
{
	(void)shm_unlink(name);
}

void tp_region_drop_beside(const char *name)
{
	char beside[NAME_MAX];
	if (name_beside(name, beside) == 0)
		(void)shm_unlink(beside);
}

static int attach(const char *name, int flags, int protection, struct tp_buf *why,
		  struct tp_region **ret_region)
{
	struct stat st;
	int fd = open_ours(name, flags, why, &st);
	if (fd == -ENOENT)
		tp_buf_printf(why, "there is no shared memory %s: no server has run under that name", name);
	if (fd < 0)
		return fd;

	/* The size is not known here: it is taken from the header, and everything is then checked by it. */
	struct tp_region_header h;
	int error = -EINVAL;
	const char *reason = "it is damaged";
	if (pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h && h.buckets != 0 &&
	    h.buckets % TP_GROUP_BUCKETS == 0 && h.buckets <= TP_LEDGER_MAX_CELLS / TP_BUCKET_CELLS &&
	    h.url_buckets != 0 && h.url_buckets <= TP_URLS_MAX / TP_DIR_WAYS) {
		struct tp_region_header layout =
			layout_for((struct shape){.buckets = h.buckets, .url_buckets = h.url_buckets});
		/* A container's boot has an id of its own, which the server's sandbox (ProtectKernelTunables
		 * of a unit) does not see: whoever looks from outside of it takes the server's word. */
		memcpy(layout.boot_id, h.boot_id, sizeof layout.boot_id);
		if ((uint64_t)st.st_size != layout.total_size)
			reason = "it has another size";
		else
			error = map(fd, protection, false, &layout, &reason, ret_region);
	}
	close(fd);
	if (error != 0)
		tp_buf_printf(why, "shared memory %s cannot be read: %s", name,
			      error == -EINVAL ? reason : strerror(-error));
	return error;
}

int tp_region_open_readonly(const char *name, struct tp_buf *why, struct tp_region **ret_region)
{
	return attach(name, O_RDONLY, PROT_READ, why, ret_region);
}

int tp_region_open_existing(const char *name, struct tp_buf *why, struct tp_region **ret_region)
{
	return attach(name, O_RDWR, PROT_READ | PROT_WRITE, why, ret_region);
}

int tp_region_open_anonymous(struct tp_region_sizes sizes, struct tp_region **ret_region)
{
	if (too_large(sizes))
		return -EINVAL;
	const struct tp_region_header layout = layout_for(shape_for(sizes));
	const char *fault = NULL;
	return map(-1, PROT_READ | PROT_WRITE, true, &layout, &fault, ret_region);
}

void tp_region_close(struct tp_region *r)
{
	if (r == NULL)
		return;
	munmap(r->header, r->size);
	free(r);
}

const uint8_t *tp_region_seed(const struct tp_region *r)
{
	return r->header->seed;
}
