/*
 * Listening sockets as one master describes them to the next (binary upgrade, design section 11): descriptors
 * that stay open over exec, with the addresses they are known by.
 */
#ifndef TP_SERVER_LISTENERS_PASS_H
#define TP_SERVER_LISTENERS_PASS_H

#include <jansson.h>

#include "server/listeners.h"

/* A new reference, or NULL: out of memory. `confs`: those of `l`. */
json_t *tp_listeners_describe(const struct tp_listeners *l, const struct tp_listener_conf *confs, size_t n);

/* Sockets of the predecessor. Of their configurations only address, is_unix, host and port are there. */
struct tp_inherited_listeners {
	struct tp_listener_conf *confs;
	size_t n_confs;
	struct tp_listeners l;
};

/* The reverse: checks that each descriptor is a listening socket of its kind, and makes it close-on-exec.
 * False: damaged, or out of memory; tp_inherited_listeners_free() then closes what there was. */
bool tp_listeners_undescribe(const json_t *tree, struct tp_inherited_listeners *ret);
/* Closes what tp_listeners_take_over() has not used up. Safe on a zeroed struct. */
void tp_inherited_listeners_free(struct tp_inherited_listeners *in);

/*
 * What `want` asks for, out of what is inherited and new sockets that do not listen yet (see
 * tp_listeners_begin()).  The sockets of slot had_slots[i] become those of want->slots[i].  What nobody wants
 * any more goes to *ret_leaving, whose configurations are still `in->confs`.  Files of unix sockets stay the
 * predecessor's (see tp_listeners_own_paths()).  0 or -errno, with a line in `why`.
 */
int tp_listeners_take_over(struct tp_inherited_listeners *in, const uint8_t *had_slots, unsigned n_had,
			   const struct tp_listeners_want *want, struct tp_listeners *ret_listeners,
			   struct tp_listeners *ret_leaving, struct tp_buf *why);

/* A descriptor out of such a description, close-on-exec from now on. -1: there is none, or it was taken. */
int tp_inherited_fd(const json_t *number);

#endif
