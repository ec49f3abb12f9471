#include "common/retry/classify.h"

#include <stddef.h>

#include "common/retry/amount.h"

/* ---- the table: the first row that fits decides; specific before general, quota before rate limit */

enum where { CODE = 1, TYPE = 2, MESSAGE = 4, REASON = 8, NAMES = CODE | TYPE | REASON };

/* Statuses a row is believed with: a text proves nothing beside a status that contradicts it. */
enum on {
	ON_2XX = 1,
	ON_400 = 2, /* 400 413 422 */
	ON_401 = 4,
	ON_403 = 8,  /* 402 403 */
	ON_404 = 16, /* 404 410 */
	ON_429 = 32,
	ON_4XX = 64, /* the others */
	ON_498 = 128,
	ON_5XX = 256,
	ON_REQUEST = ON_2XX | ON_400 | ON_401 | ON_403 | ON_404 | ON_4XX,
	ON_ANY_4XX = ON_REQUEST | ON_429,
	ON_BUSY = ON_2XX | ON_429 | ON_498 | ON_5XX
};

enum flag {
	NONE = 0,
	OVERLOAD = 1,
	CAPACITY = 2 | OVERLOAD,
	QUOTA = 4,
	MODEL = 8,
	CONTEXT = 16,
	TOO_LARGE = 32,
	SAFETY = 64
};

