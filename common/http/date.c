#include "common/http/date.h"

#include <string.h>

#include "common/http/chars.h"

enum { DAY = 86400, DAYS_IN_ERA = 146097 /* 400 years */, DAYS_TO_1970 = 719468 /* from 0000-03-01 */ };

struct moment {
	int64_t year;
	int month, day; /* from 1 */
	int hour, minute, second;
};

static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
				   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
static const char weekdays[7][10] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
				     "Thursday", "Friday", "Saturday"};

/* Years begin with March here, so that the leap day comes last: the proleptic Gregorian
 * calendar without a table. A day beyond the end of its month runs on into the next. */
static int64_t days_of(int64_t year, int month, int day)
{
	int64_t y = month > 2 ? year : year - 1;
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t in_era = y - era * 400;
	int64_t in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
	return era * DAYS_IN_ERA + in_era * 365 + in_era / 4 - in_era / 100 + in_year - DAYS_TO_1970;
}

static int64_t seconds_of(const struct moment *m)
{
	return days_of(m->year, m->month, m->day) * DAY + m->hour * 3600 + m->minute * 60 + m->second;
}

/* The inverse of days_of(). */
static void date_of(int64_t days, struct moment *m)
{
	int64_t z = days + DAYS_TO_1970;
	int64_t era = (z >= 0 ? z : z - (DAYS_IN_ERA - 1)) / DAYS_IN_ERA;
	int64_t in_era = z - era * DAYS_IN_ERA;
	int64_t y = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	int64_t in_year = in_era - (365 * y + y / 4 - y / 100);
	int64_t march = (5 * in_year + 2) / 153;
	m->day = (int)(in_year - (153 * march + 2) / 5) + 1;
	m->month = (int)(march < 10 ? march + 3 : march - 9);
	m->year = y + era * 400 + (m->month <= 2);
}

static int days_in(int64_t year, int month)
{
	int next = month % 12 + 1;
	return (int)(days_of(year + (month == 12), next, 1) - days_of(year, month, 1));
}

static bool two_digits(const char *p, int *ret)
{
	if (!tp_char_is(p[0], TP_CHAR_DIGIT) || !tp_char_is(p[1], TP_CHAR_DIGIT))
		return false;
	*ret = (p[0] - '0') * 10 + (p[1] - '0');
	return true;
}

static bool four_digits(const char *p, int64_t *ret)
{
	int high, low;
	if (!two_digits(p, &high) || !two_digits(p + 2, &low))
		return false;
	*ret = high * 100 + low;
	return true;
}

static bool month_name(const char *p, int *ret)
{
	for (int i = 0; i < 12; i++)
		if (memcmp(p, months[i], 3) == 0) {
			*ret = i + 1;
			return true;
		}
	return false;
}

/* "08:49:37" */
static bool time_of_day(const char *p, struct moment *m)
{
	return two_digits(p, &m->hour) && p[2] == ':' && two_digits(p + 3, &m->minute) && p[5] == ':' &&
	       two_digits(p + 6, &m->second) && m->hour < 24 && m->minute < 60 && m->second <= 60;
}

