/* Rows of the option table: when and how often a request is sent again. */
#include "common/config/option_rows.h"

/* Rows read best with their fields side by side. */
/* clang-format off */

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
const struct tp_section tp_config_retry = {ROWS(retry_rows), .check = tp_check_retry};