/* clang-format off */
static const struct row {
	unsigned where;        /* enum where */
	const char *text;      /* names: the whole value, case ignored; messages: a part, case ignored */
	unsigned on;           /* enum on */
	enum tp_error_kind kind;
	unsigned flags;        /* enum flag */
	int stands_for;        /* status of a 2xx that says this */
} rows[] = {
	/* throttles that come in billing words (DashScope's link is the only difference) */
	{ MESSAGE, "#token-limit",                      ON_ANY_4XX, TP_ERROR_RATE_LIMIT, NONE, 429 },
	{ CODE,    "Throttling.AllocationQuota",        ON_ANY_4XX, TP_ERROR_RATE_LIMIT, NONE, 429 },

	/* larger than the limit: it never fits, however long one waits */
	{ MESSAGE, "request too large for",             ON_ANY_4XX, TP_ERROR_CLIENT, TOO_LARGE, 413 },

	/* quota and billing: by code anywhere, by text only where the status fits */
	{ NAMES,   "insufficient_quota",                ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 },
	{ NAMES,   "credit_balance_exhausted",          ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 },
	{ NAMES,   "organization_spend_limit_exceeded", ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 },
	{ NAMES,   "project_spend_limit_exceeded",      ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 },
	{ NAMES,   "organization_usage_limit_exceeded", ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 },
	{ NAMES,   "usage_limit_reached",               ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 },
	{ NAMES,   "usage_not_included",                ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 },
	{ NAMES,   "enforced_spend_limit_reached",      ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 },
	{ NAMES,   "contract_spend_limit_reached",      ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 },
	{ NAMES,   "linked_organization_spend_limit_reached", ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 },
	{ NAMES,   "billing_error",                     ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 402 },
	{ NAMES,   "billing_hard_limit_reached",        ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 402 },
	{ NAMES,   "billing_not_active",                ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 402 },
	{ NAMES,   "exceeded_current_quota_error",      ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 },
	{ NAMES,   "access_terminated_error",           ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 403 },
	{ NAMES,   "Arrearage",                         ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 402 },
	{ CODE,    "1113",                              ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 }, /* Zhipu: arrears */
	{ CODE,    "1304",                              ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 }, /* daily cap */
	{ CODE,    "1308",                              ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 }, /* usage cap */
	{ CODE,    "1309",                              ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 }, /* plan expired */
	{ CODE,    "1310",                              ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 429 }, /* weekly cap */
	{ MESSAGE, "credit balance is too low",         ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 402 },
	{ MESSAGE, "insufficient balance",              ON_ANY_4XX, TP_ERROR_QUOTA, QUOTA, 402 },
	{ MESSAGE, "have any credits",                  ON_403 | ON_429, TP_ERROR_QUOTA, QUOTA, 402 },
	{ MESSAGE, "used all available credits",        ON_403 | ON_429, TP_ERROR_QUOTA, QUOTA, 402 },
	{ MESSAGE, "spend limit",                       ON_403 | ON_429, TP_ERROR_QUOTA, QUOTA, 402 },
	{ MESSAGE, "usage limit",                       ON_403 | ON_429, TP_ERROR_QUOTA, QUOTA, 402 },

	/* refused for its content */
	{ NAMES,   "content_filter",                    ON_REQUEST, TP_ERROR_CLIENT, SAFETY, 400 },
	{ NAMES,   "content_policy_violation",          ON_REQUEST, TP_ERROR_CLIENT, SAFETY, 400 },
	{ NAMES,   "data_inspection_failed",            ON_REQUEST, TP_ERROR_CLIENT, SAFETY, 400 },
	{ NAMES,   "DataInspectionFailed",              ON_REQUEST, TP_ERROR_CLIENT, SAFETY, 400 },
	{ NAMES,   "moderation_blocked",                ON_REQUEST, TP_ERROR_CLIENT, SAFETY, 400 },
	{ NAMES,   "cyber_policy",                      ON_REQUEST, TP_ERROR_CLIENT, SAFETY, 400 },
	{ NAMES,   "bio_policy",                        ON_REQUEST, TP_ERROR_CLIENT, SAFETY, 400 },
	{ NAMES,   "image_content_policy_violation",    ON_REQUEST, TP_ERROR_CLIENT, SAFETY, 400 },
	{ CODE,    "1301",                              ON_REQUEST, TP_ERROR_CLIENT, SAFETY, 400 }, /* Zhipu */

	/* too long for the model */
	{ NAMES,   "context_length_exceeded",           ON_REQUEST, TP_ERROR_CLIENT, CONTEXT, 400 },
	{ NAMES,   "exceed_context_size_error",         ON_REQUEST, TP_ERROR_CLIENT, CONTEXT, 400 },
	{ CODE,    "1261",                              ON_REQUEST, TP_ERROR_CLIENT, CONTEXT, 400 }, /* Zhipu */
	{ MESSAGE, "maximum context length",            ON_2XX | ON_400, TP_ERROR_CLIENT, CONTEXT, 400 },
	{ MESSAGE, "prompt is too long",                ON_2XX | ON_400, TP_ERROR_CLIENT, CONTEXT, 400 },
	{ MESSAGE, "available context size",            ON_2XX | ON_400, TP_ERROR_CLIENT, CONTEXT, 400 },
	{ MESSAGE, "exceeded model token limit",        ON_2XX | ON_400, TP_ERROR_CLIENT, CONTEXT, 400 },
	{ MESSAGE, "exceeds the context window",        ON_2XX | ON_400, TP_ERROR_CLIENT, CONTEXT, 400 },
	{ MESSAGE, "input token count",                 ON_2XX | ON_400, TP_ERROR_CLIENT, CONTEXT, 400 },

	/* no such model here */
	{ NAMES,   "model_not_found",                   ON_ANY_4XX, TP_ERROR_CLIENT, MODEL, 404 },
	{ NAMES,   "DeploymentNotFound",                ON_REQUEST, TP_ERROR_CLIENT, MODEL, 404 },
	{ NAMES,   "model_not_available",               ON_REQUEST, TP_ERROR_CLIENT, MODEL, 404 },
	{ NAMES,   "model_decommissioned",              ON_REQUEST, TP_ERROR_CLIENT, MODEL, 404 },
	{ MESSAGE, "no models loaded",                  ON_2XX | ON_400 | ON_404, TP_ERROR_CLIENT, MODEL, 404 },
	{ MESSAGE, "model is not supported",            ON_2XX | ON_400 | ON_404, TP_ERROR_CLIENT, MODEL, 404 },
	{ MESSAGE, "not found, try pulling it",         ON_2XX | ON_400 | ON_404, TP_ERROR_CLIENT, MODEL, 404 },
	{ MESSAGE, "unexpected endpoint or method",     ON_2XX | ON_400 | ON_404, TP_ERROR_CLIENT, NONE, 404 },

	/* the credential */
	{ NAMES,   "invalid_api_key",                   ON_REQUEST, TP_ERROR_AUTH, NONE, 401 },
	{ NAMES,   "API_KEY_INVALID",                   ON_REQUEST, TP_ERROR_AUTH, NONE, 401 },
	{ NAMES,   "authentication_error",              ON_REQUEST, TP_ERROR_AUTH, NONE, 401 },
	{ NAMES,   "permission_error",                  ON_REQUEST, TP_ERROR_AUTH, NONE, 403 },
	{ NAMES,   "PERMISSION_DENIED",                 ON_REQUEST, TP_ERROR_AUTH, NONE, 403 },
	{ NAMES,   "InvalidApiKey",                     ON_REQUEST, TP_ERROR_AUTH, NONE, 401 },
	{ CODE,    "1000",                              ON_2XX | ON_401, TP_ERROR_AUTH, NONE, 401 }, /* Zhipu */
	{ CODE,    "1001",                              ON_2XX | ON_401, TP_ERROR_AUTH, NONE, 401 },
	{ CODE,    "1002",                              ON_2XX | ON_401, TP_ERROR_AUTH, NONE, 401 },
	{ CODE,    "1003",                              ON_2XX | ON_401, TP_ERROR_AUTH, NONE, 401 },
	{ CODE,    "1004",                              ON_2XX | ON_401, TP_ERROR_AUTH, NONE, 401 },
	{ MESSAGE, "api key not valid",                 ON_2XX | ON_400, TP_ERROR_AUTH, NONE, 401 },
	{ MESSAGE, "incorrect api key",                 ON_2XX | ON_400, TP_ERROR_AUTH, NONE, 401 },

	/* rate limits of this credential; "slow_down" is one as a 429, an overload as a 503 */
	{ NAMES,   "slow_down",                         ON_429,     TP_ERROR_RATE_LIMIT, NONE, 429 },

	/* overload: the provider declined because it is busy */
	{ NAMES,   "overloaded_error",                  ON_BUSY, TP_ERROR_OVERLOAD, OVERLOAD, 503 },
	{ NAMES,   "server_is_overloaded",              ON_BUSY, TP_ERROR_OVERLOAD, OVERLOAD, 503 },
	{ NAMES,   "engine_overloaded_error",           ON_BUSY, TP_ERROR_OVERLOAD, OVERLOAD, 503 },
	{ NAMES,   "overloaded",                        ON_BUSY, TP_ERROR_OVERLOAD, OVERLOAD, 503 },
	{ NAMES,   "slow_down",                         ON_2XX | ON_5XX, TP_ERROR_OVERLOAD, OVERLOAD, 503 },
	{ NAMES,   "NoCapacity",                        ON_BUSY, TP_ERROR_OVERLOAD, CAPACITY, 503 },
	{ NAMES,   "capacity_exceeded",                 ON_BUSY, TP_ERROR_OVERLOAD, CAPACITY, 503 },
	{ NAMES,   "service_tier_capacity_exceeded",    ON_BUSY, TP_ERROR_OVERLOAD, CAPACITY, 503 },
	{ NAMES,   "provider_unavailable",              ON_BUSY, TP_ERROR_OVERLOAD, OVERLOAD, 503 },
	{ CODE,    "3505",                              ON_BUSY, TP_ERROR_OVERLOAD, CAPACITY, 503 }, /* Mistral */
	{ CODE,    "1305",                              ON_BUSY, TP_ERROR_OVERLOAD, OVERLOAD, 503 }, /* Zhipu */
	{ CODE,    "1312",                              ON_BUSY, TP_ERROR_OVERLOAD, OVERLOAD, 503 },
	{ MESSAGE, "at capacity",                       ON_BUSY, TP_ERROR_OVERLOAD, CAPACITY, 503 },
	{ MESSAGE, "over capacity",                     ON_BUSY, TP_ERROR_OVERLOAD, CAPACITY, 503 },
	{ MESSAGE, "capacity exceeded",                 ON_BUSY, TP_ERROR_OVERLOAD, CAPACITY, 503 },
	{ MESSAGE, "capacity limits",                   ON_BUSY, TP_ERROR_OVERLOAD, CAPACITY, 503 },
	{ MESSAGE, "no slot available",                 ON_BUSY, TP_ERROR_OVERLOAD, CAPACITY, 503 },
	{ MESSAGE, "overloaded",                        ON_BUSY, TP_ERROR_OVERLOAD, OVERLOAD, 503 },
	{ MESSAGE, "too busy",                          ON_BUSY, TP_ERROR_OVERLOAD, OVERLOAD, 503 },
	{ MESSAGE, "server busy",                       ON_BUSY, TP_ERROR_OVERLOAD, OVERLOAD, 503 },
	{ MESSAGE, "high demand",                       ON_BUSY, TP_ERROR_OVERLOAD, OVERLOAD, 503 },
	{ MESSAGE, "负载已饱和",                        ON_BUSY, TP_ERROR_OVERLOAD, OVERLOAD, 503 }, /* load saturated */
	{ MESSAGE, "访问量过大",                        ON_BUSY, TP_ERROR_OVERLOAD, OVERLOAD, 503 }, /* too many visits */

	/* a 503 that is no refusal to work but a start still under way */
	{ MESSAGE, "loading model",                     ON_5XX, TP_ERROR_TRANSIENT, NONE, 503 },

	/* what a 2xx stands for (with another status, the status says it) */
	{ NAMES,   "rate_limit_exceeded",               ON_2XX, TP_ERROR_RATE_LIMIT, NONE, 429 },
	{ NAMES,   "rate_limit_error",                  ON_2XX, TP_ERROR_RATE_LIMIT, NONE, 429 },
	{ NAMES,   "rate_limit_reached_error",          ON_2XX, TP_ERROR_RATE_LIMIT, NONE, 429 },
	{ NAMES,   "rate_limit",                        ON_2XX, TP_ERROR_RATE_LIMIT, NONE, 429 },
	{ NAMES,   "limit_requests",                    ON_2XX, TP_ERROR_RATE_LIMIT, NONE, 429 },
	{ NAMES,   "Throttling",                        ON_2XX, TP_ERROR_RATE_LIMIT, NONE, 429 },
	{ NAMES,   "Throttling.RateQuota",              ON_2XX, TP_ERROR_RATE_LIMIT, NONE, 429 },
	{ NAMES,   "Throttling.BurstRate",              ON_2XX, TP_ERROR_RATE_LIMIT, NONE, 429 },
	{ NAMES,   "RateLimitReached",                  ON_2XX, TP_ERROR_RATE_LIMIT, NONE, 429 },
	{ NAMES,   "RESOURCE_EXHAUSTED",                ON_2XX, TP_ERROR_RATE_LIMIT, NONE, 429 },
	{ CODE,    "1302",                              ON_2XX, TP_ERROR_RATE_LIMIT, NONE, 429 }, /* Zhipu */
	{ CODE,    "1303",                              ON_2XX, TP_ERROR_RATE_LIMIT, NONE, 429 },
	{ NAMES,   "not_found_error",                   ON_2XX, TP_ERROR_CLIENT, NONE, 404 },
	{ NAMES,   "request_too_large",                 ON_2XX, TP_ERROR_CLIENT, NONE, 413 },
	{ NAMES,   "invalid_request_error",             ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "invalid_request",                   ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "invalid_prompt",                    ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "BadRequestError",                   ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "INVALID_ARGUMENT",                  ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	/* OpenAI's codes come without a type in streams: in `response.failed`, and in a bare `error` */
	{ NAMES,   "invalid_value",                     ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "unsupported_parameter",             ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "unsupported_value",                 ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "string_above_max_length",           ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "missing_required_parameter",        ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "previous_response_not_found",       ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "unsupported_country_region_territory", ON_2XX, TP_ERROR_AUTH, NONE, 403 },
	{ NAMES,   "data_residency_mismatch",           ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "invalid_image",                     ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "invalid_image_format",              ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "invalid_base64_image",              ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "invalid_image_url",                 ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "invalid_image_mode",                ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "image_too_large",                   ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "image_too_small",                   ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "image_file_too_large",              ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "image_parse_error",                 ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "unsupported_image_media_type",      ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "empty_image_file",                  ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "image_file_not_found",              ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ NAMES,   "failed_to_download_image",          ON_2XX, TP_ERROR_CLIENT, NONE, 400 },
	{ MESSAGE, "disconnected",                      ON_2XX, TP_ERROR_TRANSIENT, NONE, 502 },
	{ NAMES,   "timeout_error",                     ON_2XX, TP_ERROR_TRANSIENT, NONE, 504 },
	{ NAMES,   "DEADLINE_EXCEEDED",                 ON_2XX, TP_ERROR_TRANSIENT, NONE, 504 },
	{ NAMES,   "UNAVAILABLE",                       ON_2XX, TP_ERROR_OVERLOAD, NONE, 503 },
	{ NAMES,   "service_unavailable_error",         ON_2XX, TP_ERROR_OVERLOAD, NONE, 503 },
	{ MESSAGE, "while running the model",           ON_2XX, TP_ERROR_SERVER, NONE, 500 }, /* Ollama */
};
/* clang-format on */

/* A 2xx with a name that says no more than "error", looked at after a status in its code. */
static const struct row late[] = {
	{NAMES, "server_error", ON_2XX, TP_ERROR_SERVER, NONE, 500},
	{NAMES, "internal_server_error", ON_2XX, TP_ERROR_SERVER, NONE, 500},
	{NAMES, "api_error", ON_2XX, TP_ERROR_SERVER, NONE, 500},
	{NAMES, "INTERNAL", ON_2XX, TP_ERROR_SERVER, NONE, 500},
	{NAMES, "InternalError", ON_2XX, TP_ERROR_SERVER, NONE, 500},
};

/* ---- matching */

/* Messages say what they have to say at their beginning; what follows may be an echoed prompt. */
enum { MESSAGE_LOOKED_AT = 4096 };

static unsigned on_of(int status)
{
	switch (status) {
	case 400:
	case 413:
	case 422: return ON_400;
	case 401: return ON_401;
	case 402:
	case 403: return ON_403;
	case 404:
	case 410: return ON_404;
	case 429: return ON_429;
	case 498: return ON_498;
	default: break;
	}
	if (status >= 200 && status < 300)
		return ON_2XX;
	if (status >= 400 && status < 500)
		return ON_4XX;
	return status >= 500 && status < 600 ? ON_5XX : 0;
}

static bool contains(struct tp_str text, struct tp_str part)
{
	/* bit 0x20 off: letters of both cases agree, and what else agrees is told apart by the comparison */
	char first = (char)(part.p[0] & ~0x20);

	for (size_t i = 0; i + part.n <= text.n; i++)
		if ((text.p[i] & ~0x20) == first && tp_str_ieq((struct tp_str){text.p + i, part.n}, part))
			return true;
	return false;
}

static bool matches(const struct row *r, unsigned on, const struct tp_error_facts *f)
{
	struct tp_str text = tp_str_from(r->text), message = f->message;

	if (message.n > MESSAGE_LOOKED_AT)
		message.n = MESSAGE_LOOKED_AT;

	if ((r->on & on) == 0)
		return false;
	return ((r->where & CODE) != 0 && tp_str_ieq(f->code, text)) ||
	       ((r->where & TYPE) != 0 && tp_str_ieq(f->type, text)) ||
	       ((r->where & REASON) != 0 && tp_str_ieq(f->reason, text)) ||
	       ((r->where & MESSAGE) != 0 && contains(message, text));
}

static const struct row *find(const struct row *table, size_t n, const struct tp_error_facts *f)
{
	unsigned on = on_of(f->status);

	for (size_t i = 0; i < n; i++)
		if (matches(&table[i], on, f))
			return &table[i];
	return NULL;
}

/* ---- where no row fits: the status alone */

static bool goes_to_login(struct tp_str location)
{
	static const char *const words[] = {"login", "signin", "sign-in", "sso", "oauth"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (contains(location, tp_str_from(words[i])))
			return true;
	return false;
}

static enum tp_error_kind kind_of_status(int status, struct tp_str location)
{
	switch (status) {
	case 401:
	case 403: return TP_ERROR_AUTH;
	case 402: return TP_ERROR_QUOTA;
	case 429: return TP_ERROR_RATE_LIMIT;
	case 498:
	case 503:
	case 529: return TP_ERROR_OVERLOAD;
	case 408: return TP_ERROR_TRANSIENT;
	case 502:
	case 504: return TP_ERROR_TRANSIENT;
	default: break;
	}
	if (status >= 300 && status < 400)
		return goes_to_login(location) ? TP_ERROR_AUTH : TP_ERROR_CLIENT;
	if (status >= 400 && status < 500)
		return TP_ERROR_CLIENT;
	return status >= 520 && status <= 530 ? TP_ERROR_TRANSIENT : TP_ERROR_SERVER;
}

/* A code that is a status: "502" of {"error": {"code": 502}}. 0 = it is none. */
static int status_in_code(struct tp_str code)
{
	struct tp_amount a;

	if (code.n != 3 || !tp_amount_parse(code, &a) || a.whole < 400 || a.whole > 599)
		return 0;
	return (int)a.whole;
}

/* ---- headers of gateways */

bool tp_load_is_drowning(struct tp_str load)
{
	struct tp_amount a;
	bool percent;

	load = tp_str_trim(load);
	percent = load.n > 0 && load.p[load.n - 1] == '%';
	if (percent)
		load = tp_str_trim((struct tp_str){load.p, load.n - 1});
	if (!tp_amount_parse(load, &a))
		return false;
	if (percent || a.whole > 1) /* 98 without a sign can only be a percentage */
		return a.whole >= 90;
	return a.whole == 1 || a.nano >= 900000000;
}

bool tp_capacity_is_full(struct tp_str capacity)
{
	struct tp_amount used, all;
	size_t n;

	capacity = tp_str_trim(capacity);
	n = tp_amount_scan(capacity, &used);
	if (n == 0 || n >= capacity.n || capacity.p[n] != '/' ||
	    !tp_amount_parse((struct tp_str){capacity.p + n + 1, capacity.n - n - 1}, &all))
		return false;
	return used.whole >= all.whole;
}

/* What the headers add: only beside a status that can mean "busy". */
static void add_headers(const struct tp_error_facts *f, struct tp_error_class *c)
{
	bool busy = (on_of(f->status) & ON_BUSY) != 0 && !c->quota && c->kind != TP_ERROR_AUTH &&
		    c->kind != TP_ERROR_CLIENT;
	bool named = tp_str_ieq(tp_str_trim(f->codex_status), TP_STR("overloaded"));

	c->drowning = tp_load_is_drowning(f->codex_system_load);
	if (!busy)
		return;
	if (tp_capacity_is_full(f->codex_model_capacity))
		c->capacity = true;
	if (!named && !c->drowning && !c->capacity)
		return;
	c->overload = true;
	c->kind = TP_ERROR_OVERLOAD;
	if (f->status < 300)
		c->status = 503;
}

static void apply(const struct row *r, struct tp_error_class *c)
{
	c->kind = r->kind;
	if (c->status < 300)
		c->status = r->stands_for;
	c->overload = (r->flags & OVERLOAD) != 0;
	c->capacity = (r->flags & CAPACITY) == CAPACITY;
	c->quota = (r->flags & QUOTA) != 0;
	c->model_unavailable = (r->flags & MODEL) != 0;
	c->context_too_long = (r->flags & CONTEXT) != 0;
	c->too_large_for_limit = (r->flags & TOO_LARGE) != 0;
	c->safety = (r->flags & SAFETY) != 0;
}

struct tp_error_class tp_classify(const struct tp_error_facts *f)
{
	struct tp_error_class c = {.status = f->status};
	const struct row *r = find(rows, sizeof(rows) / sizeof(rows[0]), f);
	int in_code = f->status < 300 ? status_in_code(f->code) : 0;

	if (r == NULL && in_code == 0)
		r = find(late, sizeof(late) / sizeof(late[0]), f);
	if (r != NULL) {
		apply(r, &c);
	} else {
		if (c.status < 300) /* a 200 that carries an error without a code is taken as 502 */
			c.status = in_code != 0 ? in_code : 502;
		c.kind = kind_of_status(c.status, f->location);
	}
	/* A window of hours or a day is used up, told beside the code only: Anthropic's subscriptions, Google
	 */
	if ((f->status == 429 && tp_str_ieq(tp_str_trim(f->unified_status), TP_STR("rejected"))) ||
	    (c.status == 429 && f->per_day)) {
		c.kind = TP_ERROR_QUOTA;
		c.quota = true;
	}
	c.auth = c.kind == TP_ERROR_AUTH;
	add_headers(f, &c);
	return c;
}
