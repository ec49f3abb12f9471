#include "server/listeners.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "server/listeners_open.h"

enum {
	BACKLOG = 4096,       /* the kernel cuts it to net.core.somaxconn */
	BUSY_RETRY_MS = 1000, /* how long an address in use is tried again */
	BUSY_PAUSE_MS = 50,
	LOCAL_SETTLE_MS = 10, /* a handshake over loopback ends with the connect(), but for a late softirq */
	REMOTE_SETTLE_MS = 200, /* a round trip to most clients */
	NAME_BYTES = 32 + 2 + 256,
};

struct tp_unix_path {
	char *path;
	size_t conf;
	dev_t dev;
	ino_t ino;
};

static int open_tcp(const struct tp_listener_conf *confs, size_t at, struct tp_listeners *l,
		    struct tp_buf *why);
static int open_unix(const struct tp_listener_conf *confs, size_t at, struct tp_listeners *l,
		     struct tp_buf *why);

int tp_listeners_open(const struct tp_listener_conf *confs, size_t n_confs, const uint8_t *slots, unsigned n,
		      struct tp_listeners *ret_listeners, struct tp_buf *why)
{
	struct tp_listeners l = {.slots = slots, .n_slots = n};
	int error = 0;
	for (size_t i = 0; i < n_confs && error == 0; i++)
		error = tp_listeners_open_one(confs, i, &l, why);
	if (error != 0) {
		tp_listeners_close(&l);
		return error;
	}
	*ret_listeners = l;
	return 0;
}

int tp_listeners_open_one(const struct tp_listener_conf *confs, size_t at, struct tp_listeners *l,
			  struct tp_buf *why)
{
	return confs[at].is_unix ? open_unix(confs, at, l, why) : open_tcp(confs, at, l, why);
}

/* Takes over fd, also when it fails. */
static int keep_socket(struct tp_listeners *l, int fd, size_t conf, int slot)
{
	struct tp_worker_listener *more = reallocarray(l->sockets, l->n_sockets + 1, sizeof *l->sockets);
	if (more == NULL) {
		(void)close(fd);
		return -ENOMEM;
	}
	l->sockets = more;
	l->sockets[l->n_sockets++] = (struct tp_worker_listener){.fd = fd, .conf = conf, .slot = slot};
	return 0;
}

static int keep_name(struct tp_listeners *l, size_t conf, const char *name)
{
	struct tp_listener_name *more = reallocarray(l->names, l->n_names + 1, sizeof *l->names);
	if (more == NULL)
		return -ENOMEM;
	l->names = more;
	char *copy = strdup(name);
	if (copy == NULL)
		return -ENOMEM;
	l->names[l->n_names++] = (struct tp_listener_name){.text = copy, .conf = conf};
	return 0;
}

static const char *bind_trouble(const char *address, int error)
{
	switch (-error) {
	case EADDRINUSE: return "is in use by another program";
	case EADDRNOTAVAIL: return "is not an address of this machine";
	case EACCES:
		return strncmp(address, "unix:", 5) == 0
			       ? "cannot be made: its folder cannot be written by this user"
			       : "may not be used: ports below 1024 need CAP_NET_BIND_SERVICE";
	default: return NULL;
	}
}

static int explain(struct tp_buf *why, const char *address, int error)
{
	const char *trouble = bind_trouble(address, error);
	if (trouble != NULL)
		tp_buf_printf(why, "%s %s", address, trouble);
	else
		tp_buf_printf(why, "cannot listen on %s: %s", address, strerror(-error));
	return error;
}

/* ---- TCP */

static int set_flag(int fd, int level, int option)
{
	int on = 1;
	return setsockopt(fd, level, option, &on, sizeof on) == 0 ? 0 : -errno;
}

/*
 * For the connections: each inherits these from the socket that accepts it (tcp(7)), which saves its worker
 * six system calls. A peer that vanished is found within a minute; section 7 of the design.
 */
