/* The rows of the option table. Order = order of the sample, and of filling: what others build on comes
 * first. */
#include "common/config/option.h"

#include "common/config/rules.h"

#define AT(type, field)    .offset = offsetof(type, field), .width = sizeof(((type *)0)->field)
#define COUNTED(type, n)   .count_offset = offsetof(type, n)
#define ROWS(table)        .options = (table), .n_options = sizeof(table) / sizeof((table)[0])
#define SECTION(name)      .type = TP_OPT_SECTION, .inner = &(name)
#define RANGE(least, most) .low = (least), .high = (most)

#define SECOND (UINT64_C(1000))
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define KIB    (UINT64_C(1024))
#define MIB    (1024 * KIB)
#define GIB    (1024 * MIB)

/* Rows read best with their fields side by side. */
/* clang-format off */

/* ---- listen */

static const struct tp_option certificate_rows[] = {
	{.key = "certificate", .type = TP_OPT_STRING, AT(struct tp_certificate_conf, certificate), .required = true,
	 .refuse = tp_refuse_file, .example = "/etc/turnpike/other.pem",
	 .help = "PEM file with the certificate chain, own certificate first."},
	{.key = "key", .type = TP_OPT_STRING, AT(struct tp_certificate_conf, key), .required = true,
	 .refuse = tp_refuse_file, .example = "/etc/turnpike/other.key",
	 .help = "PEM file with the private key of the certificate."},
};
static const struct tp_section certificate = {.name = "certificate",
					      ROWS(certificate_rows),
					      .size = sizeof(struct tp_certificate_conf),
					      .check = tp_check_certificate};

static const struct tp_option listener_tls_rows[] = {
	{.key = "certificate", .type = TP_OPT_STRING, AT(struct tp_listener_conf, tls.own.certificate),
	 .refuse = tp_refuse_file, .help = "PEM file with the certificate chain, own certificate first."},
	{.key = "key", .type = TP_OPT_STRING, AT(struct tp_listener_conf, tls.own.key), .refuse = tp_refuse_file,
	 .help = "PEM file with the private key of the certificate."},
	{.key = "client_ca", .type = TP_OPT_STRING, AT(struct tp_listener_conf, tls.client_ca), .refuse = tp_refuse_file,
	 .help = "PEM file with authorities: clients must present a certificate that one of them has signed, or get no "
		 "connection. Revocation lists in the file are followed. Empty: clients are not asked for one."},
	{.key = "more", .type = TP_OPT_LIST, AT(struct tp_listener_conf, tls.more),
	 COUNTED(struct tp_listener_conf, tls.n_more), .inner = &certificate, RANGE(0, 256), .fallback = "[]",
	 .help = "Further certificates. The first one that names the server the client asks for is shown (exact names before "
		 "wildcards); where none does, or no name is asked for, the one above."},
};
static const struct tp_section listener_tls = {ROWS(listener_tls_rows), .check = tp_check_listener_tls};

static const char *const half_close_words[] = {"abort", "serve", NULL};

static const struct tp_option listener_rows[] = {
	{.key = "address", .type = TP_OPT_STRING, AT(struct tp_listener_conf, address), .required = true,
	 .example = "127.0.0.1:8080",
	 .help = "`127.0.0.1:8080`, `[::1]:8080` or `unix:/path`. Port 0 lets the kernel pick one."},
	{.key = "tls", SECTION(listener_tls), .help = "Serve HTTPS here; certificate and key are needed."},
	{.key = "client_half_close", .type = TP_OPT_CHOICE, AT(struct tp_listener_conf, client_half_close_serve),
	 .choices = half_close_words, .fallback = "abort",
	 .help = "What a client that closes its sending side after a whole request means: `abort` = it is gone, "
		 "cancel the turn; `serve` = answer it, and notice that it is gone when writing fails."},
};
static const struct tp_section listener = {.name = "listener",
					   ROWS(listener_rows),
					   .size = sizeof(struct tp_listener_conf),
					   .shorthand = "address",
					   .check = tp_check_listener,
					   .release = tp_release_listener};

/* ---- admin */

static const struct tp_option admin_listener_rows[] = {
	{.key = "address", .type = TP_OPT_STRING, AT(struct tp_listener_conf, address), .required = true,
	 .example = "127.0.0.1:9090", .help = "`unix:/path`, `127.0.0.1:9090` or `[::1]:9090`."},
};
static const struct tp_section admin_listener = {.name = "admin listener",
						 ROWS(admin_listener_rows),
						 .size = sizeof(struct tp_listener_conf),
						 .shorthand = "address",
						 .check = tp_check_listener,
						 .release = tp_release_listener};

static const struct tp_option admin_rows[] = {
	{.key = "listen", .type = TP_OPT_LIST, AT(struct tp_config, admin.listeners),
	 COUNTED(struct tp_config, admin.n_listeners), .inner = &admin_listener, .one_or_list = true, RANGE(0, 16),
	 .fallback = "[]", .example = "[ \"unix:/run/turnpike/admin.sock\", \"127.0.0.1:9090\" ]",
	 .help = "Where /metrics, /stats, /healthz, /readyz and the rest are served: addresses of their own, apart from "
		 "`listen`. A unix socket (mode 0660) may do everything; TCP only reads, unless there is a `token`."},
	{.key = "token", .type = TP_OPT_STRING, AT(struct tp_config, admin.token), .secret = true,
	 .example = "\"${ADMIN_TOKEN}\"", .refuse = tp_refuse_key,
	 .help = "`Authorization: Bearer TOKEN` lets a TCP client change things. Addresses that other machines can reach "
		 "need a token for everything."},
};
static const struct tp_section admin = {ROWS(admin_rows)};

