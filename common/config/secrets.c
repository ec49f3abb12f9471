#include "common/config/secrets.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/config/convert.h"
#include "common/config/option.h"

static struct tp_str learned_texts[TP_SECRETS_LEARNED]; /* a ring */
static size_t learned_next;
static struct tp_mask_secrets learned = {.list = learned_texts};

void tp_secrets_learn(struct tp_str text)
{
	if (text.n < TP_MASK_SECRET_MIN)
		return;
	for (size_t i = 0; i < learned.n; i++)
		if (tp_str_eq(learned_texts[i], text))
			return;
	char *copy = strndup(text.p, text.n);
	if (copy == NULL)
		return;
	struct tp_str *place = &learned_texts[learned_next];
	union {
		const char *text;
		void *memory;
	} old = {.text = place->p};
	free(old.memory);
	*place = (struct tp_str){copy, text.n};
	learned_next = (learned_next + 1) % TP_SECRETS_LEARNED;
	if (learned.n < TP_SECRETS_LEARNED)
		learned.n++;
}

static void add(struct tp_secrets *s, struct tp_str text)
{
	if (text.n < TP_MASK_SECRET_MIN || s->failed)
		return;
	if (s->list.n == s->size) {
		size_t size = s->size == 0 ? 16 : s->size * 2;
		struct tp_str *items = realloc(s->items, size * sizeof *items);
		if (items == NULL) {
			s->failed = true;
			return;
		}
		s->list.list = s->items = items;
		s->size = size;
	}
	s->items[s->list.n++] = text;
}

/* Of a URL only its user information is secret. */
static void add_userinfo(struct tp_secrets *s, struct tp_str url)
{
	const char *begin = memmem(url.p, url.n, "://", 3);
	if (begin == NULL)
		return;
	begin += 3;
	size_t left = url.n - (size_t)(begin - url.p);
	const char *path = memchr(begin, '/', left);
	const char *at = memrchr(begin, '@', path != NULL ? (size_t)(path - begin) : left);
	if (at == NULL)
		return;
	struct tp_str user = {begin, (size_t)(at - begin)};
	add(s, user);
	const char *colon = memchr(user.p, ':', user.n);
	if (colon != NULL)
		add(s, (struct tp_str){colon + 1, (size_t)(at - colon - 1)});
}

static void add_section(struct tp_secrets *s, const struct tp_section *section, const void *object);

static void add_array(struct tp_secrets *s, const struct tp_option *o, const void *object)
{
	/* By memcpy: the field is a pointer to some struct, not to char. */
	const char *array = NULL;
	memcpy(&array, tp_option_field_const(o, object), sizeof array);
	size_t n = (size_t)tp_convert_load((const char *)object + o->count_offset, sizeof n);
	for (size_t i = 0; array != NULL && i < n; i++)
		add_section(s, o->inner, array + i * o->inner->size);
}

static void add_option(struct tp_secrets *s, const struct tp_option *o, const void *object)
{
	const void *field = tp_option_field_const(o, object);
	const char *text = NULL, *const *texts = NULL;
	size_t n;
	switch (o->type) {
	case TP_OPT_LIST:
	case TP_OPT_MAP: add_array(s, o, object); break;
	case TP_OPT_SECTION: add_section(s, o->inner, field); break;
	case TP_OPT_STRING:
		memcpy(&text, field, sizeof text);
		if (o->secret && text != NULL && o->mask == NULL)
			add(s, tp_str_from(text));
		else if (o->secret && text != NULL) /* a part of it may be shown: a URL */
			add_userinfo(s, tp_str_from(text));
		break;
	case TP_OPT_STRINGS:
		memcpy(&texts, field, sizeof texts);
		n = (size_t)tp_convert_load((const char *)object + o->count_offset, sizeof n);
		for (size_t i = 0; o->secret && texts != NULL && i < n; i++)
			(o->mask_each != NULL ? add_userinfo : add)(s, tp_str_from(texts[i]));
		break;
	default: break;
	}
}

static void add_section(struct tp_secrets *s, const struct tp_section *section, const void *object)
{
	for (size_t i = 0; i < section->n_options; i++)
		add_option(s, &section->options[i], object);
}

/* NULL: there is none. */
static void add_basic(struct tp_secrets *s, const char *authorization)
{
	static const struct tp_str basic = {"Basic ", 6};
	struct tp_str value = tp_str_from(authorization);
	if (value.n > basic.n)
		add(s, (struct tp_str){value.p + basic.n, value.n - basic.n});
}

void tp_secrets_of_config(const struct tp_config *c, struct tp_secrets *ret_secrets)
{
	*ret_secrets = (struct tp_secrets){.list = {.next = &learned}};
	add_section(ret_secrets, &tp_config_root, c);
	for (size_t i = 0; i < c->n_providers; i++) {
		const struct tp_provider_conf *p = &c->providers[i];
		add_basic(ret_secrets, p->url_authorization);
		for (size_t n = 0; n < p->n_via; n++)
			add_basic(ret_secrets, p->egress[n].authorization);
	}
}

void tp_secrets_free(struct tp_secrets *s)
{
	free(s->items);
	*s = (struct tp_secrets){0};
}

/* ---- the log */

/* A generation: the newest first. Those before are masked while something of them still runs. */
struct guarded {
	struct guarded *next;
	struct tp_config *config;
	struct tp_secrets secrets;
};

static struct guarded *guards;

static bool mask_line(struct tp_str line, struct tp_buf *out)
{
	return tp_mask_line(line, &guards->secrets.list, out);
}

static void let_go(struct guarded *g)
{
	tp_secrets_free(&g->secrets);
	tp_config_unref(g->config);
	free(g);
}

/* Lets go of generations that nobody else holds, and says which list goes on at which. */
static void tidy(struct guarded *newest)
{
	struct guarded **at = &newest->next;
	while (*at != NULL) {
		struct guarded *g = *at;
		if (g->config->refs > 1) {
			at = &g->next;
			continue;
		}
		*at = g->next;
		let_go(g);
	}
	for (struct guarded *g = newest; g != NULL; g = g->next)
		g->secrets.list.next = g->next != NULL ? &g->next->secrets.list : &learned;
}

bool tp_secrets_guard_log(struct tp_config *c)
{
	struct guarded *g = c != NULL ? calloc(1, sizeof *g) : NULL;
	if (c != NULL && g == NULL)
		return false;
	if (g == NULL) {
		tp_log_set_mask(NULL);
		for (struct guarded *next; guards != NULL; guards = next) {
			next = guards->next;
			let_go(guards);
		}
		return true;
	}
	g->config = tp_config_ref(c);
	tp_secrets_of_config(c, &g->secrets);
	if (g->secrets.failed) { /* not all that is secret is known */
		let_go(g);
		return false;
	}
	g->next = guards;
	tidy(g);
	guards = g;
	tp_log_set_mask(mask_line);
	return true;
}

void tp_secrets_guard_tidy(void)
{
	if (guards != NULL)
		tidy(guards);
}