static void tune_connections(int fd)
{
	static const struct {
		int level, option, value;
	} wanted[] = {
		{IPPROTO_TCP, TCP_NODELAY, 1},   {SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, 30}, {IPPROTO_TCP, TCP_KEEPINTVL, 10},
		{IPPROTO_TCP, TCP_KEEPCNT, 3},   {IPPROTO_TCP, TCP_USER_TIMEOUT, 30 * 1000},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		(void)setsockopt(fd, wanted[i].level, wanted[i].option, &wanted[i].value,
				 sizeof wanted[i].value);
}

/*
 * One bound socket.  `first` is bound without SO_REUSEPORT, so that an address which anyone listens on
 * already, be it another Turnpike, is refused; the flag is set right after, for the sockets of the other
 * slots to join. SO_REUSEADDR lets connections that a predecessor left behind not count.
 */
static int bind_tcp(const struct sockaddr *to, socklen_t n, bool first, int *ret_fd)
{
	int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
	if (fd < 0)
		return -errno;
	int error = set_flag(fd, SOL_SOCKET, SO_REUSEADDR);
	if (error == 0 && to->sa_family == AF_INET6)
		error = set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY);
	if (error == 0 && !first)
		error = set_flag(fd, SOL_SOCKET, SO_REUSEPORT);
	if (error == 0 && bind(fd, to, n) != 0)
		error = -errno;
	if (error == 0 && first)
		error = set_flag(fd, SOL_SOCKET, SO_REUSEPORT);
	if (error != 0) {
		(void)close(fd);
		return error;
	}
	tune_connections(fd);
	*ret_fd = fd;
	return 0;
}

static void pause_busy(void)
{
	struct timespec t = {.tv_nsec = BUSY_PAUSE_MS * 1000000L};
	(void)nanosleep(&t, NULL);
}

/* After kill -9 of a master its workers need a moment to let go of the address. */
static int bind_first(const struct sockaddr *to, socklen_t n, const struct tp_listeners *l, int *ret_fd)
{
	uint64_t until = tp_clock_boot_ms() + (l->held ? 0 : BUSY_RETRY_MS);
	for (;;) {
		int error = bind_tcp(to, n, !l->joins, ret_fd);
		if (error != -EADDRINUSE || tp_clock_boot_ms() >= until)
			return error;
		pause_busy();
	}
}

static bool is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
	uint32_t v4 = ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr);
	return v4 >> 24 == 127;
}

