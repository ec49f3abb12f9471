#include "tests/bench/common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

void bench_die(const char *what)
{
	(void)fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

uint64_t bench_now_ns(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void bench_raise_fd_limit(void)
{
	struct rlimit r;
	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return;
	r.rlim_cur = r.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &r);
}

uint64_t bench_number(const char *option, const char *text, uint64_t most)
{
	char *end = NULL;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || value > most) {
		(void)fprintf(stderr, "%s: %s: \"%s\" is no number up to %llu\n",
			      program_invocation_short_name, option, text, (unsigned long long)most);
		exit(2);
	}
	return value;
}

/* True when the line begins with `name` (which has its colon); *ret_value is what follows it, blanks skipped.
 */
static bool is_field(const char *line, size_t n, const char *name, size_t name_n, const char **ret_value)
{
	if (n < name_n || strncasecmp(line, name, name_n) != 0)
		return false;
	const char *v = line + name_n;
	while (v < line + n && *v == ' ')
		v++;
	*ret_value = v;
	return true;
}

static void take_line(const char *line, size_t n, uint64_t *length, bool *chunked)
{
	static const char content_length[] = "content-length:", transfer[] = "transfer-encoding:";
	const char *value = NULL;
	if (is_field(line, n, content_length, sizeof content_length - 1, &value)) {
		*length = 0;
		for (; value < line + n && *value >= '0' && *value <= '9'; value++)
			*length = *length * 10 + (uint64_t)(*value - '0');
	} else if (is_field(line, n, transfer, sizeof transfer - 1, &value)) {
		*chunked = strncasecmp(value, "chunked", 7) == 0;
	}
}

size_t bench_head(const char *bytes, size_t n, uint64_t *ret_length, bool *ret_chunked)
{
	uint64_t length = 0;
	bool chunked = false;
	size_t at = 0;
	const char *lf;
	while ((lf = memchr(bytes + at, '\n', n - at)) != NULL) {
		const char *line = bytes + at;
		size_t line_n = (size_t)(lf - line);
		at = (size_t)(lf - bytes) + 1;
		if (line_n <= 1) {
			*ret_length = length;
			*ret_chunked = chunked;
			return at;
		}
		if ((line[0] | 0x20) == 'c' || (line[0] | 0x20) == 't')
			take_line(line, line_n, &length, &chunked);
	}
	return 0;
}

void bench_put_digits(char *to, size_t width, uint64_t value)
{
	while (width-- > 0) {
		to[width] = (char)('0' + value % 10);
		value /= 10;
	}
}

void bench_wait_for_word(void)
{
	char word[64];
	while (read(STDIN_FILENO, word, sizeof word) < 0 && errno == EINTR)
		;
}

enum { SAMPLES = 1 << 22 };

void bench_samples_add(struct bench_samples *s, uint64_t ns)
{
	if (s->ns == NULL && (s->ns = calloc(SAMPLES, sizeof *s->ns)) == NULL)
		bench_die("calloc");
	if (s->n < SAMPLES)
		s->ns[s->n++] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

void bench_samples_sort(struct bench_samples *s)
{
	if (s->n > 0)
		qsort(s->ns, s->n, sizeof *s->ns, by_size);
}

uint32_t bench_samples_percentile(const struct bench_samples *s, unsigned percent)
{
	size_t at = s->n * percent / 100;
	return s->n > 0 ? s->ns[at < s->n ? at : s->n - 1] : 0;
}