/* ---- clients */

static const struct tp_option client_rows[] = {
	{.key = "name", .type = TP_OPT_STRING, AT(struct tp_client_conf, name), .required = true,
	 .example = "team-a", .refuse = tp_refuse_name, .help = "Who it is, for logs. Each name once."},
	{.key = "key", .type = TP_OPT_STRING, AT(struct tp_client_conf, key), .required = true, .secret = true,
	 .example = "\"${TEAM_A}\"", .refuse = tp_refuse_key,
	 .help = "What the client sends as its API key. It opens Turnpike only and is never passed on."},
};
static const struct tp_section client = {
	.name = "client", ROWS(client_rows), .size = sizeof(struct tp_client_conf), .check = tp_check_client};

/* ---- retry: global, and again in each provider */

static const struct tp_option retry_after_rows[] = {
	{.key = "floor", .type = TP_OPT_DURATION, AT(struct tp_retry_conf, floor_ms), RANGE(0, HOUR),
	 .fallback = "1.5s", .help = "A told wait is never shorter than this."},
	{.key = "ceiling", .type = TP_OPT_DURATION, AT(struct tp_retry_conf, ceiling_ms), RANGE(0, DAY),
	 .fallback = "60s", .profile_key = TP_PROFILE_CEILING, .written = tp_written_retry,
	 .help = "A told wait above this is not waited for: the answer goes to the client unchanged, at once."},
};
static const struct tp_section retry_after = {ROWS(retry_after_rows)};

static const struct tp_option reset_rows[] = {
	{.key = "sends", .type = TP_OPT_COUNT, AT(struct tp_retry_conf, reset_sends), RANGE(0, 100),
	 .fallback = "3", .help = "Most sends of one turn in this class, the first one included."},
	{.key = "base", .type = TP_OPT_DURATION, AT(struct tp_retry_conf, reset_base_ms), RANGE(0, HOUR),
	 .fallback = "150ms", .help = "First wait; doubled each time."},
	{.key = "cap", .type = TP_OPT_DURATION, AT(struct tp_retry_conf, reset_cap_ms), RANGE(0, HOUR),
	 .fallback = "1s", .help = "Longest wait."},
};
static const struct tp_section retry_reset = {ROWS(reset_rows)};

static const struct tp_option transient_rows[] = {
	{.key = "sends", .type = TP_OPT_COUNT, AT(struct tp_retry_conf, transient_sends), RANGE(0, 100),
	 .fallback = "3", .help = "Most sends of one turn in this class, the first one included."},
	{.key = "base", .type = TP_OPT_DURATION, AT(struct tp_retry_conf, transient_base_ms), RANGE(0, HOUR),
	 .fallback = "400ms", .help = "First wait; doubled each time."},
	{.key = "cap", .type = TP_OPT_DURATION, AT(struct tp_retry_conf, transient_cap_ms), RANGE(0, HOUR),
	 .fallback = "5s", .help = "Longest wait."},
	{.key = "statuses", .type = TP_OPT_STATUSES, AT(struct tp_retry_conf, transient_statuses),
	 .fallback = "[ 500, 502, 503, 504, 520, 521, 522 ]",
	 .profile_key = TP_PROFILE_TRANSIENT_STATUSES, .written = tp_written_retry,
	 .help = "Answers taken as declined by convention. Shorten the list to be stricter. A status stands in one "
		 "class only: one that is written for `overload` leaves this default."},
};
static const struct tp_section retry_transient = {ROWS(transient_rows)};

static const struct tp_option overload_rows[] = {
	{.key = "sends", .type = TP_OPT_COUNT, AT(struct tp_retry_conf, overload_sends), RANGE(0, 100),
	 .fallback = "4", .profile_key = TP_PROFILE_OVERLOAD_SENDS, .written = tp_written_retry,
	 .help = "Most sends of one turn in this class, the first one included."},
	{.key = "base", .type = TP_OPT_DURATION, AT(struct tp_retry_conf, overload_base_ms), RANGE(0, HOUR),
	 .fallback = "1.5s", .help = "First wait when the provider told none; doubled each time."},
	{.key = "cap", .type = TP_OPT_DURATION, AT(struct tp_retry_conf, overload_cap_ms), RANGE(0, HOUR),
	 .fallback = "60s", .help = "Longest wait of Turnpike's own."},
	{.key = "statuses", .type = TP_OPT_STATUSES, AT(struct tp_retry_conf, overload_statuses),
	 .fallback = "[ 429, 529 ]", .profile_key = TP_PROFILE_OVERLOAD_STATUSES, .written = tp_written_retry,
	 .help = "Answers by which the provider declined: nothing ran."},
};
static const struct tp_section retry_overload = {ROWS(overload_rows)};

static const struct tp_option heartbeat_rows[] = {
	{.key = "after", .type = TP_OPT_DURATION, AT(struct tp_retry_conf, heartbeat_after_ms), RANGE(0, HOUR),
	 .fallback = "0s",
	 .help = "A streaming client that has waited this long with nothing to see gets its 200 and comment lines (Messages: "
		 "`ping` events). A failure after that is told inside the stream. 0 = off."},
	{.key = "every", .type = TP_OPT_DURATION, AT(struct tp_retry_conf, heartbeat_every_ms), RANGE(100, HOUR),
	 .fallback = "10s", .help = "From one comment line to the next."},
};
static const struct tp_section heartbeat = {ROWS(heartbeat_rows)};

static const char *const profile_words[] = {"guarded", "patient", NULL};

