#include "common/retry/refusal.h"

#include <stddef.h>

#define REFUSAL    "turnpike_refusal"
#define REQUEST    "invalid_request_error"
#define RATE_LIMIT "rate_limit_error"

/* What the reader is told when a request may have run (design section 4). People see these in Codex and
 * Claude Code: what happened, what it may have cost, what was not done, what to do. */
#define MAY_HAVE_RUN                                                                                         \
	" The request may have been carried out and billed, so Turnpike did not send it a second time."      \
	" Check whether it took effect; if it did not, send it again yourself."

/* One row for each code. Statuses and stop signals are relied on by clients: 429, because Codex sends
 * 5xx again but not 429; stop, because the SDKs read it before the status. */
static const struct tp_refusal codes[TP_CODE_COUNT] = {
	[TP_CODE_NONE] = {.status = 500,
			  .type = "server_error",
			  .code = "internal_error",
			  .message = "Turnpike could not handle this request because of a fault of its own."},
	[TP_CODE_RESET_REPLAY_REFUSED] =
		{.status = 429,
		 .stop = true,
		 .type = REFUSAL,
		 .message = "The connection to the provider was reset after the request had gone out and "
			    "before an answer came." MAY_HAVE_RUN},
	[TP_CODE_CLOSED_BEFORE_RESPONSE] = {.status = 429,
					    .stop = true,
					    .type = REFUSAL,
					    .message =
						    "The connection to the provider ended after the request "
						    "had been sent and before a usable answer "
						    "came." MAY_HAVE_RUN},
	[TP_CODE_NO_RESPONSE] = {.status = 429,
				 .stop = true,
				 .type = REFUSAL,
				 .message =
					 "The provider took the request but did not answer within the time "
					 "allowed." MAY_HAVE_RUN},
	[TP_CODE_RESPONSE_TRUNCATED] = {.status = 429,
					.stop = true,
					.type = REFUSAL,
					.message = "The provider's answer broke off before it was "
						   "complete." MAY_HAVE_RUN},
	[TP_CODE_RESPONSE_INVALID] = {.status = 429,
				      .stop = true,
				      .type = REFUSAL,
				      .message = "The provider reported success, but its answer was empty or "
						 "unreadable." MAY_HAVE_RUN},
	[TP_CODE_BUDGET_EXHAUSTED] = {.status = 429,
				      .stop = true,
				      .type = REFUSAL,
				      .message = "This request has used up the sends it may cost, earlier "
						 "attempts included. Some of them may have been carried out "
						 "and billed, so Turnpike did not send it once more. Check "
						 "the state of the provider, then start a new request."},
	[TP_CODE_UNREACHABLE] = {.status = 502,
				 .type = "upstream_error",
				 .message =
					 "Turnpike could not connect to the provider. Nothing was sent, so "
					 "nothing ran and nothing was billed. Check the provider's address "
					 "and the network."},
	[TP_CODE_CREDENTIAL_REJECTED] = {.status = 502,
					 .stop = true,
					 .type = "upstream_error",
					 .message =
						 "The provider rejected the credential that Turnpike is "
						 "configured with. Your own credential is not at fault; the "
						 "operator of Turnpike has to renew the provider's key."},
	[TP_CODE_IN_FLIGHT] = {.status = 409,
			       .retry_after_s = 1,
			       .type = REQUEST,
			       .message = "An earlier request with the same identity is still in progress. "
					  "Turnpike waited for it and did not send this one beside it."},
	[TP_CODE_MODEL_NOT_FOUND] = {.status = 404,
				     .type = REQUEST,
				     .message =
					     "No model or combo with this name is configured in Turnpike."},
	[TP_CODE_RATE_LIMIT_SHARED] =
		{.status = 429,
		 .type = RATE_LIMIT,
		 .message =
			 "The provider told an earlier request for this model, with the same credential, to "
			 "wait. That time ends after this request's deadline, so Turnpike did not send it."},
	[TP_CODE_BLACKLISTED] =
		{.status = 503,
		 .retry_after_s = 1,
		 .type = "upstream_error",
		 .message = "This URL of the provider has failed too often in a row, so Turnpike "
			    "leaves it alone for now. Nothing was sent for this request. One request "
			    "will be let through to see whether it works again."},
	[TP_CODE_COMBO_UNAVAILABLE] =
		{.status = 503,
		 .type = "upstream_error",
		 .message = "Every target of this combo has failed or refused lately and is "
			    "left alone until the time that was told for it has passed. "
			    "Nothing was sent."},
	[TP_CODE_KEYS_COOLING] =
		{.status = 429,
		 .type = RATE_LIMIT,
		 .message = "The provider has refused every key that Turnpike has for it: each is "
			    "left alone for a while. Nothing was sent."},
	[TP_CODE_CAPACITY_QUEUE_FULL] =
		{.status = 503,
		 .retry_after_s = 1,
		 .type = "upstream_error",
		 .message = "The provider serves as many requests at once as Turnpike may send it, and as "
			    "many as "
			    "are allowed to wait are waiting. Nothing was sent for this request."},
	[TP_CODE_CAPACITY_WAIT_EXPIRED] =
		{.status = 503,
		 .retry_after_s = 1,
		 .type = "upstream_error",
		 .message = "The provider serves as many requests at once as Turnpike may send it, and this "
			    "request's turn did not come within the time that it may wait. Nothing was sent "
			    "for it."},
	[TP_CODE_TOKEN_WAIT_EXPIRED] =
		{.status = 503,
		 .retry_after_s = 1,
		 .type = "upstream_error",
		 .message = "Turnpike is getting an access token for the provider, and none came within the "
			    "time that this request may wait. It was not carried out."},
};

