#include "common/http/fingerprint.h"

#include <jansson.h>
#include <stdlib.h>

/* As code of this file: bodies are hashed in many small pieces, and the state is a part of our struct. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/http/json_members.h"
#include "common/http/json_straight.h"
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

static const struct {
	struct tp_str name;
	bool left_out; /* of the fingerprint (design section 3.1) */
} members[MEMBER_COUNT] = {
	[MEMBER_OTHER] = {TP_NAME(""), false},
	[MEMBER_CLIENT_METADATA] = {TP_NAME("client_metadata"), true},
	[MEMBER_STREAM] = {TP_NAME("stream"), true},
	[MEMBER_STREAM_OPTIONS] = {TP_NAME("stream_options"), true},
	[MEMBER_MODEL] = {TP_NAME("model"), false},
	[MEMBER_STORE] = {TP_NAME("store"), false},
	[MEMBER_PREVIOUS_RESPONSE_ID] = {TP_NAME("previous_response_id"), false},
	[MEMBER_CONVERSATION] = {TP_NAME("conversation"), false},
	[MEMBER_BACKGROUND] = {TP_NAME("background"), false},
	[MEMBER_TOOLS] = {TP_NAME("tools"), false},
};

struct tp_fingerprint {
	XXH3_state_t hash;
	enum tp_fingerprint_way way;
	/* Bytes of the present piece that count and are not hashed yet: they follow each other in the body as
	 * they do in the hash, so that they go there together. */
	const char *run, *run_end;
	const char *piece_end;
	enum place place;
	enum member member; /* whose value is being read */
	uint32_t seen;      /* a bit for each enum member */
	bool broken;        /* no JSON */
	uint8_t raw_key_n;
	struct tp_request_facts facts;
	char raw_key[RAW_KEY_MAX]; /* front of a key that began in an earlier piece */
	struct tp_json json;
};

/* ---- hashing ---- */

/* What stands in front of the body, gathered: one call of the hash instead of a dozen. */
struct front {
	XXH3_state_t *hash;
	size_t n;
	char bytes[256];
};

static void front_flush(struct front *f)
{
	XXH3_128bits_update(f->hash, f->bytes, f->n);
	f->n = 0;
}

static void front_add(struct front *f, const void *bytes, size_t n)
{
	if (n > sizeof f->bytes - f->n)
		front_flush(f);
	if (n > sizeof f->bytes) {
		XXH3_128bits_update(f->hash, bytes, n);
		return;
	}
	if (n > 0)
		memcpy(f->bytes + f->n, bytes, n);
	f->n += n;
}

/* Its length goes first, so that no two lists of parts give the same bytes. */
static void add_part(struct front *f, struct tp_str part)
{
	uint64_t n = part.n;
	front_add(f, &n, sizeof n);
	front_add(f, part.p, part.n);
}

/* The way keeps the two ways of hashing apart.  The seed's second half goes in as data: XXH3 takes 64 bits.
 */
static void begin_hash(struct front *f, enum tp_fingerprint_way way, const uint8_t seed[16])
{
	XXH64_hash_t first;
	memcpy(&first, seed, sizeof first);
	XXH3_128bits_reset_withSeed(f->hash, first);
	front_add(f, seed + 8, 8);
	add_part(f, way == TP_FINGERPRINT_MEMBERS ? TP_STR("members") : TP_STR("raw"));
}

static void flush_run(struct tp_fingerprint *f)
{
	if (f->run != f->run_end)
		XXH3_128bits_update(&f->hash, f->run, (size_t)(f->run_end - f->run));
	f->run = f->run_end = NULL;
}

/* bytes[0..n) of the present piece. */
static void add_bytes(struct tp_fingerprint *f, const char *bytes, size_t n)
{
	if (n > 0 && bytes != f->run_end) {
		flush_run(f);
		f->run = bytes;
	}
	if (n > 0)
		f->run_end = bytes + n;
}

/* What stands between key and value, or between members, in the hash; in the body it mostly stands there too.
 */
static void add_mark(struct tp_fingerprint *f, char mark)
{
	if (f->run_end != NULL && f->run_end < f->piece_end && *f->run_end == mark) {
		f->run_end++;
		return;
	}
	flush_run(f);
	XXH3_128bits_update(&f->hash, &mark, 1);
}

struct tp_fingerprint *tp_fingerprint_new(void)
{
	/* The alignment that the hash's state asks for. */
	void *memory = NULL;
	if (posix_memalign(&memory, _Alignof(struct tp_fingerprint), sizeof(struct tp_fingerprint)) != 0)
		return NULL;
	struct tp_fingerprint *f = memory;
	XXH3_INITSTATE(&f->hash);
	return f;
}

