/*
 * The URL blacklist (design 3.2): one run of consecutive failures per URL and per provider base, over all
 * workers; a listing with one half-open probe over all workers.
 *
 * Life of a pass: tp_breaker_ask() -> PASS or PASS_AS_PROBE -> tp_breaker_report(), exactly once per logical
 * request and provider URL, with NEUTRAL for whatever is no evidence.  A pass is process-local memory of the
 * turn; nothing is allocated.  The probe of a pass that is never reported stays taken while its worker lives,
 * and is free at once when the worker dies.
 *
 * Fail direction: what cannot be read, or has no room, is "not listed".
 */
#ifndef TP_SHM_BREAKER_H
#define TP_SHM_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/siphash.h"
#include "common/base/str.h"
#include "common/shm/region.h"
#include "common/shm/slots.h"

enum {
	TP_BREAKER_PROVIDER = 40,         /* bytes kept of a provider's name, with its end */
	TP_BREAKER_URL = 128,             /* bytes kept of a URL, with its end */
	TP_BREAKER_MAX_FAILURES = 1000000 /* largest policy.failures; exact in the window up to 15, above that
					     a listing may come up to a fifteenth of `failures` late */
};

/* Where a send goes. Made once per turn; borrows its texts. */
struct tp_breaker_url {
	struct tp_hash128 url, base;   /* keys: base + path without the query; base */
	struct tp_str provider;        /* readable name, for `turnpike blacklist list` */
	struct tp_str base_text, path; /* "https://host/v1", "/chat/completions" */
};
/* Cuts the query off `path`. User information in `base` is not kept in the table. */
struct tp_breaker_url tp_breaker_url(const struct tp_region *r, struct tp_str provider, struct tp_str base,
				     struct tp_str path);

struct tp_breaker_policy {
	uint32_t failures;    /* blacklist.failures: more than these list */
	uint32_t window_ms;   /* blacklist.window */
	uint32_t duration_ms; /* blacklist.duration; doubled by each failed probe, up to 1h */
	bool only_provider; /* no other target: probes after 15s, 30s, 60s ... up to the duration (below 15s:
			       from the duration up to 15s) */
};

enum tp_breaker_answer { TP_BREAKER_PASS, TP_BREAKER_PASS_AS_PROBE, TP_BREAKER_LISTED };

/* What tp_breaker_report() needs. Zeroed: reports nothing. */
struct tp_breaker_pass {
	struct tp_region *region;
	struct tp_stamp owner;
	struct tp_breaker_url url;      /* its texts must live until the report */
	uint64_t base_probe, url_probe; /* probe words held; 0 = none */
	uint32_t base_entry, url_entry; /* where they are */
	struct tp_breaker_policy policy;
};

/*
 * May a send go to this URL now? Fills `ret_pass` with PASS and PASS_AS_PROBE. With LISTED ret_retry_after_ms
 * is the time until the next probe may pass (at least 1000, also while one is under way). now_ms:
 * CLOCK_BOOTTIME.
 */
enum tp_breaker_answer tp_breaker_ask(struct tp_region *r, struct tp_stamp owner,
				      const struct tp_breaker_url *url,
				      const struct tp_breaker_policy *policy, uint64_t now_ms,
				      struct tp_breaker_pass *ret_pass, uint64_t *ret_retry_after_ms);

enum tp_breaker_outcome {
	TP_BREAKER_SUCCESS,        /* ends both runs; as a probe: unlists */
	TP_BREAKER_FAILURE_STATUS, /* 5xx: counts for the URL; the base has answered, which ends its run */
	TP_BREAKER_FAILURE_CONNECTION, /* no answer: counts for the URL and the base, and lists the base */
	TP_BREAKER_NEUTRAL             /* 429, 4xx, client gone, our own answer: only frees the probe */
};
enum tp_breaker_news {
	TP_BREAKER_NO_NEWS,
	TP_BREAKER_NEWLY_LISTED,
	TP_BREAKER_LISTED_AGAIN,
	TP_BREAKER_UNLISTED
};

/* Exactly once per pass; forgets it. Says what it changed, so that exactly one process logs it. */
enum tp_breaker_news tp_breaker_report(struct tp_breaker_pass *pass, enum tp_breaker_outcome outcome,
				       uint64_t now_ms);

/* ---- early end */

/* Is the base listed for connection failures, and is its check due, `every_ms` after the listing and after
 * each check? At most one caller per `every_ms` over
 * all workers gets true, and then makes the connect check. */
bool tp_breaker_connect_check_due(struct tp_region *r, struct tp_hash128 base, uint32_t every_ms,
				  uint64_t now_ms);
/* The same for the listings by status of any URL below that base: ask health.path. */
bool tp_breaker_health_check_due(struct tp_region *r, struct tp_hash128 base, uint32_t every_ms,
				 uint64_t now_ms);
/* The check succeeded. Number of listings that ended. */
uint32_t tp_breaker_clear_connection(struct tp_region *r, struct tp_hash128 base);
uint32_t tp_breaker_clear_status(struct tp_region *r, struct tp_hash128 base);

/* ---- list and clear */

struct tp_breaker_row {
	char provider[TP_BREAKER_PROVIDER], url[TP_BREAKER_URL]; /* terminated, printable */
	struct tp_hash128 key, base;
	bool whole_base;                  /* a base, else one URL */
	bool connection;                  /* listed for connection failures, else for a status */
	bool listed;                      /* else a run of failures that has not listed it */
	bool probing;                     /* a probe is under way */
	uint32_t failures;                /* length of the run when not listed */
	uint32_t level;                   /* failed probes since it was listed */
	uint64_t since_ms, next_probe_ms; /* listed; next_probe_ms by the policy given */
};

/* Goes through all entries: start with *cursor = 0; false at the end. `policy`'s only_provider is taken from
 * the entry. Entries may come and go meanwhile; each row is consistent in itself. */
bool tp_breaker_next(const struct tp_region *r, const struct tp_breaker_policy *policy, uint32_t *cursor,
		     struct tp_breaker_row *ret_row);
/* `turnpike blacklist clear [URL]`: forgets listings and runs of a URL as tp_breaker_next() shows it, or of
 * all (NULL). Number of listings that ended. */
uint32_t tp_breaker_clear(struct tp_region *r, const char *url);

#endif
