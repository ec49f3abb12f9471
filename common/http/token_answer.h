/*
 * What is asked of an endpoint that renews access tokens, and what it answers (design section 9): the
 * refresh-token grant of OAuth 2 (RFC 6749, section 6), or plain JSON.  Pure functions over bytes.
 */
#ifndef TP_HTTP_TOKEN_ANSWER_H
#define TP_HTTP_TOKEN_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/str.h"

/* grant_type=refresh_token&refresh_token=...&client_id=..., percent-encoded; an empty secret is left out. */
void tp_token_form(struct tp_buf *out, struct tp_str refresh_token, struct tp_str client_id,
		   struct tp_str client_secret);
/* {"refresh_token": "..."} */
void tp_token_json(struct tp_buf *out, struct tp_str refresh_token);

struct tp_token_answer {
	char *access;        /* owned; NULL = the answer has none that can stand in a header */
	char *refresh;       /* owned; NULL = the refresh token stays the same */
	int64_t lifetime_ms; /* `expires_in`, else until `exp` of a JWT; -1 = not known */
	char error[64];      /* the error's code, printable; "" = none */
};

/* Reads an answer's body; now_ms: wall clock. Absent members stay empty. Free with tp_token_answer_free(). */
void tp_token_answer_read(struct tp_str body, int64_t now_ms, struct tp_token_answer *ret_answer);
/* Wipes and frees what it holds; zeroes it. */
void tp_token_answer_free(struct tp_token_answer *a);

#endif
