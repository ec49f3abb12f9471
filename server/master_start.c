/* How a master comes up: the log, signals, lock, table, sockets and helpers, until the first worker can be
 * forked. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/sink.h"
#include "common/base/ticket_keys.h"
#include "common/shm/marks.h"
#include "server/fdlimit.h"
#include "server/instance.h"
#include "server/master_parts.h"
#include "server/pidfile.h"

static bool open_log(const struct tp_config *config)
{
	tp_log_set_role("master");
	int error = tp_log_open(config->log.level, config->log.format, config->log.output);
	if (error != 0)
		tp_error("cannot open the log %s: %s", config->log.output, tp_sink_error(-error));
	tp_log_copy_errors(true); /* until it is ready */
	return error == 0;
}

/* The workers write it; that it can be written is found out before there are any. */
static bool try_access_log(const struct tp_config *config)
{
	const char *output = config->access_log.output;
	struct tp_sink sink = TP_SINK_STDERR;
	if (output[0] != '/')
		return true;
	int error = tp_sink_open(&sink, output);
	tp_sink_close(&sink);
	if (error != 0)
		tp_error("cannot open the access log %s: %s", output, tp_sink_error(-error));
	return error == 0;
}

/* All are taken through a descriptor; those that end a process by default must not, whatever their use. */
static bool take_signals(struct master *m)
{
	static const int taken[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};
	sigset_t set;
	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
		(void)sigaddset(&set, taken[i]);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGCHLD, SIG_DFL); /* inherited as ignored, no child could be waited for */
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	m->fds.signal = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (m->fds.signal < 0)
		tp_error("cannot take signals: %s", strerror(errno));
	return m->fds.signal >= 0;
}

static bool take_instance(struct master *m)
{
	struct tp_buf why = {0};
	if (tp_succession_pending(m))
		return tp_succession_lock(m);
	int error = tp_instance_lock(m->config->state.name, &why, &m->fds.lock);
	if (error != 0)
		tp_error("%s", tp_buf_reason(&why));
	tp_buf_free(&why);
	return error == 0;
}

bool tp_master_open_table(struct master *m, bool fresh)
{
	const char *name = m->config->state.name;
	struct tp_region_sizes sizes = {.logical_requests = m->config->state.logical_requests,
					.urls = m->config->state.urls};
	enum tp_region_result result;
	struct tp_buf why = {0};
	int error = tp_succession_pending(m) ? tp_succession_open_table(m, sizes, &why, &result)
					     : tp_region_open(name, sizes, fresh, &why, &m->region, &result);
	/* `why` is a whole sentence; empty only where there was no memory for it. */
	const char *reason = why.len > 0 ? tp_buf_cstr(&why) : NULL;
	if (error != 0)
		tp_error("%s", reason != NULL ? reason : strerror(-error));
	else if (result == TP_REGION_REPLACED)
		tp_log(fresh ? TP_LOG_INFO : TP_LOG_WARN, "%s",
		       reason != NULL ? reason : "a fresh shared table");
	else
		tp_info("shared table %s: %s", name,
			result == TP_REGION_ATTACHED ? "goes on from an earlier start" : "created");
	tp_buf_free(&why);
	if (error != 0)
		return false;
	m->fresh_table = result != TP_REGION_ATTACHED;
	if (tp_succession_pending(m))
		return true;
	tp_number_set(m->region, TP_NUMBER_STARTED_MS, tp_clock_boot_ms());
	tp_number_set(m->region, TP_NUMBER_CONFIG_GENERATION, m->config->generation);
	return true;
}

static bool take_places(struct master *m)
{
	const bool *foreign = tp_succession_pending(m) ? m->succession.from->taken : NULL;
	return tp_places_take(&m->places, m->region, m->config->workers, foreign);
}

static bool open_listeners(struct master *m)
{
	struct tp_buf why = {0};
	int error = tp_succession_pending(m)
			    ? tp_succession_open_listeners(m, &why)
			    : tp_listeners_open(m->config->listeners, m->config->n_listeners, m->places.slots,
						m->places.n, &m->listeners, &why);
	if (error != 0)
		tp_error("%s", tp_buf_reason(&why));
	tp_buf_free(&why);
	return error == 0;
}

