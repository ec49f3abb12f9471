/* Error bodies as providers write them. */
#include "server/simulate/answer.h"

static const struct known {
	int status;
	const char *reason;
	const char *openai_type, *openai_code; /* code NULL = null */
	const char *anthropic_type;
	const char *message;
} known[] = {
	{200, "OK", NULL, NULL, NULL, NULL},
	{204, "No Content", NULL, NULL, NULL, NULL},
	{301, "Moved Permanently", NULL, NULL, NULL, NULL},
	{302, "Found", NULL, NULL, NULL, NULL},
	{307, "Temporary Redirect", NULL, NULL, NULL, NULL},
	{400, "Bad Request", "invalid_request_error", "invalid_value", "invalid_request_error",
	 "The request is not valid."},
	{401, "Unauthorized", "invalid_request_error", "invalid_api_key", "authentication_error",
	 "Incorrect API key provided."},
	{402, "Payment Required", "billing_error", "insufficient_credits", "billing_error",
	 "Insufficient credits."},
	{403, "Forbidden", "permission_error", NULL, "permission_error", "Not allowed."},
	{404, "Not Found", "invalid_request_error", "model_not_found", "not_found_error",
	 "The model does not exist."},
	{405, "Method Not Allowed", "invalid_request_error", NULL, "invalid_request_error",
	 "Method not allowed."},
	{408, "Request Timeout", "timeout", NULL, "timeout_error", "The request ran out of time."},
	{409, "Conflict", "conflict", NULL, "invalid_request_error", "Conflict."},
	{413, "Content Too Large", "invalid_request_error", NULL, "request_too_large",
	 "The request is too large."},
	{422, "Unprocessable Content", "invalid_request_error", NULL, "invalid_request_error",
	 "Unprocessable request."},
	{426, "Upgrade Required", "invalid_request_error", NULL, "invalid_request_error",
	 "Upgrade required."},
	{429, "Too Many Requests", "rate_limit_error", "rate_limit_exceeded", "rate_limit_error",
	 "Rate limit reached."},
	{431, "Request Header Fields Too Large", "invalid_request_error", NULL, "invalid_request_error",
	 "The head is too large."},
	{500, "Internal Server Error", "server_error", "server_error", "api_error",
	 "The server had an error while processing your request."},
	{502, "Bad Gateway", "server_error", NULL, "api_error", "Bad gateway."},
	{503, "Service Unavailable", "service_unavailable", NULL, "api_error", "Service unavailable."},
	{504, "Gateway Timeout", "timeout", NULL, "timeout_error", "Gateway timeout."},
	{529, "Overloaded", "overloaded_error", NULL, "overloaded_error", "Overloaded."},
};

static const struct known *find_known(int status)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].status == status)
			return &known[i];
	return NULL;
}

const char *tp_sim_reason(int status)
{
	const struct known *k = find_known(status);

	return k != NULL ? k->reason : "Unknown";
}

void tp_sim_error_default(const struct tp_sim_turn *t, int status, struct tp_sim_error *ret)
{
	const struct known *k = find_known(status);

	*ret = (struct tp_sim_error){status, TP_STR("api_error"), {NULL, 0}, TP_STR("A simulated error.")};
	if (k == NULL || k->message == NULL)
		return;
	ret->type = tp_str_from(t->anthropic ? k->anthropic_type : k->openai_type);
	ret->code = tp_str_from(k->openai_code);
	ret->message = tp_str_from(k->message);
}

void tp_sim_error_json(const struct tp_sim_turn *t, const struct tp_sim_error *e, struct tp_buf *b)
{
	tp_buf_add_str(b, t->anthropic ? TP_STR("{\"type\":\"error\",\"error\":{\"type\":\"")
				       : TP_STR("{\"error\":{\"type\":\""));
	tp_buf_add_json(b, e->type);
	tp_buf_add_str(b, TP_STR("\",\"message\":\""));
	tp_buf_add_json(b, e->message);
	tp_buf_add_str(b, TP_STR("\""));
	if (t->anthropic) {
		tp_buf_printf(b, "},\"request_id\":\"req_sim%llu\"}", (unsigned long long)t->serial);
		return;
	}
	if (e->code.p == NULL) {
		tp_buf_add_str(b, TP_STR(",\"param\":null,\"code\":null}}"));
		return;
	}
	tp_buf_add_str(b, TP_STR(",\"param\":null,\"code\":\""));
	tp_buf_add_json(b, e->code);
	tp_buf_add_str(b, TP_STR("\"}}"));
}
