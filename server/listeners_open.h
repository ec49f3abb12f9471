/* What listeners.c does for relisten.c: the two files are one module. */
#ifndef TP_SERVER_LISTENERS_OPEN_H
#define TP_SERVER_LISTENERS_OPEN_H

#include "server/listeners.h"

/* Opens address number `at` into l. 0 or -errno, with a line in `why`. */
int tp_listeners_open_one(const struct tp_listener_conf *confs, size_t at, struct tp_listeners *l,
			  struct tp_buf *why);
/* One more socket, of `slot`, on the address that fd is bound to. 0 or -errno. */
int tp_listeners_join(int fd, size_t conf, int slot, struct tp_listeners *l);
void tp_listeners_free_room(struct tp_listeners *l);
bool tp_listeners_room_for_paths(struct tp_listeners *l, size_t n);
/* where[conf]: its number in `kept`, or -1 = removed. Both have room. */
void tp_listeners_sort_paths(const struct tp_listeners *from, const long *where, struct tp_listeners *kept,
			     struct tp_listeners *removed);

#endif
