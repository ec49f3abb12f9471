#include "common/http/answer.h"

#include "common/base/find.h"
#include "common/http/answer_error.h"
#include "common/http/json.h"

/* Types (or names) of events that need no look inside.  Anything else is looked into. */
static const struct {
	struct tp_str type;
	enum tp_answer_event kind;
} known_types[] = {
	{TP_NAME("response.created"), TP_EVENT_NEUTRAL},
	{TP_NAME("response.in_progress"), TP_EVENT_NEUTRAL},
	{TP_NAME("response.queued"), TP_EVENT_NEUTRAL},
	{TP_NAME("response.metadata"), TP_EVENT_NEUTRAL},
	{TP_NAME("message_start"), TP_EVENT_NEUTRAL},
	{TP_NAME("content_block_stop"), TP_EVENT_NEUTRAL},
	{TP_NAME("ping"), TP_EVENT_NEUTRAL},
	{TP_NAME("keepalive"), TP_EVENT_NEUTRAL},
	{TP_NAME("response.completed"), TP_EVENT_TERMINAL},
	{TP_NAME("response.incomplete"), TP_EVENT_TERMINAL},
	{TP_NAME("response.cancelled"), TP_EVENT_TERMINAL},
	{TP_NAME("response.done"), TP_EVENT_TERMINAL},
	{TP_NAME("message_stop"), TP_EVENT_TERMINAL},
	{TP_NAME("response.failed"), TP_EVENT_ERROR},
	{TP_NAME("error"), TP_EVENT_ERROR},
};

enum { TYPE_MAX = 64 };

struct type {
	size_t n;
	char text[TYPE_MAX];
};

static struct tp_str type_str(const struct type *t)
{
	return (struct tp_str){t->text, t->n};
}

static struct tp_str trim(struct tp_str s)
{
	while (s.n > 0 && memchr(" \t\r\n", s.p[s.n - 1], 4) != NULL)
		s.n--;
	while (s.n > 0 && memchr(" \t\r\n", s.p[0], 4) != NULL) {
		s.p++;
		s.n--;
	}
	return s;
}

/* The top-level `type` of an event's data, as far as that goes: the scan ends with it, so that long events
 * cost nothing (it is the first member nearly always). */
static struct type type_in_data(struct tp_str data)
{
	struct type found = {0};
	struct tp_json j;
	memset(&j, 0, offsetof(struct tp_json, key));
	j.ends_only = true;
	enum tp_json_event event;
	do {
		size_t used;
		event = tp_json_feed(&j, data.p, data.n, &used);
		data.p += used;
		data.n -= used;
		if (event != TP_JSON_END || j.type != TP_JSON_STRING ||
		    !tp_str_eq(tp_json_key(&j), TP_STR("type")))
			continue;
		found.n = j.text_n < TYPE_MAX ? j.text_n : TYPE_MAX;
		memcpy(found.text, j.text, found.n);
		break;
	} while (event != TP_JSON_MORE && event != TP_JSON_BAD);
	return found;
}

/* Clients of all families read the type in the data first; the name stands in for it. */
static struct type type_of(const struct tp_sse_event *event)
{
	struct type t = type_in_data(event->data);
	if (t.n == 0 && !event->name_cut && event->name.n > 0) {
		t.n = event->name.n;
		memcpy(t.text, event->name.p, t.n);
	}
	return t;
}

/* TP_EVENT_OUTPUT = not known. */
static enum tp_answer_event kind_of_type(struct tp_str type)
{
	if (tp_str_starts(type, TP_STR("codex.")) || tp_str_starts(type, TP_STR("rate_limits.")))
		return TP_EVENT_NEUTRAL;
	if (tp_str_ends(type, TP_STR("delta"))) /* nearly all events; none of those above */
		return TP_EVENT_OUTPUT;
	for (size_t i = 0; i < sizeof known_types / sizeof known_types[0]; i++)
		if (tp_str_eq(type, known_types[i].type))
			return known_types[i].kind;
	return TP_EVENT_OUTPUT;
}

/* ---- looking inside ---- */

/* Some member other than `except` says something. */
static bool says_something(json_t *object, const char *except)
{
	const char *name;
	json_t *value;
	json_object_foreach(object, name, value)
	{
		if (strcmp(name, except) != 0 && tp_answer_filled(value))
			return true;
	}
	return false;
}

static bool text_is(const json_t *value, const char *word)
{
	return json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}

static enum tp_answer_event output_if(bool output)
{
	return output ? TP_EVENT_OUTPUT : TP_EVENT_NEUTRAL;
}

