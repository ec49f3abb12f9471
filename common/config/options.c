/* The rows of the option table, from the file downwards. Order = order of the sample, and of filling: what
 * others build on comes first. */
#include "common/config/option_rows.h"

/* Rows read best with their fields side by side. */
/* clang-format off */

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
	 .fallback = "0", .help = "Client connections per worker. 0 = as many as fit into three quarters of its descriptors (RLIMIT_NOFILE), "
		 "which no number exceeds: the rest is for providers."},
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
	 .inner = &tp_config_listener, .one_or_list = true, RANGE(1, 64), .fallback = "127.0.0.1:8080",
	 .help = "Where clients connect: an address, a mapping, or a list of them."},
	{.key = "admin", SECTION(tp_config_admin), .help = "Numbers and operations, for people and monitoring."},
	{.key = "clients", .type = TP_OPT_LIST, AT(struct tp_config, clients), COUNTED(struct tp_config, n_clients),
	 .inner = &tp_config_client, RANGE(0, 4096), .fallback = "[]",
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
	{.key = "retry", SECTION(tp_config_retry), AT(struct tp_config, retry), .help = "When and how often to send again."},
	{.key = "budget", SECTION(budget), .help = "The send budget of one logical request."},
	{.key = "providers", .type = TP_OPT_MAP, AT(struct tp_config, providers),
	 COUNTED(struct tp_config, n_providers), .inner = &tp_config_provider, RANGE(0, 256), .required = true, .example = "codex",
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
