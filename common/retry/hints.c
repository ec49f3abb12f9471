#include "common/retry/hints.h"

#include "common/retry/amount.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter(char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct tp_str after(struct tp_str s, size_t n)
{
	return (struct tp_str){s.p + n, s.n - n};
}

static struct tp_str skip_blanks(struct tp_str s)
{
	while (s.n > 0 && is_blank(s.p[0]))
		s = after(s, 1);
	return s;
}

/* ---- what announces a wait */

static const struct lead {
	struct tp_str words;
	bool bare; /* a number without a unit is seconds */
} leads[] = {
	{{"try again in", 12}, false}, {{"try again after", 15}, false}, {{"retry in", 8}, false},
	{{"retry after", 11}, true},   {{"retry-after", 11}, true},      {{"resets in", 9}, false},
	{{"reset in", 8}, false},      {{"reset after", 11}, false},     {{"resets after", 12}, false},
};

/* Length of the lead at the start of `s`, 0 = it is not there; one blank in it stands for any run of them. */
static size_t match_lead(struct tp_str s, struct tp_str words)
{
	size_t i = 0;

	for (size_t w = 0; w < words.n; w++) {
		if (words.p[w] != ' ') {
			if (i >= s.n || lower(s.p[i]) != words.p[w])
				return 0;
			i++;
			continue;
		}
		if (i >= s.n || !is_blank(s.p[i]))
			return 0;
		while (i < s.n && is_blank(s.p[i]))
			i++;
	}
	return i < s.n && is_letter(s.p[i]) ? 0 : i;
}

/* ---- the wait itself */

static const struct {
	const char *names; /* each followed by a blank */
	uint64_t ms;
} units[] = {
	{"ms msec msecs millisecond milliseconds ", 1},
	{"s sec secs second seconds ", 1000},
	{"m min mins minute minutes ", 60000},
	{"h hr hrs hour hours ", 3600000},
	{"d day days ", 86400000},
	{"w week weeks ", 604800000},
};

static uint64_t unit_ms(struct tp_str word)
{
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++)
		for (const char *name = units[u].names; *name != '\0';) {
			size_t n = strcspn(name, " ");

			if (tp_str_ieq(word, (struct tp_str){name, n}))
				return units[u].ms;
			name += n + 1;
		}
	return 0;
}

/* What may stand between two parts: blanks, commas, a plus, "and". */
static struct tp_str skip_joint(struct tp_str s)
{
	for (;;) {
		s = skip_blanks(s);
		if (s.n > 0 && (s.p[0] == ',' || s.p[0] == '+'))
			s = after(s, 1);
		else if (s.n > 3 && tp_str_ieq((struct tp_str){s.p, 3}, TP_STR("and")) && !is_letter(s.p[3]))
			s = after(s, 3);
		else
			return s;
	}
}

/* Nothing that makes another number of it: "5" in "5, then stop" but not in 5:30, 5/7, 5-10. */
static bool ends_bare(struct tp_str s)
{
	if (s.n == 0)
		return true;
	if (s.p[0] == '.' || s.p[0] == ',')
		return s.n == 1 || !is_digit(s.p[1]);
	if (s.p[0] == ';' || s.p[0] == ')' || s.p[0] == '!')
		return true;
	return is_blank(s.p[0]) && (skip_blanks(s).n == 0 || !is_letter(skip_blanks(s).p[0]));
}

/* The parts behind a lead, summed up, in nanoseconds; 0 = this is no hint. */
static uint64_t read_wait(struct tp_str s, bool bare)
{
	uint64_t sum = 0;
	bool first = true;

	s = skip_blanks(s);
	if (s.n > 0 && s.p[0] == ':')
		s = skip_blanks(after(s, 1));
	for (;; first = false) {
		struct tp_amount a;
		struct tp_str word;
		uint64_t ms;
		size_t n = tp_amount_scan(s, &a);

		if (n == 0)
			return sum; /* zero if there was no part at all */
		s = after(s, n);
		if (first && bare && ends_bare(s))
			return tp_amount_ns(a, 1000);
		word = skip_blanks(s);
		for (n = 0; n < word.n && is_letter(word.p[n]); n++)
			;
		ms = unit_ms((struct tp_str){word.p, n});
		if (ms == 0)
			return 0;
		sum = tp_amount_add_ns(sum, tp_amount_ns(a, ms));
		s = skip_joint(after(word, n));
	}
}

int64_t tp_hint_message(struct tp_str message)
{
	uint64_t largest = 0;

	for (size_t at = 0; at < message.n; at++) {
		if (at > 0 && is_letter(message.p[at - 1]))
			continue; /* "presets in" is no "resets in" */
		for (size_t l = 0; l < sizeof(leads) / sizeof(leads[0]); l++) {
			size_t n = match_lead(after(message, at), leads[l].words);
			uint64_t ns = n > 0 ? read_wait(after(message, at + n), leads[l].bare) : 0;

			if (ns > largest)
				largest = ns;
		}
	}
	return largest > 0 ? tp_amount_ms(largest) : -1;
}

/* ---- structured hints */

static int64_t until_ms(int64_t at_s, int64_t from_s)
{
	if (at_s < 0)
		return -1;
	return at_s > from_s ? (at_s - from_s) * 1000 : 0;
}

int64_t tp_hint_body(const struct tp_body_hints *hints, int64_t now_s, int64_t date_header_s)
{
	int64_t told[] = {
		hints->resets_in_ms,
		until_ms(hints->resets_at_s, date_header_s >= 0 ? date_header_s : now_s),
		hints->per_day ? -1 : hints->retry_delay_ms,
	};
	int64_t largest = -1;

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (told[i] > largest)
			largest = told[i];
	return largest >= 0 || hints->per_day ? largest : tp_hint_message(hints->message);
}
