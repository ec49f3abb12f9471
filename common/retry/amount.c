#include "common/retry/amount.h"

#define NS_PER_MS ((uint64_t)1000000)
#define MAX_NS    ((uint64_t)TP_TOLD_MAX_MS * NS_PER_MS)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t scan_whole(struct tp_str s, uint64_t *ret)
{
	uint64_t value = 0;
	size_t i = 0;

	for (; i < s.n && is_digit(s.p[i]); i++)
		if ((value = value * 10 + (uint64_t)(s.p[i] - '0')) > TP_AMOUNT_MAX)
			value = TP_AMOUNT_MAX;
	*ret = value;
	return i;
}

static size_t scan_fraction(struct tp_str s, uint32_t *ret_nano)
{
	uint32_t nano = 0, place = 100000000;
	bool more = false;
	size_t i = 0;

	for (; i < s.n && is_digit(s.p[i]); i++, place /= 10) {
		nano += place * (uint32_t)(s.p[i] - '0');
		more |= place == 0 && s.p[i] != '0';
	}
	*ret_nano = nano + (more ? 1 : 0); /* 999999999 + 1 is a whole one: the arithmetic allows it */
	return i;
}

size_t tp_amount_scan(struct tp_str s, struct tp_amount *ret_amount)
{
	struct tp_amount a = {0};
	size_t n = scan_whole(s, &a.whole);

	if (n == 0)
		return 0;
	if (n + 1 < s.n && s.p[n] == '.' && is_digit(s.p[n + 1]))
		n += 1 + scan_fraction((struct tp_str){s.p + n + 1, s.n - n - 1}, &a.nano);
	*ret_amount = a;
	return n;
}

bool tp_amount_parse(struct tp_str s, struct tp_amount *ret_amount)
{
	struct tp_amount a;

	if (s.n == 0 || tp_amount_scan(s, &a) != s.n)
		return false;
	*ret_amount = a;
	return true;
}

uint64_t tp_amount_ns(struct tp_amount a, uint64_t unit_ms)
{
	if (a.whole >= MAX_NS / (unit_ms * NS_PER_MS))
		return MAX_NS;
	/* a billionth of a unit of n milliseconds is n/1000 nanoseconds */
	return a.whole * unit_ms * NS_PER_MS + (a.nano * unit_ms + 999) / 1000;
}

uint64_t tp_amount_add_ns(uint64_t a, uint64_t b)
{
	if (a >= MAX_NS || b >= MAX_NS)
		return MAX_NS;
	return a + b < MAX_NS ? a + b : MAX_NS; /* two of at most 2^62 cannot overflow */
}

int64_t tp_amount_ms(uint64_t ns)
{
	if (ns >= MAX_NS)
		return TP_TOLD_MAX_MS;
	return (int64_t)((ns + NS_PER_MS - 1) / NS_PER_MS);
}

int64_t tp_until_ms(int64_t at_ms, int64_t from_s)
{
	int64_t from_ms = from_s * 1000;

	if (at_ms <= from_ms)
		return 0;
	return at_ms - from_ms < TP_TOLD_MAX_MS ? at_ms - from_ms : TP_TOLD_MAX_MS;
}

int64_t tp_amount_until_ms(struct tp_amount a, int64_t from_s)
{
	if (a.whole < 100000000000)
		return tp_until_ms((int64_t)a.whole * 1000 + (int64_t)((a.nano + 999999) / 1000000), from_s);
	return tp_until_ms((int64_t)a.whole + (a.nano > 0 ? 1 : 0), from_s);
}
