#include "common/retry/stream_error.h"

static void add_pair(struct tp_buf *out, const char *key, const char *value)
{
	tp_buf_printf(out, "\"%s\":\"", key);
	tp_buf_add_json(out, tp_str_from(value));
	tp_buf_add_str(out, TP_STR("\""));
}

void tp_stream_error_render(enum tp_family family, const struct tp_refusal *r, struct tp_buf *out)
{
	switch (family) {
	case TP_FAMILY_RESPONSES:
		tp_buf_add_str(
			out,
			TP_STR("event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{"
			       "\"id\":\"\",\"object\":\"response\",\"status\":\"failed\",\"output\":[],"
			       "\"error\":{"));
		add_pair(out, "code", r->code);
		tp_buf_add_str(out, TP_STR(","));
		add_pair(out, "message", r->message);
		tp_buf_add_str(out, TP_STR("}}}\n\n"));
		break;
	case TP_FAMILY_MESSAGES:
	case TP_FAMILY_CHAT:
		if (family == TP_FAMILY_MESSAGES)
			tp_buf_add_str(out, TP_STR("event: error\n"));
		tp_buf_add_str(out, TP_STR("data: "));
		tp_refusal_render(r, family, out);
		tp_buf_add_str(out, TP_STR("\n\n"));
		break;
	default: break;
	}
}

void tp_stream_cut_render(enum tp_family family, const char *why, struct tp_buf *out)
{
	struct tp_buf message = {0};
	tp_buf_printf(
		&message,
		"The answer broke off after its first output: %s. It was not sent again, since what was "
		"received has been paid for.",
		why);
	/* The code is one the SDKs' types know; what happened stands in the message. */
	struct tp_refusal r = {.code = "server_error",
			       .type = family == TP_FAMILY_MESSAGES ? "api_error" : "server_error",
			       .message = tp_buf_cstr(&message)};
	tp_stream_error_render(family, &r, out);
	tp_buf_free(&message);
}

void tp_stream_heartbeat_render(enum tp_family family, struct tp_buf *out)
{
	if (family == TP_FAMILY_MESSAGES)
		tp_buf_add_str(out, TP_STR("event: ping\ndata: {\"type\": \"ping\"}\n\n"));
	else
		tp_buf_add_str(out, TP_STR(": turnpike waiting\n\n"));
}
