#include "common/http/fingerprint.h"

#include <jansson.h>
#include <stdlib.h>
#include <xxhash.h>

#include "common/http/json.h"
#include "common/http/path.h"

/* A raw key that is longer than this cannot be one that is left out, however it is escaped:
 * 15 letters at 6 bytes each, and the quotes. */
enum { RAW_KEY_MAX = 128 };

enum place {
	BETWEEN, /* before, between and behind the top-level members, and inside their keys */
	KEPT,    /* inside the value of a member that counts */
	LEFT_OUT /* inside the value of one that does not */
};

/* The members that are looked at. */
enum member {
	MEMBER_OTHER,
	MEMBER_CLIENT_METADATA,
	MEMBER_STREAM,
	MEMBER_STREAM_OPTIONS,
	MEMBER_MODEL,
	MEMBER_STORE,
	MEMBER_PREVIOUS_RESPONSE_ID,
	MEMBER_CONVERSATION,
	MEMBER_BACKGROUND,
	MEMBER_TOOLS,
	MEMBER_COUNT
};

#define NAME(literal)                                                                                        \
	{                                                                                                    \
		(literal), sizeof(literal) - 1                                                               \
	}

static const struct {
	struct tp_str name;
	bool left_out; /* of the fingerprint (design section 3.1) */
} members[MEMBER_COUNT] = {
	[MEMBER_OTHER] = {NAME(""), false},
	[MEMBER_CLIENT_METADATA] = {NAME("client_metadata"), true},
	[MEMBER_STREAM] = {NAME("stream"), true},
	[MEMBER_STREAM_OPTIONS] = {NAME("stream_options"), true},
	[MEMBER_MODEL] = {NAME("model"), false},
	[MEMBER_STORE] = {NAME("store"), false},
	[MEMBER_PREVIOUS_RESPONSE_ID] = {NAME("previous_response_id"), false},
	[MEMBER_CONVERSATION] = {NAME("conversation"), false},
	[MEMBER_BACKGROUND] = {NAME("background"), false},
	[MEMBER_TOOLS] = {NAME("tools"), false},
};

/*
 * Two hashes run beside each other since only the end shows which one counts: `members` over the members that
 * count, `raw` over every byte.
 */
struct tp_fingerprint {
	XXH3_state_t *members, *raw; /* owned */
	struct tp_json json;
	struct tp_request_facts facts;
	enum place place;
	enum member member; /* whose value is being read */
	uint32_t seen;      /* a bit for each enum member */
	bool broken;        /* no JSON */
	uint8_t raw_key_n;
	char raw_key[RAW_KEY_MAX]; /* front of a key that began in an earlier piece */
};

/* ---- hashing ---- */

/* Its length goes first, so that no two lists of parts give the same bytes. */
static void add_part(XXH3_state_t *hash, struct tp_str part)
{
	uint64_t n = part.n;
	XXH3_128bits_update(hash, &n, sizeof n);
	if (part.n > 0)
		XXH3_128bits_update(hash, part.p, part.n);
}

/* `kind` keeps the two ways of hashing apart.  The seed's second half goes in as data: XXH3 takes 64 bits. */
static void begin_hash(XXH3_state_t *hash, const uint8_t seed[16], struct tp_str kind, struct tp_str method,
		       struct tp_str path, struct tp_str turn_id)
{
	XXH64_hash_t first;
	memcpy(&first, seed, sizeof first);
	XXH3_128bits_reset_withSeed(hash, first);
	XXH3_128bits_update(hash, seed + 8, 8);
	add_part(hash, kind);
	add_part(hash, method);
	add_part(hash, path);
	add_part(hash, turn_id);
}

struct tp_fingerprint *tp_fingerprint_new(const uint8_t seed[16], struct tp_str method, struct tp_str target,
					  struct tp_str turn_id)
{
	struct tp_fingerprint *f = calloc(1, sizeof *f);
	if (f == NULL)
		return NULL;
	f->members = XXH3_createState();
	f->raw = XXH3_createState();
	if (f->members == NULL || f->raw == NULL) {
		tp_fingerprint_free(f);
		return NULL;
	}
	struct tp_str path = tp_path_only(target);
	begin_hash(f->members, seed, TP_STR("members"), method, path, turn_id);
	begin_hash(f->raw, seed, TP_STR("raw"), method, path, turn_id);
	return f;
}

