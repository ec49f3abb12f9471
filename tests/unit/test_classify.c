/* Every recorded provider answer comes out as its kind, is retried or not, and waits as told. */
#include "common/retry/classify.h"

#include <dirent.h>
#include <inttypes.h>

#include "common/retry/decide.h"
#include "tests/unit/fixture.h"
#include "tests/unit/retry_turn.h"
#include "tests/unit/suite.h"

static bool ends_with_json(const char *name)
{
	return tp_str_ends(tp_str_from(name), TP_STR(".json"));
}

/* Calls `check` for each fixture; returns how many there were. */
static unsigned for_each(void (*check)(const char *name, struct fixture *f))
{
	char path[512];
	struct dirent *e;
	unsigned n = 0;
	DIR *dir;

	data_path(path, sizeof(path), "fixtures");
	dir = opendir(path);
	ck_assert_msg(dir != NULL, "%s", path);
	while ((e = readdir(dir)) != NULL) {
		struct fixture f;

		if (!ends_with_json(e->d_name))
			continue;
		fixture_load(e->d_name, &f);
		check(e->d_name, &f);
		fixture_free(&f);
		n++;
	}
	closedir(dir);
	return n;
}

static bool kind_is(const struct fixture *f, const char *kind)
{
	return tp_str_eq(fixture_str(f->root, "kind"), tp_str_from(kind));
}

/* An answer whose error object is what is wrong with it (not its missing end, its HTML, its silence). */
static bool is_error_answer(const struct fixture *f)
{
	return !kind_is(f, "ok") && (f->facts.status >= 300 || f->has_error);
}

/* ---- kinds */

/* As the fixtures call them. */
static const char *kind_name(enum tp_error_kind kind)
{
	static const char *const names[TP_ERROR_KIND_COUNT] = {
		[TP_ERROR_OVERLOAD] = "overload",   [TP_ERROR_RATE_LIMIT] = "rate_limit",
		[TP_ERROR_QUOTA] = "quota",         [TP_ERROR_AUTH] = "auth",
		[TP_ERROR_CLIENT] = "client_error", [TP_ERROR_SERVER] = "server_error",
		[TP_ERROR_TRANSIENT] = "transient",
	};

	return (unsigned)kind < TP_ERROR_KIND_COUNT ? names[(unsigned)kind] : "?";
}

static void check_kind(const char *name, struct fixture *f)
{
	const char *got;
	json_t *alt = json_object_get(f->root, "kind_alt"), *other;
	struct tp_str want = fixture_str(f->root, kind_is(f, "pseudo200") ? "inner_kind" : "kind");
	bool good;
	size_t i;

	if (!is_error_answer(f))
		return;
	got = kind_name(tp_classify(&f->facts).kind);
	good = tp_str_eq(want, tp_str_from(got));
	json_array_foreach(alt, i, other) good |= strcmp(json_string_value(other), got) == 0;
	ck_assert_msg(good, "%s: %s, expected %.*s", name, got, (int)want.n, want.p);
}

START_TEST(kinds)
{
	ck_assert_uint_ge(for_each(check_kind), 170);
}
END_TEST

/* ---- waits */

static void check_wait(const char *name, struct fixture *f)
{
	json_t *want = json_object_get(f->root, "retry_after_ms"), *other;
	json_t *least = json_object_get(f->root, "retry_after_min_ms");
	int64_t now_s = json_integer_value(json_object_get(f->root, "now_ms")) / 1000, told;
	bool good;
	size_t i;

	if (!is_error_answer(f))
		return;
	if (now_s == 0)
		now_s = 1790000000;
	told = tp_told_headers(f->fields, f->n_fields, now_s);
	if (told < 0)
		told = tp_hint_body(&f->hints, now_s, -1);
	good = json_is_integer(want) ? told == json_integer_value(want) : told < 0;
	if (json_is_integer(least))
		good = told >= json_integer_value(least);
	json_array_foreach(json_object_get(f->root, "retry_after_ms_alt"), i, other) good |=
		told == json_integer_value(other);
	ck_assert_msg(good, "%s: told %" PRId64, name, told);
}

START_TEST(waits)
{
	(void)for_each(check_wait);
}
END_TEST

/* ---- whether it is sent again, under the default policy, with everything allowed */

static struct tp_outcome outcome_of(const struct fixture *f)
{
	struct tp_error_class c = tp_classify(&f->facts);
	struct tp_outcome o = answer(c.status);
	struct tp_str should = fixture_header(f, "x-should-retry");
	int64_t told = tp_told_headers(f->fields, f->n_fields, 1790000000);