/* Length of the weekday's name at the start of text, in full or its first three letters; 0 = none. */
static size_t weekday_length(struct tp_str text, bool full)
{
	for (size_t i = 0; i < 7; i++) {
		size_t n = full ? strlen(weekdays[i]) : 3;
		if (text.n > n && memcmp(text.p, weekdays[i], n) == 0)
			return n;
	}
	return 0;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
static bool imf_fixdate(struct tp_str t, struct moment *m)
{
	const char *p = t.p;
	return t.n == 29 && weekday_length(t, false) != 0 && memcmp(p + 3, ", ", 2) == 0 &&
	       two_digits(p + 5, &m->day) && p[7] == ' ' && month_name(p + 8, &m->month) && p[11] == ' ' &&
	       four_digits(p + 12, &m->year) && p[16] == ' ' && time_of_day(p + 17, m) &&
	       memcmp(p + 25, " GMT", 4) == 0;
}

/* "Sun Nov  6 08:49:37 1994" */
static bool asctime_date(struct tp_str t, struct moment *m)
{
	if (t.n != 24 || weekday_length(t, false) == 0)
		return false;
	const char *p = t.p;
	char day[2] = {p[8] == ' ' ? '0' : p[8], p[9]};
	return p[3] == ' ' && month_name(p + 4, &m->month) && p[7] == ' ' && two_digits(day, &m->day) &&
	       p[10] == ' ' && time_of_day(p + 11, m) && p[19] == ' ' && four_digits(p + 20, &m->year);
}

/* RFC 9110: what would be more than 50 years ahead is the last such year that is past. */
static int64_t full_year(const struct moment *two_digit_year, int64_t now)
{
	struct moment horizon;
	int64_t days = now >= 0 ? now / DAY : (now - (DAY - 1)) / DAY;
	date_of(days, &horizon);
	int64_t century = horizon.year - horizon.year % 100 + 100;
	int64_t latest = days_of(horizon.year + 50, horizon.month, horizon.day) * DAY + (now - days * DAY);
	struct moment m = *two_digit_year;
	m.year += century;
	while (seconds_of(&m) > latest)
		m.year -= 100;
	return m.year;
}

/* "Sunday, 06-Nov-94 08:49:37 GMT" */
static bool rfc850_date(struct tp_str t, int64_t now, struct moment *m)
{
	size_t name = weekday_length(t, true);
	if (name == 0 || t.n != name + 24)
		return false;
	const char *p = t.p + name;
	int year;
	if (memcmp(p, ", ", 2) != 0 || !two_digits(p + 2, &m->day) || p[4] != '-' ||
	    !month_name(p + 5, &m->month) || p[8] != '-' || !two_digits(p + 9, &year) || p[11] != ' ' ||
	    !time_of_day(p + 12, m) || memcmp(p + 20, " GMT", 4) != 0)
		return false;
	m->year = year;
	m->year = full_year(m, now);
	return true;
}

bool tp_date_parse(struct tp_str text, int64_t now, int64_t *ret_seconds)
{
	struct moment m;
	if (!imf_fixdate(text, &m) && !asctime_date(text, &m) && !rfc850_date(text, now, &m))
		return false;
	if (m.day < 1 || m.day > days_in(m.year, m.month))
		return false;
	*ret_seconds = seconds_of(&m);
	return true;
}

static char *put_digits(char *p, int64_t value, int digits)
{
	for (int i = digits - 1; i >= 0; i--, value /= 10)
		p[i] = (char)('0' + value % 10);
	return p + digits;
}

static char *put_text(char *p, const char *text, size_t n)
{
	memcpy(p, text, n);
	return p + n;
}

void tp_date_format(int64_t seconds, char out[TP_DATE_SIZE])
{
	/* The years that four digits can say; a clock outside of them is broken anyway. */
	const int64_t first = days_of(0, 1, 1) * DAY, last = days_of(10000, 1, 1) * DAY - 1;
	seconds = seconds < first ? first : seconds > last ? last : seconds;
	int64_t days = seconds >= 0 ? seconds / DAY : (seconds - (DAY - 1)) / DAY;
	int64_t rest = seconds - days * DAY;
	struct moment m;
	date_of(days, &m);

	char *p = put_text(out, weekdays[((days + 4) % 7 + 7) % 7], 3); /* 1970-01-01: Thursday */
	p = put_digits(put_text(p, ", ", 2), m.day, 2);
	p = put_text(put_text(p, " ", 1), months[m.month - 1], 3);
	p = put_digits(put_text(p, " ", 1), m.year, 4);
	p = put_digits(put_text(p, " ", 1), rest / 3600, 2);
	p = put_digits(put_text(p, ":", 1), rest / 60 % 60, 2);
	p = put_digits(put_text(p, ":", 1), rest % 60, 2);
	(void)put_text(p, " GMT", 5);
}