void tp_fingerprint_free(struct tp_fingerprint *f)
{
	if (f == NULL)
		return;
	XXH3_freeState(f->members);
	XXH3_freeState(f->raw);
	free(f);
}

/* ---- keys ---- */

/* Bytes of a key whose end is not seen yet. */
static void hold_key(struct tp_fingerprint *f, const char *bytes, size_t n)
{
	if (n > sizeof f->raw_key - f->raw_key_n) {
		XXH3_128bits_update(f->members, f->raw_key, f->raw_key_n);
		XXH3_128bits_update(f->members, bytes, n);
		f->raw_key_n = 0;
		return;
	}
	memcpy(f->raw_key + f->raw_key_n, bytes, n);
	f->raw_key_n = (uint8_t)(f->raw_key_n + n);
}

static enum member find_member(const struct tp_json *j)
{
	if (j->key_cut)
		return MEMBER_OTHER;
	for (int m = MEMBER_OTHER + 1; m < MEMBER_COUNT; m++)
		if (tp_str_eq(tp_json_key(j), members[m].name))
			return (enum member)m;
	return MEMBER_OTHER;
}

/* The key is complete; bytes[0..n) is what of it (and of the gap before it) lies in this call's input. */
static void end_key(struct tp_fingerprint *f, const char *bytes, size_t n)
{
	uint64_t in_sight = f->json.key_end - f->json.key_start;
	f->member = find_member(&f->json);
	if (!members[f->member].left_out) {
		if (in_sight < n)
			n = (size_t)in_sight;
		XXH3_128bits_update(f->members, f->raw_key, f->raw_key_n);
		XXH3_128bits_update(f->members, bytes - n, n);
		XXH3_128bits_update(f->members, ":", 1);
	}
	f->raw_key_n = 0;
}

/* ---- facts ---- */

static uint8_t flag_of(const struct tp_json *j)
{
	return j->type == TP_JSON_TRUE    ? TP_FLAG_TRUE
	       : j->type == TP_JSON_FALSE ? TP_FLAG_FALSE
					  : TP_FLAG_OTHER;
}

static void note_model(struct tp_request_facts *facts, const struct tp_json *j, bool again)
{
	struct tp_str text = tp_json_text(j);
	facts->model_repeated = again;
	facts->model_present = j->type == TP_JSON_STRING;
	if (!facts->model_present)
		return;
	facts->model_at = j->value_start + 1;
	facts->model_n = j->value_end - j->value_start - 2;
	facts->model_cut = j->text_cut;
	facts->model_text_n = (uint16_t)text.n;
	if (text.n > 0)
		memcpy(facts->model, text.p, text.n);
}

static void note_member(struct tp_fingerprint *f)
{
	struct tp_request_facts *facts = &f->facts;
	const struct tp_json *j = &f->json;
	bool again = (f->seen >> f->member & 1) != 0;
	f->seen |= 1u << f->member;
	if (again && f->member != MEMBER_OTHER)
		facts->repeated = true;
	switch (f->member) {
	case MEMBER_MODEL: note_model(facts, j, again); break;
	case MEMBER_STREAM: facts->stream = flag_of(j); break;
	case MEMBER_STORE: facts->store = flag_of(j); break;
	case MEMBER_PREVIOUS_RESPONSE_ID:
	case MEMBER_CONVERSATION: facts->continues |= j->type != TP_JSON_NULL; break;
	case MEMBER_BACKGROUND:
		facts->continues |= j->type != TP_JSON_NULL && j->type != TP_JSON_FALSE;
		break;
	case MEMBER_TOOLS:
		facts->tools_present = j->type != TP_JSON_NULL;
		facts->tools_at = j->value_start;
		facts->tools_n = j->value_end - j->value_start;
		break;
	default: break;
	}
}

/* ---- the body ---- */