	if (told < 0)
		told = tp_hint_body(&f->hints, 1790000000, -1);
	o.told_ms = tp_told_floor(told, 1500);
	o.should_retry = (int8_t)(tp_str_eq(should, TP_STR("true"))    ? 1
				  : tp_str_eq(should, TP_STR("false")) ? 0
								       : -1);
	o.overload = c.overload;
	o.quota = c.quota;
	o.drowning = c.drowning;
	o.committed = fixture_flag(f, "committed");
	return o;
}

static void check_verdict(const char *name, struct fixture *f)
{
	struct tp_retry_conf p = defaults();
	struct tp_allowance a = plenty();
	struct tp_decision d;
	struct tp_outcome o;

	if (!is_error_answer(f))
		return;
	o = outcome_of(f);
	d = tp_decide(&p, &o, &a, 0);
	if (o.told_ms > 60000) /* above the ceiling: told to the client, whatever it is */
		ck_assert_msg(d.action == TP_ACT_RELAY, "%s", name);
	else
		ck_assert_msg((d.action == TP_ACT_SEND_AGAIN) == fixture_flag(f, "retryable"), "%s: %s", name,
			      d.reason);
	if (kind_is(f, "quota") && o.status != 402)
		ck_assert_msg(d.stop, "%s", name); /* nobody is to send it again either */
}

START_TEST(verdicts)
{
	(void)for_each(check_verdict);
}
END_TEST

/* ---- a 200 that is no answer and holds no error object: its cause decides, not its text */

static unsigned without_object;

static void check_without_object(const char *name, struct fixture *f)
{
	struct tp_decision d;

	if (kind_is(f, "ok") || is_error_answer(f))
		return;
	without_object++;
	ck_assert_msg(fixture_flag(f, "ambiguous") || kind_is(f, "pseudo200"), "%s", name);
	if (fixture_flag(f, "committed") || !kind_is(f, "pseudo200")) {
		struct tp_outcome o = failure(TP_STAGE_OUTPUT, TP_CAUSE_CLOSED);
		struct tp_retry_conf p = defaults();
		struct tp_allowance a = plenty();

		d = tp_decide(&p, &o, &a, 0);
		ck_assert_msg(d.action == TP_ACT_END_STREAM, "%s", name);
	} else {
		struct tp_outcome o = failure(TP_STAGE_DONE, TP_CAUSE_INVALID);
		struct tp_retry_conf p = defaults();
		struct tp_allowance a = plenty();

		d = tp_decide(&p, &o, &a, 0);
		ck_assert_msg(d.action == TP_ACT_REFUSE && d.code == TP_CODE_RESPONSE_INVALID, "%s", name);
	}
}

START_TEST(not_classified)
{
	(void)for_each(check_without_object);
	/* empty, HTML, comments only, and a stream without its end: nothing else may slip through */
	ck_assert_uint_eq(without_object, 4);
}
END_TEST

/* ---- the rest of the value */

