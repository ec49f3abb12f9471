#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/json.h"
#include "common/http/mask_job.h"
#include "common/http/mask_names.h"

/* The text was seen to be JSON, or the front of it: here only strings are found and names remembered. */

struct level {
	bool object;
	bool behind_colon; /* object: a value comes next */
	bool pair;         /* an array inside an array: it may be a name and its value */
	bool is_name;      /* object: the present member is "name": its value names what "value" holds */
	bool is_value;     /* object: the present member is "value" */
	uint8_t inherited; /* enum tp_mask_kind of everything inside, told by a name further out */
	uint8_t key;       /* ... of the present member, told by its own name */
	uint8_t named;     /* ... told by the value of "name", or by the first of a pair */
	unsigned index;    /* commas passed */
};

struct walk {
	struct tp_mask_job *job;
	unsigned depth;
	struct level levels[TP_JSON_NEST_MAX + 1];
};

static enum tp_mask_kind kind_of_value(const struct level *l)
{
	if (l->object && l->key != TP_MASK_KIND_NONE)
		return (enum tp_mask_kind)l->key;
	if ((l->object && l->is_value) || (l->pair && l->index == 1))
		return (enum tp_mask_kind)l->named;
	return (enum tp_mask_kind)l->inherited;
}

static enum tp_mask_kind kind_of_name(const struct walk *w, struct tp_str name)
{
	enum tp_mask_kind kind = tp_mask_kind_of(name);
	return kind == TP_MASK_KIND_ID && w->job->reach != TP_MASK_FOREIGN ? TP_MASK_KIND_NONE : kind;
}

static void take_key(struct walk *w, const struct tp_mask_view *v)
{
	struct level *l = &w->levels[w->depth];
	struct tp_str key = {v->text, v->n};
	l->key = (uint8_t)kind_of_name(w, key);
	l->is_name = tp_str_ieq(key, TP_STR("name")) || tp_str_ieq(key, TP_STR("header")) ||
		     tp_str_ieq(key, TP_STR("key"));
	l->is_value = tp_str_ieq(key, TP_STR("value"));
	tp_mask_layers(w->job, v);
}

static void take_value(struct walk *w, const struct tp_mask_view *v)
{
	struct level *l = &w->levels[w->depth];
	struct tp_str text = {v->text, v->n};
	if (tp_mask_value_is_secret(kind_of_value(l), text))
		tp_mask_mark(&w->job->marks, v, 0, v->n);
	else
		tp_mask_layers(w->job, v);
	if ((l->object && l->is_name) || (l->pair && l->index == 0))
		l->named = (uint8_t)kind_of_name(w, text);
}

/* From the quote at `at`; returns where it ends, behind its own quote. */
static size_t string(struct walk *w, size_t at)
{
	struct tp_str in = w->job->in;
	size_t end = at + 1;
	while (end < in.n && in.p[end] != '"')
		end += in.p[end] == '\\' ? 2 : 1;
	end = end < in.n ? end : in.n;
	struct tp_mask_view raw = tp_mask_part(w->job, at + 1, end), plain = {0};
	bool escaped = tp_mask_view_undo(&raw, TP_MASK_UNDO_BACKSLASH, &plain, &w->job->marks.failed);
	const struct tp_mask_view *v = escaped ? &plain : &raw;
	const struct level *l = &w->levels[w->depth];
	if (l->object && !l->behind_colon)
		take_key(w, v);
	else
		take_value(w, v);
	tp_mask_view_free(&plain);
	return end + 1;
}

static size_t number(struct walk *w, size_t at)
{
	enum { DIGITS_MIN = 6 }; /* fewer are an amount */
	struct tp_str in = w->job->in;
	size_t end = at;
	while (end < in.n && in.p[end] != '\0' && strchr("0123456789+-.eE", in.p[end]) != NULL)
		end++;
	struct tp_str text = {in.p + at, end - at};
	enum tp_mask_kind kind = kind_of_value(&w->levels[w->depth]);
	bool whole = memchr(text.p, '.', text.n) == NULL;
	bool secret = text.n >= DIGITS_MIN && whole && kind != TP_MASK_KIND_WEAK &&
		      tp_mask_value_is_secret(kind, text);
	if (secret || tp_mask_is_own(w->job, text)) {
		struct tp_mask_view v = tp_mask_part(w->job, at, end);
		tp_mask_mark(&w->job->marks, &v, 0, v.n);
		if (!w->job->marks.failed)
			memset(w->job->marks.bytes + at, TP_MASK_MARK_NUMBER, text.n);
	}
	return end;
}

static void open_level(struct walk *w, bool object)
{
	const struct level *outer = &w->levels[w->depth];
	uint8_t kind = (uint8_t)kind_of_value(outer);
	bool pair = !object && w->depth > 0 && !outer->object;
	w->levels[++w->depth] = (struct level){.object = object, .pair = pair, .inherited = kind};
}

static void next_member(struct level *l)
{
	l->index++;
	l->behind_colon = l->is_name = l->is_value = false;
	l->key = TP_MASK_KIND_NONE;
}

void tp_mask_json(struct tp_mask_job *j)
{
	struct walk w = {.job = j};
	for (size_t i = 0; i < j->in.n && !j->marks.failed;) {
		char c = j->in.p[i];
		switch (c) {
		case '"': i = string(&w, i); continue;
		case '{':
		case '[': open_level(&w, c == '{'); break;
		case '}':
		case ']': w.depth--; break;
		case ':': w.levels[w.depth].behind_colon = true; break;
		case ',': next_member(&w.levels[w.depth]); break;
		default:
			if (c == '-' || (c >= '0' && c <= '9')) {
				i = number(&w, i);
				continue;
			}
			break;
		}
		i++;
	}
}