static bool open_admin(struct master *m)
{
	const struct tp_admin_setup setup = {
		.config = m->config,
		.file = tp_load_file(m->load),
		.region = m->region,
		.slots = m->places.slots,
		.n_slots = m->places.n,
		.fds = &m->fds,
		.public_sockets = &m->listeners,
		.inherited = tp_succession_pending(m) ? &m->succession.from->admin : NULL,
	};
	struct tp_buf why = {0};
	int error = tp_admin_open(&setup, &why, &m->admin);
	if (error != 0)
		tp_error("admin: %s", tp_buf_reason(&why));
	tp_buf_free(&why);
	return error == 0;
}

static bool open_snapshots(struct master *m)
{
	struct tp_snapshots_setup setup = {
		.config = m->config,
		.region = m->region,
		.fds = &m->fds,
		.admin = m->admin,
		.public_sockets = &m->listeners,
		.inherited = {-1, -1},
	};
	if (tp_succession_pending(m) && m->config->snapshots.directory != NULL) {
		int *ends = m->succession.from->snapshot_fds;
		memcpy(setup.inherited, ends, sizeof setup.inherited);
		ends[0] = ends[1] = -1;
	}
	int error = tp_snapshots_open(&setup, &m->snapshots);
	if (error != 0)
		tp_error("snapshots: %s", strerror(-error));
	return error == 0;
}

static bool write_pid_file(const struct master *m)
{
	const char *path = m->config->pid_file;
	if (path == NULL || tp_succession_pending(m))
		return true;
	int error = tp_pidfile_write(path);
	if (error != 0)
		tp_error("cannot write the pid file %s: %s", path, strerror(-error));
	return error == 0;
}

static int open_wake_fds(struct master *m)
{
	if (!tp_succession_pending(m))
		return tp_wake_open(m->wake_fds);
	/* The same ones: workers of both masters wait at the same gates. */
	memcpy(m->wake_fds, m->succession.from->wake_fds, sizeof m->wake_fds);
	for (int i = 0; i < TP_WAKE_FDS; i++)
		m->succession.from->wake_fds[i] = -1;
	return 0;
}

static bool make_supervisor(struct master *m)
{
	int error = open_wake_fds(m);
	if (error != 0) {
		tp_error("cannot make eventfds: %s", strerror(-error));
		return false;
	}
	struct tp_spawn spawn = {
		.config = m->config,
		.region = m->region,
		.listeners = &m->listeners,
		.slots = m->places.slots,
		.n_slots = m->places.n,
		.fds = &m->fds,
		.admin = m->admin,
		.snapshots = m->snapshots,
		.alerts = &m->alerts,
		.load = m->load,
		.wake_fds = m->wake_fds,
		.leaving = &m->succession.leaving,
	};
	m->alerts = (struct tp_alerts){.config = m->config, .region = m->region};
	m->supervisor = tp_supervisor_new(&spawn, m->fresh_table);
	if (m->supervisor == NULL)
		tp_error("out of memory");
	return m->supervisor != NULL;
}

bool tp_master_start_up(struct master *m, bool fresh_state)
{
	(void)umask(027);
	(void)signal(SIGXFSZ, SIG_IGN); /* a log that may not grow costs lines, not the process */
	if (!open_log(m->config) || !try_access_log(m->config))
		return false;
	if (geteuid() == 0)
		tp_warn("running as root; a user of its own is safer (User= in a unit)");
	if (m->config->n_providers == 0)
		tp_warn("no provider configured: every request is answered 503 until there is one in "
			"`providers`");
	tp_fdlimit_raise();
	if (!tp_ticket_keys_begin(tp_clock_boot_ms())) {
		tp_error("the system gives no random bytes");
		return false;
	}
	return take_signals(m) && tp_succession_begin(m) && take_instance(m) &&
	       tp_master_open_table(m, fresh_state) && take_places(m) && open_listeners(m) && open_admin(m) &&
	       open_snapshots(m) && write_pid_file(m) && make_supervisor(m);
}
