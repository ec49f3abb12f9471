#include "common/config/units.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes digits off the front of *s. Returns a reason or NULL. */
static const char *take_digits(struct tp_str *s, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t n = 0;
	while (n < s->n && is_digit(s->p[n])) {
		unsigned digit = (unsigned)(s->p[n] - '0');
		if (value > (UINT64_MAX - digit) / 10)
			return "is far too large";
		value = value * 10 + digit;
		n++;
	}
	/* YAML 1.1 reads 010 as eight: nobody who writes it can be sure what it means. */
	if (n > 1 && s->p[0] == '0')
		return "begins with a zero";
	s->p += n;
	s->n -= n;
	*ret_value = value;
	return NULL;
}

/* What all numbers have in common: not empty, not negative, begins with a digit. */
static const char *begin_number(struct tp_str text, const char *not_a_number)
{
	if (text.n == 0)
		return "is empty";
	if (text.p[0] == '-')
		return "is negative";
	return is_digit(text.p[0]) ? NULL : not_a_number;
}

const char *tp_parse_count(struct tp_str text, uint64_t *ret_count)
{
	const char *not_a_number = "is not a whole number";
	const char *reason = begin_number(text, not_a_number);
	uint64_t value = 0;
	if (reason == NULL)
		reason = take_digits(&text, &value);
	if (reason != NULL)
		return reason;
	if (text.n != 0)
		return not_a_number;
	*ret_count = value;
	return NULL;
}

struct unit {
	struct tp_str name;
	uint64_t factor;
};

static const struct unit *find_unit(const struct unit *units, size_t n, struct tp_str name)
{
	for (size_t i = 0; i < n; i++)
		if (tp_str_eq(units[i].name, name))
			return &units[i];
	return NULL;
}

static const struct unit durations[] = {
	{{"ms", 2}, 1},
	{{"s", 1}, 1000},
	{{"m", 1}, 60 * 1000},
	{{"h", 1}, 3600 * 1000},
};

/* Takes ".5" off the front of *s as 5 of 10; at most nine digits, more cannot be whole milliseconds. */
static const char *take_fraction(struct tp_str *s, uint64_t *ret_part, uint64_t *ret_of)
{
	uint64_t part = 0, of = 1;
	size_t n = 1;
	for (; n < s->n && is_digit(s->p[n]); n++) {
		if (of >= 1000000000)
			return "is finer than a millisecond";
		part = part * 10 + (unsigned)(s->p[n] - '0');
		of *= 10;
	}
	if (n == 1)
		return "has no digit behind its point";
	s->p += n;
	s->n -= n;
	*ret_part = part;
	*ret_of = of;
	return NULL;
}

const char *tp_parse_duration(struct tp_str text, uint64_t *ret_ms)
{
	uint64_t whole = 0, part = 0, of = 1;
	const char *reason =
		begin_number(text, "is not a duration: write a number with ms, s, m or h, like 1.5s");
	if (reason == NULL)
		reason = take_digits(&text, &whole);
	if (reason == NULL && text.n > 0 && text.p[0] == '.')
		reason = take_fraction(&text, &part, &of);
	if (reason != NULL)
		return reason;
	if (text.n == 0 && whole == 0 && of == 1) {
		*ret_ms = 0;
		return NULL;
	}
	if (text.n == 0)
		return "has no unit: add ms, s, m or h, like 10s";
	const struct unit *u = find_unit(durations, sizeof durations / sizeof durations[0], text);
	if (u == NULL)
		return "has an unknown unit: ms, s, m and h are known, like 10s";
	if (whole > UINT64_MAX / u->factor - 1)
		return "is far too large";
	if (part * u->factor % of != 0)
		return "is finer than a millisecond";
	*ret_ms = whole * u->factor + part * u->factor / of;
	return NULL;
}

static const struct unit sizes[] = {
	{{"", 0}, 1},
	{{"KiB", 3}, 1024},
	{{"MiB", 3}, 1024 * 1024},
	{{"GiB", 3}, 1024 * 1024 * 1024},
};

const char *tp_parse_size(struct tp_str text, uint64_t *ret_bytes)
{
	uint64_t whole = 0;
	const char *reason = begin_number(
		text, "is not a size: write bytes, or a number with KiB, MiB or GiB, like 64KiB");
	if (reason == NULL)
		reason = take_digits(&text, &whole);
	if (reason != NULL)
		return reason;
	if (text.n > 0 && text.p[0] == '.')
		return "is not a whole number: use the next smaller unit";
	const struct unit *u = find_unit(sizes, sizeof sizes / sizeof sizes[0], text);
	if (u == NULL)
		return "has an unknown unit: KiB, MiB and GiB are known, bytes have none, like 64KiB";
	if (whole > UINT64_MAX / u->factor)
		return "is far too large";
	*ret_bytes = whole * u->factor;
	return NULL;
}

const char *tp_parse_bool(struct tp_str text, bool *ret_value)
{
	static const struct {
		const char *forms[3];
		bool value;
	} words[] = {
		{{"true", "True", "TRUE"}, true}, {{"false", "False", "FALSE"}, false},
		{{"yes", "Yes", "YES"}, true},    {{"no", "No", "NO"}, false},
		{{"on", "On", "ON"}, true},       {{"off", "Off", "OFF"}, false},
	};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		for (size_t k = 0; k < 3; k++)
			if (tp_str_eq(text, tp_str_from(words[i].forms[k]))) {
				*ret_value = words[i].value;
				return NULL;
			}
	return "is neither true nor false";
}

void tp_format_duration(struct tp_buf *out, uint64_t ms)
{
	/* Up to ten minutes people think in seconds: 300s, 120s, then 10m. */
	if (ms >= 3600000 && ms % 3600000 == 0)
		tp_buf_printf(out, "%juh", (uintmax_t)(ms / 3600000));
	else if (ms >= 600000 && ms % 60000 == 0)
		tp_buf_printf(out, "%jum", (uintmax_t)(ms / 60000));
	else if (ms % 1000 == 0)
		tp_buf_printf(out, "%jus", (uintmax_t)(ms / 1000));
	else if (ms > 1000 && ms % 100 == 0)
		tp_buf_printf(out, "%ju.%jus", (uintmax_t)(ms / 1000), (uintmax_t)(ms % 1000 / 100));
	else
		tp_buf_printf(out, "%jums", (uintmax_t)ms);
}

void tp_format_size(struct tp_buf *out, uint64_t bytes)
{
	size_t i = sizeof sizes / sizeof sizes[0] - 1;
	while (i > 0 && (bytes == 0 || bytes % sizes[i].factor != 0))
		i--;
	tp_buf_printf(out, "%ju%s", (uintmax_t)(bytes / sizes[i].factor), sizes[i].name.p);
}
