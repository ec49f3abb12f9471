#include "server/inherit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the description and of what goes over the descriptors in it: control words, snapshots, the lock. */
enum { VERSION = 1, TEXT_MAX = 8 * 1024 * 1024 };

/* ---- the predecessor */

/* One more in the list, or no list at all: a slot that is not named is taken for free. */
static json_t *with(json_t *list, json_int_t number)
{
	if (json_array_append_new(list, json_integer(number)) == 0)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *numbers(const int *list, size_t n)
{
	json_t *out = json_array();
	for (size_t i = 0; i < n; i++)
		out = with(out, list[i]);
	return out;
}

static json_t *slots_of(const struct tp_bequest *b)
{
	json_t *out = json_array();
	for (unsigned i = 0; i < b->n_slots; i++)
		out = with(out, b->slots[i]);
	return out;
}

static json_t *taken_of(const struct tp_bequest *b)
{
	json_t *out = json_array();
	for (int slot = 0; slot < TP_SHM_SLOTS; slot++)
		if (b->taken[slot])
			out = with(out, slot);
	return out;
}

static char *describe(const struct tp_bequest *b)
{
	json_t *tree = json_pack("{s:i,s:I,s:s,s:I,s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:o}", "version", VERSION,
				 "master", (json_int_t)getpid(), "state", b->state_name, "generation",
				 (json_int_t)b->generation, "channel", b->channel_fd, "lock", b->lock_fd,
				 "wake", numbers(b->wake_fds, TP_WAKE_FDS), "snapshots",
				 numbers(b->snapshot_fds, 2), "slots", slots_of(b), "taken", taken_of(b),
				 "public", tp_listeners_describe(b->public, b->public_confs, b->n_public),
				 "admin", tp_listeners_describe(b->admin, b->admin_confs, b->n_admin));
	char *text = tree != NULL ? json_dumps(tree, JSON_COMPACT) : NULL;
	json_decref(tree);
	return text;
}

int tp_bequest_write(const struct tp_bequest *b)
{
	char *text = describe(b);
	size_t n = text != NULL ? strlen(text) : 0;
	int fd = text != NULL ? memfd_create("turnpike-upgrade", MFD_CLOEXEC) : -1;
	int error = text == NULL ? -ENOMEM : fd < 0 ? -errno : 0;
	if (error == 0 && pwrite(fd, text, n, 0) != (ssize_t)n) {
		error = -EIO;
		(void)close(fd);
	}
	free(text);
	return error != 0 ? error : fd;
}

static bool keep(int fd)
{
	return fd < 0 || fcntl(fd, F_SETFD, 0) == 0;
}

static bool keep_sockets(const struct tp_listeners *l)
{
	for (size_t i = 0; i < l->n_sockets; i++)
		if (!keep(l->sockets[i].fd))
			return false;
	return true;
}

bool tp_bequest_keep_open(const struct tp_bequest *b, int fd)
{
	bool good = keep(fd) && keep(b->channel_fd) && keep(b->lock_fd) && keep(b->snapshot_fds[0]) &&
		    keep(b->snapshot_fds[1]) && keep_sockets(b->public) && keep_sockets(b->admin);
	for (int i = 0; i < TP_WAKE_FDS && good; i++)
		good = keep(b->wake_fds[i]);
	return good;
}

/* ---- the successor */

static json_t *read_tree(int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > TEXT_MAX)
		return NULL;
	char *text = malloc((size_t)st.st_size);
	ssize_t n = text != NULL ? pread(fd, text, (size_t)st.st_size, 0) : -1;
	json_t *tree = n == st.st_size ? json_loadb(text, (size_t)n, 0, NULL) : NULL;
	free(text);
	return tree;
}

static bool take_slots(const json_t *slots, const json_t *taken, struct tp_inheritance *in)
{
	size_t i;
	const json_t *slot;
	if (json_array_size(slots) > TP_SHM_SLOTS || json_array_size(slots) == 0)
		return false;
	json_array_foreach(slots, i, slot)
	{
		if (!json_is_integer(slot) || json_integer_value(slot) < 0 ||
		    json_integer_value(slot) >= TP_SHM_SLOTS)
			return false;
		in->slots[in->n_slots++] = (uint8_t)json_integer_value(slot);
	}
	json_array_foreach(taken, i, slot)
	{
		if (!json_is_integer(slot) || json_integer_value(slot) < 0 ||
		    json_integer_value(slot) >= TP_SHM_SLOTS)
			return false;
		in->taken[json_integer_value(slot)] = true;
	}
	return true;
}

