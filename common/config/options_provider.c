/* Rows of the option table: a provider. */
#include "common/config/option_rows.h"

/* Rows read best with their fields side by side. */
/* clang-format off */

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
	 .help = "PEM file with what to trust (authorities, intermediates, or the provider's certificate itself) and revocation lists "
		 "if any. Empty: the authorities of the system."},
	{.key = "server_name", .type = TP_OPT_STRING, AT(struct tp_provider_conf, tls.server_name),
	 .refuse = tp_refuse_host, .help = "Name to ask for and to verify, among the alternative names of the certificate. Empty: the host of the url."},
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
	{.key = "retry", SECTION(tp_config_retry), AT(struct tp_provider_conf, retry), .inherits = true,
	 .help = "Any key of the section `retry`, for this provider only; what is not written here is as there. A profile set here "
		 "also sets the send budget of this provider's turns, unless `budget.sends` is written."},
};
const struct tp_section tp_config_provider = {.name = "provider",
					   ROWS(provider_rows),
					   .size = sizeof(struct tp_provider_conf),
					   .name_offset = offsetof(struct tp_provider_conf, name),
					   .prepare = tp_prepare_provider,
					   .check = tp_check_provider,
					   .release = tp_release_provider};