static enum tp_answer_event look_into_chat(const json_t *choices)
{
	enum tp_answer_event kind = TP_EVENT_NEUTRAL;
	for (size_t i = 0; i < json_array_size(choices); i++) {
		const json_t *choice = json_array_get(choices, i);
		if (json_string_length(json_object_get(choice, "finish_reason")) > 0)
			return TP_EVENT_FINISH;
		if (says_something(json_object_get(choice, "delta"), "role") ||
		    says_something(json_object_get(choice, "message"), "role") ||
		    tp_answer_filled(json_object_get(choice, "text")))
			kind = TP_EVENT_OUTPUT;
	}
	return kind;
}

static enum tp_answer_event look_into_responses(struct tp_str type, const json_t *root)
{
	if (tp_str_ends(type, TP_STR(".delta")))
		return output_if(tp_answer_filled(json_object_get(root, "delta")));
	if (tp_str_ends(type, TP_STR("_part.added"))) {
		const json_t *part = json_object_get(root, "part");
		return output_if(tp_answer_filled(json_object_get(part, "text")) ||
				 tp_answer_filled(json_object_get(part, "refusal")));
	}
	if (!tp_str_eq(type, TP_STR("response.output_item.added")))
		return TP_EVENT_OUTPUT;
	const json_t *item = json_object_get(root, "item"), *kind = json_object_get(item, "type");
	if (!text_is(kind, "message") && !text_is(kind, "reasoning"))
		return TP_EVENT_OUTPUT; /* a tool call */
	return output_if(tp_answer_filled(json_object_get(item, "content")) ||
			 tp_answer_filled(json_object_get(item, "summary")) ||
			 tp_answer_filled(json_object_get(item, "encrypted_content")));
}

static enum tp_answer_event look_into_messages(struct tp_str type, const json_t *root)
{
	if (tp_str_eq(type, TP_STR("content_block_delta")))
		return output_if(says_something(json_object_get(root, "delta"), "type"));
	if (tp_str_eq(type, TP_STR("message_delta")))
		return output_if(
			tp_answer_filled(json_object_get(json_object_get(root, "delta"), "stop_reason")));
	json_t *block = json_object_get(root, "content_block"), *kind = json_object_get(block, "type");
	bool empty_start = text_is(kind, "text") || text_is(kind, "thinking");
	return output_if(!empty_start || says_something(block, "type"));
}

static enum tp_answer_event look_into_gemini(const json_t *candidates)
{
	enum tp_answer_event kind = TP_EVENT_NEUTRAL;
	for (size_t i = 0; i < json_array_size(candidates); i++) {
		const json_t *candidate = json_array_get(candidates, i);
		const json_t *parts = json_object_get(json_object_get(candidate, "content"), "parts");
		if (tp_answer_filled(json_object_get(candidate, "finishReason")))
			return TP_EVENT_FINISH;
		for (size_t p = 0; p < json_array_size(parts); p++)
			if (says_something(json_array_get(parts, p), "thoughtSignature"))
				kind = TP_EVENT_OUTPUT;
	}
	return kind;
}

/* By its shape: gateways mix dialects, and a shape is not mistaken for another. */
static enum tp_answer_event look_into(struct tp_str type, const json_t *root)
{
	const json_t *choices = json_object_get(root, "choices");
	const json_t *candidates = json_object_get(root, "candidates");
	if (tp_str_starts(type, TP_STR("response.")))
		return look_into_responses(type, root);
	if (tp_str_starts(type, TP_STR("content_block_")) || tp_str_eq(type, TP_STR("message_delta")))
		return look_into_messages(type, root);
	if (json_is_array(choices))
		return look_into_chat(choices);
	if (json_is_array(candidates))
		return look_into_gemini(candidates);
	bool usage_only = json_is_object(json_object_get(root, "usage")) ||
			  json_is_object(json_object_get(root, "usageMetadata"));
	return output_if(!usage_only || tp_answer_filled(json_object_get(root, "output")) ||
			 json_is_object(json_object_get(root, "promptFeedback")));
}

static bool choice_ended_by_error(const json_t *root)
{
	const json_t *choices = json_object_get(root, "choices");
	for (size_t i = 0; i < json_array_size(choices); i++)
		if (tp_answer_choice_broke(json_array_get(choices, i)))
			return true;
	return false;
}

static bool is_error(const json_t *root)
{
	bool result = tp_answer_filled(json_object_get(root, "choices")) ||
		      tp_answer_filled(json_object_get(root, "output")) ||
		      tp_answer_filled(json_object_get(root, "candidates"));
	return tp_answer_find_error(root) != NULL || choice_ended_by_error(root) ||
	       (!result && tp_answer_flat_error(root));
}