static const struct tp_option retry_rows[] = {
	{.key = "profile", .type = TP_OPT_CHOICE, AT(struct tp_retry_conf, profile), .choices = profile_words,
	 .fallback = "guarded",
	 .help = "Defaults of the other keys. `guarded`: those shown here. `patient`, for people behind a small private "
		 "gateway: 503 is in `overload.statuses`, `overload.sends` 6 (4 for a 429), `budget.sends` 6, "
		 "`retry_after.ceiling` 300s (raise `deadline` too to wait that long). A key that is written wins."},
	{.key = "deadline", .type = TP_OPT_DURATION, AT(struct tp_retry_conf, deadline_ms), RANGE(0, DAY),
	 .fallback = "120s", .help = "Bounds one turn: no wait is begun that would end after it."},
	{.key = "slow_attempt", .type = TP_OPT_DURATION, AT(struct tp_retry_conf, slow_attempt_ms), RANGE(0, DAY),
	 .fallback = "15s", .help = "A failure that took longer than this is shown, not sent again."},
	{.key = "share_waits", .type = TP_OPT_BOOL, AT(struct tp_retry_conf, share_waits), .fallback = "true",
	 .help = "The wait that a rate limit told one request holds every request for the same provider, model and credential, "
		 "in all workers. When it is over they are let go 1, 2, 4, ... per good answer."},
	{.key = "retry_after", SECTION(retry_after), .help = "Waits that the provider told."},
	{.key = "reset", SECTION(retry_reset),
	 .help = "Connections that broke under a request which may safely run twice."},
	{.key = "transient", SECTION(retry_transient), .help = "Server errors."},
	{.key = "overload", SECTION(retry_overload), .help = "Rate limits and overload."},
	{.key = "ambiguous_replays", .type = TP_OPT_COUNT, AT(struct tp_retry_conf, ambiguous_replays), RANGE(0, 1),
	 .fallback = "0",
	 .help = "1 lets one lost send of a logical request be replaced although it may have run (and been billed): only "
		 "for a self-contained body (`store: false`, no previous response, client-side tools only), on a new "
		 "connection, inside the budget. Whatever fails after it is refused."},
	{.key = "heartbeat", SECTION(heartbeat), .help = "Signs of life for streaming clients during waits."},
};
static const struct tp_section retry = {ROWS(retry_rows), .check = tp_check_retry};

/* ---- providers */

static const struct tp_option keepalive_rows[] = {
	{.key = "idle", .type = TP_OPT_DURATION, AT(struct tp_provider_conf, keepalive_idle_ms), RANGE(0, HOUR),
	 .fallback = "10s", .help = "Idle connections are closed after this. Keep it below the provider's own limit."},
	{.key = "max", .type = TP_OPT_COUNT, AT(struct tp_provider_conf, keepalive_max), RANGE(0, 65535),
	 .fallback = "64", .help = "Idle connections kept, per worker. 0 = a new connection for each send."},
};
static const struct tp_section keepalive = {ROWS(keepalive_rows)};

static const struct tp_option timeouts_rows[] = {
	{.key = "connect", .type = TP_OPT_DURATION, AT(struct tp_provider_conf, connect_ms), RANGE(1, HOUR),
	 .fallback = "10s", .help = "Name, TCP and TLS together. Nothing was sent when it passes."},
	{.key = "first_byte", .type = TP_OPT_DURATION, AT(struct tp_provider_conf, first_byte_ms), RANGE(1, DAY),
	 .fallback = "300s", .help = "From the request to the first byte of the answer. Never sent again after it."},
	{.key = "idle", .type = TP_OPT_DURATION, AT(struct tp_provider_conf, idle_ms), RANGE(1, DAY),
	 .fallback = "300s", .help = "Longest silence inside an answer. There is no limit on its whole length."},
	{.key = "token", .type = TP_OPT_DURATION, AT(struct tp_provider_conf, token_ms), RANGE(0, DAY),
	 .fallback = "0s",
	 .help = "Longest time from one output of a stream to the next (text, reasoning, a tool call); pings and comments "
		 "do not count. 0 = off."},
};
static const struct tp_section timeouts = {ROWS(timeouts_rows)};

static const struct tp_option provider_tls_rows[] = {
	{.key = "ca", .type = TP_OPT_STRING, AT(struct tp_provider_conf, tls.ca), .refuse = tp_refuse_file,
	 .help = "PEM file with the authorities to trust, and their revocation lists if any. Empty: those of the system."},
	{.key = "server_name", .type = TP_OPT_STRING, AT(struct tp_provider_conf, tls.server_name),
	 .refuse = tp_refuse_host, .help = "Name to ask for and to verify. Empty: the host of the url."},
	{.key = "verify", .type = TP_OPT_BOOL, AT(struct tp_provider_conf, tls.verify), .fallback = "true",
	 .help = "false accepts any certificate: whoever sits on the line then reads keys and prompts."},
	{.key = "certificate", .type = TP_OPT_STRING, AT(struct tp_provider_conf, tls.own.certificate),
	 .refuse = tp_refuse_file,
	 .help = "PEM file with the certificate chain that Turnpike presents to a provider that asks for one."},
	{.key = "key", .type = TP_OPT_STRING, AT(struct tp_provider_conf, tls.own.key), .refuse = tp_refuse_file,
	 .help = "PEM file with the private key of that certificate."},
};
static const struct tp_section provider_tls = {ROWS(provider_tls_rows), .check = tp_check_provider_tls};