START_TEST(flags)
{
	static const struct {
		const char *name;
		bool overload, quota, model, context, too_large, safety, drowning, capacity;
	} rows[] = {
		{.name = "openai-400-context-length.json", .context = true},
		{.name = "anthropic-400-prompt-too-long.json", .context = true},
		{.name = "vllm-400-context.json", .context = true},
		{.name = "llamacpp-400-context.json", .context = true},
		{.name = "moonshot-400-token-limit.json", .context = true},
		{.name = "zhipu-400-1261.json", .context = true},
		{.name = "openai-404-model-not-found.json", .model = true},
		{.name = "azure-404-deployment.json", .model = true},
		{.name = "chatgpt-400-model-not-supported.json", .model = true},
		{.name = "lmstudio-400-no-models.json", .model = true},
		{.name = "ollama-404-model.json", .model = true},
		{.name = "openai-429-insufficient-quota.json", .quota = true},
		{.name = "dashscope-400-arrearage.json", .quota = true},
		{.name = "moonshot-403-billing-cycle.json", .quota = true},
		{.name = "xai-403-no-credits.json", .quota = true},
		{.name = "anthropic-429-unified-subscription.json", .quota = true},
		{.name = "anthropic-429-rate-limit.json"},
		{.name = "gemini-429-retryinfo.json"}, /* quota words, but a minute's limit */
		{.name = "openai-429-slow-down.json"},
		{.name = "openai-503-slow-down.json", .overload = true},
		{.name = "anthropic-529-overloaded.json", .overload = true},
		{.name = "chatgpt-503-at-capacity.json", .overload = true},
		{.name = "groq-503-over-capacity.json", .overload = true, .capacity = true},
		{.name = "mistral-429-capacity.json", .overload = true, .capacity = true},
		{.name = "seed-503-system-load.json", .overload = true, .drowning = true},
		{.name = "zhipu-200-1305.json", .overload = true},
		{.name = "body-empty-503.json"}, /* a bare 503 is no evidence */
		{.name = "nginx-503.json"},
		{.name = "mistral-503.json"},
		{.name = "header-duplicates-503.json"},
		{.name = "openai-500-server-error.json"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		fixture_load(rows[i].name, &f);
		struct tp_error_class c = tp_classify(&f.facts);

		ck_assert_msg(c.overload == rows[i].overload, "%s overload", rows[i].name);
		ck_assert_msg(c.quota == rows[i].quota, "%s quota", rows[i].name);
		ck_assert_msg(c.model_unavailable == rows[i].model, "%s model", rows[i].name);
		ck_assert_msg(c.context_too_long == rows[i].context, "%s context", rows[i].name);
		ck_assert_msg(c.too_large_for_limit == rows[i].too_large, "%s too large", rows[i].name);
		ck_assert_msg(c.safety == rows[i].safety, "%s safety", rows[i].name);
		ck_assert_msg(c.drowning == rows[i].drowning, "%s drowning", rows[i].name);
		ck_assert_msg(c.capacity == rows[i].capacity, "%s capacity", rows[i].name);
		fixture_free(&f);
	}
}
END_TEST

/* Google's free tier: the code and the words are those of a minute's limit, only the quota's name says day.
 */
START_TEST(quota_of_a_day)
{
	static const int statuses[] = {429, 200, 503};

	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		for (int per_day = 0; per_day < 2; per_day++) {
			struct tp_error_facts f = {.status = statuses[i],
						   .type = TP_STR("RESOURCE_EXHAUSTED"),
						   .message = TP_STR("Please retry in 34s."),
						   .per_day = per_day == 1};
			struct tp_error_class c = tp_classify(&f);

			ck_assert_int_eq(c.quota, per_day == 1 && statuses[i] != 503);
			if (statuses[i] != 503)
				ck_assert_int_eq(c.kind, per_day ? TP_ERROR_QUOTA : TP_ERROR_RATE_LIMIT);
		}
}
END_TEST

/* Answers of the cases that no fixture holds. */
START_TEST(more_answers)
{
	static const struct {
		int status;
		const char *code, *type, *message;
		enum tp_error_kind kind;
		int stands_for;
		bool quota, safety, too_large;
	} rows[] = {
		{200, "502", "", "x", TP_ERROR_TRANSIENT, 502, 0, 0, 0},
		{200, "", "", "x", TP_ERROR_TRANSIENT, 502, 0, 0, 0},
		{200, "500", "", "x", TP_ERROR_SERVER, 500, 0, 0, 0},
		{200, "399", "", "x", TP_ERROR_TRANSIENT, 502, 0, 0, 0},
		{200, "", "rate_limit", "", TP_ERROR_RATE_LIMIT, 429, 0, 0, 0},
		{200, "", "invalid_request", "", TP_ERROR_CLIENT, 400, 0, 0, 0},
		{200, "cyber_policy", "", "", TP_ERROR_CLIENT, 400, 0, 1, 0},
		{200, "bio_policy", "", "", TP_ERROR_CLIENT, 400, 0, 1, 0},
		{200, "image_content_policy_violation", "", "", TP_ERROR_CLIENT, 400, 0, 1, 0},
		{200, "invalid_image_url", "", "", TP_ERROR_CLIENT, 400, 0, 0, 0},
		{200, "previous_response_not_found", "", "", TP_ERROR_CLIENT, 400, 0, 0, 0},
		{200, "unsupported_country_region_territory", "", "", TP_ERROR_AUTH, 403, 0, 0, 0},
		{200, "vector_store_timeout", "", "", TP_ERROR_TRANSIENT, 502, 0, 0, 0},
		{400, "invalid_image_url", "", "", TP_ERROR_CLIENT, 400, 0, 0, 0},
		{200, "insufficient_quota", "", "", TP_ERROR_QUOTA, 429, 1, 0, 0},
		{200, "model_not_found", "", "", TP_ERROR_CLIENT, 404, 0, 0, 0},
		/* the text of a 400 is no quota code (case CO-14) */
		{400, "", "", "usage limit reached", TP_ERROR_CLIENT, 400, 0, 0, 0},
		{429, "", "", "usage limit reached", TP_ERROR_QUOTA, 429, 1, 0, 0},
		{400, "", "", "Your credit balance is too low to access", TP_ERROR_QUOTA, 400, 1, 0, 0},
		{402, "", "", "", TP_ERROR_QUOTA, 402, 0, 0, 0},
		{429, "billing_not_active", "billing_not_active",
		 "Your account is not active, please check your "
		 "billing details on our website.",
		 TP_ERROR_QUOTA, 429, 1, 0, 0},
		{429, "rate_limit_exceeded", "tokens", "Request too large for gpt-4o", TP_ERROR_CLIENT, 429,
		 0, 0, 1},
		{429, "Throttling.AllocationQuota", "", "", TP_ERROR_RATE_LIMIT, 429, 0, 0, 0},
		{429, "insufficient_quota", "", "see error-code#token-limit", TP_ERROR_RATE_LIMIT, 429, 0, 0,
		 0},
		{400, "", "", "Incorrect API key provided: xa***yz", TP_ERROR_AUTH, 400, 0, 0, 0},
		/* a status that contradicts the text: the status counts */
		{400, "", "", "the server is overloaded", TP_ERROR_CLIENT, 400, 0, 0, 0},
		{404, "", "", "maximum context length", TP_ERROR_CLIENT, 404, 0, 0, 0},
		{503, "insufficient_quota", "", "", TP_ERROR_OVERLOAD, 503, 0, 0, 0},
		{500, "1000", "", "", TP_ERROR_SERVER, 500, 0, 0, 0},
		{599, "", "", "", TP_ERROR_SERVER, 599, 0, 0, 0},
		{530, "", "", "", TP_ERROR_TRANSIENT, 530, 0, 0, 0},
		{301, "", "", "", TP_ERROR_CLIENT, 301, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_error_facts f = {.status = rows[i].status,
					   .code = tp_str_from(rows[i].code),
					   .type = tp_str_from(rows[i].type),
					   .message = tp_str_from(rows[i].message)};
		struct tp_error_class c = tp_classify(&f);

		ck_assert_msg(c.kind == rows[i].kind, "row %zu: %s", i, kind_name(c.kind));
		ck_assert_msg(c.status == rows[i].stands_for, "row %zu: %d", i, c.status);
		ck_assert_msg(c.quota == rows[i].quota && c.safety == rows[i].safety &&
				      c.too_large_for_limit == rows[i].too_large,
			      "row %zu", i);
		ck_assert_int_eq(c.auth, c.kind == TP_ERROR_AUTH);
	}
}
END_TEST

START_TEST(gateway_headers)
{
	static const struct {
		const char *load;
		bool drowning;
	} loads[] = {{"98%", true},   {"0.98", true},  {"90%", true},   {"0.9", true}, {"89.9%", false},
		     {"0.89", false}, {"1", true},     {"1.0", true},   {"98", true},  {"5", false},
		     {"", false},     {"high", false}, {"-95%", false}, {"%", false},  {" 95 % ", true}};
	static const struct {
		const char *capacity;
		bool full;
	} capacities[] = {{"4/4", true}, {"5/4", true}, {"3/4", false}, {"4", false},
			  {"/4", false}, {"4/", false}, {"a/b", false}, {"", false}};
	struct tp_error_facts f = {.status = 429, .codex_model_capacity = TP_STR("4/4")};

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		ck_assert_msg(tp_load_is_drowning(tp_str_from(loads[i].load)) == loads[i].drowning, "%s",
			      loads[i].load);
	for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++)
		ck_assert_msg(tp_capacity_is_full(tp_str_from(capacities[i].capacity)) == capacities[i].full,
			      "%s", capacities[i].capacity);
	ck_assert(tp_classify(&f).overload && tp_classify(&f).capacity && !tp_classify(&f).drowning);
	f = (struct tp_error_facts){.status = 200, .codex_status = TP_STR("overloaded")};
	ck_assert(tp_classify(&f).overload);
	ck_assert_int_eq(tp_classify(&f).status, 503);
	/* a busy gateway does not make a bad request a good one */
	f = (struct tp_error_facts){.status = 400, .codex_system_load = TP_STR("99%")};
	ck_assert(!tp_classify(&f).overload);
	ck_assert_int_eq(tp_classify(&f).kind, TP_ERROR_CLIENT);
}
END_TEST

TP_TESTS(classify)
{
	tcase_add_test(t, kinds);
	tcase_add_test(t, waits);
	tcase_add_test(t, verdicts);
	tcase_add_test(t, not_classified);
	tcase_add_test(t, flags);
	tcase_add_test(t, quota_of_a_day);
	tcase_add_test(t, more_answers);
	tcase_add_test(t, gateway_headers);
}
