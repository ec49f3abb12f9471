#include "common/http/answer.h"

#include "common/http/answer_error.h"
#include "common/http/json.h"

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

/* As an initializer, with its length: each member of each answer is compared. */
#define NAME(literal)                                                                                        \
	{                                                                                                    \
		(literal), sizeof(literal) - 1                                                               \
	}

static const struct {
	struct tp_str name;
	enum role role;
} roles[] = {
	{NAME("error"), ROLE_ERROR},        {NAME("code"), ROLE_CODE},
	{NAME("message"), ROLE_MESSAGE},    {NAME("msg"), ROLE_MESSAGE},
	{NAME("status"), ROLE_STATUS},      {NAME("type"), ROLE_TYPE},
	{NAME("object"), ROLE_OBJECT},      {NAME("choices"), ROLE_CHOICES},
	{NAME("output"), ROLE_RESULT},      {NAME("content"), ROLE_RESULT},
	{NAME("candidates"), ROLE_RESULT},  {NAME("promptFeedback"), ROLE_RESULT},
	{NAME("data"), ROLE_RESULT},        {NAME("result"), ROLE_RESULT},
	{NAME("results"), ROLE_RESULT},     {NAME("response"), ROLE_RESULT},
	{NAME("completion"), ROLE_RESULT},  {NAME("embedding"), ROLE_RESULT},
	{NAME("embeddings"), ROLE_RESULT},  {NAME("request_id"), ROLE_ENVELOPE},
	{NAME("requestId"), ROLE_ENVELOPE}, {NAME("user_id"), ROLE_ENVELOPE},
	{NAME("success"), ROLE_ENVELOPE},   {NAME("status_code"), ROLE_ENVELOPE},
	{NAME("detail"), ROLE_ENVELOPE},    {NAME("details"), ROLE_ENVELOPE},
	{NAME("param"), ROLE_ENVELOPE},     {NAME("timestamp"), ROLE_ENVELOPE},
	{NAME("path"), ROLE_ENVELOPE},      {NAME("trace_id"), ROLE_ENVELOPE},
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

static enum role role_of(const struct tp_json *j)
{
	for (size_t i = 0; !j->key_cut && i < sizeof roles / sizeof roles[0]; i++)
		if (tp_str_eq(tp_json_key(j), roles[i].name))
			return roles[i].role;
	return ROLE_OTHER;
}

static bool is_word(const struct tp_json *j, const char *word)
{
	return j->type == TP_JSON_STRING && tp_str_eq(tp_json_text(j), tp_str_from(word));
}

/* Not {}, [] or "". */
static bool is_filled(const struct tp_json *j, struct tp_str value)
{
	if (j->type == TP_JSON_STRING)
		return value.n > 2;
	if (j->type != TP_JSON_OBJECT && j->type != TP_JSON_ARRAY)
		return false;
	for (size_t i = 1; i + 1 < value.n; i++)
		if (memchr(" \t\r\n", value.p[i], 4) == NULL)
			return true;
	return false;
}

static void note_member(struct survey *s, const struct tp_json *j, struct tp_str value)
{
	bool filled = is_filled(j, value), text = j->type == TP_JSON_STRING;
	enum role role = role_of(j);
	switch (role) {
	case ROLE_ERROR: s->error = filled && j->type != TP_JSON_ARRAY; break;
	case ROLE_CODE:
		s->code = (text || j->type == TP_JSON_NUMBER) && !tp_answer_code_is_fine(tp_json_text(j));
		break;
	case ROLE_MESSAGE:
		s->message |= filled;
		/* Ollama's own dialect: the message is the answer. */
		s->result |= filled && j->type == TP_JSON_OBJECT &&
			     memmem(value.p, value.n, "\"role\"", 6) != NULL;
		break;
	case ROLE_STATUS: s->failed = is_word(j, "failed"); break;
	case ROLE_TYPE: s->type_error = is_word(j, "error"); break;
	case ROLE_OBJECT:
		s->object_error = is_word(j, "error");
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

static struct survey survey_body(struct tp_str body)
{
	struct survey s = {0};
	struct tp_json j = {0};
	enum tp_json_event event;
	size_t at = 0;
	do {
		size_t used;
		event = tp_json_feed(&j, body.p + at, body.n - at, &used);
		at += used;
		if (event == TP_JSON_END)
			note_member(&s, &j,
				    (struct tp_str){body.p + j.value_start,
						    (size_t)(j.value_end - j.value_start)});
	} while (event != TP_JSON_MORE && event != TP_JSON_BAD);
	s.json = event == TP_JSON_BAD ? j.too_deep : tp_json_finish(&j);
	s.top_type = j.top_type;
	return s;
}

/* A choice that carries an error, or ended by one (OpenRouter). */
static bool choice_failed(struct tp_str choices)
{
	/* Inside model output the quotes are escaped, so this finds members and values only. */
	if (choices.n == 0 || memmem(choices.p, choices.n, "error\"", 6) == NULL)
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
	if (memmem(body.p, body.n, "\"error\"", 7) == NULL)
		return false;
	json_t *root = tp_answer_parse(body);
	bool error = json_array_size(root) == 1 && tp_answer_find_error(root) != NULL;
	json_decref(root);
	return error;
}

static bool is_blank(struct tp_str body)
{
	for (size_t i = 0; i < body.n; i++)
		if (memchr(" \t\r\n", body.p[i], 4) == NULL)
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