static const struct tp_option capacity_rows[] = {
	{.key = "limit", .type = TP_OPT_LIMIT, AT(struct tp_provider_conf, capacity_limit), RANGE(1, 1024),
	 .fallback = "off",
	 .help = "Requests in progress at once, over all workers; the rest waits inside Turnpike, in order of arrival. "
		 "`auto` learns the number from the provider's refusals for want of capacity."},
	{.key = "queue", .type = TP_OPT_COUNT, AT(struct tp_provider_conf, capacity_queue), RANGE(0, 4096),
	 .fallback = "1000", .help = "Most requests that wait; the next one gets 503 capacity_queue_full."},
	{.key = "wait", .type = TP_OPT_DURATION, AT(struct tp_provider_conf, capacity_wait_ms), RANGE(0, DAY),
	 .fallback = "60s",
	 .help = "Longest wait before a send, and never beyond the request's deadline; then 503 capacity_wait_expired."},
};
static const struct tp_section capacity = {ROWS(capacity_rows)};

static const struct tp_option health_rows[] = {
	{.key = "path", .type = TP_OPT_STRING, AT(struct tp_provider_conf, health_path), .refuse = tp_refuse_path,
	 .example = "/health",
	 .help = "Path on the provider's host (not below the url's path) that answers GET with 200 while the provider is well. "
		 "It is asked once at start (a warning when it fails) and, while a URL of the provider is blacklisted for "
		 "error answers, every 5s: a 200 ends that. Empty: it is not asked."},
};
static const struct tp_section health = {ROWS(health_rows)};

static const struct tp_option refresh_rows[] = {
	{.key = "url", .type = TP_OPT_STRING, AT(struct tp_provider_conf, refresh.url),
	 .example = "https://auth.example.com/oauth/token",
	 .help = "Where access tokens are renewed, http or https; `tls.ca` and `tls.verify` of the provider count here too. Redirects are "
		 "not followed. Empty: off."},
	{.key = "refresh_token", .type = TP_OPT_STRING, AT(struct tp_provider_conf, refresh.refresh_token), .secret = true,
	 .refuse = tp_refuse_key, .example = "\"${REFRESH_TOKEN}\"",
	 .help = "The first refresh token. One that the endpoint gave in its place (see `state_file`) is used until another one is "
		 "written here."},
	{.key = "client_id", .type = TP_OPT_STRING, AT(struct tp_provider_conf, refresh.client_id), .refuse = tp_refuse_key,
	 .example = "my-app",
	 .help = "Set: the refresh-token grant of OAuth 2 is spoken (form-encoded). Empty: `{\"refresh_token\": \"...\"}` is posted as "
		 "JSON. Both take `access_token`, `accessToken` or `token` from the answer, a new `refresh_token` if there is one, and "
		 "`expires_in` (else `exp` of a JWT)."},
	{.key = "client_secret", .type = TP_OPT_STRING, AT(struct tp_provider_conf, refresh.client_secret), .secret = true,
	 .refuse = tp_refuse_key, .help = "Sent beside client_id, for OAuth clients that have one."},
	{.key = "state_file", .type = TP_OPT_STRING, AT(struct tp_provider_conf, refresh.state_file), .refuse = tp_refuse_absolute,
	 .example = "/var/lib/turnpike/codex.json",
	 .help = "Absolute path where a new refresh token is kept (mode 0600, replaced as a whole, beside it `.new` for a moment) before "
		 "its access token is used. Its folder must be writable. Each provider needs its own."},
};
static const struct tp_section refresh = {ROWS(refresh_rows)};

static const char *const family_words[] = {"auto", "openai", "anthropic", NULL};
static const char *const key_header_words[] = {"auto",    "authorization",  "x-api-key",
					       "api-key", "x-goog-api-key", NULL};
static const char *const upgrade_words[] = {"refuse", "tunnel", NULL};
static const char *const compression_words[] = {"identity", "pass", NULL};

