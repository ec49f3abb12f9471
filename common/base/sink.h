/*
 * Where whole lines go: standard error, a file, or the system's log; the one writer of log and access log.
 * Writing never waits for a reader: what is not taken at once waits in a bounded buffer for the next line or
 * tp_sink_flush(); a line that does not fit there either is dropped and counted.  (A write to a regular file
 * waits for the page cache alone; a disk that fails or is full costs lines, no time.)  A file or daemon that
 * is away is looked for once a second, while there are lines.
 *
 * Several processes write to one place: a line is at most TP_SINK_LINE_MAX bytes, which a pipe takes as one
 * piece, and files are appended to.
 */
#ifndef TP_BASE_SINK_H
#define TP_BASE_SINK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/buf.h"

enum { TP_SINK_LINE_MAX = PIPE_BUF };

/* How to write without waiting depends on what is there. */
enum tp_sink_kind {
	TP_SINK_UNKNOWN, /* nothing was written yet */
	TP_SINK_FILE,    /* a regular file: never waits for a reader */
	TP_SINK_OWN,     /* a pipe or terminal, opened anew with O_NONBLOCK of our own */
	TP_SINK_SOCKET,  /* journald: MSG_DONTWAIT */
	TP_SINK_SHARED,  /* anything else: asked with poll() before each line */
	TP_SINK_SYSLOG,  /* a datagram for each line, without its end */
};

/* Begins as TP_SINK_STDERR; the members are the sink's. One that was opened is closed with tp_sink_close().
 */
struct tp_sink {
	enum tp_sink_kind kind;
	int fd;                /* -1: none (syslog that is away) */
	bool own;              /* fd is ours to close: not standard error */
	bool torn;             /* the last line in the file may have no end */
	char *path;            /* owned; of the file or socket; NULL = standard error */
	uint64_t lost;         /* lines, since the process began */
	int why;               /* errno of the latest loss; EAGAIN: the reader is too slow */
	uint64_t tried;        /* when what is away was looked for last, ms */
	struct tp_buf pending; /* whole lines that were not taken yet */
	pid_t pid;             /* whose lines these are: a fork must not write its parent's again */
};
#define TP_SINK_STDERR ((struct tp_sink){.fd = 2})

/*
 * Goes over to standard error (path NULL), or a file opened for append (made with mode 0640), after what
 * waits was written where it belongs as far as it is taken.  0, or -errno: then all stays as it was.
 */
int tp_sink_open(struct tp_sink *s, const char *path);
/* A file that cannot be opened now, for this errno: lines are lost until it can. Without memory for the path
 * for good. */
void tp_sink_absent(struct tp_sink *s, const char *path, int why);
/* The same to a syslog daemon's datagram socket ("/dev/log"). One that is not there is asked for again while
 * lines come. -ENOMEM at worst. */
int tp_sink_open_syslog(struct tp_sink *s, const char *path);
/* Opens the same path anew: after somebody has renamed the file. As tp_sink_open(). */
int tp_sink_reopen(struct tp_sink *s);
void tp_sink_close(struct tp_sink *s);

/* One line, with its line end. False: it is lost, and counted. */
bool tp_sink_write(struct tp_sink *s, struct tp_str line);
/* For a line that could not even be made. */
void tp_sink_lose(struct tp_sink *s);
/* An errno of the above, or of `why`, in plain words. */
const char *tp_sink_error(int error);
/* Writes what waits, as far as it is taken. True when nothing is left. */
bool tp_sink_flush(struct tp_sink *s);

#endif
