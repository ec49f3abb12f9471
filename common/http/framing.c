/* What framing and connection fields amount to: the lists of scan.h. */
#include "common/http/scan.h"

enum { OPTIONS_MAX = 128 }; /* bounds fields x options; honest peers send two or three */

bool tp_scan_element(struct tp_str *rest, struct tp_str *ret_element)
{
	if (rest->p == NULL)
		return false;
	const char *comma = rest->n != 0 ? memchr(rest->p, ',', rest->n) : NULL;
	if (comma == NULL) {
		*ret_element = tp_str_trim(*rest);
		*rest = (struct tp_str){0};
		return true;
	}
	size_t n = (size_t)(comma - rest->p);
	*ret_element = tp_str_trim((struct tp_str){rest->p, n});
	*rest = (struct tp_str){comma + 1, rest->n - n - 1};
	return true;
}

enum tp_digits tp_scan_digits(struct tp_str text, uint64_t *ret_value)
{
	uint64_t value = 0;
	bool huge = false;
	for (size_t i = 0; i < text.n; i++) {
		unsigned digit = (unsigned)(unsigned char)text.p[i] - '0';
		if (digit > 9)
			return TP_DIGITS_NONE;
		huge = huge || __builtin_mul_overflow(value, 10u, &value) ||
		       __builtin_add_overflow(value, digit, &value);
	}
	if (text.n == 0)
		return TP_DIGITS_NONE;
	if (huge)
		return TP_DIGITS_HUGE;
	*ret_value = value;
	return TP_DIGITS_OK;
}

void tp_scan_codings(const struct tp_scan *s, struct tp_codings *ret_codings)
{
	const struct tp_head *h = s->head;
	struct tp_codings c = {0};
	for (uint32_t i = 0; i < h->n_fields; i++) {
		if (h->fields[i].id != TP_FIELD_TRANSFER_ENCODING)
			continue;
		struct tp_str rest = tp_span_str(s->bytes, h->fields[i].value), coding;
		while (tp_scan_element(&rest, &coding)) {
			if (coding.n == 0) {
				c.empty++;
				continue;
			}
			c.chunked_last = tp_str_ieq(coding, TP_STR("chunked"));
			if (c.chunked_last)
				c.chunked++;
			else if (tp_str_ieq(coding, TP_STR("identity")))
				c.identity++;
			else
				c.other++;
		}
	}
	*ret_codings = c;
}

struct options {
	bool close, keep_alive, upgrade;
	uint32_t named; /* all others */
};

static void mark_named(struct tp_scan *s, struct tp_str option)
{
	struct tp_head *h = s->head;
	for (uint32_t i = 0; i < h->n_fields; i++)
		if (tp_str_ieq(tp_span_str(s->bytes, h->fields[i].name), option))
			h->fields[i].connection_named = true;
}

/* The options of one Connection line; false when there are too many. */
static bool read_options(struct tp_scan *s, struct tp_str value, struct options *o)
{
	struct tp_str option;
	if (tp_str_ieq(value, TP_STR("keep-alive"))) { /* as nearly always */
		o->keep_alive = true;
		return true;
	}
	while (tp_scan_element(&value, &option)) {
		if (option.n == 0)
			continue;
		if (tp_str_ieq(option, TP_STR("keep-alive")))
			o->keep_alive = true;
		else if (tp_str_ieq(option, TP_STR("close")))
			o->close = true;
		else if (tp_str_ieq(option, TP_STR("upgrade")))
			o->upgrade = true;
		else if (o->named++ == OPTIONS_MAX)
			return false;
		else
			mark_named(s, option);
	}
	return true;
}

/* Behind where fields of a present id may stand: the next one, mostly. */
static uint32_t behind_last(const struct tp_scan *s, enum tp_field_id id)
{
	return tp_scan_repeated(s, id) ? s->head->n_fields : s->head->first[id] + 1u;
}

bool tp_scan_connection(struct tp_scan *s)
{
	struct tp_head *h = s->head;
	struct options o = {0};
	if (tp_head_has(h, TP_FIELD_CONNECTION))
		for (uint32_t i = h->first[TP_FIELD_CONNECTION]; i < behind_last(s, TP_FIELD_CONNECTION); i++)
			if (h->fields[i].id == TP_FIELD_CONNECTION &&
			    !read_options(s, tp_span_str(s->bytes, h->fields[i].value), &o))
				return false;
	h->keep_alive = !o.close && (h->minor == 1 || o.keep_alive);
	/* RFC 9110 section 7.8: Upgrade in a 1.0 message is ignored. */
	h->upgrade = o.upgrade && h->minor == 1 && tp_head_has(h, TP_FIELD_UPGRADE);
	return true;
}