static const struct tp_option provider_rows[] = {
	{.key = "url", .type = TP_OPT_STRING, AT(struct tp_provider_conf, url), .required = true, .secret = true,
	 .mask = tp_mask_url,
	 .example = "https://your-codex-server.com/v1",
	 .help = "Base URL, http or https. What follows the route's path is appended. User information in it is sent as "
		 "Basic credentials and never shown."},
	{.key = "family", .type = TP_OPT_CHOICE, AT(struct tp_provider_conf, family), .choices = family_words,
	 .fallback = "auto", .help = "Dialect of key header and errors; auto: by the path of each request."},
	{.key = "keys", .type = TP_OPT_STRINGS, AT(struct tp_provider_conf, keys),
	 COUNTED(struct tp_provider_conf, n_keys), RANGE(0, TP_KEYS_MAX), .secret = true,
	 .refuse = tp_refuse_key, .fallback = "[]", .example = "[ \"${CODEX_API_KEY}\" ]",
	 .help = "Turnpike's own keys for this provider, at most 64; the client's credentials are then removed. The first "
		 "that is not left alone after a refusal is used. None: the client's own credential is passed on."},
	{.key = "key_header", .type = TP_OPT_CHOICE, AT(struct tp_provider_conf, key_header),
	 .choices = key_header_words, .fallback = "auto", .help = "Header that carries the key; auto: by family."},
	{.key = "keepalive", SECTION(keepalive), .help = "Reuse of connections."},
	{.key = "timeouts", SECTION(timeouts), .help = "How long to wait for the provider."},
	{.key = "tls", SECTION(provider_tls), .help = "For https urls."},
	{.key = "capacity", SECTION(capacity), .help = "How many requests the provider takes at once."},
	{.key = "via", .type = TP_OPT_STRINGS, AT(struct tp_provider_conf, via),
	 COUNTED(struct tp_provider_conf, n_via), RANGE(1, TP_EGRESS_MAX), .secret = true,
	 .refuse = tp_refuse_egress, .mask_each = tp_mask_egress, .fallback = "[ direct ]",
	 .example = "[ \"http://user:${PROXY_PASSWORD}@proxy.example.com:3128\", direct ]",
	 .help = "Ways out, in order of preference: `direct`, or an HTTP proxy as `http://[user:password@]host:port` (CONNECT "
		 "for https urls, plain requests for http ones). One that fails is skipped for 30s, and the next one is used for "
		 "the same send."},
	{.key = "health", SECTION(health), .help = "Asking the provider how it is."},
	{.key = "refresh", SECTION(refresh),
	 .help = "Access tokens in place of a key: got and renewed over all workers once, on a 401 or shortly before they expire. The "
		 "client's credentials are removed. With `keys` beside it the keys are used until a 401 asks for the first token."},
	{.key = "replay_safe", .type = TP_OPT_STRINGS, AT(struct tp_provider_conf, replay_safe),
	 COUNTED(struct tp_provider_conf, n_replay_safe), RANGE(0, 64), .refuse = tp_refuse_path,
	 .fallback = "[ /models, /messages/count_tokens ]",
	 .help = "Exact paths behind the route's path that may run twice without harm, beside GET, HEAD and OPTIONS."},
	{.key = "upgrade", .type = TP_OPT_CHOICE, AT(struct tp_provider_conf, upgrade_tunnel),
	 .choices = upgrade_words, .fallback = "refuse",
	 .help = "WebSocket: `refuse` answers 426, so that clients fall back to HTTP, where sends are counted; `tunnel` "
		 "passes it through as one send."},
	{.key = "compression", .type = TP_OPT_CHOICE, AT(struct tp_provider_conf, compression_pass),
	 .choices = compression_words, .fallback = "identity",
	 .help = "`identity` asks the provider for plain answers, which can be inspected; `pass` leaves the client's "
		 "Accept-Encoding."},
	{.key = "pass_credential", .type = TP_OPT_BOOL, AT(struct tp_provider_conf, pass_credential),
	 .fallback = "false",
	 .help = "Only for targets of combos that have no key: true hands them the client's credential even when the request "
		 "came in for another origin. That origin's credential is then known to this provider."},
	{.key = "retry", SECTION(retry), AT(struct tp_provider_conf, retry), .inherits = true,
	 .help = "Any key of the section `retry`, for this provider only; what is not written here is as there. A profile set here "
		 "also sets the send budget of this provider's turns, unless `budget.sends` is written."},
};
static const struct tp_section provider = {.name = "provider",
					   ROWS(provider_rows),
					   .size = sizeof(struct tp_provider_conf),
					   .name_offset = offsetof(struct tp_provider_conf, name),
					   .prepare = tp_prepare_provider,
					   .check = tp_check_provider,
					   .release = tp_release_provider};

/* ---- routes */

static const struct tp_option route_rows[] = {
	{.key = "path", .type = TP_OPT_STRING, AT(struct tp_route_conf, path), .required = true, .example = "/v1",
	 .refuse = tp_refuse_path,
	 .help = "Requests below this path; the longest that matches wins. It is cut off, the rest goes behind the url."},
	{.key = "models", .type = TP_OPT_STRINGS, AT(struct tp_route_conf, models),
	 COUNTED(struct tp_route_conf, n_models), RANGE(0, 64), .fallback = "[]", .example = "[ \"claude-*\" ]",
	 .help = "Only requests for these models, `*` stands for any text. Of several routes with one path the first whose models match "
		 "wins; one without models matches all. A request that names no model takes the first without models, else the "
		 "first."},
	{.key = "provider", .type = TP_OPT_PROVIDER, AT(struct tp_route_conf, provider), .required = true,
	 .example = "codex", .help = "Name of a provider."},
};
static const struct tp_section route = {.name = "route", ROWS(route_rows), .size = sizeof(struct tp_route_conf)};

/* ---- combos */

static const struct tp_option target_rows[] = {
	{.key = "provider", .type = TP_OPT_PROVIDER, AT(struct tp_target_conf, provider), .required = true,
	 .example = "codex", .help = "Name of a provider."},
	{.key = "model", .type = TP_OPT_STRING, AT(struct tp_target_conf, model), .required = true, .example = "gpt-5",
	 .refuse = tp_refuse_model, .help = "The model it is asked for, always as it is written here: combos name no combos."},
	{.key = "weight", .type = TP_OPT_COUNT, AT(struct tp_target_conf, weight), RANGE(1, 100), .fallback = "1",
	 .help = "Its share under `round_robin` and `random`: with 3 and 1 it is the first of three turns in four."},
};
static const struct tp_section target = {.name = "target", ROWS(target_rows), .size = sizeof(struct tp_target_conf)};

static const char *const strategy_words[] = {"failover", "round_robin", "random", "least_busy", NULL};

