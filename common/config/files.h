/*
 * The files that a configuration is made of: its own text, those of ${file:}, certificates, keys,
 * authorities. Each is read once and kept, so that every process builds the same from the same bytes: a
 * worker that is forked later, and the workers that a reload hands them to as one bundle (design section 11).
 */
#ifndef TP_CONFIG_FILES_H
#define TP_CONFIG_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/buf.h"
#include "common/base/str.h"

/* References are counted inside a process. Content is wiped with the last one. */
struct tp_files;

struct tp_files *tp_files_new(void); /* one reference; NULL: out of memory */
struct tp_files *tp_files_ref(struct tp_files *f);
void tp_files_unref(struct tp_files *f); /* NULL is ignored */

/* What tp_files_read() reads through from now on in this process; borrowed; NULL = straight from the disk.
 * Returns what it was. */
struct tp_files *tp_files_use(struct tp_files *f);
/* The one in use, or NULL. */
struct tp_files *tp_files_used(void);

/* From now on what has nothing to read and no end (a pipe that nobody writes to) is waited for a second, no
 * longer: ETIMEDOUT. Before, as long as it takes. For a process that must not stand still. */
void tp_files_wait_briefly(void);

/*
 * Appends a file's content to out.  `any_kind`: also of what is no regular file; else a directory has no
 * content, and reading a FIFO or terminal could hang the start.  0 or an errno: EFBIG above `limit` bytes,
 * EINVAL not a regular file, ENOENT also for what a bundle does not hold.
 */
int tp_files_read(const char *path, size_t limit, bool any_kind, struct tp_buf *out);
/* What was read of a file, owned by f; NULL pointer: it was not. */
struct tp_str tp_files_find(const struct tp_files *f, const char *path);

/* All of them as bytes, for another process. False: out of memory. */
bool tp_files_pack(const struct tp_files *f, struct tp_buf *out);
/* The reverse: one reference to a set that reads nothing from the disk. NULL: damaged, or out of memory. */
struct tp_files *tp_files_unpack(struct tp_str bytes);

#endif
