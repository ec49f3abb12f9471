#include "workers/identity.h"

#include <string.h>

#include "workers/access.h"

enum { KEY_BYTES_MAX = 8 * 1024 }; /* an id longer than this counts with its first bytes and its length */

/* What the id is, so that one kind can never be taken for another. */
enum { KIND_LOGICAL_ID = 1, KIND_HEADER_ID = 2, KIND_FINGERPRINT = 3, KIND_CREDENTIAL = 4 };

static struct tp_hash128 keyed_hash(const struct tp_turn *t, unsigned char kind, uint64_t scope,
				    struct tp_str id, const struct tp_hash128 *fingerprint)
{
	unsigned char bytes[KEY_BYTES_MAX];
	size_t n = 0, id_n = id.n < KEY_BYTES_MAX - 64 ? id.n : KEY_BYTES_MAX - 64;
	bytes[n++] = kind;
	memcpy(bytes + n, &scope, sizeof scope);
	n += sizeof scope;
	memcpy(bytes + n, &id.n, sizeof id.n);
	n += sizeof id.n;
	if (id_n > 0)
		memcpy(bytes + n, id.p, id_n);
	n += id_n;
	if (fingerprint != NULL) {
		memcpy(bytes + n, fingerprint, sizeof *fingerprint);
		n += sizeof *fingerprint;
	}
	return tp_siphash128(tp_region_seed(t->worker->region), bytes, n);
}

/* The client's name where Turnpike knows it, else whatever credential it carries. */
static uint64_t credential_of(const struct tp_turn *t)
{
	if (t->who != NULL)
		return keyed_hash(t, KIND_CREDENTIAL, 1, tp_str_from(t->who->name), NULL).lo;
	for (size_t i = 0; i < TP_CREDENTIAL_FIELDS; i++) {
		struct tp_str v = tp_request_field(t->request, tp_credential_fields[i]);
		if (v.n > 0)
			return keyed_hash(t, KIND_CREDENTIAL, 2, v, NULL).lo;
	}
	return 0;
}

static struct tp_str identifying_header(const struct tp_turn *t)
{
	const struct tp_budget_conf *b = &t->config->budget;
	for (size_t i = 0; i < b->n_identify; i++) {
		const struct tp_field *f =
			tp_head_find_name(t->request->head, t->request->bytes, tp_str_from(b->identify[i]));
		if (f != NULL && f->value.n > 0)
			return tp_request_str(t->request, f->value);
	}
	return (struct tp_str){NULL, 0};
}

/* Design 3.1: the fingerprint alone counts for a POST with a body in the three families. */
static bool stands_alone(const struct tp_turn *t)
{
	return t->family != TP_FAMILY_PLAIN && t->request->head->framing != TP_FRAMING_NONE &&
	       tp_str_eq(tp_request_str(t->request, t->request->head->method), TP_STR("POST"));
}

/* Where a request goes may hang on its model, which is read on the way. */
static bool goes_by_model(const struct tp_turn *t)
{
	bool by_model = t->config->n_combos > 0;
	for (size_t i = 0; i < t->config->n_routes && !by_model; i++)
		by_model = t->config->routes[i].n_models > 0;
	return by_model && t->request->head->framing != TP_FRAMING_NONE &&
	       tp_str_eq(tp_request_str(t->request, t->request->head->method), TP_STR("POST"));
}

bool tp_identity_wants_fingerprint(const struct tp_turn *t)
{
	/* A logical id stands alone as well, but the pass over the body also tells the model and `stream`. */
	return goes_by_model(t) || stands_alone(t) ||
	       (tp_request_field(t->request, TP_FIELD_X_TURNPIKE_LOGICAL_ID).n == 0 &&
		identifying_header(t).n > 0);
}

/* Begins (again) with the first byte of the body. */
static void begin(struct tp_turn *t, enum tp_fingerprint_way way)
{
	char turn_id[TP_TURN_ID_MAX];
	size_t n = 0;
	struct tp_str metadata = tp_request_field(t->request, TP_FIELD_X_CODEX_TURN_METADATA);
	if (metadata.n > 0)
		n = tp_turn_id(metadata, turn_id);
	tp_fingerprint_begin(t->fingerprint, way, tp_region_seed(t->worker->region),
			     tp_request_str(t->request, t->request->head->method),
			     tp_request_str(t->request, t->request->head->target),
			     (struct tp_str){turn_id, n});
}

static void begin_decoding(struct tp_turn *t)
{
	if (tp_head_has(t->request->head, TP_FIELD_CONTENT_ENCODING))
		t->body_decoder = tp_decoder_new(tp_coding_of_head(t->request->head, t->request->bytes),
						 t->config->limits.replay_body);
}

static void end_decoding(struct tp_turn *t)
{
	tp_decoder_free(t->body_decoder);
	t->body_decoder = NULL;
}

