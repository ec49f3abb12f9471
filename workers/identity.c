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

bool tp_identity_wants_fingerprint(const struct tp_turn *t)
{
	if (tp_request_field(t->request, TP_FIELD_X_TURNPIKE_LOGICAL_ID).n > 0)
		return false;
	return stands_alone(t) || identifying_header(t).n > 0;
}

/* A new fingerprint of the turn's method, path and turn id; NULL when out of memory. */
static struct tp_fingerprint *new_fingerprint(const struct tp_turn *t)
{
	char turn_id[TP_TURN_ID_MAX];
	size_t n = 0;
	struct tp_str metadata = tp_request_field(t->request, TP_FIELD_X_CODEX_TURN_METADATA);
	if (metadata.n > 0)
		n = tp_turn_id(metadata, turn_id);
	return tp_fingerprint_new(
		tp_region_seed(t->worker->region), tp_request_str(t->request, t->request->head->method),
		tp_request_str(t->request, t->request->head->target), (struct tp_str){turn_id, n});
}

void tp_identity_begin(struct tp_turn *t)
{
	t->fingerprint = new_fingerprint(t);
	if (t->fingerprint != NULL)
		t->body_decoder = tp_decoder_new(tp_coding_of_head(t->request->head, t->request->bytes),
						 t->config->limits.replay_body);
}

/* It cannot be decoded: what arrived so far counts byte for byte, and so does the rest. */
static void begin_again_undecoded(struct tp_turn *t)
{
	enum { PIECES = 64 };
	struct iovec v[PIECES];
	uint64_t at = 0;
	int n;
	tp_decoder_free(t->body_decoder);
	t->body_decoder = NULL;
	tp_fingerprint_free(t->fingerprint);
	t->fingerprint = new_fingerprint(t);
	while (t->fingerprint != NULL && (n = tp_request_pieces(t->request, at, v, PIECES)) > 0) {
		for (int i = 0; i < n; i++) {
			tp_fingerprint_feed(t->fingerprint, v[i].iov_base, v[i].iov_len);
			at += v[i].iov_len;
		}
	}
}

void tp_identity_feed(struct tp_turn *t, const char *data, size_t n)
{
	char plain[16 * 1024];
	enum tp_decode r;
	size_t used, got;
	if (t->body_decoder == NULL) {
		tp_fingerprint_feed(t->fingerprint, data, n);
		return;
	}
	while ((r = tp_decoder_feed(t->body_decoder, data, n, &used, plain, sizeof plain, &got)) ==
	       TP_DECODE_DATA) {
		tp_fingerprint_feed(t->fingerprint, plain, got);
		data += used;
		n -= used;
	}
	if (r != TP_DECODE_MORE)
		begin_again_undecoded(t);
}

void tp_identity_body_done(struct tp_turn *t)
{
	if (t->body_decoder == NULL)
		return;
	if (!tp_decoder_whole(t->body_decoder))
		begin_again_undecoded(t);
	tp_decoder_free(t->body_decoder);
	t->body_decoder = NULL;
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
