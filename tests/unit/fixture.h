/*
 * One provider answer of tests/data/fixtures, read with jansson: status, headers, and the error object
 * taken out of whatever dialect the body speaks.  Only as much as the tests of common/retry need: the server
 * takes errors apart by its own scanner.
 */
#ifndef TESTS_UNIT_FIXTURE_H
#define TESTS_UNIT_FIXTURE_H

#include <check.h>
#include <jansson.h>
#include <math.h>

#include "common/retry/classify.h"
#include "common/retry/hints.h"
#include "common/retry/told.h"
#include "tests/unit/tsv.h"

enum { FIXTURE_FIELDS = 64 };

struct fixture {
	json_t *root;    /* owned: the file */
	json_t *body;    /* owned: what the body, or its error event, says; NULL = no JSON */
	char number[32]; /* as text */
	struct tp_told_field fields[FIXTURE_FIELDS];
	size_t n_fields;
	struct tp_error_facts facts;
	struct tp_body_hints hints;
	bool has_error; /* an error object, or a header that says so */
};

static inline struct tp_str fixture_str(const json_t *o, const char *key)
{
	return tp_str_from(json_string_value(json_object_get(o, key)));
}

static inline bool fixture_flag(const struct fixture *f, const char *key)
{
	return json_is_true(json_object_get(f->root, key));
}

static inline struct tp_str fixture_header(const struct fixture *f, const char *name)
{
	for (size_t i = 0; i < f->n_fields; i++)
		if (tp_str_ieq(f->fields[i].name, tp_str_from(name)))
			return f->fields[i].value;
	return (struct tp_str){NULL, 0};
}

static inline void fixture_read_headers(struct fixture *f)
{
	json_t *list = json_object_get(f->root, "header_list"), *value, *pair;
	const char *name;
	size_t i;

	if (list != NULL) {
		json_array_foreach(list, i, pair)
		{
			ck_assert_uint_lt(f->n_fields, FIXTURE_FIELDS);
			f->fields[f->n_fields++] = (struct tp_told_field){
				tp_str_from(json_string_value(json_array_get(pair, 0))),
				tp_str_from(json_string_value(json_array_get(pair, 1)))};
		}
		return;
	}
	json_object_foreach(json_object_get(f->root, "headers"), name, value)
	{
		ck_assert_uint_lt(f->n_fields, FIXTURE_FIELDS);
		f->fields[f->n_fields++] =
			(struct tp_told_field){tp_str_from(name), tp_str_from(json_string_value(value))};
	}
}

/* A number or a string, as text. */
static inline struct tp_str fixture_text(const json_t *v, char *room, size_t size)
{
	if (json_is_string(v))
		return tp_str_from(json_string_value(v));
	if (!json_is_number(v))
		return (struct tp_str){NULL, 0};
	if (json_is_integer(v))
		ck_assert_int_gt(snprintf(room, size, "%lld", (long long)json_integer_value(v)), 0);
	else
		ck_assert_int_gt(snprintf(room, size, "%f", json_real_value(v)), 0);
	return tp_str_from(room);
}

/* Seconds, as a number or in a string such as "3.2s", in milliseconds, rounded up; -1 = absent. */
static inline int64_t fixture_ms(const json_t *v)
{
	double s = json_is_string(v)   ? strtod(json_string_value(v), NULL)
		   : json_is_number(v) ? json_number_value(v)
				       : -1;

	return s >= 0 ? (int64_t)ceil(s * 1000) : -1;
}

/* Details of Google, Anthropic and OpenRouter. */
static inline void fixture_read_details(struct fixture *f, const json_t *error)
{
	json_t *details = json_object_get(error, "details"), *d;
	size_t i;

	json_array_foreach(details, i, d)
	{
		if (json_object_get(d, "reason") != NULL)
			f->facts.reason = fixture_str(d, "reason");
		if (json_object_get(d, "retryDelay") != NULL)
			f->hints.retry_delay_ms = fixture_ms(json_object_get(d, "retryDelay"));
	}
	if (json_object_get(details, "error_code") != NULL)
		f->facts.reason = fixture_str(details, "error_code");
	if (json_object_get(json_object_get(error, "metadata"), "error_type") != NULL)
		f->facts.reason = fixture_str(json_object_get(error, "metadata"), "error_type");
}

