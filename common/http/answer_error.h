/* Inside of common/http/answer: trees of answers that may be errors.  Not for other modules. */
#ifndef TP_HTTP_ANSWER_ERROR_H
#define TP_HTTP_ANSWER_ERROR_H

#include <jansson.h>
#include <stdbool.h>

#include "common/base/str.h"
#include "common/http/answer.h"

/* Reads a JSON text of any type; what jansson refuses but providers send (a byte order mark, bytes that are
 * no UTF-8, huge integers) is mended first.  NULL when it is no JSON.  The caller calls json_decref(). */
json_t *tp_answer_parse(struct tp_str text);
/* A value that says something: a non-empty string, object or array, a number, true.  NULL is not filled. */
bool tp_answer_filled(const json_t *value);
/* The error value inside an answer or event (top level, `response`, a choice): a filled object or string,
 * borrowed from root; NULL when there is none, or when the error's fields stand at the top level. */
const json_t *tp_answer_find_error(const json_t *root);
/* Top-level code and message that are an error's (DashScope, Zhipu), or "object": "error". */
bool tp_answer_flat_error(const json_t *root);
/* A choice that ended because its provider failed: OpenRouter's finish_reason "error", or, where it told
 * nobody else, native_finish_reason "network_error". Both end in the bytes error" */
bool tp_answer_choice_broke(const json_t *choice);
/* The empty error: no strings, no times. */
struct tp_answer_error tp_answer_no_error(void);
/* Reads what root tells of its error; absent members stay empty. */
void tp_answer_read_error(const json_t *root, struct tp_answer_error *ret_error);
/* An error told in words alone: they become the message. */
void tp_answer_read_text(struct tp_str text, struct tp_answer_error *ret_error);
/* A code member that stands for success: 0, 2xx, "success", "ok". */
bool tp_answer_code_is_fine(struct tp_str code);

#endif
