/*
 * A worker process: one libevent loop; clients in, attempts out (design sections 2, 3).
 * This is all the master knows of it.
 */
#ifndef TP_WORKERS_WORKER_H
#define TP_WORKERS_WORKER_H

#include <stddef.h>
#include <stdint.h>

#include "common/config/config.h"
#include "common/retry/alert.h"
#include "common/shm/region.h"
#include "common/shm/slots.h"
#include "workers/observer.h"

/* Eventfds by which workers wake each other (gate.h), made by the master before the first fork. Slot n
 * listens to number n % TP_WAKE_FDS; nobody reads them, so that two slots may share one. */
enum { TP_WAKE_FDS = 16 };

/* A listening socket, opened and kept by the master. A worker serves those of its own slot and the shared
 * ones; others when told to (TP_CONTROL_ADOPT). It closes its own copy when it drains or is told to
 * (TP_CONTROL_CLOSE, TP_CONTROL_FORGET). */
struct tp_worker_listener {
	int fd;
	size_t conf; /* index into config->listeners */
	int slot;    /* whose socket this is; -1 = shared by all (unix) */
};

/*
 * What the master hands to a worker.  control_fd is one end of a SOCK_SEQPACKET pair: end of file = the
 * master is gone (drain and leave); messages are struct tp_control_message.  Everything stays owned by the
 * caller of tp_worker_main() and lives until it returns.
 */
struct tp_worker_start {
	struct tp_config *config; /* its reference is taken over */
	struct tp_region *region;
	struct tp_stamp stamp;
	int control_fd;
	const int *wake_fds;                        /* TP_WAKE_FDS */
	int snapshot_fd;                            /* where snapshots go; -1 = none are made */
	const struct tp_worker_listener *listeners; /* all sockets of all slots */
	size_t n_listeners;
	/* The configuration that the files in use (tp_files_use()) amount to; one reference, or NULL with
	 * lines in `errors`. Must come to the same as in the master. */
	struct tp_config *(*load)(const void *arg, struct tp_buf *errors);
	const void *load_arg;
	/* For one that runs without a server; NULL in a server. */
	const int *client_fd; /* a client that is here already, as if accepted by listener 0; taken over */
	const struct tp_observer *observer;
};

enum tp_control {
	TP_CONTROL_DRAIN = 'd',  /* stop accepting, finish turns within shutdown.drain, exit 0 */
	TP_CONTROL_QUIT = 'q',   /* end all turns now, exit 0 */
	TP_CONTROL_ADOPT = 'a',  /* serve the sockets of `slot` as well: its worker is away */
	TP_CONTROL_REOPEN = 'o', /* the logs were renamed: open them anew */
	TP_CONTROL_RETURN = 'r', /* stop serving the sockets of `slot`: its worker is back */
	/* A reload, in this order (design section 11). Each names the attempt it belongs to. */
	TP_CONTROL_SOCKETS = 's', /* sockets that it brings; the descriptors come beside */
	TP_CONTROL_PREPARE =
		'p', /* make the next generation of the bundle whose descriptor comes beside; answer */
	TP_CONTROL_SWITCH = 'w', /* it serves from now on */
	TP_CONTROL_ABORT = 'b',  /* it does not come */
	TP_CONTROL_CLOSE =
		'c', /* close the sockets of listeners that are gone; what is queued is taken first */
	TP_CONTROL_FORGET = 'f', /* the same with all sockets of `slot`, which retires */
};

enum { TP_CONTROL_SOCKETS_MAX = 32 };

/* Master to worker, one datagram each. */
struct tp_control_message {
	uint8_t what; /* enum tp_control */
	uint8_t slot;
	uint8_t n_sockets;
	uint64_t attempt;
	struct {
		uint16_t conf;
		int16_t slot;
	} sockets[TP_CONTROL_SOCKETS_MAX];
};

enum tp_report {
	TP_REPORT_ALERT = 'A',    /* run alerts.command */
	TP_REPORT_PREPARED = 'P', /* what attempt `when_ms` brings can serve */
	TP_REPORT_CANNOT = 'C',   /* it cannot: lines in `json` */
	TP_REPORT_SWITCHED = 'S', /* it serves */
};

enum { TP_ALERT_JSON_MAX = 4000 }; /* less than a pipe of one page takes: see server/alerts.c */

/* Worker to master, one datagram each, cut behind the JSON. Whoever sends it has found the alert due. */
struct tp_report_message {
	uint64_t when_ms;             /* CLOCK_BOOTTIME: what tp_alert_due() was asked with; or an attempt */
	uint8_t what;                 /* enum tp_report */
	uint8_t alert;                /* enum tp_alert */
	char json[TP_ALERT_JSON_MAX]; /* tp_alert_write(); or plain text */
};

/*
 * A snapshot of a failed turn: one datagram of a SOCK_SEQPACKET, from any worker to the process that writes
 * the files (server/snapshots.h). Full or gone: the snapshot is lost, and counted.
 */
enum tp_snapshot_what {
	TP_SNAPSHOT_FILE = 's',   /* text follows */
	TP_SNAPSHOT_REOPEN = 'o', /* from the master: the log was renamed */
};
struct tp_snapshot_head {
	uint8_t what;  /* enum tp_snapshot_what */
	char name[63]; /* of the file: letters, digits, dots and dashes */
};
enum { TP_SNAPSHOT_TEXT_MAX = 192 * 1024 }; /* less than net.core.wmem_default allows */

enum { TP_WORKER_EXIT_OK = 0, TP_WORKER_EXIT_CANNOT_START = 70 };

/* Before any worker is asked: can what a configuration needs beside its values (certificates, keys,
 * authorities) be loaded? Else a line in `why`. */
bool tp_worker_can_load(const struct tp_config *c, struct tp_buf *why);
/* Runs the loop until told to end; returns the exit status of the process. */
int tp_worker_main(const struct tp_worker_start *start);

#endif