void tp_fingerprint_begin(struct tp_fingerprint *f, enum tp_fingerprint_way way, const uint8_t seed[16],
			  struct tp_str method, struct tp_str target, struct tp_str turn_id)
{
	struct front front;
	front.hash = &f->hash;
	front.n = 0;
	begin_hash(&front, way, seed);
	add_part(&front, method);
	add_part(&front, tp_path_only(target));
	add_part(&front, turn_id);
	front_flush(&front);
	f->way = way;
	f->run = f->run_end = f->piece_end = NULL;
	f->place = BETWEEN;
	f->member = MEMBER_OTHER;
	f->seen = 0;
	f->broken = false;
	f->raw_key_n = 0;
	memset(&f->facts, 0, offsetof(struct tp_request_facts, model));
	memset(&f->json, 0, offsetof(struct tp_json, key));
}

void tp_fingerprint_free(struct tp_fingerprint *f)
{
	free(f);
}

/* ---- keys ---- */

/* Bytes of a key whose end is not seen yet. */
static void hold_key(struct tp_fingerprint *f, const char *bytes, size_t n)
{
	if (n > sizeof f->raw_key - f->raw_key_n) {
		flush_run(f);
		XXH3_128bits_update(&f->hash, f->raw_key, f->raw_key_n);
		XXH3_128bits_update(&f->hash, bytes, n);
		f->raw_key_n = 0;
		return;
	}
	memcpy(f->raw_key + f->raw_key_n, bytes, n);
	f->raw_key_n = (uint8_t)(f->raw_key_n + n);
}

static enum member find_member(struct tp_str key, bool cut)
{
	if (cut)
		return MEMBER_OTHER;
	for (int m = MEMBER_OTHER + 1; m < MEMBER_COUNT; m++)
		if (tp_str_eq(key, members[m].name))
			return (enum member)m;
	return MEMBER_OTHER;
}

/* The key is complete; bytes[0..n) is what of it (and of the gap before it) lies in this call's input. */
static void end_key(struct tp_fingerprint *f, const char *bytes, size_t n)
{
	uint64_t in_sight = f->json.key_end - f->json.key_start;
	if (!members[f->member].left_out) {
		size_t skip = in_sight < n ? n - (size_t)in_sight : 0;
		if (f->raw_key_n > 0)
			XXH3_128bits_update(&f->hash, f->raw_key, f->raw_key_n);
		add_bytes(f, bytes + skip, n - skip);
		add_mark(f, ':');
	}
	f->raw_key_n = 0;
}

/* ---- facts ---- */

static uint8_t flag_of(const struct tp_json_member *m)
{
	return m->type == TP_JSON_TRUE    ? TP_FLAG_TRUE
	       : m->type == TP_JSON_FALSE ? TP_FLAG_FALSE
					  : TP_FLAG_OTHER;
}

static void note_model(struct tp_request_facts *facts, const struct tp_json_member *m, bool again)
{
	facts->model_repeated = again;
	facts->model_present = m->type == TP_JSON_STRING;
	if (!facts->model_present)
		return;
	facts->model_at = m->value_start + 1;
	facts->model_n = m->value_end - m->value_start - 2;
	facts->model_cut = m->text_cut;
	facts->model_text_n = (uint16_t)m->text.n;
	if (m->text.n > 0)
		memcpy(facts->model, m->text.p, m->text.n);
}

/* f->member has this value. */
static void note_member(struct tp_fingerprint *f, const struct tp_json_member *m)
{
	struct tp_request_facts *facts = &f->facts;
	bool again = (f->seen >> f->member & 1) != 0;
	f->seen |= 1u << f->member;
	if (again && f->member != MEMBER_OTHER)
		facts->repeated = true;
	switch (f->member) {
	case MEMBER_MODEL: note_model(facts, m, again); break;
	case MEMBER_STREAM: facts->stream = flag_of(m); break;
	case MEMBER_STORE: facts->store = flag_of(m); break;
	case MEMBER_PREVIOUS_RESPONSE_ID:
	case MEMBER_CONVERSATION: facts->continues |= m->type != TP_JSON_NULL; break;
	case MEMBER_BACKGROUND:
		facts->continues |= m->type != TP_JSON_NULL && m->type != TP_JSON_FALSE;
		break;
	case MEMBER_TOOLS:
		facts->tools_present = m->type != TP_JSON_NULL;
		facts->tools_at = m->value_start;
		facts->tools_n = m->value_end - m->value_start;
		break;
	default: break;
	}
}

/* ---- the body ---- */

