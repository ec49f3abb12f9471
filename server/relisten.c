/* Listening sockets over a reload: what is new is bound first, what goes is drained last. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/listeners.h"
#include "server/listeners_open.h"

enum { NOWHERE = -1 };

static long find_conf(const struct tp_listener_conf *confs, size_t n, const char *address)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(confs[i].address, address) == 0)
			return (long)i;
	return NOWHERE;
}

static bool has_slot(const uint8_t *slots, unsigned n, int slot)
{
	if (slot < 0)
		return true;
	for (unsigned i = 0; i < n; i++)
		if (slots[i] == slot)
			return true;
	return false;
}

/* Has a socket of ours that port already? It has SO_REUSEPORT, and what overlaps it must have it too. */
static bool port_is_ours(const struct tp_listener_conf *had, size_t n_had,
			 const struct tp_listener_conf *conf)
{
	for (size_t i = 0; i < n_had; i++)
		if (!had[i].is_unix && had[i].port == conf->port && conf->port != 0)
			return true;
	return false;
}

/* Sockets of the slots that are new, on an address that stays. */
static int widen(const struct tp_listeners *l, size_t had, size_t conf, const struct tp_listeners_want *want,
		 struct tp_listeners *added)
{
	int error = 0;
	for (size_t i = 0; i < l->n_sockets && error == 0; i++) {
		const struct tp_worker_listener *s = &l->sockets[i];
		if (s->conf != had || s->slot != l->slots[0])
			continue; /* one for each of its addresses: localhost has two */
		for (unsigned k = 0; k < want->n_slots && error == 0; k++)
			if (!has_slot(l->slots, l->n_slots, want->slots[k]))
				error = tp_listeners_join(s->fd, conf, want->slots[k], added);
	}
	return error;
}

/* ---- memory for the switch */

/* What stays, what goes, and the new number of each address of before: NOWHERE = it goes. */
struct tp_listeners_room {
	struct tp_listeners kept, removed;
	long *where, *same;
};

static bool make_arrays(struct tp_listeners *to, const struct tp_listeners *a, const struct tp_listeners *b)
{
	to->sockets = calloc(a->n_sockets + b->n_sockets + 1, sizeof *to->sockets);
	to->names = calloc(a->n_names + b->n_names + 1, sizeof *to->names);
	return to->sockets != NULL && to->names != NULL &&
	       tp_listeners_room_for_paths(to, a->n_paths + b->n_paths);
}

static void free_arrays(struct tp_listeners *l)
{
	free(l->sockets);
	free(l->names);
	free(l->paths);
	*l = (struct tp_listeners){0};
}

void tp_listeners_free_room(struct tp_listeners *l)
{
	if (l->room == NULL)
		return;
	free_arrays(&l->room->kept);
	free_arrays(&l->room->removed);
	free(l->room->where);
	free(l->room->same);
	free(l->room);
	l->room = NULL;
}

/* For what `l` and `added` hold together: any of it may stay or go. */
static bool make_room(const struct tp_listeners *l, size_t n_had, const struct tp_listeners_want *want,
		      struct tp_listeners *added)
{
	struct tp_listeners_room *room = added->room = calloc(1, sizeof *room);
	if (room == NULL)
		return false;
	room->where = calloc(n_had + 1, sizeof *room->where);
	room->same = calloc(want->n_confs + 1, sizeof *room->same);
	return room->where != NULL && room->same != NULL && make_arrays(&room->kept, l, added) &&
	       make_arrays(&room->removed, l, added);
}

/* ---- the two steps */

int tp_listeners_prepare(const struct tp_listeners *l, const struct tp_listener_conf *had, size_t n_had,
			 const struct tp_listeners_want *want, struct tp_listeners *ret_added,
			 struct tp_buf *why)
{
	struct tp_listeners added = {.slots = want->slots, .n_slots = want->n_slots, .held = true};
	int error = 0;
	for (size_t i = 0; i < want->n_confs && error == 0; i++) {
		long before = find_conf(had, n_had, want->confs[i].address);
		added.joins = port_is_ours(had, n_had, &want->confs[i]);
		if (before == NOWHERE) {
			error = tp_listeners_open_one(want->confs, i, &added, why);
		} else if ((error = widen(l, (size_t)before, i, want, &added)) != 0) {
			tp_buf_printf(why, "cannot listen on %s once more: %s", want->confs[i].address,
				      strerror(-error));
		}
	}
	if (error == 0 && !make_room(l, n_had, want, &added)) {
		tp_buf_printf(why, "out of memory");
		error = -ENOMEM;
	}
	if (error != 0) {
		tp_listeners_close(&added);
		return error;
	}
	*ret_added = added;
	return 0;
}

static void sort_out(const struct tp_listeners *from, const long *where, const struct tp_listeners_want *want,
		     struct tp_listeners *kept, struct tp_listeners *removed)
{
	for (size_t i = 0; i < from->n_sockets; i++) {
		struct tp_worker_listener s = from->sockets[i];
		bool stays = where[s.conf] != NOWHERE && has_slot(want->slots, want->n_slots, s.slot);
		struct tp_listeners *to = stays ? kept : removed;
		s.conf = stays ? (size_t)where[s.conf] : s.conf;
		to->sockets[to->n_sockets++] = s;
	}
	for (size_t i = 0; i < from->n_names; i++) {
		struct tp_listener_name n = from->names[i];
		bool stays = where[n.conf] != NOWHERE;
		struct tp_listeners *to = stays ? kept : removed;
		n.conf = stays ? (size_t)where[n.conf] : n.conf;
		to->names[to->n_names++] = n;
	}
	tp_listeners_sort_paths(from, where, kept, removed);
}

void tp_listeners_switch(struct tp_listeners *l, const struct tp_listener_conf *had, size_t n_had,
			 const struct tp_listeners_want *want, struct tp_listeners *added,
			 struct tp_listeners *ret_removed)
{
	struct tp_listeners_room *room = added->room;
	struct tp_listeners kept = room->kept, removed = room->removed;
	room->kept = room->removed = (struct tp_listeners){0};
	kept.slots = removed.slots = want->slots;
	kept.n_slots = removed.n_slots = want->n_slots;
	for (size_t i = 0; i < n_had; i++)
		room->where[i] = find_conf(want->confs, want->n_confs, had[i].address);
	for (size_t i = 0; i < want->n_confs; i++)
		room->same[i] = (long)i;
	sort_out(l, room->where, want, &kept, &removed);
	sort_out(added, room->same, want, &kept, &removed);
	kept.remote = l->remote || added->remote;
	removed.remote = l->remote;
	tp_listeners_free_room(added);
	free_arrays(l);
	free_arrays(added);
	*l = kept;
	*ret_removed = removed;
}
