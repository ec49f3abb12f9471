#include "common/retry/told.h"

#include "common/http/date.h"
#include "common/retry/amount.h"

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* From the answer's own Date where it has one: the provider's clock is what its times were made with. */
static int64_t base_s(int64_t now_s, int64_t date_header_s)
{
	return date_header_s >= 0 ? date_header_s : now_s;
}

static int64_t parse_date(struct tp_str value, int64_t now_s)
{
	int64_t seconds;

	return tp_date_parse(value, now_s, &seconds) ? larger(seconds, 0) : -1;
}

/* ---- Retry-After */

int64_t tp_told_retry_after(struct tp_str value, int64_t now_s, int64_t date_header_s)
{
	struct tp_amount a;
	int64_t at;

	value = tp_str_trim(value);
	if (tp_amount_parse(value, &a))
		return tp_amount_ms(tp_amount_ns(a, 1000));
	at = parse_date(value, now_s);
	return at < 0 ? -1 : tp_until_ms(at * 1000, base_s(now_s, date_header_s));
}

int64_t tp_told_retry_after_ms(struct tp_str value)
{
	struct tp_amount a;

	if (!tp_amount_parse(tp_str_trim(value), &a))
		return -1;
	return tp_amount_ms(tp_amount_ns(a, 1));
}

int64_t tp_told_combine(int64_t retry_after_ms, int64_t ms_header_ms)
{
	bool finer = ms_header_ms >= 0 && retry_after_ms >= 0 &&
		     (int64_t)tp_told_header_seconds(ms_header_ms) * 1000 == retry_after_ms;

	return finer ? ms_header_ms : larger(retry_after_ms, ms_header_ms);
}

/* ---- resets of rate limits */

/* Names of one limit's fields: the part between prefix and suffix is the limit ("requests"). */
#define WORD(literal)                                                                                        \
	{                                                                                                    \
		literal, sizeof(literal) - 1                                                                 \
	}
static const struct dialect {
	struct tp_str prefix, reset, remaining, status, used, cost;
	struct tp_str exact; /* says the same as `reset`, and not rounded */
} dialects[] = {
	/* x-ratelimit-remaining-requests */
	{WORD("x-ratelimit-"), WORD("reset"), .remaining = WORD("remaining")},
	/* the IETF draft: ratelimit-remaining */
	{WORD("ratelimit-"), WORD("reset"), .remaining = WORD("remaining")},
	/* Mistral: ratelimitbysize-remaining, too little for ratelimitbysize-query-cost */
	{WORD("ratelimitbysize-"), WORD("reset"), .remaining = WORD("remaining"), .cost = WORD("query-cost")},
	/* anthropic-ratelimit-requests-remaining, anthropic-ratelimit-unified-status */
	{WORD("anthropic-ratelimit-"), WORD("reset"), .remaining = WORD("remaining"),
	 .status = WORD("status")},
	/* ChatGPT: x-codex-primary-used-percent */
	{WORD("x-codex-"), WORD("reset-at"), .used = WORD("used-percent")},
	{WORD("x-codex-"), WORD("reset-after-seconds"), .used = WORD("used-percent"),
	 .exact = WORD("reset-at")},
};
#undef WORD

static bool starts_with_word(struct tp_str s, struct tp_str word)
{
	return s.n >= word.n && tp_str_ieq((struct tp_str){s.p, word.n}, word) &&
	       (s.n == word.n || s.p[word.n] == '-');
}

static bool ends_with_word(struct tp_str s, struct tp_str word)
{
	return s.n > word.n && s.p[s.n - word.n - 1] == '-' &&
	       tp_str_ieq((struct tp_str){s.p + s.n - word.n, word.n}, word);
}

/* True if `name` is the field `word` of some limit of the dialect; the limit's own name is written to
 * ret_limit (empty: the only one). */
static bool limit_field(const struct dialect *d, struct tp_str name, struct tp_str word,
			struct tp_str *ret_limit)
{
	struct tp_str rest;

	if (word.n == 0 || name.n <= d->prefix.n ||
	    !tp_str_ieq((struct tp_str){name.p, d->prefix.n}, d->prefix))
		return false;
	rest = (struct tp_str){name.p + d->prefix.n, name.n - d->prefix.n};
	if (starts_with_word(rest, word)) {
		size_t cut = rest.n == word.n ? word.n : word.n + 1;
		*ret_limit = (struct tp_str){rest.p + cut, rest.n - cut};
		return true;
	}
	if (ends_with_word(rest, word)) {
		*ret_limit = (struct tp_str){rest.p, rest.n - word.n - 1};
		return true;
	}
	return false;
}

