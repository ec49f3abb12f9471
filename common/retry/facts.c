#include "common/retry/facts.h"

#include "common/http/date.h"
#include "common/retry/told.h"

enum { DROWNING_PERCENT = 90 };

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* "98%" or "0.98": true at or above 90 percent (design section 5). */
static bool load_is_drowning(struct tp_str v)
{
	uint64_t thousandths = 0, scale = 0;
	size_t i = 0;
	for (; i < v.n && i < 12; i++) {
		if (v.p[i] == '.' && scale == 0)
			scale = 1000;
		else if (v.p[i] < '0' || v.p[i] > '9')
			break;
		else if (scale == 0)
			thousandths = thousandths * 10 + (uint64_t)(v.p[i] - '0') * 1000;
		else
			thousandths += (uint64_t)(v.p[i] - '0') * (scale /= 10);
	}
	if (i == 0)
		return false;
	bool percent = i < v.n && v.p[i] == '%';
	return thousandths >= (percent ? DROWNING_PERCENT * 1000u : DROWNING_PERCENT * 10u);
}

static bool type_is(struct tp_str value, struct tp_str type)
{
	if (value.n < type.n || !tp_str_ieq((struct tp_str){value.p, type.n}, type))
		return false;
	return value.n == type.n || value.p[type.n] == ';' || value.p[type.n] == ' ';
}

static void take_field(const struct tp_field *f, struct tp_str v, int64_t now_s, int64_t date_s,
		       struct tp_answer_facts *to)
{
	switch (f->id) {
	case TP_FIELD_RETRY_AFTER:
		to->told_ms = larger(to->told_ms, tp_told_retry_after(v, now_s, date_s));
		break;
	case TP_FIELD_RETRY_AFTER_MS: to->told_ms = larger(to->told_ms, tp_told_retry_after_ms(v)); break;
	case TP_FIELD_X_SHOULD_RETRY:
		to->should_retry = tp_str_ieq(v, TP_STR("true"))    ? 1
				   : tp_str_ieq(v, TP_STR("false")) ? 0
								    : (int8_t)-1;
		break;
	case TP_FIELD_X_CODEX_STATUS: to->status_overloaded = tp_str_ieq(v, TP_STR("overloaded")); break;
	case TP_FIELD_X_CODEX_MODEL_CAPACITY: to->model_busy = true; break;
	case TP_FIELD_X_CODEX_SYSTEM_LOAD: to->drowning = load_is_drowning(v); break;
	case TP_FIELD_CONTENT_TYPE:
		to->event_stream = type_is(v, TP_STR("text/event-stream"));
		to->html = type_is(v, TP_STR("text/html"));
		break;
	case TP_FIELD_CONTENT_ENCODING: to->encoded = v.n > 0 && !tp_str_ieq(v, TP_STR("identity")); break;
	default: break;
	}
}

void tp_answer_facts(const struct tp_head *h, const char *bytes, int64_t now_s, struct tp_answer_facts *ret_facts)
{
	*ret_facts = (struct tp_answer_facts){.status = h->status, .told_ms = -1, .should_retry = -1};
	int64_t date_s = -1;
	if (h->status >= 300) {
		const struct tp_field *date = tp_head_find(h, TP_FIELD_DATE);
		if (date != NULL)
			(void)tp_date_parse(tp_span_str(bytes, date->value), now_s, &date_s);
	}
	for (uint32_t i = 0; i < h->n_fields; i++)
		if (h->fields[i].id != TP_FIELD_OTHER)
			take_field(&h->fields[i], tp_span_str(bytes, h->fields[i].value), now_s, date_s, ret_facts);
}
