/*
 * The log: one line per event, text or JSON, to standard error or a file.
 * A function either logs or returns an error to its caller, never both.
 * Writing never blocks: what the sink cannot take at once waits in a bounded
 * buffer for the next line or tp_log_flush(); a line that does not fit there
 * either is dropped and counted, and the count is told with the next line
 * that gets through.  A line is at most 4096 bytes (PIPE_BUF), so that the
 * lines of the master and its workers never mix inside one pipe.
 */
#ifndef TP_BASE_LOG_H
#define TP_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"

enum tp_log_level { TP_LOG_ERROR, TP_LOG_WARN, TP_LOG_INFO, TP_LOG_DEBUG };
enum tp_log_format { TP_LOG_TEXT, TP_LOG_JSON };

/* Process-wide. `path` NULL or "stderr" = standard error, else a file opened for append (0640).
 * Returns 0 or -errno (the earlier sink stays). Before the first call: info, text, stderr. */
int tp_log_open(enum tp_log_level level, enum tp_log_format format, const char *path);
/* A short name for this process in each line ("master", "worker 3"); copied. */
void tp_log_set_role(const char *role);
/*
 * Takes secrets out of each line from now on; NULL = lines go out as they are.  False: the line may stay;
 * true: what was added to `out` stands in its place (nothing, if `out` failed).  Process-wide, kept over
 * fork.
 */
typedef bool (*tp_log_mask)(struct tp_str line, struct tp_buf *out);
void tp_log_set_mask(tp_log_mask mask);
bool tp_log_wants(enum tp_log_level level);
/* One line; control characters in the text are escaped, so provider text cannot forge lines. */
void tp_log(enum tp_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes what waits in the buffer, as far as the sink takes it. True when nothing is left. */
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
