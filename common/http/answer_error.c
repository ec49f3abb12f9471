#include "common/http/answer_error.h"

#include <math.h>
#include <stdlib.h>

/* ---- trees ---- */

static json_t *parse_mended(struct tp_str text)
{
	char *copy = malloc(text.n);
	if (copy == NULL)
		return NULL;
	for (size_t i = 0; i < text.n; i++)
		copy[i] = (unsigned char)text.p[i] < 0x80 ? text.p[i] : '?';
	json_t *root =
		json_loadb(copy, text.n, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
	free(copy);
	return root;
}

json_t *tp_answer_parse(struct tp_str text)
{
	struct tp_str bom = TP_STR("\xef\xbb\xbf");
	if (tp_str_starts(text, bom)) {
		text.p += bom.n;
		text.n -= bom.n;
	}
	if (text.n == 0)
		return NULL;
	json_t *root = json_loadb(text.p, text.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	return root != NULL ? root : parse_mended(text);
}

bool tp_answer_filled(const json_t *value)
{
	switch (value != NULL ? json_typeof(value) : JSON_NULL) {
	case JSON_OBJECT: return json_object_size(value) > 0;
	case JSON_ARRAY: return json_array_size(value) > 0;
	case JSON_STRING: return json_string_length(value) > 0;
	case JSON_INTEGER:
	case JSON_REAL:
	case JSON_TRUE: return true;
	default: return false;
	}
}

static const json_t *error_member(const json_t *object)
{
	const json_t *error = json_object_get(object, "error");
	bool kind = json_is_object(error) || json_is_string(error);
	return kind && tp_answer_filled(error) ? error : NULL;
}

/* Vertex answers a list of one when no event stream was asked for. */
static const json_t *unwrap(const json_t *root)
{
	return json_is_array(root) ? json_array_get(root, 0) : root;
}

const json_t *tp_answer_find_error(const json_t *root)
{
	root = unwrap(root);
	const json_t *error = error_member(root);
	if (error == NULL)
		error = error_member(json_object_get(root, "response"));
	const json_t *choices = json_object_get(root, "choices");
	for (size_t i = 0; error == NULL && i < json_array_size(choices); i++)
		error = error_member(json_array_get(choices, i));
	return error;
}

/* ---- scalars ---- */

/* Copied so that a log line or a JSON text can take it: no control characters, no half of a character. */
static void copy_text(char *to, size_t size, struct tp_str from)
{
	size_t n = from.n < size ? from.n : size - 1;
	if (n < from.n)
		while (n > 0 && ((unsigned char)from.p[n] & 0xc0) == 0x80)
			n--;
	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char)from.p[i] < 0x20 || from.p[i] == 0x7f ? ' ' : from.p[i];
	to[n] = '\0';
}

static struct tp_str string_of(const json_t *value)
{
	if (!json_is_string(value))
		return (struct tp_str){NULL, 0};
	return (struct tp_str){json_string_value(value), json_string_length(value)};
}

/* Into an empty place only: what is nearer to the error is read first. */
static void set_text(char *to, size_t size, const json_t *value)
{
	if (to[0] != '\0')
		return;
	if (json_is_string(value))
		copy_text(to, size, string_of(value));
	else if (json_is_number(value) && fabs(json_number_value(value)) < 1e15)
		(void)snprintf(to, size, "%.0f", json_number_value(value));
}

/* Numbers, and numbers that are written as a string. */
static bool number_of(const json_t *value, double *ret_number)
{
	if (json_is_number(value)) {
		*ret_number = json_number_value(value);
	} else if (json_is_string(value) && json_string_length(value) > 0) {
		char *end;
		*ret_number = strtod(json_string_value(value), &end);
		if (*end != '\0')
			return false;
	} else {
		return false;
	}
	return isfinite(*ret_number);
}

static void set_status(int *status, const json_t *value)
{
	double number;
	if (*status == 0 && number_of(value, &number) && number >= 400 && number <= 599)
		*status = (int)number;
}

static void set_time(int64_t *to, const json_t *value, double factor)
{
	double number;
	if (*to < 0 && number_of(value, &number) && number >= 0 && number * factor < 1e12)
		*to = (int64_t)ceil(number * factor);
}

bool tp_answer_code_is_fine(struct tp_str code)
{
	static const char *const words[] = {"", "0", "success", "ok"};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (tp_str_ieq(code, tp_str_from(words[i])))
			return true;
	return code.n == 3 && code.p[0] == '2' && code.p[1] >= '0' && code.p[1] <= '9' && code.p[2] >= '0' &&
	       code.p[2] <= '9';
}

/* ---- the places where providers put things ---- */

/* google.protobuf.Duration in JSON: "34.074824224s". */
static void read_retry_delay(const json_t *value, struct tp_answer_error *e)
{
	struct tp_str text = string_of(value);
	if (text.n < 2 || text.p[text.n - 1] != 's' || e->retry_delay_ms >= 0)
		return;
	char *end;
	double seconds = strtod(text.p, &end);
	if (end == text.p + text.n - 1 && seconds >= 0 && seconds < 1e12)
		e->retry_delay_ms = (int64_t)ceil(seconds * 1000);
}

static void read_violations(const json_t *list, struct tp_answer_error *e)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *id = json_string_value(json_object_get(json_array_get(list, i), "quotaId"));
		e->per_day |= id != NULL && strstr(id, "PerDay") != NULL;
	}
}

