#include "server/snapshot_writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/shm/marks.h"
#include "workers/worker.h"

enum {
	IDLE_MS = 1000,
	TELL_EVERY_MS = 60 * 1000, /* as long as none can be written ... */
	TELL_ANEW_MS = 5 * 1000,   /* ... and when that begins, which may be again and again */
	TRIAL_MS = 30 * 1000       /* more than the first second of a new master (TRUST_MS in master.c) */
};

#define PREFIX    "turnpike-"
#define SUFFIX    ".json"
#define TEMPORARY ".turnpike-snapshot.new"

struct message {
	struct tp_snapshot_head head;
	char text[TP_SNAPSHOT_TEXT_MAX];
};

struct writer {
	const struct tp_config *config;
	struct tp_region *region;
	int fd;
	char **names; /* files that are there, a ring; NULL = free */
	size_t keep, first, n;
	bool told;              /* that they cannot be written at present */
	uint64_t losses_told;   /* lines of the log */
	uint64_t trial_ends_ms; /* 0 = there is none */
	struct message message;
};

/* ---- which files there are: the oldest goes when there are `keep` */

static bool is_name(const char *name)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
	size_t n = strlen(name), suffix = sizeof SUFFIX - 1;
	return strncmp(name, PREFIX, sizeof PREFIX - 1) == 0 && n > suffix &&
	       strcmp(name + n - suffix, SUFFIX) == 0 && strspn(name, good) == n;
}

static void remove_oldest(struct writer *w, int directory)
{
	char *name = w->names[w->first];
	(void)unlinkat(directory, name, 0);
	free(name);
	w->names[w->first] = NULL;
	w->first = (w->first + 1) % w->keep;
	w->n--;
}

static void make_room(struct writer *w, int directory)
{
	if (w->n == w->keep)
		remove_oldest(w, directory);
}

/* There is room for it. */
static void remember(struct writer *w, const char *name)
{
	char *copy = strdup(name);
	if (copy == NULL)
		return; /* then it stays until the next start */
	w->names[(w->first + w->n++) % w->keep] = copy;
}

static int ours(const struct dirent *entry)
{
	return is_name(entry->d_name);
}

/* Names begin with the time: in the order of the alphabet they are in the order of their age. */
static void find_files(struct writer *w)
{
	const char *path = w->config->snapshots.directory;
	struct dirent **found = NULL;
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int n = directory >= 0 ? scandir(path, &found, ours, alphasort) : -1;
	if (n < 0)
		tp_warn("snapshots.directory %s cannot be read: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		make_room(w, directory);
		remember(w, found[i]->d_name);
		free(found[i]);
	}
	free(found);
	if (directory >= 0)
		(void)close(directory);
}

/* ---- a file */

/* Under its name only when it is whole; the oldest goes before that, so that there are never more than
 * `keep`. The errno of what went wrong, or 0. */
static int write_file(struct writer *w, int directory, size_t n)
{
	const char *text = w->message.text, *name = w->message.head.name;
	int fd = openat(directory, TEMPORARY, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	int error = 0;
	for (size_t at = 0; at < n && error == 0;) {
		ssize_t put = write(fd, text + at, n - at);
		if (put > 0)
			at += (size_t)put;
		else if (put == 0 || errno != EINTR)
			error = put == 0 ? EIO : errno;
	}
	if (close(fd) != 0 && error == 0)
		error = errno;
	if (error == 0)
		make_room(w, directory);
	if (error == 0 && renameat(directory, TEMPORARY, directory, name) != 0)
		error = errno;
	if (error != 0)
		(void)unlinkat(directory, TEMPORARY, 0);
	return error;
}

static void take_file(struct writer *w, size_t n)
{
	const char *path = w->config->snapshots.directory;
	w->message.head.name[sizeof w->message.head.name - 1] = '\0';
	if (!is_name(w->message.head.name))
		return; /* a worker may be damaged */
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int error = directory < 0 ? errno : write_file(w, directory, n);
	if (error == 0) {
		remember(w, w->message.head.name);
		(void)tp_number_add(w->region, TP_NUMBER_SNAPSHOTS, 1);
		if (w->told)
			tp_info("snapshots are written to %s again", path);
		w->told = false;
	} else {
		(void)tp_number_add(w->region, TP_NUMBER_SNAPSHOTS_LOST, 1);
		if (tp_log_flush() &&
		    tp_mark_due(w->region, TP_MARK_SNAPSHOT, w->told ? TELL_EVERY_MS : TELL_ANEW_MS,
				tp_clock_boot_ms())) {
			tp_warn("a snapshot could not be written to %s: %s", path, strerror(error));
			w->told = true;
		}
	}
	if (directory >= 0)
		(void)close(directory);
}

/* ---- life */

/* False: nobody is left who could send. */
static bool take_message(struct writer *w)
{
	ssize_t n = recv(w->fd, &w->message, sizeof w->message, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n >= (ssize_t)sizeof w->message.head && w->message.head.what == TP_SNAPSHOT_FILE)
		take_file(w, (size_t)n - sizeof w->message.head);
	else if (n >= (ssize_t)sizeof w->message.head && w->message.head.what == TP_SNAPSHOT_REOPEN)
		(void)tp_log_reopen(); /* the master tells when it cannot be opened */
	return n > 0;
}

static void end_trial(struct writer *w)
{
	if (w->trial_ends_ms == 0 || tp_clock_boot_ms() < w->trial_ends_ms)
		return;
	(void)prctl(PR_SET_PDEATHSIG, 0);
	w->trial_ends_ms = 0;
}

void tp_snapshot_writer_main(const struct tp_config *config, struct tp_region *region, int fd, bool on_trial)
{
	struct writer *w = calloc(1, sizeof *w);
	if (w == NULL || (w->names = calloc(config->snapshots.keep, sizeof *w->names)) == NULL) {
		tp_error("snapshots: out of memory");
		free(w);
		return;
	}
	w->config = config;
	w->region = region;
	w->fd = fd;
	w->keep = config->snapshots.keep;
	w->losses_told = tp_log_dropped();
	w->trial_ends_ms = on_trial ? tp_clock_boot_ms() + TRIAL_MS : 0;
	find_files(w);
	for (bool more = true; more;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		(void)poll(&p, 1, IDLE_MS);
		end_trial(w);
		more = take_message(w);
		(void)tp_log_flush();
		tp_number_tell(region, TP_NUMBER_LOG_LOST, tp_log_dropped(), &w->losses_told);
	}
	while (w->n > 0) {
		free(w->names[w->first]);
		w->first = (w->first + 1) % w->keep;
		w->n--;
	}
	free(w->names);
	free(w);
}
