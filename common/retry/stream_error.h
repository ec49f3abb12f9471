/*
 * How a stream that broke off after its first output is ended, so that each family's clients see a failure
 * (design section 6).
 */
#ifndef TP_RETRY_STREAM_ERROR_H
#define TP_RETRY_STREAM_ERROR_H

#include "common/base/buf.h"
#include "common/http/path.h"

/*
 * Appends the family's error event: response.failed (Codex ignores an `error` event on Responses), an `error`
 * event for Messages, a data line with an error for Chat.  `why` is our own text, put into the message.
 * Nothing for plain.
 */
void tp_stream_error_render(enum tp_family family, const char *why, struct tp_buf *out);

#endif