static void read_detail(const json_t *detail, struct tp_answer_error *e)
{
	set_text(e->reason, sizeof e->reason, json_object_get(detail, "error_code"));
	set_text(e->reason, sizeof e->reason, json_object_get(detail, "reason"));
	read_retry_delay(json_object_get(detail, "retryDelay"), e);
	read_violations(json_object_get(detail, "violations"), e);
}

static void read_details(const json_t *details, struct tp_answer_error *e)
{
	read_detail(details, e);
	for (size_t i = 0; i < json_array_size(details); i++)
		read_detail(json_array_get(details, i), e);
}

/* OpenRouter: the limit's end stands among the headers it shows, in seconds or milliseconds. */
static void read_metadata(const json_t *metadata, struct tp_answer_error *e)
{
	set_text(e->reason, sizeof e->reason, json_object_get(metadata, "error_type"));
	const json_t *reset = json_object_get(json_object_get(metadata, "headers"), "X-RateLimit-Reset");
	double number;
	if (number_of(reset, &number) && number >= 1e9)
		set_time(&e->resets_at_s, reset, number >= 1e11 ? 0.001 : 1);
}

/* FastAPI: a string, or a list of {"msg": ...}; Mistral wraps that once more. */
static void read_message(const json_t *value, struct tp_answer_error *e)
{
	if (json_is_object(value)) {
		const json_t *inner = json_object_get(value, "detail");
		value = inner != NULL ? inner : json_object_get(value, "message");
	}
	if (json_is_array(value))
		value = json_object_get(json_array_get(value, 0), "msg");
	if (json_is_string(value))
		set_text(e->message, sizeof e->message, value);
}

/* Members that mean the same in an error object and at the top level. */
static void read_common(const json_t *o, struct tp_answer_error *e)
{
	static const char *const statuses[] = {"code", "status", "status_code", "raw_status_code"};
	static const char *const messages[] = {"message", "msg", "detail"};
	set_text(e->code, sizeof e->code, json_object_get(o, "code"));
	for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
		set_status(&e->status, json_object_get(o, statuses[i]));
	for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
		read_message(json_object_get(o, messages[i]), e);
	set_time(&e->resets_in_ms, json_object_get(o, "resets_in_seconds"), 1000);
	set_time(&e->resets_at_s, json_object_get(o, "resets_at"), 1);
	read_details(json_object_get(o, "details"), e);
	read_metadata(json_object_get(o, "metadata"), e);
	set_text(e->reason, sizeof e->reason, json_object_get(json_object_get(o, "innererror"), "code"));
}

static void read_error_value(const json_t *error, struct tp_answer_error *e)
{
	if (json_is_string(error)) {
		set_text(e->message, sizeof e->message, error);
		return;
	}
	set_text(e->type, sizeof e->type, json_object_get(error, "type"));
	if (json_is_string(json_object_get(error, "status"))) /* Google's word for it */
		set_text(e->type, sizeof e->type, json_object_get(error, "status"));
	read_common(error, e);
}

/* Some gateways put the provider's whole error body, as a string, into the message. */
static void read_nested(const json_t *message, struct tp_answer_error *e)
{
	struct tp_str text = string_of(message);
	if (text.n == 0 || text.p[0] != '{')
		return;
	json_t *inner = tp_answer_parse(text);
	const json_t *error = tp_answer_find_error(inner);
	if (error != NULL) {
		e->message[0] = '\0';
		read_error_value(error, e);
	}
	json_decref(inner);
}

static bool text_is(const json_t *value, const char *word)
{
	return json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}

bool tp_answer_choice_broke(const json_t *choice)
{
	return text_is(json_object_get(choice, "finish_reason"), "error") ||
	       text_is(json_object_get(choice, "native_finish_reason"), "network_error");
}

bool tp_answer_flat_error(const json_t *root)
{
	root = unwrap(root);
	bool message = json_is_string(json_object_get(root, "message")) ||
		       json_is_string(json_object_get(root, "msg"));
	if (text_is(json_object_get(root, "object"), "error"))
		return true;
	char code[32] = "";
	set_text(code, sizeof code, json_object_get(root, "code"));
	return message && !tp_answer_code_is_fine(tp_str_from(code));
}

struct tp_answer_error tp_answer_no_error(void)
{
	return (struct tp_answer_error){
		.resets_in_ms = -1, .resets_at_s = -1, .retry_delay_ms = -1, .ends = true};
}

void tp_answer_read_error(const json_t *root, struct tp_answer_error *ret_error)
{
	struct tp_answer_error e = tp_answer_no_error();
	const json_t *error = tp_answer_find_error(root);
	root = unwrap(root);
	if (error != NULL) {
		read_error_value(error, &e);
		read_nested(json_is_string(error) ? error : json_object_get(error, "message"), &e);
	} else if (!text_is(json_object_get(root, "type"), "error")) {
		set_text(e.type, sizeof e.type, json_object_get(root, "type"));
	}
	read_common(root, &e);
	*ret_error = e;
}

void tp_answer_read_text(struct tp_str text, struct tp_answer_error *ret_error)
{
	*ret_error = tp_answer_no_error();
	copy_text(ret_error->message, sizeof ret_error->message, text);
}

bool tp_answer_error_body(struct tp_str body, struct tp_answer_error *ret_error)
{
	*ret_error = tp_answer_no_error();
	json_t *root = tp_answer_parse(body);
	bool readable = json_is_object(unwrap(root));
	if (readable)
		tp_answer_read_error(root, ret_error);
	json_decref(root);
	return readable;
}
