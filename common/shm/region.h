/*
 * The shared table's memory (design section 3): a POSIX shared memory object with a checked, versioned
 * header. Offsets only; every part is found through the header and bounds-checked.
 */
#ifndef TP_SHM_REGION_H
#define TP_SHM_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

enum { TP_SHM_SLOTS = 256 };

struct tp_region; /* process-local handle of the mapping */

struct tp_region_sizes {
	uint32_t logical_requests; /* cells of the ledger, rounded up to whole groups of 8 buckets (128) */
	uint32_t urls;             /* entries of the blacklist, rounded up to whole buckets (16); 0 = 4096 */
};

enum tp_region_result {
	TP_REGION_CREATED,  /* fresh table */
	TP_REGION_ATTACHED, /* the one of an earlier master of this boot */
	TP_REGION_REPLACED, /* another layout, size or boot, or damaged: unlinked and created anew; why says
			       it */
};

/*
 * For the master, under the instance lock: attaches to `name` or creates it (O_EXCL, 0600, posix_fallocate).
 * An object that is not a regular file of this user with mode 0600 is refused (-EPERM).
 * `fresh` forces a new one.  Returns 0 or -errno; `why` gets a line of plain words for the log when the
 * result is REPLACED or the call failed.
 */
int tp_region_open(const char *name, struct tp_region_sizes sizes, bool fresh, struct tp_buf *why,
		   struct tp_region **ret_region, enum tp_region_result *ret_result);
/*
 * For a master that is to replace a running one: attaches to `name`.  Where that cannot be (another layout,
 * say), a fresh one is made under another name, so that the running master's stays what it is: REPLACED.
 */
int tp_region_open_beside(const char *name, struct tp_region_sizes sizes, struct tp_buf *why,
			  struct tp_region **ret_region, enum tp_region_result *ret_result);
/* That fresh one gets the name; the one that had it, if any, gets the other name in turn, until it is
 * dropped. Processes keep what they have. 0 or -errno. */
int tp_region_put_in_place(const char *name);
/* Differs between two tables that exist at the same time; 0: there is none of the name. */
uint64_t tp_region_identity(const char *name);
/* The name is taken away: who has the table keeps it, and nobody else finds it. */
void tp_region_drop(const char *name);
/* The one under the other name is removed, if there is one. */
void tp_region_drop_beside(const char *name);
/* For commands that only look (turnpike stats): read-only attach. Returns 0 or -errno. */
int tp_region_open_readonly(const char *name, struct tp_buf *why, struct tp_region **ret_region);
/* For commands that change something in a table they did not make (turnpike blacklist clear): the same
 * checks, and nothing is created or replaced. Returns 0 or -errno. */
int tp_region_open_existing(const char *name, struct tp_buf *why, struct tp_region **ret_region);
/* Anonymous shared memory for tests and threads. */
int tp_region_open_anonymous(struct tp_region_sizes sizes, struct tp_region **ret_region);
/* Unmaps; NULL is ignored. The object itself stays. */
void tp_region_close(struct tp_region *r);

/* 128-bit seed of all keyed hashes of this table. */
const uint8_t *tp_region_seed(const struct tp_region *r);

#endif
