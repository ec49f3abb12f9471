#include "common/http/answer.h"

#include "common/base/find.h"
#include "common/http/answer_error.h"
#include "common/http/json_members.h"

/* What a top-level member of an answer means. */
enum role {
	ROLE_OTHER,
	ROLE_ENVELOPE, /* stands beside errors and says nothing */
	ROLE_ERROR,
	ROLE_CODE,
	ROLE_MESSAGE,
	ROLE_STATUS,
	ROLE_TYPE,
	ROLE_OBJECT,
	ROLE_CHOICES,
	ROLE_RESULT /* filled: a normal result */
};

/*
 * A perfect hash over length, first, middle (index n / 2) and last character, as in fields.c: each member of
 * each answer is looked up.  A second name in a slot is a compiler warning (overridden initializer).
 */
enum { ROLE_SLOTS = 64, ROLE_NAME_SIZE = 16 };
#define SLOT(n, first, middle, last) ((4u * (n) + 4u * (first) + 7u * (middle) + (last)) % ROLE_SLOTS)
#define ROLE(name, first, middle, last, role)                                                                \
	[SLOT(sizeof(name) - 1, (unsigned)(first), (unsigned)(middle), (unsigned)(last))] = {                \
		name, sizeof(name) - 1, role}

static const struct {
	char name[ROLE_NAME_SIZE];
	uint8_t n, role;
} roles[ROLE_SLOTS] = {
	ROLE("error", 'e', 'r', 'r', ROLE_ERROR),        ROLE("code", 'c', 'd', 'e', ROLE_CODE),
	ROLE("message", 'm', 's', 'e', ROLE_MESSAGE),    ROLE("msg", 'm', 's', 'g', ROLE_MESSAGE),
	ROLE("status", 's', 't', 's', ROLE_STATUS),      ROLE("type", 't', 'p', 'e', ROLE_TYPE),
	ROLE("object", 'o', 'e', 't', ROLE_OBJECT),      ROLE("choices", 'c', 'i', 's', ROLE_CHOICES),
	ROLE("output", 'o', 'p', 't', ROLE_RESULT),      ROLE("content", 'c', 't', 't', ROLE_RESULT),
	ROLE("candidates", 'c', 'd', 's', ROLE_RESULT),  ROLE("promptFeedback", 'p', 'e', 'k', ROLE_RESULT),
	ROLE("data", 'd', 't', 'a', ROLE_RESULT),        ROLE("result", 'r', 'u', 't', ROLE_RESULT),
	ROLE("results", 'r', 'u', 's', ROLE_RESULT),     ROLE("response", 'r', 'o', 'e', ROLE_RESULT),
	ROLE("completion", 'c', 'e', 'n', ROLE_RESULT),  ROLE("embedding", 'e', 'd', 'g', ROLE_RESULT),
	ROLE("embeddings", 'e', 'd', 's', ROLE_RESULT),  ROLE("request_id", 'r', 's', 'd', ROLE_ENVELOPE),
	ROLE("requestId", 'r', 'e', 'd', ROLE_ENVELOPE), ROLE("user_id", 'u', 'r', 'd', ROLE_ENVELOPE),
	ROLE("success", 's', 'c', 's', ROLE_ENVELOPE),   ROLE("status_code", 's', 's', 'e', ROLE_ENVELOPE),
	ROLE("detail", 'd', 'a', 'l', ROLE_ENVELOPE),    ROLE("details", 'd', 'a', 's', ROLE_ENVELOPE),
	ROLE("param", 'p', 'r', 'm', ROLE_ENVELOPE),     ROLE("timestamp", 't', 's', 'p', ROLE_ENVELOPE),
	ROLE("path", 'p', 't', 'h', ROLE_ENVELOPE),      ROLE("trace_id", 't', 'e', 'd', ROLE_ENVELOPE),
};

/* What one pass over an answer found at its top level. */
struct survey {
	bool json;          /* one JSON text, or nested too deeply to tell */
	uint8_t top_type;   /* enum tp_json_type */
	bool error;         /* `error` is a filled object or string */
	bool code, message; /* a code that is no success, a text */
	bool failed;        /* status "failed" */
	bool type_error;    /* type "error" */
	bool object_error;  /* object "error" */
	bool result;
	bool other; /* a member that stands beside no error */
	struct tp_str choices;
};

static enum role role_of(const struct tp_json_member *m)
{
	size_t n = m->key.n;
	if (n == 0 || m->key_cut)
		return ROLE_OTHER;
	unsigned slot = SLOT((unsigned)n, (unsigned char)m->key.p[0], (unsigned char)m->key.p[n / 2],
			     (unsigned char)m->key.p[n - 1]);
	if (roles[slot].n != n || memcmp(roles[slot].name, m->key.p, n) != 0)
		return ROLE_OTHER;
	return (enum role)roles[slot].role;
}

