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

struct tp_fingerprint *tp_identity_fingerprint(const struct tp_turn *t)
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