/* bytes[0..n) was used by the scanner, which then told `event`. */
static void follow(struct tp_fingerprint *f, enum tp_json_event event, const char *bytes, size_t n)
{
	const struct tp_json *j = &f->json;
	if (f->place == KEPT && n > 0)
		XXH3_128bits_update(f->members, bytes, n);
	switch (event) {
	case TP_JSON_KEY: end_key(f, bytes + n, n); break;
	case TP_JSON_END:
		if (f->place == KEPT)
			XXH3_128bits_update(f->members, ",", 1);
		note_member(f);
		f->place = BETWEEN;
		break;
	case TP_JSON_MORE:
		if (f->place == BETWEEN && j->in_key) {
			uint64_t in_sight = j->at - j->key_start;
			size_t part = in_sight < n ? (size_t)in_sight : n;
			hold_key(f, bytes + n - part, part);
		}
		break;
	case TP_JSON_VALUE: f->place = members[f->member].left_out ? LEFT_OUT : KEPT; break;
	case TP_JSON_BAD: f->broken = true; break;
	}
}

void tp_fingerprint_feed(struct tp_fingerprint *f, const char *bytes, size_t n)
{
	if (n == 0)
		return;
	XXH3_128bits_update(f->raw, bytes, n);
	enum tp_json_event event = TP_JSON_KEY;
	while (!f->broken && event != TP_JSON_MORE) {
		size_t used;
		event = tp_json_feed(&f->json, bytes, n, &used);
		follow(f, event, bytes, used);
		bytes += used;
		n -= used;
	}
}

void tp_fingerprint_finish(struct tp_fingerprint *f, struct tp_hash128 *ret_hash,
			   struct tp_request_facts *ret_facts)
{
	bool whole = !f->broken && tp_json_finish(&f->json);
	bool object = whole && f->json.top_type == TP_JSON_OBJECT;
	bool by_member = object && f->json.max_depth <= TP_FINGERPRINT_DEPTH;
	if (ret_hash != NULL) {
		XXH128_hash_t h = XXH3_128bits_digest(by_member ? f->members : f->raw);
		*ret_hash = (struct tp_hash128){.lo = h.low64, .hi = h.high64};
	}
	if (ret_facts != NULL) {
		f->facts.object = object;
		*ret_facts = object ? f->facts : (struct tp_request_facts){0};
	}
}

/* ---- x-codex-turn-metadata ---- */

size_t tp_turn_id(struct tp_str header_value, char out[TP_TURN_ID_MAX])
{
	struct tp_json j = {0};
	size_t found = 0, used = 0;
	enum tp_json_event event = TP_JSON_KEY;
	while (event != TP_JSON_MORE && event != TP_JSON_BAD) {
		event = tp_json_feed(&j, header_value.p, header_value.n, &used);
		header_value.p += used;
		header_value.n -= used;
		if (event != TP_JSON_END || j.key_cut || !tp_str_eq(tp_json_key(&j), TP_STR("turn_id")))
			continue;
		found = j.type == TP_JSON_STRING && j.text_n <= TP_TURN_ID_MAX && !j.text_cut ? j.text_n : 0;
		memcpy(out, j.text, found);
	}
	return tp_json_finish(&j) && j.top_type == TP_JSON_OBJECT ? found : 0;
}

/* ---- self-contained requests ---- */

/* Types of tools that run at the client.  Anything else may act at the provider's side. */
static bool client_side(const json_t *tool)
{
	static const char *const types[] = {"function", "custom", "local_shell"};
	if (!json_is_object(tool))
		return false;
	const json_t *type = json_object_get(tool, "type");
	if (type == NULL || json_is_null(type))
		return true;
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (json_is_string(type) && strcmp(json_string_value(type), types[i]) == 0)
			return true;
	return false;
}

static bool all_client_side(const char *tools, size_t n)
{
	json_t *list = json_loadb(tools, n, JSON_ALLOW_NUL, NULL);
	bool all = json_is_array(list);
	for (size_t i = 0; all && i < json_array_size(list); i++)
		all = client_side(json_array_get(list, i));
	json_decref(list);
	return all;
}

bool tp_request_self_contained(const struct tp_request_facts *facts, struct tp_str body)
{
	if (!facts->object || facts->store != TP_FLAG_FALSE || facts->continues || facts->repeated)
		return false;
	if (!facts->tools_present)
		return true;
	if (facts->tools_at > body.n || facts->tools_n > body.n - facts->tools_at)
		return false; /* not the body that the facts are about */
	return all_client_side(body.p + facts->tools_at, (size_t)facts->tools_n);
}