/* The object that holds code, type and message; NULL when the body is no error. */
static inline const json_t *fixture_error_object(const json_t *body)
{
	const json_t *error = json_object_get(body, "error");

	if (json_is_array(body))
		return fixture_error_object(json_array_get(body, 0));
	if (json_is_object(error) && json_object_size(error) > 0)
		return error;
	error = json_object_get(json_object_get(body, "response"), "error");
	if (json_is_object(error))
		return error;
	if (json_is_string(json_object_get(body, "error")) || json_is_string(json_object_get(body, "detail")))
		return body;
	/* flat: DashScope, Mistral, vLLM, the "error" event of Responses */
	return json_object_get(body, "code") != NULL && json_object_get(body, "message") != NULL ? body
												 : NULL;
}

static inline void fixture_read_error(struct fixture *f)
{
	const json_t *e = fixture_error_object(f->body);

	f->has_error = e != NULL || fixture_header(f, "x-codex-status").n > 0;
	if (e == NULL)
		return;
	f->facts.code = fixture_text(json_object_get(e, "code"), f->number, sizeof(f->number));
	f->facts.type = fixture_str(e, json_object_get(e, "type") != NULL ? "type" : "status");
	f->facts.message = fixture_str(e, "message");
	if (f->facts.message.n == 0)
		f->facts.message =
			fixture_str(e, json_is_string(json_object_get(e, "error")) ? "error" : "detail");
	fixture_read_details(f, e);
	f->hints.message = f->facts.message;
	f->hints.resets_in_ms = fixture_ms(json_object_get(e, "resets_in_seconds"));
	int64_t at = fixture_ms(json_object_get(e, "resets_at"));
	f->hints.resets_at_s = at >= 0 ? at / 1000 : -1;
}

/* The data of the first event (or line) that is an error; NULL when none is. */
static inline json_t *fixture_error_event(const char *text)
{
	char data[8192];
	size_t n = 0;

	for (const char *p = text; *p != '\0';) {
		size_t line = strcspn(p, "\r\n");
		json_t *j;

		if (line > 5 && strncmp(p, "data:", 5) == 0 && n + line < sizeof(data)) {
			memcpy(data + n, p + 5, line - 5);
			n += line - 5;
		} else if (line == 0 && n > 0) {
			j = json_loadb(data, n, 0, NULL);
			n = 0;
			if (fixture_error_object(j) != NULL)
				return j;
			json_decref(j);
		}
		p += line;
		p += p[0] == '\r' && p[1] == '\n' ? 2 : p[0] != '\0';
	}
	return NULL;
}

/* A body that is JSON, or lines of it; a byte order mark is skipped. */
static inline json_t *fixture_json(const char *text)
{
	if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	json_t *j = json_loads(text, JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, NULL);
	const char *rest = strchr(text, '\n');

	if (j != NULL && fixture_error_object(j) == NULL && rest != NULL && rest[1] == '{') {
		json_decref(j);
		return fixture_json(rest + 1);
	}
	return j;
}

/* Fills *f, which must not be moved: some of its strings point into it. */
static inline void fixture_load(const char *name, struct fixture *f)
{
	char path[512], file[256];
	json_error_t error;
	json_t *sse, *part;
	size_t i;

	*f = (struct fixture){.hints = {-1, -1, -1, false, {NULL, 0}}};
	ck_assert_int_lt(snprintf(file, sizeof(file), "fixtures/%s", name), (int)sizeof(file));
	data_path(path, sizeof(path), file);
	f->root = json_load_file(path, 0, &error);
	ck_assert_msg(f->root != NULL, "%s: %s", path, error.text);
	fixture_read_headers(f);
	sse = json_object_get(f->root, "sse");
	if (json_is_array(sse)) {
		char text[16384] = "";
		size_t n = 0;

		json_array_foreach(sse, i, part)
		{
			size_t len = json_string_length(part);
			ck_assert_uint_lt(n + len + 1, sizeof(text));
			memcpy(text + n, json_string_value(part), len + 1);
			n += len;
		}
		f->body = fixture_error_event(text);
	} else if (!fixture_flag(f, "body_base64") && fixture_str(f->root, "body").n > 0) {
		f->body = fixture_json(fixture_str(f->root, "body").p);
	}
	fixture_read_error(f);
	f->facts.status = (int)json_integer_value(json_object_get(f->root, "status"));
	f->facts.codex_status = fixture_header(f, "x-codex-status");
	f->facts.codex_system_load = fixture_header(f, "x-codex-system-load");
	f->facts.codex_model_capacity = fixture_header(f, "x-codex-model-capacity");
	f->facts.unified_status = fixture_header(f, "anthropic-ratelimit-unified-status");
	f->facts.location = fixture_header(f, "location");
}

static inline void fixture_free(struct fixture *f)
{
	json_decref(f->body);
	json_decref(f->root);
}

#endif
