/*
 * The log: one line per event, text or JSON, to standard error, a file or syslog.
 * A function either logs or returns an error to its caller, never both.
 * Writing never blocks (common/base/sink.h): what is not taken is dropped and counted, and the count is told
 * as soon as a line gets through.
 */
#ifndef TP_BASE_LOG_H
#define TP_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"

enum tp_log_level { TP_LOG_ERROR, TP_LOG_WARN, TP_LOG_INFO, TP_LOG_DEBUG };
enum tp_log_format { TP_LOG_TEXT, TP_LOG_JSON };

/* Process-wide, may be called again. `output` NULL or "stderr" = standard error (with the prefixes that
 * journald takes levels from, where it is journald's), "syslog" = the system's log, else a file opened for
 * append (0640). Returns 0 or -errno (the earlier output stays). Before the first call: info, text, stderr.
 */
int tp_log_open(enum tp_log_level level, enum tp_log_format format, const char *output);
/* Opens the output anew: a file that was renamed is left. As above; nothing happens for standard error. */
int tp_log_reopen(void);
/* From now on (or no longer) errors go to standard error, too, where the log goes elsewhere: to whoever
 * starts a server, as that is where a start that fails is looked at. Kept over fork. */
void tp_log_copy_errors(bool copies);
/* A short name for this process in each line ("master", "worker 3"); copied. */
void tp_log_set_role(const char *role);
/*
 * Takes secrets out of each line from now on; NULL = lines go out as they are.  False: the line may stay;
 * true: what was added to `out` stands in its place (nothing, if `out` failed).  Process-wide, kept over
 * fork.
 */
typedef bool (*tp_log_mask)(struct tp_str line, struct tp_buf *out);
void tp_log_set_mask(tp_log_mask mask);
/* Adds `text` as that mask leaves it. */
void tp_log_add_masked(struct tp_buf *out, struct tp_str text);
bool tp_log_wants(enum tp_log_level level);
/* One line; control characters in the text are escaped, so provider text cannot forge lines. */
void tp_log(enum tp_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A named value of an event. Text (borrowed) where it is not NULL, else the number. */
struct tp_log_field {
	const char *name; /* lower case letters and underscores */
	const char *text;
	uint64_t number;
};
/* One line of an event with values: members of the JSON object, name=value in text, where an empty text is
 * left out. */
void tp_log_event(enum tp_log_level level, const char *what, const struct tp_log_field *fields, size_t n);

/* Writes what waits in the buffer, as far as it is taken, and tells of losses. True when nothing is left. */
bool tp_log_flush(void);
/* Lines dropped since the process began. */
uint64_t tp_log_dropped(void);

#define tp_error(...) tp_log(TP_LOG_ERROR, __VA_ARGS__)
#define tp_warn(...)  tp_log(TP_LOG_WARN, __VA_ARGS__)
#define tp_info(...)  tp_log(TP_LOG_INFO, __VA_ARGS__)
#define tp_debug(...)                                                                                        \
	do {                                                                                                 \
		if (tp_log_wants(TP_LOG_DEBUG))                                                              \
			tp_log(TP_LOG_DEBUG, __VA_ARGS__);                                                   \
	} while (0)

#endif