/* What a client did wrong, and a few things of ours that are told the same way. */
static const struct {
	int status;
	const char *code, *message;
} client_errors[] = {
	{400, "bad_request", "The request is malformed."},
	{401, "invalid_api_key", "Turnpike does not know this credential."},
	{403, "forbidden", "Turnpike does not allow this request."},
	{404, "not_found", "Turnpike has no route for this path."},
	{405, "method_not_allowed", "This method is not allowed here."},
	{408, "request_timeout", "The request did not arrive completely in time."},
	{409, "conflict", "The request conflicts with another one."},
	{411, "length_required", "The request needs a Content-Length."},
	{413, "request_too_large", "The request body is larger than Turnpike accepts."},
	{414, "uri_too_long", "The request target is longer than Turnpike accepts."},
	{415, "unsupported_media_type", "The request body has a coding that is not supported."},
	{417, "expectation_failed", "The request expects something that is not supported."},
	{421, "misdirected_request", "This host name is not served here."},
	{426, "upgrade_required", "WebSocket is not offered here; use plain HTTP."},
	{431, "request_header_fields_too_large", "The request head is larger than Turnpike accepts."},
	{500, "internal_error", "Turnpike could not handle this request because of a fault of its own."},
	{501, "not_implemented", "The request uses something that Turnpike does not implement."},
	{503, "unavailable", "Turnpike cannot take this request at present."},
	{505, "http_version_not_supported", "Only HTTP/1.0 and HTTP/1.1 are spoken here."},
};

