#include "common/retry/facts.h"

#include "common/retry/told.h"

static bool type_is(struct tp_str value, struct tp_str type)
{
	if (value.n < type.n || !tp_str_ieq((struct tp_str){value.p, type.n}, type))
		return false;
	return value.n == type.n || value.p[type.n] == ';' || value.p[type.n] == ' ';
}

static void take_field(const struct tp_field *f, struct tp_str v, struct tp_answer_facts *to)
{
	switch (f->id) {
	case TP_FIELD_X_SHOULD_RETRY:
		to->should_retry = tp_str_ieq(v, TP_STR("true"))    ? 1
				   : tp_str_ieq(v, TP_STR("false")) ? 0
								    : (int8_t)-1;
		break;
	case TP_FIELD_X_CODEX_STATUS: to->status_overloaded = tp_str_ieq(v, TP_STR("overloaded")); break;
	case TP_FIELD_CONTENT_TYPE:
		to->event_stream = type_is(v, TP_STR("text/event-stream"));
		to->html = type_is(v, TP_STR("text/html"));
		to->json = type_is(v, TP_STR("application/json"));
		break;
	case TP_FIELD_CONTENT_ENCODING: to->encoded = v.n > 0 && !tp_str_ieq(v, TP_STR("identity")); break;
	default: break;
	}
}

static int64_t told(const struct tp_head *h, const char *bytes, int64_t now_s)
{
	struct tp_told_field fields[TP_HEAD_FIELDS_MAX];
	for (uint32_t i = 0; i < h->n_fields; i++)
		fields[i] = (struct tp_told_field){tp_span_str(bytes, h->fields[i].name),
						   tp_span_str(bytes, h->fields[i].value)};
	return tp_told_headers(fields, h->n_fields, now_s);
}

void tp_answer_facts(const struct tp_head *h, const char *bytes, int64_t now_s,
		     struct tp_answer_facts *ret_facts)
{
	*ret_facts = (struct tp_answer_facts){.status = h->status, .told_ms = -1, .should_retry = -1};
	for (uint32_t i = 0; i < h->n_fields; i++)
		if (h->fields[i].id != TP_FIELD_OTHER)
			take_field(&h->fields[i], tp_span_str(bytes, h->fields[i].value), ret_facts);
	/* Good answers carry rate-limit headers as well; they tell nobody to wait. */
	if (h->status >= 300 || ret_facts->status_overloaded || tp_head_has(h, TP_FIELD_RETRY_AFTER))
		ret_facts->told_ms = told(h, bytes, now_s);
}