static bool take_descriptors(json_t *tree, struct tp_inheritance *in)
{
	const json_t *snapshots = json_object_get(tree, "snapshots"), *wake = json_object_get(tree, "wake");
	in->channel_fd = tp_inherited_fd(json_object_get(tree, "channel"));
	in->lock_fd = tp_inherited_fd(json_object_get(tree, "lock"));
	bool good = in->channel_fd >= 0 && in->lock_fd >= 0;
	for (size_t i = 0; i < TP_WAKE_FDS; i++)
		good = (in->wake_fds[i] = tp_inherited_fd(json_array_get(wake, i))) >= 0 && good;
	if (json_integer_value(json_array_get(snapshots, 0)) >= 0)
		for (size_t i = 0; i < 2; i++)
			good = (in->snapshot_fds[i] = tp_inherited_fd(json_array_get(snapshots, i))) >= 0 &&
			       good;
	return good;
}

/* It was killed a moment ago: whoever is a zombie has no executable any more. A master that lives and has
 * given this process up closes the channel, too. */
static bool has_died(long master, int channel_fd)
{
	char path[32], word;
	(void)snprintf(path, sizeof path, "/proc/%ld/exe", master);
	return recv(channel_fd, &word, sizeof word, MSG_PEEK | MSG_DONTWAIT) == 0 &&
	       readlink(path, &word, sizeof word) < 0 && errno == ENOENT;
}

static bool take(json_t *tree, struct tp_inheritance *in, struct tp_buf *why)
{
	json_int_t master, generation;
	const char *name;
	if (json_integer_value(json_object_get(tree, "version")) != VERSION) {
		tp_buf_printf(why, "the running server is of another version, which cannot be replaced while "
				   "it runs: restart it");
		return false;
	}
	if (json_unpack(tree, "{s:I,s:s,s:I}", "master", &master, "state", &name, "generation",
			&generation) != 0 ||
	    (master != (json_int_t)getppid() &&
	     !has_died((long)master, (int)json_integer_value(json_object_get(tree, "channel"))))) {
		tp_buf_printf(why, "%s was not set by the process that started this one",
			      TP_INHERIT_VARIABLE);
		return false;
	}
	in->generation = (uint64_t)generation;
	in->state_name = strdup(name);
	if (in->state_name != NULL && take_descriptors(tree, in) &&
	    take_slots(json_object_get(tree, "slots"), json_object_get(tree, "taken"), in) &&
	    tp_listeners_undescribe(json_object_get(tree, "public"), &in->public) &&
	    tp_listeners_undescribe(json_object_get(tree, "admin"), &in->admin))
		return true;
	tp_buf_printf(why, "what the running server has handed over is damaged");
	return false;
}

static struct tp_inheritance *new_inheritance(void)
{
	struct tp_inheritance *in = calloc(1, sizeof *in);
	if (in == NULL)
		return NULL;
	in->channel_fd = in->lock_fd = in->snapshot_fds[0] = in->snapshot_fds[1] = -1;
	for (int i = 0; i < TP_WAKE_FDS; i++)
		in->wake_fds[i] = -1;
	return in;
}

static int number_in(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);
	return *text != '\0' && *end == '\0' && n > STDERR_FILENO && n < TEXT_MAX ? (int)n : -1;
}

struct tp_inheritance *tp_inherit(struct tp_buf *why)
{
	const char *text = getenv(TP_INHERIT_VARIABLE);
	if (text == NULL)
		return NULL;
	int fd = number_in(text);
	(void)unsetenv(TP_INHERIT_VARIABLE);
	json_t *tree = fd >= 0 ? read_tree(fd) : NULL;
	if (tree == NULL) {
		tp_buf_printf(why, "%s does not name a descriptor of a running server", TP_INHERIT_VARIABLE);
		return NULL;
	}
	(void)close(fd);
	struct tp_inheritance *in = new_inheritance();
	if (in == NULL)
		tp_buf_printf(why, "out of memory");
	bool good = in != NULL && take(tree, in, why);
	json_decref(tree);
	if (good)
		return in;
	tp_inheritance_free(in);
	return NULL;
}

static void close_if(int fd)
{
	if (fd >= 0)
		(void)close(fd);
}

void tp_inheritance_free(struct tp_inheritance *in)
{
	if (in == NULL)
		return;
	close_if(in->channel_fd);
	close_if(in->lock_fd);
	close_if(in->snapshot_fds[0]);
	close_if(in->snapshot_fds[1]);
	for (int i = 0; i < TP_WAKE_FDS; i++)
		close_if(in->wake_fds[i]);
	tp_inherited_listeners_free(&in->public);
	tp_inherited_listeners_free(&in->admin);
	free(in->state_name);
	free(in);
}