/* The value of a limit's field, without blanks; empty = absent. */
static struct tp_str value_of(const struct dialect *d, struct tp_str word, struct tp_str limit,
			      const struct tp_told_field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tp_str l;

		if (limit_field(d, fields[i].name, word, &l) && tp_str_ieq(l, limit))
			return tp_str_trim(fields[i].value);
	}
	return (struct tp_str){NULL, 0};
}

/* An explicit zero, or less than this request costs. Azure's -1 says that it does not know. */
static bool nothing_left(struct tp_str remaining, struct tp_str cost)
{
	struct tp_amount left, needed;

	if (!tp_amount_parse(remaining, &left))
		return false;
	if (left.whole == 0 && left.nano == 0)
		return true;
	return tp_amount_parse(cost, &needed) && left.whole < needed.whole;
}

/* Subscribers with credits go on beyond 100%: a used-up window then refuses nothing. */
static bool credits_pay(const struct tp_told_field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((tp_str_ieq(fields[i].name, TP_STR("x-codex-credits-has-credits")) ||
		     tp_str_ieq(fields[i].name, TP_STR("x-codex-credits-unlimited"))) &&
		    tp_str_ieq(tp_str_trim(fields[i].value), TP_STR("true")))
			return true;
	return false;
}

static bool used_up(const struct dialect *d, struct tp_str limit, const struct tp_told_field *fields,
		    size_t n)
{
	struct tp_amount percent;

	if (nothing_left(value_of(d, d->remaining, limit, fields, n), value_of(d, d->cost, limit, fields, n)))
		return true;
	if (tp_str_ieq(value_of(d, d->status, limit, fields, n), TP_STR("rejected")))
		return true;
	return tp_amount_parse(value_of(d, d->used, limit, fields, n), &percent) && percent.whole >= 100 &&
	       !credits_pay(fields, n);
}

/* ---- what a reset may look like */

/* Durations as Go prints them: 1h2m3.5s, 20ms. -1 = not one. */
static int64_t parse_go_duration(struct tp_str s)
{
	static const struct {
		struct tp_str name;
		uint64_t ms;
	} units[] = {{{"ms", 2}, 1}, {{"s", 1}, 1000}, {{"m", 1}, 60000}, {{"h", 1}, 3600000}};
	uint64_t ns = 0;

	while (s.n > 0) {
		struct tp_amount a;
		size_t n = tp_amount_scan(s, &a), u = 0, unit_n = 0;

		if (n == 0)
			return -1;
		s = (struct tp_str){s.p + n, s.n - n};
		while (unit_n < s.n && s.p[unit_n] >= 'a' && s.p[unit_n] <= 'z')
			unit_n++;
		while (u < 4 && !tp_str_eq((struct tp_str){s.p, unit_n}, units[u].name))
			u++;
		if (u == 4)
			return -1;
		ns = tp_amount_add_ns(ns, tp_amount_ns(a, units[u].ms));
		s = (struct tp_str){s.p + unit_n, s.n - unit_n};
	}
	return tp_amount_ms(ns);
}

/* A number is a wait or a time since 1970; its size tells which. */
static int64_t parse_number(struct tp_str s, int64_t from_s)
{
	struct tp_amount a;

	if (!tp_amount_parse(s, &a))
		return -1;
	if (a.whole < 1000000000)
		return tp_amount_ms(tp_amount_ns(a, 1000));
	return tp_amount_until_ms(a, from_s);
}

/* `n` digits at s.p[at]; -1 when they are not all digits. */
static int64_t digits(struct tp_str s, size_t at, size_t n)
{
	int64_t value = 0;

	for (size_t i = at; i < at + n; i++) {
		if (i >= s.n || s.p[i] < '0' || s.p[i] > '9')
			return -1;
		value = value * 10 + (s.p[i] - '0');
	}
	return value;
}

