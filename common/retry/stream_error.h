/*
 * How a failure is told inside a stream that is open already, so that each family's clients see it
 * (design section 6).
 */
#ifndef TP_RETRY_STREAM_ERROR_H
#define TP_RETRY_STREAM_ERROR_H

#include "common/base/buf.h"
#include "common/http/path.h"
#include "common/retry/refusal.h"

/*
 * Appends the family's error event: response.failed (Codex ignores an `error` event on Responses), an `error`
 * event for Messages, a data line with an error for Chat.  Nothing for plain.
 */
void tp_stream_error_render(enum tp_family family, const struct tp_refusal *r, struct tp_buf *out);
/* The same for an answer that broke off after its first output; `why` is our own text. */
void tp_stream_cut_render(enum tp_family family, const char *why, struct tp_buf *out);
/* What keeps a waiting client patient while nothing is committed: a comment, for Messages a ping event. */
void tp_stream_heartbeat_render(enum tp_family family, struct tp_buf *out);

#endif