static const struct {
	int status;
	const char *phrase;
} phrases[] = {
	{100, "Continue"},
	{101, "Switching Protocols"},
	{102, "Processing"},
	{103, "Early Hints"},
	{200, "OK"},
	{201, "Created"},
	{202, "Accepted"},
	{203, "Non-Authoritative Information"},
	{204, "No Content"},
	{205, "Reset Content"},
	{206, "Partial Content"},
	{207, "Multi-Status"},
	{208, "Already Reported"},
	{226, "IM Used"},
	{300, "Multiple Choices"},
	{301, "Moved Permanently"},
	{302, "Found"},
	{303, "See Other"},
	{304, "Not Modified"},
	{305, "Use Proxy"},
	{307, "Temporary Redirect"},
	{308, "Permanent Redirect"},
	{400, "Bad Request"},
	{401, "Unauthorized"},
	{402, "Payment Required"},
	{403, "Forbidden"},
	{404, "Not Found"},
	{405, "Method Not Allowed"},
	{406, "Not Acceptable"},
	{407, "Proxy Authentication Required"},
	{408, "Request Timeout"},
	{409, "Conflict"},
	{410, "Gone"},
	{411, "Length Required"},
	{412, "Precondition Failed"},
	{413, "Content Too Large"},
	{414, "URI Too Long"},
	{415, "Unsupported Media Type"},
	{416, "Range Not Satisfiable"},
	{417, "Expectation Failed"},
	{418, "I'm a teapot"},
	{421, "Misdirected Request"},
	{422, "Unprocessable Content"},
	{423, "Locked"},
	{424, "Failed Dependency"},
	{425, "Too Early"},
	{426, "Upgrade Required"},
	{428, "Precondition Required"},
	{429, "Too Many Requests"},
	{431, "Request Header Fields Too Large"},
	{451, "Unavailable For Legal Reasons"},
	{498, "Capacity Exceeded"},
	{499, "Client Closed Request"},
	{500, "Internal Server Error"},
	{501, "Not Implemented"},
	{502, "Bad Gateway"},
	{503, "Service Unavailable"},
	{504, "Gateway Timeout"},
	{505, "HTTP Version Not Supported"},
	{506, "Variant Also Negotiates"},
	{507, "Insufficient Storage"},
	{508, "Loop Detected"},
	{510, "Not Extended"},
	{511, "Network Authentication Required"},
	{520, "Web Server Returned an Unknown Error"},
	{521, "Web Server Is Down"},
	{522, "Connection Timed Out"},
	{523, "Origin Is Unreachable"},
	{524, "A Timeout Occurred"},
	{525, "SSL Handshake Failed"},
	{526, "Invalid SSL Certificate"},
	{527, "Railgun Error"},
	{529, "Site Is Overloaded"},
	{530, "Origin DNS Error"},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct tp_refusal tp_refusal_for(enum tp_code code, uint32_t retry_after_s)
{
	unsigned i = (unsigned)code < TP_CODE_COUNT ? (unsigned)code : TP_CODE_NONE;
	struct tp_refusal r = codes[i];

	if (r.code == NULL)
		r.code = tp_code_name((enum tp_code)i);
	/* With a Retry-After Codex sends even a 429 again: a stop signal and a wait exclude each other. */
	if (!r.stop && retry_after_s > r.retry_after_s)
		r.retry_after_s = retry_after_s;
	return r;
}

struct tp_refusal tp_refusal_client_error(int status, const char *detail)
{
	struct tp_refusal r = {.status = status, .type = REQUEST, .code = "bad_request", .message = detail};
	const char *standard = "The request cannot be served.";

	for (size_t i = 0; i < COUNT(client_errors); i++)
		if (client_errors[i].status == status) {
			r.code = client_errors[i].code;
			standard = client_errors[i].message;
		}
	if (status == 500 || status == 503)
		r.type = "server_error";
	if (detail == NULL || detail[0] == '\0')
		r.message = standard;
	return r;
}

struct tp_refusal tp_refusal_from_memory(int status, const char *code)
{
	struct tp_refusal r = {.status = status,
			       .stop = true,
			       .type = REQUEST,
			       .code = code,
			       .message =
				       "The provider has already refused this very request with this status. "
				       "Turnpike tells it from memory and did not send the request once "
				       "more: change it first."};

	if (code == NULL || code[0] == '\0')
		r.code = tp_refusal_client_error(status, NULL).code;
	return r;
}

struct tp_refusal tp_refusal_cooling(int status, const char *code, bool stop, uint32_t retry_after_s)
{
	bool limit = status == 429;

	return (struct tp_refusal){
		.status = status,
		.stop = stop,
		.retry_after_s = retry_after_s > 0 ? retry_after_s : 1,
		.type = limit ? RATE_LIMIT : "server_error",
		.code = code != NULL ? code
			: limit      ? "rate_limit_exceeded"
				     : "server_is_overloaded",
		.message = "The provider told requests for this model to wait, and that time is not over: "
			   "Turnpike did not send this one.",
	};
}

struct tp_refusal tp_refusal_of_answer(int status, const struct tp_answer_error *error, struct tp_buf *text)
{
	struct tp_refusal r = {
		.status = status,
		.code = "upstream_error",
		.type = status < 500 ? REQUEST : "server_error",
	};
	if (error != NULL && error->code[0] != '\0')
		r.code = error->code;
	if (error != NULL && error->type[0] != '\0')
		r.type = error->type;
	if (error != NULL && error->message[0] != '\0') {
		r.message = error->message;
		return r;
	}
	tp_buf_printf(text, "The provider answered %d (%s) without a readable error message.", status,
		      tp_reason_phrase(status));
	r.message = tp_buf_cstr(text);
	return r;
}

struct tp_refusal tp_refusal_no_stream(void)
{
	return (struct tp_refusal){
		.status = 502,
		.code = "upstream_error",
		.type = "server_error",
		.message = "The provider did not answer with the stream that was asked for.",
	};
}

static void add_member(struct tp_buf *out, const char *name, const char *value)
{
	tp_buf_printf(out, "\"%s\":\"", name);
	tp_buf_add_json(out, tp_str_from(value));
	tp_buf_add(out, "\"", 1);
}

void tp_refusal_render(const struct tp_refusal *r, enum tp_family family, struct tp_buf *out)
{
	bool messages = family == TP_FAMILY_MESSAGES;

	/* The dialects differ in their wrapper and in which member people look at first. */
	tp_buf_add_str(out, messages ? TP_STR("{\"type\":\"error\",\"error\":{") : TP_STR("{\"error\":{"));
	add_member(out, messages ? "type" : "message", messages ? r->type : r->message);
	tp_buf_add(out, ",", 1);
	add_member(out, messages ? "message" : "type", messages ? r->message : r->type);
	tp_buf_add(out, ",", 1);
	add_member(out, "code", r->code);
	tp_buf_add_str(out, TP_STR("}}"));
}

const char *tp_reason_phrase(int status)
{
	size_t low = 0, high = COUNT(phrases);

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (phrases[mid].status == status)
			return phrases[mid].phrase;
		if (phrases[mid].status < status)
			low = mid + 1;
		else
			high = mid;
	}
	return "Unknown";
}
