/*
 * A checked configuration: what the YAML file (or the environment) amounts to, with every
 * default filled in (design section 10).  Immutable after tp_config_load(); one per
 * generation; reference-counted inside a process, so that a running turn ends on the one it began with.
 *
 * All durations are milliseconds, all sizes bytes.  Strings are owned by the configuration.
 */
#ifndef TP_CONFIG_CONFIG_H
#define TP_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/log.h"
#include "common/http/access_line.h"
#include "common/base/str.h"
#include "common/retry/order.h"

/* Paths of PEM files; both set or both NULL. */
struct tp_certificate_conf {
	char *certificate, *key;
};

struct tp_listener_tls_conf {
	struct tp_certificate_conf own; /* certificate NULL = plain */
	char *client_ca;                /* path; NULL = clients present no certificate */
	struct tp_certificate_conf *more;
	size_t n_more;
};

struct tp_listener_conf {
	char *address; /* as written: host:port, [v6]:port, unix:/path */
	bool is_unix;
	char *host; /* without brackets; unix: the path */
	uint16_t port;
	struct tp_listener_tls_conf tls;
	bool client_half_close_serve; /* client_half_close: serve (default abort = false) */
};

struct tp_client_conf {
	char *name, *key;
};

struct tp_status_set {
	uint64_t bits[10]; /* bit n of the set = status n, 0..639 */
};

/* False for what no set can hold. */
static inline bool tp_status_in(const struct tp_status_set *s, int status)
{
	return status >= 0 && status < 640 && (s->bits[status / 64] >> (status % 64) & 1) != 0;
}

enum tp_profile { TP_PROFILE_GUARDED, TP_PROFILE_PATIENT };

/* The keys whose default hangs on the profile (design section 5). */
enum tp_profile_key {
	TP_PROFILE_CEILING = 1,
	TP_PROFILE_OVERLOAD_SENDS = 2,
	TP_PROFILE_OVERLOAD_STATUSES = 4,
	TP_PROFILE_TRANSIENT_STATUSES = 8, /* follows the list of `overload` */
	TP_PROFILE_BUDGET_SENDS = 16
};

/* Section `retry`, already merged: profile, global keys, provider keys. */
struct tp_retry_conf {
	enum tp_profile profile; /* resolved in the fields below: nobody need look at it again */
	uint8_t written;         /* enum tp_profile_key: what stands in the file and so wins over a profile */
	bool share_waits;        /* a told wait of a rate limit holds other turns too */
	uint32_t deadline_ms;
	uint32_t slow_attempt_ms;
	uint32_t floor_ms, ceiling_ms; /* retry_after */
	uint32_t reset_sends, reset_base_ms, reset_cap_ms;
	uint32_t transient_sends, transient_base_ms, transient_cap_ms;
	struct tp_status_set transient_statuses;
	uint32_t overload_sends, overload_base_ms, overload_cap_ms;
	uint32_t overload_429_sends; /* in place of overload_sends where the status is 429 */
	struct tp_status_set overload_statuses;
	uint32_t
		ambiguous_replays; /* 0 or 1: replacements of a send that may have run, per logical request */
	uint32_t heartbeat_after_ms, heartbeat_every_ms; /* after: 0 = off */
	/* The limits of a turn on this provider: budget.sends and budget.reserve, or the profile's. */
	uint32_t budget_sends, budget_reserve; /* 0 <= reserve <= sends <= 100 */
};

enum tp_provider_family { TP_PROVIDER_AUTO, TP_PROVIDER_OPENAI, TP_PROVIDER_ANTHROPIC };
enum tp_key_header {
	TP_KEY_AUTO,
	TP_KEY_AUTHORIZATION,
	TP_KEY_X_API_KEY,
	TP_KEY_API_KEY,
	TP_KEY_X_GOOG_API_KEY
};