void tp_identity_begin(struct tp_turn *t)
{
	struct tp_worker *w = t->worker;
	t->fingerprint = w->spare_fingerprint;
	w->spare_fingerprint = NULL;
	if (t->fingerprint == NULL && (t->fingerprint = tp_fingerprint_new()) == NULL)
		return;
	begin(t, TP_FINGERPRINT_MEMBERS);
	begin_decoding(t);
}

void tp_identity_drop(struct tp_turn *t)
{
	if (t->fingerprint == NULL)
		return;
	end_decoding(t);
	if (t->worker->spare_fingerprint == NULL)
		t->worker->spare_fingerprint = t->fingerprint;
	else
		tp_fingerprint_free(t->fingerprint);
	t->fingerprint = NULL;
}

enum fed {
	FED,
	FED_NO_MEMBERS, /* what came so far counts byte for byte, and so does the rest */
	FED_NO_CODING,  /* it cannot be decoded: as it came, then */
	FED_TOO_LARGE   /* it decodes to more than is allowed: the same, unless its model has to be known */
};

static enum fed feed(struct tp_turn *t, const char *data, size_t n)
{
	char plain[16 * 1024];
	enum tp_decode r;
	size_t used, got;
	if (t->body_decoder == NULL)
		return tp_fingerprint_feed(t->fingerprint, data, n) ? FED : FED_NO_MEMBERS;
	while ((r = tp_decoder_feed(t->body_decoder, data, n, &used, plain, sizeof plain, &got)) ==
	       TP_DECODE_DATA) {
		if (!tp_fingerprint_feed(t->fingerprint, plain, got))
			return FED_NO_MEMBERS;
		data += used;
		n -= used;
	}
	return r == TP_DECODE_MORE ? FED : r == TP_DECODE_TOO_LARGE ? FED_TOO_LARGE : FED_NO_CODING;
}

/* All that is held. */
static enum fed feed_held(struct tp_turn *t)
{
	enum { PIECES = 64 };
	struct iovec v[PIECES];
	enum fed fed = FED;
	uint64_t at = 0;
	int n;
	while (fed == FED && (n = tp_request_pieces(t->request, at, v, PIECES)) > 0)
		for (int i = 0; i < n && fed == FED; i++) {
			fed = feed(t, v[i].iov_base, v[i].iov_len);
			at += v[i].iov_len;
		}
	return fed;
}

/* Ends with everything fed: without a coding and byte for byte nothing is refused.  False: it has to be
 * decoded, and is too large for that. */
static bool begin_again(struct tp_turn *t, enum fed why)
{
	while (why != FED) {
		if (why == FED_TOO_LARGE && goes_by_model(t))
			return false;
		bool decoding = t->body_decoder != NULL;
		end_decoding(t);
		if (why == FED_NO_CODING || why == FED_TOO_LARGE) {
			begin(t, TP_FINGERPRINT_MEMBERS);
		} else {
			begin(t, TP_FINGERPRINT_BYTES);
			if (decoding)
				begin_decoding(t);
		}
		why = feed_held(t);
	}
	return true;
}

bool tp_identity_feed(struct tp_turn *t, const char *data, size_t n)
{
	return begin_again(t, feed(t, data, n));
}

bool tp_identity_finish(struct tp_turn *t, struct tp_hash128 *ret_hash, struct tp_request_facts *ret_facts)
{
	if (t->fingerprint == NULL)
		return false;
	if (t->body_decoder != NULL && !tp_decoder_whole(t->body_decoder))
		(void)begin_again(t, FED_NO_CODING);
	while (!tp_fingerprint_finish(t->fingerprint, ret_hash, ret_facts))
		(void)begin_again(t, FED_NO_MEMBERS); /* what was decoded once is not too large now */
	tp_identity_drop(t);
	return true;
}

struct tp_identity tp_identity_of(const struct tp_turn *t, const struct tp_hash128 *fingerprint)
{
	struct tp_identity id = {.kind = TP_IDENTITY_NONE, .resend = t->resend};
	struct tp_str logical = tp_request_field(t->request, TP_FIELD_X_TURNPIKE_LOGICAL_ID);
	struct tp_str header = identifying_header(t);
	if (logical.n == 0 && fingerprint == NULL)
		return id;
	id.credential = credential_of(t);
	if (logical.n > 0) {
		id.kind = TP_IDENTITY_ID;
		id.key = keyed_hash(t, KIND_LOGICAL_ID, id.credential, logical, NULL);
	} else if (header.n > 0) {
		id.kind = TP_IDENTITY_ID;
		id.key = keyed_hash(t, KIND_HEADER_ID, id.credential, header, fingerprint);
	} else if (stands_alone(t)) {
		id.kind = TP_IDENTITY_FINGERPRINT;
		id.key = keyed_hash(t, KIND_FINGERPRINT, id.credential, header, fingerprint);
	}
	return id;
}