/* What of bytes[0..n) counts. */
static void add_counted(struct tp_fingerprint *f, enum tp_json_event event, const char *bytes, size_t n)
{
	const struct tp_json *j = &f->json;
	if (f->place == KEPT)
		add_bytes(f, bytes, n);
	if (event == TP_JSON_KEY) {
		end_key(f, bytes, n);
	} else if (event == TP_JSON_END && f->place == KEPT) {
		add_mark(f, ',');
	} else if (event == TP_JSON_MORE && f->place == BETWEEN && j->in_key) {
		uint64_t in_sight = j->at - j->key_start;
		size_t part = in_sight < n ? (size_t)in_sight : n;
		hold_key(f, bytes + n - part, part);
	}
}

/* bytes[0..n) was used by the scanner, which then told `event`. */
static void follow(struct tp_fingerprint *f, enum tp_json_event event, const char *bytes, size_t n)
{
	if (event == TP_JSON_KEY)
		f->member = find_member(tp_json_key(&f->json), f->json.key_cut);
	if (f->way == TP_FINGERPRINT_MEMBERS)
		add_counted(f, event, bytes, n);
	switch (event) {
	case TP_JSON_VALUE: f->place = members[f->member].left_out ? LEFT_OUT : KEPT; break;
	case TP_JSON_END: {
		struct tp_json_member m = tp_json_member_of(&f->json);
		note_member(f, &m);
		f->place = BETWEEN;
		break;
	}
	case TP_JSON_BAD: f->broken = true; break;
	default: break;
	}
}

/* Is it an object, as far as it was read? */
static bool may_be_object(const struct tp_fingerprint *f)
{
	return !f->broken && (f->json.top_type == TP_JSON_OBJECT || f->json.top_type == TP_JSON_NONE);
}

static void scan(struct tp_fingerprint *f, const char *bytes, size_t n)
{
	enum tp_json_event event = TP_JSON_KEY;
	while (!f->broken && event != TP_JSON_MORE) {
		size_t used;
		event = tp_json_feed(&f->json, bytes, n, &used);
		follow(f, event, bytes, used);
		bytes += used;
		n -= used;
	}
}

/* What follow() and the scanner would have made of this member. */
static void take_member(struct tp_fingerprint *f, const char *bytes, const struct tp_json_member *m)
{
	f->member = find_member(m->key, m->key_cut);
	note_member(f, m);
	if (f->way != TP_FINGERPRINT_MEMBERS || members[f->member].left_out)
		return;
	add_bytes(f, bytes + m->key_start, (size_t)(m->key_end - m->key_start));
	add_mark(f, ':');
	add_bytes(f, bytes + m->value_start, (size_t)(m->value_end - m->value_start));
	add_mark(f, ',');
}

/* The scanner is left as if it had read the whole object: what still comes may be white space only. */
static void skip_object(struct tp_json *j, size_t n, uint16_t depth)
{
	j->at = n;
	j->top_type = TP_JSON_OBJECT;
	j->max_depth = depth;
	j->state = TP_JSON_ST_DONE;
	j->done = true;
}

/* The whole object lies in this first piece, as mostly. False: nothing was done. */
static bool take_object(struct tp_fingerprint *f, const char *bytes, size_t n)
{
	struct tp_json_member list[TP_JSON_MEMBERS_MAX];
	uint16_t depth;
	if (f->json.at != 0)
		return false;
	int count = tp_json_members((struct tp_str){bytes, n}, list, &depth);
	for (int i = 0; i < count; i++)
		if (tp_str_eq(list[i].key, members[MEMBER_MODEL].name) && tp_json_member_escaped(&list[i]))
			return false;
	if (count < 0)
		return false;
	for (int i = 0; i < count; i++)
		take_member(f, bytes, &list[i]);
	skip_object(&f->json, n, depth);
	return true;
}

bool tp_fingerprint_feed(struct tp_fingerprint *f, const char *bytes, size_t n)
{
	if (n == 0)
		return true;
	f->piece_end = bytes + n;
	if (may_be_object(f) && !take_object(f, bytes, n))
		scan(f, bytes, n);
	if (f->way == TP_FINGERPRINT_BYTES) {
		XXH3_128bits_update(&f->hash, bytes, n);
		return true;
	}
	flush_run(f);
	return may_be_object(f) && f->json.max_depth <= TP_FINGERPRINT_DEPTH;
}

bool tp_fingerprint_finish(struct tp_fingerprint *f, struct tp_hash128 *ret_hash,
			   struct tp_request_facts *ret_facts)
{
	bool object = may_be_object(f) && tp_json_finish(&f->json);
	if (f->way == TP_FINGERPRINT_MEMBERS && (!object || f->json.max_depth > TP_FINGERPRINT_DEPTH))
		return false;
	if (ret_hash != NULL) {
		XXH128_hash_t h = XXH3_128bits_digest(&f->hash);
		*ret_hash = (struct tp_hash128){.lo = h.low64, .hi = h.high64};
	}
	if (ret_facts != NULL) {
		f->facts.object = object;
		*ret_facts = object ? f->facts : (struct tp_request_facts){0};
	}
	return true;
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