static enum tp_answer_event tell_error(enum tp_family family, const struct tp_sse_event *event, bool bare,
				       const json_t *root, struct tp_answer_error *ret_error)
{
	if (ret_error == NULL)
		return TP_EVENT_ERROR;
	if (root != NULL)
		tp_answer_read_error(root, ret_error);
	else
		tp_answer_read_text(event->data, ret_error);
	if (ret_error->status == 0)
		ret_error->status = event->http_status;
	ret_error->ends = !(family == TP_FAMILY_RESPONSES && bare);
	return TP_EVENT_ERROR;
}

/* With data in it that is neither empty nor [DONE]. */
static enum tp_answer_event look(enum tp_family family, const struct tp_sse_event *event, struct tp_str type,
				 struct tp_answer_error *ret_error)
{
	bool bare = tp_str_eq(type, TP_STR("error")) || tp_str_eq(event->name, TP_STR("error"));
	bool error = bare || tp_str_eq(type, TP_STR("response.failed"));
	json_t *root = event->data_cut ? NULL : tp_answer_parse(event->data);
	enum tp_answer_event kind = TP_EVENT_OUTPUT;
	if (error || (root != NULL && is_error(root)))
		kind = tell_error(family, event, bare, root, ret_error);
	else if (root != NULL)
		kind = look_into(type, root);
	json_decref(root);
	return kind;
}

enum tp_answer_event tp_answer_event(enum tp_family family, const struct tp_sse_event *event,
				     struct tp_answer_error *ret_error)
{
	struct tp_str data = trim(event->data);
	if (data.n == 0)
		return TP_EVENT_NEUTRAL;
	if (tp_str_eq(data, TP_STR("[DONE]")))
		return TP_EVENT_TERMINAL;
	struct type type = type_of(event);
	enum tp_answer_event kind = kind_of_type(type_str(&type));
	bool named_error = tp_str_eq(event->name, TP_STR("error"));
	if ((kind == TP_EVENT_NEUTRAL || kind == TP_EVENT_TERMINAL) && !named_error)
		return kind;
	return look(family, event, type_str(&type), ret_error);
}

/* ---- after commit ---- */

/* A finish_reason that says something: some gateways write "" where others write null.  Inside model output
 * the quotes are escaped. */
static bool has_finish_reason(struct tp_str data)
{
	const char *at = tp_find(data, TP_STR("\"finish_reason\""));
	if (at == NULL)
		return false;
	const char *end = data.p + data.n;
	for (at += 15; at < end && memchr(" \t\r\n:", *at, 5) != NULL; at++)
		;
	return end - at > 1 && at[0] == '"' && at[1] != '"';
}

static enum tp_answer_event chat_committed(const struct tp_sse_event *event,
					   struct tp_answer_error *ret_error)
{
	struct tp_str data = event->data;
	if (tp_find(data, TP_STR("error\"")) != NULL || tp_str_eq(event->name, TP_STR("error"))) {
		struct type type = type_of(event);
		if (look(TP_FAMILY_CHAT, event, type_str(&type), ret_error) == TP_EVENT_ERROR)
			return TP_EVENT_ERROR;
	}
	return has_finish_reason(data) ? TP_EVENT_FINISH : TP_EVENT_OUTPUT;
}

/* The name says what the data's type says, without a scan.  Some gateways name every event "message". */
static bool name_tells(const struct tp_sse_event *event, enum tp_answer_event kind)
{
	return !event->name_cut &&
	       (kind != TP_EVENT_OUTPUT || tp_str_starts(event->name, TP_STR("response.")) ||
		tp_str_starts(event->name, TP_STR("content_block_")) ||
		tp_str_starts(event->name, TP_STR("message_")));
}

enum tp_answer_event tp_answer_event_committed(enum tp_family family, const struct tp_sse_event *event,
					       struct tp_answer_error *ret_error)
{
	struct tp_str data = event->data;
	if (data.n == 0)
		return TP_EVENT_NEUTRAL;
	if (data.n < 16 && tp_str_eq(trim(data), TP_STR("[DONE]")))
		return TP_EVENT_TERMINAL;
	if (family == TP_FAMILY_CHAT || family == TP_FAMILY_PLAIN)
		return chat_committed(event, ret_error);
	struct type type;
	struct tp_str text = event->name;
	enum tp_answer_event kind = kind_of_type(text);
	if (!name_tells(event, kind)) {
		type = type_in_data(data);
		text = type_str(&type);
		kind = kind_of_type(text);
	}
	if (kind == TP_EVENT_ERROR)
		return look(family, event, text, ret_error);
	if (kind == TP_EVENT_OUTPUT && text.n == 0 && tp_find(data, TP_STR("\"error\"")) != NULL)
		return look(family, event, text, ret_error); /* a gateway's error in the chat dialect */
	return kind;
}