static const struct tp_option combo_rows[] = {
	{.key = "strategy", .type = TP_OPT_CHOICE, AT(struct tp_combo_conf, strategy), .choices = strategy_words,
	 .fallback = "failover",
	 .help = "Whom a request asks first: `failover` = the first of `targets`; `round_robin` = one after the other by "
		 "weight, counted over all workers; `random` = by weight; `least_busy` = the one with the fewest sends in "
		 "progress over all workers. The others follow when it declines or is passed over."},
	{.key = "targets", .type = TP_OPT_LIST, AT(struct tp_combo_conf, targets),
	 COUNTED(struct tp_combo_conf, n_targets), .inner = &target, RANGE(1, TP_TARGETS_MAX), .required = true,
	 .help = "Who is asked, in the order that `strategy` says; the next one when one declines or cannot be reached, none twice "
		 "for one request."},
	{.key = "sends_per_target", .type = TP_OPT_COUNT, AT(struct tp_combo_conf, sends_per_target), RANGE(1, 100),
	 .fallback = "2",
	 .help = "Most sends to one target after transient failures, as long as there are others left."},
	{.key = "cooldown", .type = TP_OPT_DURATION, AT(struct tp_combo_conf, cooldown_ms), RANGE(0, DAY),
	 .fallback = "60s", .help = "How long a target that failed is passed over, where its provider told no time."},
	{.key = "wait_for_cooldown", .type = TP_OPT_DURATION, AT(struct tp_combo_conf, wait_for_cooldown_ms),
	 RANGE(0, HOUR), .fallback = "0s",
	 .help = "How long a request waits when every target is passed over, before it is answered 503 `combo_unavailable`."},
};
static const struct tp_section combo = {.name = "combo",
					ROWS(combo_rows),
					.size = sizeof(struct tp_combo_conf),
					.name_offset = offsetof(struct tp_combo_conf, name),
					.check = tp_check_combo};

/* ---- single sections */

static const struct tp_option budget_rows[] = {
	{.key = "sends", .type = TP_OPT_COUNT, AT(struct tp_config, budget.sends), RANGE(0, 100), .fallback = "4",
	 .profile_key = TP_PROFILE_BUDGET_SENDS, .written = tp_written_budget,
	 .help = "Most sends for one logical request: retries and the client's own re-sends all count. 0 sends nothing."},
	{.key = "reserve", .type = TP_OPT_COUNT, AT(struct tp_config, budget.reserve), RANGE(0, 100),
	 .fallback = "1", .help = "How many of them only follow a refusal of the provider (nothing ran)."},
	{.key = "ttl", .type = TP_OPT_DURATION, AT(struct tp_config, budget.ttl_ms), RANGE(0, DAY),
	 .fallback = "10m", .help = "How long a request with an id is remembered after its last send."},
	{.key = "rejoin", .type = TP_OPT_DURATION, AT(struct tp_config, budget.rejoin_ms), RANGE(0, DAY),
	 .fallback = "120s", .help = "How long the same body without an id counts as a re-send of one that ended badly."},
	{.key = "identify", .type = TP_OPT_STRINGS, AT(struct tp_config, budget.identify),
	 COUNTED(struct tp_config, budget.n_identify), RANGE(0, 16), .refuse = tp_refuse_header,
	 .fallback = "[ idempotency-key, x-codex-request-id ]",
	 .help = "Headers that name a logical request, in order, beside x-turnpike-logical-id."},
};
static const struct tp_section budget = {ROWS(budget_rows), .check = tp_check_budget};

static const struct tp_option blacklist_rows[] = {
	{.key = "failures", .type = TP_OPT_COUNT, AT(struct tp_config, blacklist.failures), RANGE(0, 1000000),
	 .fallback = "10",
	 .help = "More consecutive failures than this blacklist a URL: connection failures, broken connections, silence, 5xx. "
		 "429, other 4xx and clients that leave do not count; a success starts anew."},
	{.key = "window", .type = TP_OPT_DURATION, AT(struct tp_config, blacklist.window_ms), RANGE(1, DAY),
	 .fallback = "5m", .help = "They have to lie within this time."},
	{.key = "duration", .type = TP_OPT_DURATION, AT(struct tp_config, blacklist.duration_ms), RANGE(1, DAY),
	 .fallback = "10m",
	 .help = "How long a URL gets no requests before one is let through as a probe; doubled by each that fails, up to 1h. "
		 "Where there is no other target probes pass after 15s, 30s, 60s ... up to this."},
};
static const struct tp_section blacklist = {ROWS(blacklist_rows)};

static const struct tp_option hold_rows[] = {
	{.key = "body", .type = TP_OPT_SIZE, AT(struct tp_config, hold.body_bytes), RANGE(0, 16 * MIB),
	 .fallback = "64KiB", .help = "A JSON answer is held back until complete, up to this size."},
	{.key = "bytes", .type = TP_OPT_SIZE, AT(struct tp_config, hold.total_bytes), RANGE(0, 64 * MIB),
	 .fallback = "512KiB", .help = "A stream is held back until its first output, up to this size."},
	{.key = "time", .type = TP_OPT_DURATION, AT(struct tp_config, hold.time_ms), RANGE(0, HOUR),
	 .fallback = "10s", .help = "Longest time either is held back, from the head of the answer."},
};
static const struct tp_section hold = {ROWS(hold_rows)};