/* Of struct tp_provider_conf.capacity_limit. */
#define TP_LIMIT_OFF  UINT32_C(0)
#define TP_LIMIT_AUTO UINT32_MAX
/* The shared table has no more gates than that, and no more places for access tokens than that. */
enum { TP_GATED_MAX = 64, TP_REFRESHED_MAX = 32 };

enum { TP_KEYS_MAX = 64, TP_EGRESS_MAX = 8 };

/* One way to a provider (design section 9): an entry of `via`, taken apart. */
struct tp_egress_conf {
	char *host; /* of the proxy, without brackets; NULL = direct */
	uint16_t port;
	char *address;       /* host:port, as it is shown: "127.0.0.1:3128"; "direct" */
	char *authorization; /* "Basic ..." made of the user information, or NULL */
};

struct tp_provider_conf {
	char *name;
	char *url;  /* as written; may hold user information: never log it, use base */
	char *base; /* scheme://host[:port]/path, without user information */
	bool https;
	char *host; /* without brackets */
	uint16_t port;
	char *path;              /* "" or "/v1": no slash at its end */
	char *authority;         /* host[:port] as it stands in Host; default ports left out */
	char *url_authorization; /* "Basic ..." made of the url's user information, or NULL */
	enum tp_provider_family family;
	char **keys;   /* Turnpike's own credentials for this provider, all different; may be none */
	size_t n_keys; /* at most TP_KEYS_MAX */
	enum tp_key_header key_header;
	uint32_t keepalive_idle_ms, keepalive_max;
	uint32_t connect_ms, first_byte_ms, idle_ms;
	uint32_t token_ms; /* between outputs of a stream; 0 = off */
	struct {
		char *ca;          /* path, or NULL = the system's */
		char *server_name; /* or NULL = host */
		bool verify;
		struct tp_certificate_conf own; /* presented where the provider asks for one */
	} tls;
	uint32_t capacity_limit; /* requests at once over all workers, or TP_LIMIT_* */
	uint32_t capacity_queue, capacity_wait_ms;
	char **replay_safe; /* exact paths behind the route's path; default /models, /messages/count_tokens */
	size_t n_replay_safe;
	char **via; /* as written; may hold user information: never log it, use egress[].address */
	size_t n_via;
	struct tp_egress_conf *egress; /* one per entry of `via`, at least one, in order of preference */
	char *health_path;             /* health.path: at the root of the host, without query; NULL = none */
	bool upgrade_tunnel;           /* upgrade: tunnel */
	bool compression_pass;         /* compression: pass */
	bool pass_credential; /* a combo may hand it the client's credential that was meant for another origin
			       */
	struct {
		char *url;           /* NULL = off; then all are NULL */
		char *refresh_token; /* secret */
		char *client_id;     /* or NULL: plain JSON is spoken */
		char *client_secret; /* secret, or NULL */
		char *state_file;    /* absolute path */
	} refresh;
	struct tp_retry_conf retry;
};

struct tp_route_conf {
	char *path;
	char **models; /* patterns with `*`; none = all requests */
	size_t n_models;
	size_t provider; /* index into providers */
};

/* Provider and model (design section 8). */
struct tp_target_conf {
	size_t provider; /* index into providers */
	char *model;
	uint32_t weight; /* 1..100: round_robin, random */
};

enum { TP_TARGETS_MAX = TP_ORDER_MAX };

struct tp_combo_conf {
	char *name;
	enum tp_strategy strategy;
	struct tp_target_conf *targets; /* in the order of the file */
	size_t n_targets;               /* 1..TP_TARGETS_MAX */
	uint32_t sends_per_target;      /* at least 1 */
	uint32_t cooldown_ms;           /* of a target whose provider told nothing */
	uint32_t wait_for_cooldown_ms;  /* 0 = do not wait */
};

struct tp_budget_conf {
	/* As written, else of the global profile. A turn's limits are its provider's: retry.budget_sends. */
	uint32_t sends, reserve; /* 0 <= reserve <= sends <= 100; base = sends - reserve */
	uint32_t ttl_ms, rejoin_ms;
	char **identify; /* header names, lower case, in order */
	size_t n_identify;
};

