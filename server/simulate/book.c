#include "server/simulate/book.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/siphash.h"

enum { SHOWN_MAX = 128, CHAINS = 65536 };

struct entry {
	uint64_t serial; /* 0 = unused */
	int64_t time_ms;
	uint32_t send;
	uint16_t status;
	uint8_t end;
	char id[TP_SIM_ID_MAX + 1];
	char path[SHOWN_MAX], model[SHOWN_MAX], step[SHOWN_MAX];
};

struct logical {
	char id[TP_SIM_ID_MAX + 1]; /* "" = unused */
	uint32_t sends;
	uint32_t next; /* in the chain: index + 1, 0 = end */
};

struct tp_sim_book {
	uint64_t serial; /* of the last send, never reset */
	uint64_t sends;  /* since the last reset */
	uint32_t most;   /* sends of the logical request that had most */
	uint32_t n_logical;
	uint32_t oldest; /* next of `logical` to be taken again */
	uint32_t chains[CHAINS];
	struct logical logical[TP_SIM_LOGICAL_MAX];
	struct entry log[TP_SIM_LOG_MAX];
};

struct tp_sim_book *tp_sim_book_new(void)
{
	return calloc(1, sizeof(struct tp_sim_book)); /* pages are touched only as they are used */
}

void tp_sim_book_free(struct tp_sim_book *b)
{
	free(b);
}

void tp_sim_book_reset(struct tp_sim_book *b)
{
	uint64_t serial = b->serial;

	memset(b, 0, sizeof(*b));
	b->serial = serial;
}

static uint32_t *chain_of(struct tp_sim_book *b, const char *id)
{
	static const uint8_t key[16] = "turnpike-sim-bk";

	return &b->chains[tp_siphash128(key, id, strlen(id)).lo % CHAINS];
}

static void forget(struct tp_sim_book *b, uint32_t index)
{
	uint32_t *link = chain_of(b, b->logical[index].id);

	while (*link != 0 && *link != index + 1)
		link = &b->logical[*link - 1].next;
	if (*link != 0)
		*link = b->logical[index].next;
	b->logical[index].id[0] = '\0';
	b->n_logical--;
}

static struct logical *find_or_add(struct tp_sim_book *b, const char *id)
{
	uint32_t *chain = chain_of(b, id);
	struct logical *l;

	for (uint32_t at = *chain; at != 0; at = b->logical[at - 1].next)
		if (strcmp(b->logical[at - 1].id, id) == 0)
			return &b->logical[at - 1];
	l = &b->logical[b->oldest];
	if (l->id[0] != '\0')
		forget(b, b->oldest);
	(void)snprintf(l->id, sizeof(l->id), "%s", id);
	l->sends = 0;
	l->next = *chain;
	*chain = b->oldest + 1;
	b->oldest = (b->oldest + 1) % TP_SIM_LOGICAL_MAX;
	b->n_logical++;
	return l;
}

static void show(char out[SHOWN_MAX], struct tp_str s)
{
	(void)snprintf(out, SHOWN_MAX, "%.*s", (int)(s.n < SHOWN_MAX ? s.n : SHOWN_MAX), s.n > 0 ? s.p : "");
}

uint32_t tp_sim_book_send(struct tp_sim_book *b, struct tp_sim_turn *t)
{
	struct logical *l = find_or_add(b, t->id);
	struct entry *e;

	t->serial = ++b->serial;
	e = &b->log[t->serial % TP_SIM_LOG_MAX];
	b->sends++;
	if (++l->sends > b->most)
		b->most = l->sends;
	*e = (struct entry){.serial = t->serial, .time_ms = tp_clock_wall_ms(), .send = l->sends};
	(void)snprintf(e->id, sizeof(e->id), "%s", t->id);
	show(e->path, t->path);
	show(e->model, tp_buf_str(&t->model));
	return l->sends;
}

static struct entry *find_entry(struct tp_sim_book *b, uint64_t serial)
{
	struct entry *e = &b->log[serial % TP_SIM_LOG_MAX];

	return e->serial == serial ? e : NULL;
}

void tp_sim_book_step(struct tp_sim_book *b, uint64_t serial, struct tp_str step, int status)
{
	struct entry *e = find_entry(b, serial);

	if (e == NULL)
		return;
	show(e->step, step);
	e->status = (uint16_t)status;
}

void tp_sim_book_end(struct tp_sim_book *b, uint64_t serial, enum tp_sim_end end)
{
	struct entry *e = find_entry(b, serial);

	if (e != NULL && e->end == TP_SIM_OPEN)
		e->end = (uint8_t)end;
}

static void add_member(struct tp_buf *out, const char *name, const char *value)
{
	tp_buf_printf(out, ",\"%s\":\"", name);
	tp_buf_add_json(out, tp_str_from(value));
	tp_buf_add_str(out, TP_STR("\""));
}

void tp_sim_book_count(const struct tp_sim_book *b, struct tp_str id, struct tp_buf *out)
{
	uint32_t sends = 0;

	if (id.p == NULL) {
		tp_buf_printf(out, "{\"sends\":%llu,\"logical_requests\":%u,\"most\":%u}",
			      (unsigned long long)b->sends, b->n_logical, b->most);
		return;
	}
	for (uint32_t i = 0; i < TP_SIM_LOGICAL_MAX; i++)
		if (b->logical[i].id[0] != '\0' && tp_str_eq(tp_str_from(b->logical[i].id), id))
			sends = b->logical[i].sends;
	tp_buf_printf(out, "{\"sends\":%u", sends);
	tp_buf_add_str(out, TP_STR(",\"id\":\""));
	tp_buf_add_json(out, id);
	tp_buf_add_str(out, TP_STR("\"}"));
}

static void add_entry(struct tp_buf *out, const struct entry *e)
{
	static const char *const ends[] = {"open", "done", "broken", "client_gone"};

	tp_buf_printf(out, "{\"serial\":%llu,\"time_ms\":%lld,\"send\":%u,\"status\":%u",
		      (unsigned long long)e->serial, (long long)e->time_ms, e->send, e->status);
	add_member(out, "id", e->id);
	add_member(out, "path", e->path);
	add_member(out, "model", e->model);
	add_member(out, "step", e->step);
	add_member(out, "end", ends[e->end]);
	tp_buf_add_str(out, TP_STR("}"));
}

void tp_sim_book_log(const struct tp_sim_book *b, struct tp_str id, struct tp_buf *out)
{
	const char *comma = "";

	tp_buf_add_str(out, TP_STR("["));
	for (uint64_t i = 1; i <= TP_SIM_LOG_MAX; i++) {
		const struct entry *e = &b->log[(b->serial + i) % TP_SIM_LOG_MAX];

		if (e->serial == 0 || (id.p != NULL && !tp_str_eq(tp_str_from(e->id), id)))
			continue;
		tp_buf_add_str(out, tp_str_from(comma));
		add_entry(out, e);
		comma = ",\n";
	}
	tp_buf_add_str(out, TP_STR("]\n"));
}
