/*
 * What the admin endpoints answer: one table of paths, pure of sockets.
 */
#ifndef TP_SERVER_ADMIN_ENDPOINTS_H
#define TP_SERVER_ADMIN_ENDPOINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/config/config.h"
#include "common/shm/region.h"

/* What the endpoints speak of. */
struct tp_admin_view {
	const struct tp_config *config;
	struct tp_region *region;
	const uint8_t *slots; /* of this master's workers */
	unsigned n_slots;
	bool draining;
	const char *file;         /* that the configuration is read from; NULL = from none */
	const char *reload_error; /* lines of the last reload, if it was refused; else NULL */
	/* Asks the master for a reload; its answer comes later. Returns the request's number, 0 = the master
	 * cannot be asked. NULL: nobody to ask. */
	uint64_t (*ask_reload)(void *arg);
	void *ask_arg;
};

struct tp_admin_question {
	struct tp_str method, path, query, body; /* query without its question mark */
	struct tp_str known;                     /* If-None-Match */
	bool local;                              /* through a unix socket */
};

struct tp_admin_answer {
	uint64_t awaited; /* number of a request to the master: the answer is its outcome; else 0 */
	int status;
	const char *type;   /* static; Content-Type */
	const char *allow;  /* static; with 405, else NULL */
	const char *fields; /* static; header lines instead of Cache-Control: no-store, else NULL */
	struct tp_buf body; /* owned by the caller; `failed` when there was no memory */
};

/* Answers one request, the wrong ones too (4xx). Reads the table; changes only what the request asks for and
 * its door may. */
void tp_admin_answer(const struct tp_admin_view *view, const struct tp_admin_question *q,
		     struct tp_admin_answer *ret_answer);
/* What the master said about a reload: 200 with the generation, or 422 with its lines. */
void tp_admin_reload_answer(bool good, uint64_t generation, struct tp_str lines,
			    struct tp_admin_answer *ret_answer);
/* {"error": "..."} under a status. */
void tp_admin_error(int status, const char *message, struct tp_admin_answer *ret_answer);

#endif