static int name_tcp(struct tp_listeners *l, const struct tp_listener_conf *confs, size_t at,
		    const struct sockaddr *a, socklen_t n)
{
	const struct tp_listener_conf *conf = &confs[at];
	char host[INET6_ADDRSTRLEN + 32], port[8], name[NAME_BYTES];
	if (getnameinfo(a, n, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return -EINVAL;
	bool v6 = a->sa_family == AF_INET6;
	(void)snprintf(name, sizeof name, "%s://%s%s%s:%s",
		       conf->tls.own.certificate != NULL ? "https" : "http", v6 ? "[" : "", host,
		       v6 ? "]" : "", port);
	return keep_name(l, at, name);
}

/* The sockets of all slots on one address: all are bound before the first one listens, or the first would
 * take connections of slots that are not there yet. */
static int open_address(const struct tp_listener_conf *confs, size_t at, const struct addrinfo *ai,
			struct tp_listeners *l)
{
	struct sockaddr_storage actual;
	socklen_t n = sizeof actual;
	size_t before = l->n_sockets;
	int fd = -1;
	int error = bind_first(ai->ai_addr, ai->ai_addrlen, l, &fd);
	if (error == 0)
		error = keep_socket(l, fd, at, l->slots[0]);
	if (error == 0 && getsockname(l->sockets[before].fd, (struct sockaddr *)&actual, &n) != 0)
		error = -errno;
	for (unsigned k = 1; error == 0 && k < l->n_slots; k++) {
		error = bind_tcp((const struct sockaddr *)&actual, n, false, &fd);
		if (error == 0)
			error = keep_socket(l, fd, at, l->slots[k]);
	}
	for (size_t i = before; error == 0 && !l->held && i < l->n_sockets; i++)
		if (listen(l->sockets[i].fd, BACKLOG) != 0)
			error = -errno;
	if (error != 0)
		return error;
	if (!is_loopback((const struct sockaddr *)&actual))
		l->remote = true;
	return name_tcp(l, confs, at, (const struct sockaddr *)&actual, n);
}

int tp_listeners_join(int fd, size_t conf, int slot, struct tp_listeners *l)
{
	struct sockaddr_storage actual;
	socklen_t n = sizeof actual;
	int more = -1;
	if (getsockname(fd, (struct sockaddr *)&actual, &n) != 0)
		return -errno;
	int error = bind_tcp((const struct sockaddr *)&actual, n, false, &more);
	return error == 0 ? keep_socket(l, more, conf, slot) : error;
}

void tp_listeners_begin(struct tp_listeners *l)
{
	for (size_t i = 0; i < l->n_sockets; i++)
		if (listen(l->sockets[i].fd, BACKLOG) != 0)
			tp_error("a listening socket could not begin: %s", strerror(errno));
	l->held = false;
}

static int resolve(const struct tp_listener_conf *conf, struct tp_buf *why, struct addrinfo **ret_list)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	char port[8];
	(void)snprintf(port, sizeof port, "%u", (unsigned)conf->port);
	bool any = conf->host == NULL || conf->host[0] == '\0' || strcmp(conf->host, "*") == 0;
	int error = getaddrinfo(any ? NULL : conf->host, port, &hints, ret_list);
	if (error != 0) {
		tp_buf_printf(why, "cannot listen on %s: %s", conf->address, gai_strerror(error));
		return -EINVAL;
	}
	return 0;
}

/* A name such as localhost can have an IPv6 address on a machine without IPv6: one that works is enough. */
static int open_tcp(const struct tp_listener_conf *confs, size_t at, struct tp_listeners *l,
		    struct tp_buf *why)
{
	const struct tp_listener_conf *conf = &confs[at];
	struct addrinfo *list;
	int error = resolve(conf, why, &list);
	if (error != 0)
		return error;
	unsigned opened = 0;
	int skipped = 0;
	for (const struct addrinfo *ai = list; ai != NULL && error == 0; ai = ai->ai_next) {
		error = open_address(confs, at, ai, l);
		if (error == 0) {
			opened++;
		} else if (error == -EADDRNOTAVAIL || error == -EAFNOSUPPORT) {
			skipped = error;
			error = 0;
		}
	}
	freeaddrinfo(list);
	if (error == 0 && opened == 0)
		error = skipped;
	return error != 0 ? explain(why, conf->address, error) : 0;
}

/* ---- unix */

/* Removes a socket file that nobody listens on any more. -EADDRINUSE: somebody does. */
static int clear_stale(const struct sockaddr_un *to, struct tp_buf *why)
{
	struct stat st;
	if (lstat(to->sun_path, &st) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode)) {
		tp_buf_printf(why, "%s exists and is not a socket; it is left alone", to->sun_path);
		return -EEXIST;
	}
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* A live listener takes it or, with a full queue, says EAGAIN. */
	bool stale = connect(fd, (const struct sockaddr *)to, sizeof *to) != 0 && errno == ECONNREFUSED;
	(void)close(fd);
	if (!stale)
		return -EADDRINUSE;
	return unlink(to->sun_path) == 0 || errno == ENOENT ? 0 : -errno;
}

static int bind_unix(const struct sockaddr_un *to, bool hold, int *ret_fd)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* The mode must be right from the first moment, so it comes from the umask. */
	mode_t before = umask(0117);
	int error = bind(fd, (const struct sockaddr *)to, sizeof *to) == 0 ? 0 : -errno;
	(void)umask(before);
	if (error == 0 && !hold && listen(fd, BACKLOG) != 0) {
		error = -errno;
		(void)unlink(to->sun_path);
	}
	if (error != 0) {
		(void)close(fd);
		return error;
	}
	*ret_fd = fd;
	return 0;
}

static int keep_path(struct tp_listeners *l, size_t conf, const char *path)
{
	struct stat st;
	struct tp_unix_path *more = reallocarray(l->paths, l->n_paths + 1, sizeof *l->paths);
	if (more == NULL)
		return -ENOMEM;
	l->paths = more;
	if (lstat(path, &st) != 0)
		return -errno;
	char *copy = strdup(path);
	if (copy == NULL)
		return -ENOMEM;
	l->paths[l->n_paths++] =
		(struct tp_unix_path){.path = copy, .conf = conf, .dev = st.st_dev, .ino = st.st_ino};
	return 0;
}