struct tp_files;

struct tp_config {
	unsigned refs;          /* plain counter: each process has its own copy */
	uint64_t generation;    /* set by the master: 1, 2, ... */
	char *file;             /* where it came from */
	struct tp_files *files; /* all that was read for it; one reference. See files.h */
	unsigned workers;       /* 1..256; auto is resolved */
	bool ask_at_start;      /* no key: set where no file was written; see workers/health.h */
	struct tp_listener_conf *listeners;
	size_t n_listeners;
	struct {
		struct tp_listener_conf *listeners; /* never with TLS */
		size_t n_listeners;
		char *token; /* or NULL */
	} admin;
	struct tp_client_conf *clients;
	size_t n_clients;
	bool allow_anonymous;
	char **hosts; /* Host names allowed beside the loopback ones when anonymous */
	size_t n_hosts;
	char **origins; /* Origin values of browsers that are allowed when anonymous */
	size_t n_origins;
	struct tp_provider_conf *providers;
	size_t n_providers;
	struct tp_route_conf *routes; /* longest path first, equal ones in the order of the file */
	size_t n_routes;
	struct tp_combo_conf *combos;
	size_t n_combos;
	struct tp_retry_conf retry;
	struct tp_budget_conf budget;
	struct {
		uint32_t failures, window_ms, duration_ms;
	} blacklist;
	struct {
		uint64_t body_bytes, total_bytes;
		uint32_t time_ms;
	} hold; /* hold.body, hold.bytes, hold.time */
	struct {
		uint64_t header, body, replay_body, replay_total;
		uint32_t connections; /* per worker; 0 = as many as their share of the descriptors allows */
		uint32_t client_idle_ms, client_header_ms, client_body_ms, slow_reader_ms;
	} limits;
	struct {
		char *name;
		uint32_t logical_requests, urls;
	} state;
	struct {
		enum tp_log_level level;
		enum tp_log_format format;
		char *output; /* "stderr", "syslog" or a path */
	} log;
	struct {
		char *output; /* "off", "stderr" or a path */
		enum tp_access_format format;
	} access_log;
	struct {
		char *directory; /* or NULL: none are written */
		uint32_t keep;   /* at least 1 */
		bool full;       /* bodies as they are, else their shape */
	} snapshots;
	char *stats_file; /* or NULL */
	struct {
		char **command; /* an argv: NULL-terminated; NULL = none */
		size_t n_command;
	} alerts;
	uint32_t drain_ms; /* shutdown.drain */
	char *pid_file;    /* or NULL */
};

/* Read when no -c is given. */
#ifndef TP_CONFIG_DEFAULT_FILE
#define TP_CONFIG_DEFAULT_FILE "/etc/turnpike/turnpike.yaml"
#endif

/* Largest file that is read, in bytes. */
enum { TP_CONFIG_FILE_MAX = 1024 * 1024 };

/*
 * Reads and checks a YAML file.  All mistakes are found in one run: each is appended to
 * `errors` as "file:line:column: message\n" (without a place when the file cannot be read at all). Returns
 * the configuration with one reference, or NULL with at least one line in errors.  Nothing is logged.
 */
struct tp_config *tp_config_load(const char *path, struct tp_buf *errors);
/* The same over bytes in memory; `name` stands for the file in messages. */
struct tp_config *tp_config_parse(const char *name, struct tp_str yaml, struct tp_buf *errors);
struct tp_config *tp_config_ref(struct tp_config *c);
/* The combo of this name, or NULL. */
const struct tp_combo_conf *tp_config_combo(const struct tp_config *c, struct tp_str name);
/* Drops one reference and frees with the last; NULL is ignored. Secrets are wiped. */
void tp_config_unref(struct tp_config *c);

#endif