/* Days from 1970-01-01 in the Gregorian calendar, for years from 1970 on. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	/* the year begins in March, so that the leap day is its last */
	int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static int64_t month_days(int64_t year, int64_t month)
{
	static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* Z or +hh:mm at the end of a time: seconds to take off; false when it is neither. */
static bool parse_zone(struct tp_str s, int64_t *ret_seconds)
{
	int64_t h, m;

	if (s.n == 1 && (s.p[0] == 'Z' || s.p[0] == 'z')) {
		*ret_seconds = 0;
		return true;
	}
	if (s.n != 6 || (s.p[0] != '+' && s.p[0] != '-') || s.p[3] != ':')
		return false;
	h = digits(s, 1, 2);
	m = digits(s, 4, 2);
	if (h < 0 || h > 23 || m < 0 || m > 59)
		return false;
	*ret_seconds = (s.p[0] == '-' ? -1 : 1) * (h * 3600 + m * 60);
	return true;
}

/* RFC 3339: 2026-09-21T14:13:41Z, 2026-09-21T16:13:41.5+02:00. -1 = not one. */
static int64_t parse_rfc3339(struct tp_str s, int64_t from_s)
{
	int64_t year = digits(s, 0, 4), month = digits(s, 5, 2), day = digits(s, 8, 2);
	int64_t hour = digits(s, 11, 2), minute = digits(s, 14, 2), second = digits(s, 17, 2), zone, at;
	struct tp_amount fraction = {0};
	size_t n = 19;

	if (s.n < 20 || s.p[4] != '-' || s.p[7] != '-' ||
	    (s.p[10] != 'T' && s.p[10] != 't' && s.p[10] != ' ') || s.p[13] != ':' || s.p[16] != ':')
		return -1;
	if (year < 1970 || month < 1 || month > 12 || day < 1 || day > month_days(year, month) || hour < 0 ||
	    hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
		return -1;
	if (s.p[n] == '.') /* scanned with the last digit of the seconds before it */
		n = 18 + tp_amount_scan((struct tp_str){s.p + 18, s.n - 18}, &fraction);
	if (!parse_zone((struct tp_str){s.p + n, s.n - n}, &zone))
		return -1;
	at = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - zone;
	return tp_until_ms(at * 1000 + (int64_t)((fraction.nano + 999999) / 1000000), from_s);
}

static int64_t parse_reset(struct tp_str value, int64_t from_s)
{
	int64_t told;

	value = tp_str_trim(value);
	if (value.n == 0)
		return -1;
	if ((told = parse_number(value, from_s)) >= 0 || (told = parse_go_duration(value)) >= 0)
		return told;
	return parse_rfc3339(value, from_s);
}

/* What one field says, if it is the reset of a limit that is used up; else -1. */
static int64_t reset_of(const struct dialect *d, const struct tp_told_field *field,
			const struct tp_told_field *fields, size_t n, int64_t from_s)
{
	struct tp_str limit;

	if (!limit_field(d, field->name, d->reset, &limit) || !used_up(d, limit, fields, n))
		return -1;
	if (parse_reset(value_of(d, d->exact, limit, fields, n), from_s) >= 0)
		return -1;
	return parse_reset(field->value, from_s);
}

int64_t tp_told_limits(const struct tp_told_field *fields, size_t n, int64_t now_s, int64_t date_header_s)
{
	int64_t latest = -1, from_s = base_s(now_s, date_header_s);

	for (size_t d = 0; d < sizeof(dialects) / sizeof(dialects[0]); d++)
		for (size_t i = 0; i < n; i++)
			latest = larger(latest, reset_of(&dialects[d], &fields[i], fields, n, from_s));
	return latest;
}

/* ---- all headers of an answer */

int64_t tp_told_headers(const struct tp_told_field *fields, size_t n, int64_t now_s)
{
	int64_t date = -1, seconds = -1, ms = -1, told;

	for (size_t i = 0; i < n; i++)
		if (tp_str_ieq(fields[i].name, TP_STR("date")))
			date = parse_date(tp_str_trim(fields[i].value), now_s);
	for (size_t i = 0; i < n; i++) {
		if (tp_str_ieq(fields[i].name, TP_STR("retry-after")))
			seconds = larger(seconds, tp_told_retry_after(fields[i].value, now_s, date));
		else if (tp_str_ieq(fields[i].name, TP_STR("retry-after-ms")))
			ms = larger(ms, tp_told_retry_after_ms(fields[i].value));
	}
	told = tp_told_combine(seconds, ms);
	return told >= 0 ? told : tp_told_limits(fields, n, now_s, date);
}

/* ---- towards the client, and the floor */

int64_t tp_told_floor(int64_t told_ms, uint32_t floor_ms)
{
	return told_ms < 0 ? -1 : larger(told_ms, floor_ms);
}

uint32_t tp_told_header_seconds(int64_t told_ms)
{
	if (told_ms >= TP_TOLD_MAX_MS)
		return UINT32_MAX;
	return told_ms <= 1000 ? 1 : (uint32_t)((told_ms + 999) / 1000);
}