static bool is_word(const struct tp_json_member *m, const char *word)
{
	return m->type == TP_JSON_STRING && tp_str_eq(m->text, tp_str_from(word));
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Not {}, [] or "". */
static bool is_filled(const struct tp_json_member *m, struct tp_str value)
{
	if (m->type == TP_JSON_STRING)
		return value.n > 2;
	if (m->type != TP_JSON_OBJECT && m->type != TP_JSON_ARRAY)
		return false;
	for (size_t i = 1; i + 1 < value.n; i++)
		if (!is_space(value.p[i]))
			return true;
	return false;
}

static void note_member(struct survey *s, enum role role, const struct tp_json_member *m, struct tp_str value)
{
	bool filled = is_filled(m, value), text = m->type == TP_JSON_STRING;
	switch (role) {
	case ROLE_ERROR: s->error = filled && m->type != TP_JSON_ARRAY; break;
	case ROLE_CODE:
		s->code = (text || m->type == TP_JSON_NUMBER) && !tp_answer_code_is_fine(m->text);
		break;
	case ROLE_MESSAGE:
		s->message |= filled;
		/* Ollama's own dialect: the message is the answer. */
		s->result |=
			filled && m->type == TP_JSON_OBJECT && tp_find(value, TP_STR("\"role\"")) != NULL;
		break;
	case ROLE_STATUS: s->failed = is_word(m, "failed"); break;
	case ROLE_TYPE: s->type_error = is_word(m, "error"); break;
	case ROLE_OBJECT:
		s->object_error = is_word(m, "error");
		s->other |= !s->object_error;
		break;
	case ROLE_CHOICES:
		s->choices = value;
		s->result |= filled;
		break;
	case ROLE_RESULT: s->result |= filled; break;
	case ROLE_OTHER: s->other = true; break;
	case ROLE_ENVELOPE: break;
	}
}

static struct tp_str value_of(struct tp_str body, const struct tp_json_member *m)
{
	return (struct tp_str){body.p + m->value_start, (size_t)(m->value_end - m->value_start)};
}

/* Does the role hang on what the value says? */
static bool reads_text(enum role role)
{
	return role == ROLE_CODE || role == ROLE_STATUS || role == ROLE_TYPE || role == ROLE_OBJECT;
}

/* False: it is not a plain object, or escapes are where they hardly ever are. */
static bool survey_object(struct tp_str body, struct survey *ret)
{
	struct tp_json_member members[TP_JSON_MEMBERS_MAX];
	struct survey s = {.json = true, .top_type = TP_JSON_OBJECT};
	uint16_t depth;
	int n = tp_json_members(body, members, &depth);
	for (int i = 0; i < n; i++) {
		enum role role = role_of(&members[i]);
		if (reads_text(role) && tp_json_member_escaped(&members[i]))
			return false;
		note_member(&s, role, &members[i], value_of(body, &members[i]));
	}
	if (n >= 0)
		*ret = s;
	return n >= 0;
}

static struct survey survey_any(struct tp_str body)
{
	struct survey s = {0};
	struct tp_json j;
	memset(&j, 0, offsetof(struct tp_json, key));
	j.ends_only = true;
	enum tp_json_event event;
	size_t at = 0;
	do {
		size_t used;
		event = tp_json_feed(&j, body.p + at, body.n - at, &used);
		at += used;
		if (event == TP_JSON_END) {
			struct tp_json_member m = tp_json_member_of(&j);
			note_member(&s, role_of(&m), &m, value_of(body, &m));
		}
	} while (event != TP_JSON_MORE && event != TP_JSON_BAD);
	s.json = event == TP_JSON_BAD ? j.too_deep : tp_json_finish(&j);
	s.top_type = j.top_type;
	return s;
}

static struct survey survey_body(struct tp_str body)
{
	struct survey s;
	return survey_object(body, &s) ? s : survey_any(body);
}

/* A choice that carries an error, or ended by one (OpenRouter). */
static bool choice_failed(struct tp_str choices)
{
	/* Inside model output the quotes are escaped, so this finds members and values only. */
	if (choices.n == 0 || tp_find(choices, TP_STR("error\"")) == NULL)
		return false;
	json_t *list = tp_answer_parse(choices);
	bool failed = false;
	for (size_t i = 0; !failed && i < json_array_size(list); i++) {
		const json_t *choice = json_array_get(list, i);
		const json_t *error = json_object_get(choice, "error");
		failed = (!json_is_array(error) && !json_is_number(error) && !json_is_true(error) &&
			  tp_answer_filled(error)) ||
			 tp_answer_choice_broke(choice);
	}
	json_decref(list);
	return failed;
}

static bool is_error(enum tp_family family, const struct survey *s)
{
	bool named =
		s->error || (s->code && s->message) || ((s->object_error || s->type_error) && s->message);
	/* A job or a stored response that failed is a good answer to the question for it. */
	if (family == TP_FAMILY_PLAIN)
		return named && !s->result && !s->other;
	if (s->failed && s->error)
		return true;
	return (named && !s->result) || choice_failed(s->choices);
}

/* A list whose first element is nothing but an error (Vertex). */
static bool list_is_error(struct tp_str body)
{
	if (tp_find(body, TP_STR("\"error\"")) == NULL)
		return false;
	json_t *root = tp_answer_parse(body);
	bool error = json_array_size(root) == 1 && tp_answer_find_error(root) != NULL;
	json_decref(root);
	return error;
}

static bool is_blank(struct tp_str body)
{
	for (size_t i = 0; i < body.n; i++)
		if (!is_space(body.p[i]))
			return false;
	return true;
}

enum tp_answer_verdict tp_answer_body(enum tp_family family, struct tp_str body,
				      struct tp_answer_error *ret_error)
{
	struct survey s = {0};
	bool error = false;
	if (!is_blank(body))
		s = survey_body(body);
	if (s.json && s.top_type == TP_JSON_OBJECT)
		error = is_error(family, &s);
	else if (s.json && s.top_type == TP_JSON_ARRAY)
		error = list_is_error(body);
	else if (family != TP_FAMILY_PLAIN)
		return TP_ANSWER_INVALID;
	if (!error)
		return TP_ANSWER_OK;
	if (ret_error != NULL)
		(void)tp_answer_error_body(body, ret_error);
	return TP_ANSWER_ERROR;
}
