/*
 * Preloaded by tests: of the process whose pid stands in the file TP_FAILING_MALLOC, allocations from number
 * `from` on fail, `times` of them.  They are counted from the moment that the test stores `from`; 0: none
 * fails.  A pid of -1 is that of the next process that is started.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct control {
	_Atomic int64_t pid, from, times, seen, failed;
};

static struct control *control;
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t each);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);

__attribute__((constructor)) static void map_control(void)
{
	const char *path = getenv("TP_FAILING_MALLOC");
	int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *at =
		fd >= 0 ? mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
	if (fd >= 0)
		(void)close(fd);
	if (at == MAP_FAILED)
		return;
	control = at;
	int64_t next = -1;
	(void)atomic_compare_exchange_strong(&control->pid, &next, getpid());
}

static int fails(void)
{
	struct control *c = control;
	int64_t from;
	if (c == NULL || (from = atomic_load(&c->from)) == 0 || atomic_load(&c->pid) != getpid())
		return 0;
	int64_t n = atomic_fetch_add(&c->seen, 1) + 1;
	if (n < from || n >= from + atomic_load(&c->times))
		return 0;
	atomic_fetch_add(&c->failed, 1);
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t each)
{
	return fails() ? NULL : __libc_calloc(n, each);
}

void *realloc(void *p, size_t n)
{
	return n != 0 && fails() ? NULL : __libc_realloc(p, n);
}

void *reallocarray(void *p, size_t n, size_t each)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, each, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, bytes);
}

void *aligned_alloc(size_t alignment, size_t n)
{
	return fails() ? NULL : __libc_memalign(alignment, n);
}

int posix_memalign(void **ret, size_t alignment, size_t n)
{
	void *p = fails() ? NULL : __libc_memalign(alignment, n);
	if (p == NULL)
		return ENOMEM;
	*ret = p;
	return 0;
}

/* glibc's own calls no malloc of ours. */
char *strndup(const char *s, size_t most)
{
	size_t n = strnlen(s, most);
	char *copy = malloc(n + 1);
	if (copy != NULL) {
		memcpy(copy, s, n);
		copy[n] = '\0';
	}
	return copy;
}

char *strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy = malloc(n);
	return copy != NULL ? memcpy(copy, s, n) : NULL;
}
