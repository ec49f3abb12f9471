#include "common/config/suggest.h"

#include <string.h>

enum { LONGEST = 40 };

static size_t least(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;
	return m < c ? m : c;
}

/* `firstByte` and `first-byte` are meant as first_byte. */
static char plain(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c == '-' ? '_' : c;
}

static bool same_letter(char a, char b)
{
	return plain(a) == plain(b);
}

/* Optimal string alignment: insert, delete, replace, and swap of neighbours cost one each. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t rows[3][LONGEST + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];
	for (size_t j = 0; j <= m; j++)
		above[j] = j;
	for (size_t i = 1; i <= n; i++) {
		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			row[j] = least(above[j] + 1, row[j - 1] + 1,
				       above[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1));
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
			    same_letter(a[i - 2], b[j - 1]) && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		size_t *spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[m];
}

struct tp_suggestion tp_suggest_begin(const char *word)
{
	return (struct tp_suggestion){.word = word};
}

void tp_suggest_candidate(struct tp_suggestion *s, const char *candidate)
{
	size_t n = strlen(s->word), m = strlen(candidate);
	if (n == 0 || n > LONGEST || m > LONGEST)
		return;
	size_t d = distance(s->word, n, candidate, m);
	/* A word more than a third of which has to change is another word. */
	size_t allowed = n < 3 ? 1 : (n + 2) / 3;
	if (d > allowed || d >= n || d >= m || (s->best != NULL && d >= s->distance))
		return;
	s->best = candidate;
	s->distance = d;
}
