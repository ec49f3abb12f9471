#include "common/http/mask.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/json.h"
#include "common/http/mask_job.h"
#include "common/http/mask_names.h"

enum {
	LAYERS = 4,   /* of escapes that are undone: JSON in a string of JSON in a URL ... */
	EDGE_MAX = 8, /* shorter secrets count only as words of their own */
	FRONT_MIN = 8 /* so much of a secret at the end of a text is one that was cut */
};

/* ---- the secrets that are known */

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool stands_alone(const struct tp_mask_view *v, size_t from, size_t to)
{
	return (from == 0 || !is_alnum(v->text[from - 1])) && (to >= v->n || !is_alnum(v->text[to]));
}

/* Error messages and lines of the log are kept up to some length: the front of a secret may be their end. */
static void mark_cut(struct tp_mask_marks *marks, const struct tp_mask_view *v, struct tp_str secret)
{
	size_t most = secret.n - 1 < v->n ? secret.n - 1 : v->n;
	for (size_t n = most; n >= FRONT_MIN; n--)
		if (memcmp(v->text + v->n - n, secret.p, n) == 0) {
			tp_mask_mark(marks, v, v->n - n, v->n);
			return;
		}
}

static void mark_secret(struct tp_mask_marks *marks, const struct tp_mask_view *v, struct tp_str secret)
{
	if (secret.n < TP_MASK_SECRET_MIN)
		return;
	for (size_t at = 0; at < v->n;) {
		const char *found = memmem(v->text + at, v->n - at, secret.p, secret.n);
		if (found == NULL)
			break;
		size_t from = (size_t)(found - v->text);
		at = from + secret.n;
		if (secret.n >= EDGE_MAX || stands_alone(v, from, at))
			tp_mask_mark(marks, v, from, at);
	}
	mark_cut(marks, v, secret);
}

bool tp_mask_is_own(const struct tp_mask_job *j, struct tp_str text)
{
	for (const struct tp_mask_secrets *o = j->own; o != NULL; o = o->next)
		for (size_t i = 0; i < o->n; i++)
			if (text.n >= TP_MASK_SECRET_MIN && tp_str_eq(text, o->list[i]))
				return true;
	return false;
}

/* ---- one text: plain, or the inside of a JSON string */

static void scan(struct tp_mask_job *j, const struct tp_mask_view *v)
{
	if (v->n == 0)
		return;
	for (const struct tp_mask_secrets *o = j->own; o != NULL; o = o->next)
		for (size_t i = 0; i < o->n; i++)
			mark_secret(&j->marks, v, o->list[i]);
	if (j->reach != TP_MASK_KNOWN)
		tp_mask_match(v, j->reach == TP_MASK_FOREIGN, &j->marks);
}

void tp_mask_layers(struct tp_mask_job *j, const struct tp_mask_view *v)
{
	const unsigned both = TP_MASK_UNDO_BACKSLASH | TP_MASK_UNDO_PERCENT;
	struct tp_mask_view now = {0}, inner;
	scan(j, v);
	for (int i = 0; i < LAYERS; i++) {
		if (!tp_mask_view_undo(i == 0 ? v : &now, both, &inner, &j->marks.failed))
			break;
		tp_mask_view_free(&now);
		now = inner;
		scan(j, &now);
	}
	tp_mask_view_free(&now);
}

/* ---- the whole */

/* JSON, or the front of it (a body that was cut): then its strings are looked at one by one, so that it stays
 * what it is. */
static bool is_json(struct tp_str in)
{
	size_t first = 0;
	while (first < in.n && memchr(" \t\r\n\xef\xbb\xbf", in.p[first], 7) != NULL)
		first++;
	if (first == in.n || memchr("{[\"", in.p[first], 3) == NULL)
		return false;
	struct tp_json json = {0};
	for (size_t at = 0, used = 0; at < in.n; at += used) {
		enum tp_json_event event = tp_json_feed(&json, in.p + at, in.n - at, &used);
		if (event == TP_JSON_BAD)
			return false;
		if (event == TP_JSON_MORE)
			break;
	}
	return true;
}

static void put_out(const struct tp_mask_job *j, struct tp_buf *out)
{
	const unsigned char *marks = j->marks.bytes;
	for (size_t i = 0, end; i < j->in.n; i = end) {
		for (end = i + 1; end < j->in.n && marks[end] == marks[i]; end++)
			;
		if (marks[i] == TP_MASK_MARK_TEXT)
			tp_buf_add_str(out, TP_STR("***"));
		else if (marks[i] == TP_MASK_MARK_NUMBER)
			tp_buf_add_str(out, TP_STR("0"));
		else
			tp_buf_add(out, j->in.p + i, end - i);
	}
}

static bool mask(struct tp_str in, const struct tp_mask_secrets *own, enum tp_mask_reach reach,
		 struct tp_buf *out)
{
	struct tp_mask_job j = {.in = in, .own = own, .reach = reach, .marks = {.n = in.n}};
	if (in.n == 0)
		return false;
	if (in.n >= UINT32_MAX)
		j.marks.failed = true;
	else if (reach != TP_MASK_KNOWN && is_json(in))
		tp_mask_json(&j);
	else
		tp_mask_layers(&j, &(struct tp_mask_view){.text = in.p, .n = in.n});
	bool failed = j.marks.failed, found = j.marks.bytes != NULL;
	if (!failed && found)
		put_out(&j, out);
	out->failed = out->failed || failed;
	free(j.marks.bytes);
	return failed || found;
}

bool tp_mask(struct tp_str in, const struct tp_mask_secrets *own, struct tp_buf *out)
{
	return mask(in, own, TP_MASK_FOREIGN, out);
}

bool tp_mask_line(struct tp_str in, const struct tp_mask_secrets *own, struct tp_buf *out)
{
	return mask(in, own, TP_MASK_OWN, out);
}

bool tp_mask_known(struct tp_str in, const struct tp_mask_secrets *own, struct tp_buf *out)
{
	return own != NULL && mask(in, own, TP_MASK_KNOWN, out);
}

static bool is_credential(enum tp_mask_kind kind)
{
	return kind == TP_MASK_KIND_SECRET || kind == TP_MASK_KIND_AUTH || kind == TP_MASK_KIND_COOKIE ||
	       kind == TP_MASK_KIND_TOKEN;
}

bool tp_mask_secret_name(struct tp_str name)
{
	return is_credential(tp_mask_kind_of(name));
}

bool tp_mask_secret_parameter(struct tp_str name)
{
	return is_credential(tp_mask_kind_of_parameter(name));
}
