/*
 * The admin process: a child of the master beside the workers, with a loop of its own, so that neither delays
 * the other (design 10, 11). It has no slot in the shared table and owns nothing in it.
 */
#ifndef TP_SERVER_ADMIN_PROCESS_H
#define TP_SERVER_ADMIN_PROCESS_H

#include "server/admin/endpoints.h"
#include "server/listeners.h"

enum tp_admin_control {
	TP_ADMIN_DRAINING = 'd', /* the server stops: not ready any more */
	TP_ADMIN_REOPEN = 'o',   /* the log was renamed: open it anew */
};

/* control_fd is one end of a SOCK_SEQPACKET pair; messages are one byte of enum tp_admin_control, its end of
 * file means: leave (also when the master was killed). All stays owned by the caller. */
struct tp_admin_start {
	struct tp_admin_view view;
	const struct tp_listeners *sockets; /* of config->admin.listeners */
	int control_fd;
};

/* Runs until the control channel ends; returns the exit status. */
int tp_admin_main(const struct tp_admin_start *start);

#endif