static const struct tp_option limits_rows[] = {
	{.key = "header", .type = TP_OPT_SIZE, AT(struct tp_config, limits.header), RANGE(256, MIB),
	 .fallback = "64KiB", .help = "Request line and headers. Above: 431. Heads that arrive in pieces get 64 MiB together, per worker; then "
		 "they are cut off."},
	{.key = "body", .type = TP_OPT_SIZE, AT(struct tp_config, limits.body), RANGE(0, 1024 * GIB),
	 .fallback = "256MiB", .help = "Request body. Above: 413."},
	{.key = "replay_body", .type = TP_OPT_SIZE, AT(struct tp_config, limits.replay_body), RANGE(0, 4 * GIB),
	 .fallback = "64MiB", .help = "Largest body kept in memory to be sent again; a larger one streams through once."},
	{.key = "replay_total", .type = TP_OPT_SIZE, AT(struct tp_config, limits.replay_total), RANGE(0, 1024 * GIB),
	 .fallback = "512MiB", .help = "All kept bodies together, per worker."},
	{.key = "connections", .type = TP_OPT_COUNT, AT(struct tp_config, limits.connections), RANGE(0, 1000000),
	 .fallback = "0", .help = "Client connections per worker. 0 = as many as descriptors allow."},
	{.key = "client_idle", .type = TP_OPT_DURATION, AT(struct tp_config, limits.client_idle_ms),
	 RANGE(1, DAY), .fallback = "75s", .help = "Idle keep-alive connections of clients are closed after this."},
	{.key = "client_header", .type = TP_OPT_DURATION, AT(struct tp_config, limits.client_header_ms),
	 RANGE(1, HOUR), .fallback = "30s", .help = "Longest time for a request head."},
	{.key = "client_body", .type = TP_OPT_DURATION, AT(struct tp_config, limits.client_body_ms),
	 RANGE(1, HOUR), .fallback = "60s", 
	 .help = "Longest time in which less than 16 KiB of a request body arrives, or less than a sixteenth of what is here already "
		 "(at most 1 MiB): silence, or a trickle."},
	{.key = "slow_reader", .type = TP_OPT_DURATION, AT(struct tp_config, limits.slow_reader_ms),
	 RANGE(1, HOUR), .fallback = "60s", .help = "Longest time in which a client takes nothing of its answer."},
};
static const struct tp_section limits = {ROWS(limits_rows)};

static const struct tp_option state_rows[] = {
	{.key = "name", .type = TP_OPT_STRING, AT(struct tp_config, state.name), .restart = true,
	 .refuse = tp_refuse_state_name, .fallback = "/turnpike",
	 .help = "Name of the shared memory. Two instances on one machine need two names."},
	{.key = "logical_requests", .type = TP_OPT_COUNT, AT(struct tp_config, state.logical_requests),
	 RANGE(16, 16 * 1024 * 1024), .restart = true, .fallback = "65536",
	 .help = "Logical requests remembered at the same time. The memory is reserved at start."},
	{.key = "urls", .type = TP_OPT_COUNT, AT(struct tp_config, state.urls), RANGE(16, 1024 * 1024), .restart = true,
	 .fallback = "4096",
	 .help = "URLs whose failures are remembered for the blacklist. A full table forgets the oldest."},
};
static const struct tp_section state = {ROWS(state_rows)};

static const char *const level_words[] = {"error", "warn", "info", "debug", NULL};
static const char *const format_words[] = {"text", "json", NULL};

static const struct tp_option log_rows[] = {
	{.key = "level", .type = TP_OPT_CHOICE, AT(struct tp_config, log.level), .choices = level_words,
	 .fallback = "info", .help = "Least important lines that are written."},
	{.key = "format", .type = TP_OPT_CHOICE, AT(struct tp_config, log.format), .choices = format_words,
	 .fallback = "text", .help = "A line for people, or a JSON object per line."},
	{.key = "output", .type = TP_OPT_STRING, AT(struct tp_config, log.output), .refuse = tp_refuse_log_output,
	 .fallback = "stderr",
	 .help = "`stderr`, `syslog`, or an absolute path, which is opened anew on USR1. Where it is journald that reads "
		 "standard error, it is told the levels."},
};
static const struct tp_section log_section = {ROWS(log_rows)};

static const char *const access_words[] = {"json", "combined", NULL};

static const struct tp_option access_log_rows[] = {
	{.key = "output", .type = TP_OPT_STRING, AT(struct tp_config, access_log.output),
	 .refuse = tp_refuse_access_output, .fallback = "off",
	 .help = "`off`, `stderr`, or an absolute path, which is opened anew on USR1."},
	{.key = "format", .type = TP_OPT_CHOICE, AT(struct tp_config, access_log.format), .choices = access_words,
	 .fallback = "json", .help = "A JSON object per line, or Apache's combined format."},
};
static const struct tp_section access_log_section = {ROWS(access_log_rows)};

static const char *const bodies_words[] = {"shape", "full", NULL};

static const struct tp_option snapshots_rows[] = {
	{.key = "directory", .type = TP_OPT_STRING, AT(struct tp_config, snapshots.directory), .refuse = tp_refuse_absolute,
	 .restart = true, .example = "/var/lib/turnpike/snapshots",
	 .help = "Absolute path of a folder that exists. Empty: none are written."},
	{.key = "keep", .type = TP_OPT_COUNT, AT(struct tp_config, snapshots.keep), RANGE(1, 10000), .restart = true,
	 .fallback = "100", .help = "Files that stay; the oldest are removed."},
	{.key = "bodies", .type = TP_OPT_CHOICE, AT(struct tp_config, snapshots.full), .choices = bodies_words,
	 .fallback = "shape",
	 .help = "`shape` keeps keys, numbers, the model, and the length of other strings; `full` keeps what people wrote, "
		 "without the credentials."},
};
static const struct tp_section snapshots_section = {ROWS(snapshots_rows)};

static const struct tp_option alerts_rows[] = {
	{.key = "command", .type = TP_OPT_STRINGS, AT(struct tp_config, alerts.command),
	 COUNTED(struct tp_config, alerts.n_command), RANGE(0, 64), .may_repeat = true, .fallback = "[]",
	 .example = "[ /usr/local/bin/tell-operators, --from, turnpike ]",
	 .help = "Program and arguments, run by the master without a shell for each alert, with the alert as JSON on its "
		 "standard input; killed after 30s. At most once a minute for each kind. Anybody can read arguments: a "
		 "secret belongs into a file or a variable that the program reads."},
};
static const struct tp_section alerts = {ROWS(alerts_rows)};

