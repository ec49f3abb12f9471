#include "common/http/head.h"

#include <string.h>

#include "common/base/block.h"
#include "common/http/fields.h"

/* Of the fields only those that are in use: a head is 3 KiB, most have a dozen fields. */
static size_t size_in_use(const struct tp_head *h)
{
	return offsetof(struct tp_head, fields) + h->n_fields * sizeof h->fields[0];
}

struct tp_head *tp_head_copy(const struct tp_head *h, const char *bytes, char **ret_bytes)
{
	size_t n = size_in_use(h);
	struct tp_head *copy = tp_block_new(n + h->size);
	if (copy == NULL)
		return NULL;
	memcpy(copy, h, n);
	*ret_bytes = (char *)copy + n;
	memcpy(*ret_bytes, bytes, h->size);
	return copy;
}

void tp_head_free(struct tp_head *copy)
{
	if (copy != NULL)
		tp_block_free(copy, size_in_use(copy) + copy->size);
}

const struct tp_field *tp_head_find(const struct tp_head *h, enum tp_field_id id)
{
	return tp_head_has(h, id) ? &h->fields[h->first[id]] : NULL;
}

const struct tp_field *tp_head_find_name(const struct tp_head *h, const char *bytes, struct tp_str name)
{
	enum tp_field_id id = tp_field_lookup(name.p, name.n);
	if (id != TP_FIELD_OTHER && id != TP_FIELD_X_TURNPIKE_OTHER)
		return tp_head_find(h, id);
	for (uint32_t i = 0; i < h->n_fields; i++)
		if (h->fields[i].id == id && tp_str_ieq(tp_span_str(bytes, h->fields[i].name), name))
			return &h->fields[i];
	return NULL;
}

#define BIT(id) ((uint64_t)1 << TP_FIELD_##id)

uint64_t tp_ids_end_here(void)
{
	return BIT(HOST) | BIT(CONNECTION) | BIT(KEEP_ALIVE) | BIT(PROXY_CONNECTION) |
	       BIT(PROXY_AUTHORIZATION) | BIT(PROXY_AUTHENTICATE) | BIT(TE) | BIT(TRAILER) |
	       BIT(TRANSFER_ENCODING) | BIT(UPGRADE) | BIT(CONTENT_LENGTH) | BIT(EXPECT) |
	       BIT(X_TURNPIKE_LOGICAL_ID) | BIT(X_TURNPIKE_MAX_SENDS) | BIT(X_TURNPIKE_DEADLINE) |
	       BIT(X_TURNPIKE_OTHER);
}

bool tp_field_ends_here(const struct tp_field *f)
{
	return f->connection_named || (tp_ids_end_here() >> f->id & 1) != 0;
}