static int open_unix(const struct tp_listener_conf *confs, size_t at, struct tp_listeners *l,
		     struct tp_buf *why)
{
	const struct tp_listener_conf *conf = &confs[at];
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	char name[sizeof "unix:" + sizeof to.sun_path];
	if (strlen(conf->host) >= sizeof to.sun_path)
		return explain(why, conf->address, -ENAMETOOLONG);
	memcpy(to.sun_path, conf->host, strlen(conf->host) + 1);
	uint64_t until = tp_clock_boot_ms() + (l->held ? 0 : BUSY_RETRY_MS);
	int error;
	while ((error = clear_stale(&to, why)) == -EADDRINUSE && tp_clock_boot_ms() < until)
		pause_busy();
	if (error == -EEXIST)
		return error;
	int fd = -1;
	if (error == 0)
		error = bind_unix(&to, l->held, &fd);
	if (error != 0)
		return explain(why, conf->address, error);
	error = keep_socket(l, fd, at, -1);
	if (error == 0)
		error = keep_path(l, at, to.sun_path);
	if (error != 0)
		(void)unlink(to.sun_path); /* nobody would know of it */
	(void)snprintf(name, sizeof name, "unix:%s", to.sun_path);
	if (error == 0)
		error = keep_name(l, at, name);
	return error != 0 ? explain(why, conf->address, error) : 0;
}

bool tp_listeners_room_for_paths(struct tp_listeners *l, size_t n)
{
	l->paths = calloc(n + 1, sizeof *l->paths);
	return l->paths != NULL;
}

void tp_listeners_sort_paths(const struct tp_listeners *from, const long *where, struct tp_listeners *kept,
			     struct tp_listeners *removed)
{
	for (size_t i = 0; i < from->n_paths; i++) {
		struct tp_unix_path p = from->paths[i];
		bool stays = where[p.conf] >= 0;
		struct tp_listeners *to = stays ? kept : removed;
		p.conf = stays ? (size_t)where[p.conf] : p.conf;
		to->paths[to->n_paths++] = p;
	}
}

/* ---- the way out */

/* Drops segments with SYN and without ACK, which would begin a connection. Offset 0: the TCP header. */
static void drop_syns(int fd)
{
	enum { FLAGS_AT = 13, SYN = 0x02, ACK = 0x10 };
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FLAGS_AT),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SYN | ACK),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYN, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
	/* Where the kernel refuses (a sandbox), what arrives in the next few milliseconds may be reset: no
	 * reason to stay. */
	(void)setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

void tp_listeners_disown_paths(struct tp_listeners *l)
{
	for (size_t i = 0; i < l->n_paths; i++)
		free(l->paths[i].path);
	free(l->paths);
	l->paths = NULL;
	l->n_paths = 0;
}

static bool has_path(const struct tp_listeners *l, size_t conf)
{
	for (size_t i = 0; i < l->n_paths; i++)
		if (l->paths[i].conf == conf)
			return true;
	return false;
}

void tp_listeners_own_paths(struct tp_listeners *l, const struct tp_listener_conf *confs)
{
	for (size_t i = 0; i < l->n_sockets; i++) {
		const struct tp_listener_conf *conf = &confs[l->sockets[i].conf];
		/* Whoever has removed the file meanwhile: there is nothing to look after. */
		if (conf->is_unix && !has_path(l, l->sockets[i].conf))
			(void)keep_path(l, l->sockets[i].conf, conf->host);
	}
}

static void remove_paths(struct tp_listeners *l)
{
	for (size_t i = 0; i < l->n_paths; i++) {
		struct stat st;
		/* Another instance may have put its own socket there. */
		if (lstat(l->paths[i].path, &st) == 0 && st.st_dev == l->paths[i].dev &&
		    st.st_ino == l->paths[i].ino)
			(void)unlink(l->paths[i].path);
	}
	tp_listeners_disown_paths(l);
}

void tp_listeners_stop(struct tp_listeners *l)
{
	remove_paths(l); /* nobody finds a unix socket without its name */
	for (size_t i = 0; i < l->n_sockets; i++)
		if (l->sockets[i].slot >= 0)
			drop_syns(l->sockets[i].fd);
}

uint64_t tp_listeners_settle_ms(const struct tp_listeners *l)
{
	return l->remote ? REMOTE_SETTLE_MS : LOCAL_SETTLE_MS;
}

void tp_listeners_close(struct tp_listeners *l)
{
	remove_paths(l);
	for (size_t i = 0; i < l->n_sockets; i++)
		(void)close(l->sockets[i].fd);
	for (size_t i = 0; i < l->n_names; i++)
		free(l->names[i].text);
	free(l->sockets);
	free(l->names);
	tp_listeners_free_room(l);
	*l = (struct tp_listeners){0};
}

void tp_listeners_let_go(const struct tp_listeners *l)
{
	for (size_t i = 0; l != NULL && i < l->n_sockets; i++)
		(void)close(l->sockets[i].fd);
}