static const struct tp_option shutdown_rows[] = {
	{.key = "drain", .type = TP_OPT_DURATION, AT(struct tp_config, drain_ms), RANGE(0, DAY), .fallback = "10m",
	 .help = "How long running turns may go on after TERM."},
};
static const struct tp_section shutdown_section = {ROWS(shutdown_rows)};

/* ---- the file: retry (its profile) before budget, both before providers, which start from them; providers before
 * routes, which name them */

static const struct tp_option root_rows[] = {
	{.key = "workers", .type = TP_OPT_WORKERS, AT(struct tp_config, workers), RANGE(1, 256), .fallback = "auto",
	 .help = "Worker processes: a number, or auto = CPUs."},
	{.key = "listen", .type = TP_OPT_LIST, AT(struct tp_config, listeners), COUNTED(struct tp_config, n_listeners),
	 .inner = &listener, .one_or_list = true, RANGE(1, 64), .fallback = "127.0.0.1:8080",
	 .help = "Where clients connect: an address, a mapping, or a list of them."},
	{.key = "admin", SECTION(admin), .help = "Numbers and operations, for people and monitoring."},
	{.key = "clients", .type = TP_OPT_LIST, AT(struct tp_config, clients), COUNTED(struct tp_config, n_clients),
	 .inner = &client, RANGE(0, 4096), .fallback = "[]",
	 .help = "Who may connect. With none, only loopback and unix listeners are allowed (unless `allow_anonymous`), and "
		 "Host and Origin are checked, so that web pages cannot use the proxy."},
	{.key = "allow_anonymous", .type = TP_OPT_BOOL, AT(struct tp_config, allow_anonymous), .fallback = "false",
	 .help = "true lets everybody who reaches a listener use it, also from other machines."},
	{.key = "hosts", .type = TP_OPT_STRINGS, AT(struct tp_config, hosts), COUNTED(struct tp_config, n_hosts),
	 RANGE(0, 256), .refuse = tp_refuse_host, .fallback = "[]", .example = "[ proxy.example.com ]",
	 .help = "Host names, without port, allowed beside the loopback ones while there are no `clients`."},
	{.key = "origins", .type = TP_OPT_STRINGS, AT(struct tp_config, origins), COUNTED(struct tp_config, n_origins),
	 RANGE(0, 256), .refuse = tp_refuse_origin, .fallback = "[]", .example = "[ \"http://localhost:3000\" ]",
	 .help = "Origins of web pages that may use the proxy while there are no `clients`."},
	{.key = "retry", SECTION(retry), AT(struct tp_config, retry), .help = "When and how often to send again."},
	{.key = "budget", SECTION(budget), .help = "The send budget of one logical request."},
	{.key = "providers", .type = TP_OPT_MAP, AT(struct tp_config, providers),
	 COUNTED(struct tp_config, n_providers), .inner = &provider, RANGE(0, 256), .required = true, .example = "codex",
	 .help = "Where requests go, each under a name of its own. `{}`: none yet; every request is answered 503."},
	{.key = "routes", .type = TP_OPT_LIST, AT(struct tp_config, routes), COUNTED(struct tp_config, n_routes),
	 .inner = &route, RANGE(0, 1024), .fallback = "[]",
	 .help = "Which provider serves which path. With none: /v1 and / go to the only provider; with several providers "
		 "routes are needed."},
	{.key = "combos", .type = TP_OPT_MAP, AT(struct tp_config, combos), COUNTED(struct tp_config, n_combos),
	 .inner = &combo, RANGE(0, 256), .fallback = "{}", .example = "coder",
	 .help = "Virtual models, asked for as `NAME` or `combo/NAME` on any route: several targets behind one name."},
	{.key = "blacklist", SECTION(blacklist), .help = "When a URL that fails is left alone for a while."},
	{.key = "hold", SECTION(hold), .help = "How much of an answer is held back before it is committed."},
	{.key = "limits", SECTION(limits), .help = "Bounds for clients."},
	{.key = "state", SECTION(state), .help = "The table in shared memory."},
	{.key = "stats_file", .type = TP_OPT_STRING, AT(struct tp_config, stats_file), .refuse = tp_refuse_absolute,
	 .example = "/var/lib/turnpike/retry_stats.json",
	 .help = "Absolute path of a JSON file with all numbers, as `turnpike stats --json` prints them, written anew "
		 "every 10s and at the end. Empty: none."},
	{.key = "log", SECTION(log_section), .help = "The log."},
	{.key = "access_log", SECTION(access_log_section), .help = "A line for each request."},
	{.key = "snapshots", SECTION(snapshots_section),
	 .help = "A JSON file (mode 0600) for each turn that failed: its request, its sends and what they were answered."},
	{.key = "alerts", SECTION(alerts), .help = "Telling people: a gateway that drowns, a model that is dead, a worker that died."},
	{.key = "shutdown", SECTION(shutdown_section), .help = "The end."},
	{.key = "pid_file", .type = TP_OPT_STRING, AT(struct tp_config, pid_file), .refuse = tp_refuse_absolute,
	 .restart = true, .example = "/run/turnpike/turnpike.pid",
	 .help = "Absolute path of a file that holds the master's pid. Empty: none."},
};
const struct tp_section tp_config_root = {ROWS(root_rows), .check = tp_check_config};
