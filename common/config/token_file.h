/*
 * refresh.state_file (design section 9): the refresh token that took the place of the configured one.  A JSON
 * object, mode 0600, replaced as a whole.  It names the configured token by a hash, so that a configuration
 * which was changed since wins.
 */
#ifndef TP_CONFIG_TOKEN_FILE_H
#define TP_CONFIG_TOKEN_FILE_H

#include "common/base/buf.h"

/*
 * Appends the token that replaces `configured`. Returns 1; 0: there is none (no file, or of another
 * configured token); -EINVAL: the file is none of ours; another -errno: it cannot be read.
 */
int tp_token_file_read(const char *path, const char *configured, struct tp_buf *ret_token);

/*
 * A new file beside it, with room for what is to be written: what may go wrong goes wrong here, before a
 * token is asked for that would have to be kept.  Returns the descriptor or -errno.
 */
int tp_token_file_begin(const char *path);
/* Writes it, and lets it take the old one's place; on disk when this returns. Closes fd. 0 or -errno; then
 * the old file stands. */
int tp_token_file_commit(const char *path, int fd, const char *configured, const char *token);
/* Nothing is to be kept: closes fd and removes the new file. fd < 0 is ignored. */
void tp_token_file_abandon(const char *path, int fd);

#endif
