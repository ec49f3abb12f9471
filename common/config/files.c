#include "common/config/files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"

enum { BRIEFLY_MS = 1000 };

struct file {
	struct file *next;
	char *path;
	struct tp_buf content;
};

struct tp_files {
	unsigned refs;
	bool sealed; /* from a bundle: the disk may hold something else by now */
	struct file *first;
};

static struct tp_files *used;

struct tp_files *tp_files_new(void)
{
	struct tp_files *f = calloc(1, sizeof *f);
	if (f != NULL)
		f->refs = 1;
	return f;
}

struct tp_files *tp_files_ref(struct tp_files *f)
{
	f->refs++;
	return f;
}

static void wipe(struct tp_buf *b)
{
	if (b->data != NULL)
		explicit_bzero(b->data, b->len);
	tp_buf_free(b);
}

void tp_files_unref(struct tp_files *f)
{
	if (f == NULL || --f->refs > 0)
		return;
	struct file *next;
	for (struct file *one = f->first; one != NULL; one = next) {
		next = one->next;
		wipe(&one->content);
		free(one->path);
		free(one);
	}
	free(f);
}

struct tp_files *tp_files_use(struct tp_files *f)
{
	struct tp_files *before = used;
	used = f;
	return before;
}

struct tp_files *tp_files_used(void)
{
	return used;
}

static struct file *find(const struct tp_files *f, const char *path)
{
	struct file *one = f->first;
	while (one != NULL && strcmp(one->path, path) != 0)
		one = one->next;
	return one;
}

struct tp_str tp_files_find(const struct tp_files *f, const char *path)
{
	const struct file *one = f != NULL ? find(f, path) : NULL;
	if (one == NULL)
		return (struct tp_str){NULL, 0};
	return one->content.len > 0 ? tp_buf_str(&one->content) : TP_STR(""); /* empty, but read */
}

static bool keep(struct tp_files *f, const char *path, struct tp_str content)
{
	struct file *one = calloc(1, sizeof *one);
	if (one == NULL)
		return false;
	one->path = strdup(path);
	tp_buf_add_str(&one->content, content);
	if (one->path == NULL || one->content.failed) {
		wipe(&one->content);
		free(one->path);
		free(one);
		return false;
	}
	one->next = f->first;
	f->first = one;
	return true;
}

/* ---- the disk */

static bool waits_briefly;

void tp_files_wait_briefly(void)
{
	waits_briefly = true;
}

/* For something to read, or the end: a pipe without a writer has neither. */
static bool is_readable(int fd, uint64_t ends_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n;
	do {
		uint64_t now = tp_clock_boot_ms();
		n = poll(&p, 1, !waits_briefly ? -1 : now < ends_ms ? (int)(ends_ms - now) : 0);
	} while (n < 0 && errno == EINTR);
	return n > 0;
}

/* 0 or an errno. */
static int read_all(int fd, size_t limit, size_t expected, struct tp_buf *out)
{
	uint64_t ends_ms = tp_clock_boot_ms() + BRIEFLY_MS;
	/* One piece where the length is known, so that growing leaves no copies of secrets behind. */
	size_t start = out->len;
	if (!tp_buf_reserve(out, expected + 1))
		return ENOMEM;
	for (;;) {
		if (out->len == out->size && !tp_buf_reserve(out, 4096))
			return ENOMEM;
		if (!is_readable(fd, ends_ms))
			return ETIMEDOUT;
		ssize_t n = read(fd, out->data + out->len, out->size - out->len);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return errno;
		if (n > 0)
			out->len += (size_t)n;
		if (out->len - start > limit)
			return EFBIG;
	}
}

static int read_disk(const char *path, size_t limit, bool any_kind, struct tp_buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno;
	struct stat st;
	int error = fstat(fd, &st) != 0 ? errno : any_kind || S_ISREG(st.st_mode) ? 0 : EINVAL;
	size_t expected = error == 0 && S_ISREG(st.st_mode) ? (size_t)st.st_size : 0;
	if (error == 0)
		error = expected > limit ? EFBIG : read_all(fd, limit, expected, out);
	(void)close(fd);
	return error;
}

int tp_files_read(const char *path, size_t limit, bool any_kind, struct tp_buf *out)
{
	const struct file *one = used != NULL ? find(used, path) : NULL;
	if (one != NULL) {
		if (one->content.len > limit)
			return EFBIG;
		tp_buf_add_str(out, tp_buf_str(&one->content));
		return out->failed ? ENOMEM : 0;
	}
	if (used != NULL && used->sealed)
		return ENOENT;
	size_t start = out->len;
	int error = read_disk(path, limit, any_kind, out);
	if (error == 0 && used != NULL &&
	    !keep(used, path, (struct tp_str){out->data + start, out->len - start}))
		error = ENOMEM;
	return error;
}

/* ---- bundles: for each file its two lengths, path and content */

static void pack_one(const struct file *one, struct tp_buf *out)
{
	const uint64_t lengths[] = {strlen(one->path), one->content.len};
	tp_buf_add(out, lengths, sizeof lengths);
	tp_buf_add(out, one->path, lengths[0]);
	tp_buf_add_str(out, tp_buf_str(&one->content));
}

bool tp_files_pack(const struct tp_files *f, struct tp_buf *out)
{
	for (const struct file *one = f->first; one != NULL; one = one->next)
		pack_one(one, out);
	return !out->failed;
}

/* Takes n bytes off the front. */
static struct tp_str take(struct tp_str *from, uint64_t n, bool *ret_good)
{
	struct tp_str s = {from->p, (size_t)n};
	if (n > from->n) {
		*ret_good = false;
		return (struct tp_str){NULL, 0};
	}
	from->p += n;
	from->n -= (size_t)n;
	return s;
}

static bool unpack_one(struct tp_files *f, struct tp_str *from)
{
	bool good = true;
	uint64_t lengths[2] = {0};
	struct tp_str head = take(from, sizeof lengths, &good);
	if (good)
		memcpy(lengths, head.p, sizeof lengths);
	struct tp_str path = take(from, lengths[0], &good), content = take(from, lengths[1], &good);
	char *name = good ? strndup(path.p, path.n) : NULL;
	good = name != NULL && keep(f, name, content);
	free(name);
	return good;
}

struct tp_files *tp_files_unpack(struct tp_str bytes)
{
	struct tp_files *f = tp_files_new();
	bool good = f != NULL;
	while (good && bytes.n > 0)
		good = unpack_one(f, &bytes);
	if (!good) {
		tp_files_unref(f);
		return NULL;
	}
	f->sealed = true;
	return f;
}
