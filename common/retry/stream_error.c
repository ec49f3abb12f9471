#include "common/retry/stream_error.h"

/* The code is one the SDKs' types know; what happened stands in the message. */
static const char code[] = "server_error";

static void add_message(struct tp_buf *out, const char *why)
{
	tp_buf_add_str(out, TP_STR("The answer broke off after its first output: "));
	tp_buf_add_json(out, tp_str_from(why));
	tp_buf_add_str(out, TP_STR(". It was not sent again, since what was received has been paid for."));
}

void tp_stream_error_render(enum tp_family family, const char *why, struct tp_buf *out)
{
	switch (family) {
	case TP_FAMILY_RESPONSES:
		tp_buf_printf(out,
			      "event: response.failed\ndata: "
			      "{\"type\":\"response.failed\",\"response\":{\"id\":\"\","
			      "\"object\":\"response\",\"status\":\"failed\",\"output\":[],\"error\":{"
			      "\"code\":\"%s\","
			      "\"message\":\"",
			      code);
		add_message(out, why);
		tp_buf_add_str(out, TP_STR("\"}}}\n\n"));
		break;
	case TP_FAMILY_MESSAGES:
		tp_buf_add_str(
			out,
			TP_STR("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\","
			       "\"message\":\""));
		add_message(out, why);
		tp_buf_add_str(out, TP_STR("\"}}\n\n"));
		break;
	case TP_FAMILY_CHAT:
		tp_buf_add_str(out, TP_STR("data: {\"error\":{\"message\":\""));
		add_message(out, why);
		tp_buf_printf(out, "\",\"type\":\"server_error\",\"code\":\"%s\"}}\n\n", code);
		break;
	default: break;
	}
}
