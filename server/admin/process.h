/*
 * The admin process: a child of the master beside the workers, with a loop of its own, so that neither delays
 * the other (design 10, 11). It has no slot in the shared table and owns nothing in it.
 */
#ifndef TP_SERVER_ADMIN_PROCESS_H
#define TP_SERVER_ADMIN_PROCESS_H

#include <stdint.h>

#include "server/admin/endpoints.h"
#include "server/listeners.h"

enum tp_admin_control {
	TP_ADMIN_DRAINING = 'd', /* the server stops: not ready any more */
	TP_ADMIN_REOPEN = 'r',   /* the log was renamed: open it anew */
	TP_ADMIN_OUTCOME = 'o',  /* of a reload, whoever asked for it */
	TP_ADMIN_LEAVE = 'l',    /* a successor waits: accept nothing, answer what is here, go */
};

enum { TP_ADMIN_TEXT_MAX = 4000 };

/* Master to admin process, one datagram each, cut behind the text. */
struct tp_admin_message {
	uint8_t what; /* enum tp_admin_control */
	uint8_t good;
	uint64_t asked;               /* OUTCOME: answers all requests up to this number */
	uint64_t generation;          /* that serves now */
	char text[TP_ADMIN_TEXT_MAX]; /* lines: why it was refused */
};

/* Admin process to master: reload, please. */
struct tp_admin_request {
	uint64_t number; /* 1, 2, ... */
};

/* control_fd is one end of a SOCK_SEQPACKET pair; its end of file means: leave (also when the master was
 * killed). All stays owned by the caller. */
struct tp_admin_start {
	struct tp_admin_view view;
	const struct tp_listeners *sockets; /* of config->admin.listeners */
	int control_fd;
	const char *reload_error; /* lines of the last reload, if it was refused; else NULL */
};

/* Runs until the control channel ends; returns the exit status. */
int tp_admin_main(const struct tp_admin_start *start);

#endif
