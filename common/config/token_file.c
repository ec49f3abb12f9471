#include "common/config/token_file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 64 * 1024, ROOM = 20 * 1024, HASH_HEX = 2 * 32 + 1 };

/* Of a long random text, so that nothing is told by it. */
static bool hash_of(const char *configured, char hex[HASH_HEX])
{
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	if (EVP_Digest(configured, strlen(configured), hash, &n, EVP_sha256(), NULL) != 1)
		return false;
	for (unsigned i = 0; i < 32; i++)
		(void)snprintf(hex + (size_t)2 * i, 3, "%02x", hash[i]);
	return true;
}

static bool beside(const char *path, char name[PATH_MAX])
{
	return (size_t)snprintf(name, PATH_MAX, "%s.new", path) < PATH_MAX;
}

/* ---- reading */

static int read_all(const char *path, char text[FILE_MAX], size_t *ret_n)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	int error = fstat(fd, &st) != 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	size_t have = 0;
	while (error == 0 && have < FILE_MAX) {
		ssize_t n = read(fd, text + have, FILE_MAX - have);
		if (n == 0)
			break;
		if (n > 0)
			have += (size_t)n;
		else if (errno != EINTR)
			error = -errno;
	}
	(void)close(fd);
	*ret_n = have;
	return error;
}

int tp_token_file_read(const char *path, const char *configured, struct tp_buf *ret_token)
{
	char hex[HASH_HEX], *text = malloc(FILE_MAX);
	size_t n = 0;
	if (text == NULL)
		return -ENOMEM;
	int error = read_all(path, text, &n);
	json_t *root = error == 0 ? json_loadb(text, n, 0, NULL) : NULL;
	const char *of = json_string_value(json_object_get(root, "replaces_sha256"));
	const json_t *token = json_object_get(root, "refresh_token");
	if (error == -ENOENT)
		error = 0;
	else if (error == 0 && (of == NULL || json_string_length(token) == 0))
		error = -EINVAL;
	else if (error == 0 && !hash_of(configured, hex))
		error = -ENOMEM;
	else if (error == 0 && strcmp(of, hex) == 0)
		error = 1;
	if (error == 1)
		tp_buf_add_str(ret_token, tp_str_from(json_string_value(token)));
	json_decref(root);
	explicit_bzero(text, FILE_MAX);
	free(text);
	return error == 1 && ret_token->failed ? -ENOMEM : error;
}

/* ---- writing */

int tp_token_file_begin(const char *path)
{
	char name[PATH_MAX];
	if (!beside(path, name))
		return -ENAMETOOLONG;
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	int error = fchmod(fd, 0600) != 0 ? -errno : -posix_fallocate(fd, 0, ROOM);
	if (error == 0)
		return fd;
	tp_token_file_abandon(path, fd);
	return error;
}

void tp_token_file_abandon(const char *path, int fd)
{
	char name[PATH_MAX];
	if (fd < 0)
		return;
	(void)close(fd);
	if (beside(path, name))
		(void)unlink(name);
}

static int write_all(int fd, struct tp_str s)
{
	while (s.n > 0) {
		ssize_t n = write(fd, s.p, s.n);
		if (n < 0 && errno != EINTR)
			return -errno;
		s.p += n > 0 ? n : 0;
		s.n -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* The rename is on disk when its folder is. */
static int sync_folder(const char *path)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int n = slash == NULL || slash == path ? 1 : (int)(slash - path);
	(void)snprintf(folder, sizeof folder, "%.*s", n, slash == NULL ? "." : path);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int error = fsync(fd) != 0 && errno != EINVAL ? -errno : 0; /* some file systems cannot */
	(void)close(fd);
	return error;
}

int tp_token_file_commit(const char *path, int fd, const char *configured, const char *token)
{
	char name[PATH_MAX], hex[HASH_HEX];
	struct tp_buf text = {0};
	int error = beside(path, name) && hash_of(configured, hex) ? 0 : -ENOMEM;
	if (error == 0) {
		tp_buf_printf(&text, "{\"replaces_sha256\": \"%s\", \"refresh_token\": \"", hex);
		tp_buf_add_json(&text, tp_str_from(token));
		tp_buf_add_str(&text, TP_STR("\"}\n"));
		error = text.failed ? -ENOMEM : write_all(fd, tp_buf_str(&text));
	}
	if (error == 0 && (ftruncate(fd, (off_t)text.len) != 0 || fsync(fd) != 0 || rename(name, path) != 0))
		error = -errno;
	if (error != 0)
		(void)unlink(name);
	(void)close(fd);
	if (text.data != NULL)
		explicit_bzero(text.data, text.len);
	tp_buf_free(&text);
	return error != 0 ? error : sync_folder(path);
}
