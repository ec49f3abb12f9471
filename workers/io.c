#include "workers/io.h"

#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>

/*
 * Resets.  libevent reports EPOLLERR and EPOLLHUP as plain readiness, so a reset that comes together with
 * data could not be told from the data alone: the short read would take both for used up, and edges come
 * once.  A second epoll set hears of errors only, and is itself watched by the loop.  One loop per process.
 */
static int errors_fd = -1;
static struct event errors_event;

static void on_errors(evutil_socket_t fd, short what, void *arg)
{
	enum { AT_ONCE = 64 };
	struct epoll_event found[AT_ONCE];
	(void)what;
	(void)arg;
	int n = epoll_wait(fd, found, AT_ONCE, 0); /* level-triggered itself: the rest comes back */
	for (int i = 0; i < n; i++) {
		struct tp_io *io = found[i].data.ptr;
		io->hup = true;
		event_active(&io->event, EV_READ, 0);
	}
}

bool tp_io_begin_loop(struct event_base *base)
{
	errors_fd = epoll_create1(EPOLL_CLOEXEC);
	if (errors_fd < 0)
		return false;
	(void)event_assign(&errors_event, base, errors_fd, EV_READ | EV_PERSIST, on_errors, NULL);
	return event_add(&errors_event, NULL) == 0;
}

static bool watch_errors(struct tp_io *io)
{
	struct epoll_event e = {.events = EPOLLET, .data = {.ptr = io}};
	return epoll_ctl(errors_fd, EPOLL_CTL_ADD, io->fd, &e) == 0;
}

void tp_io_end_loop(void)
{
	if (errors_fd < 0)
		return;
	(void)event_del(&errors_event);
	(void)close(errors_fd);
	errors_fd = -1;
}

int tp_io_open(struct tp_io *io, struct event_base *base, int fd, SSL *ssl, event_callback_fn fn, void *arg)
{
	short what = EV_READ | EV_WRITE | EV_CLOSED | EV_ET | EV_PERSIST;
	*io = (struct tp_io){.fd = fd, .ssl = ssl, .writable = true};
	errno = 0;
	if (event_assign(&io->event, base, fd, what, fn, arg) != 0 || event_add(&io->event, NULL) != 0 ||
	    !watch_errors(io)) {
		int saved = errno;
		(void)event_del(&io->event);
		errno = saved;
		io->fd = -1;
		io->ssl = NULL;
		return errno != 0 ? -errno : -ENOMEM;
	}
	return 0;
}

/* What OpenSSL says went wrong; its queue is per thread and must be empty before each call. */
static ssize_t tls_result(struct tp_io *io, int r)
{
	int saved = errno;
	switch (SSL_get_error(io->ssl, r)) {
	case SSL_ERROR_WANT_READ: io->readable = false; return -EAGAIN;
	case SSL_ERROR_WANT_WRITE: io->writable = false; return -EAGAIN;
	case SSL_ERROR_ZERO_RETURN: return TP_IO_END;
	case SSL_ERROR_SYSCALL: return saved != 0 ? -saved : TP_IO_CUT;
	case SSL_ERROR_SSL:
		return ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING ? TP_IO_CUT
											      : TP_IO_TLS;
	default: return TP_IO_TLS;
	}
}

/* With TLS 1.3 what the server says to our certificate comes behind the handshake, as far as we can see. */
static bool about_our_certificate(int reason)
{
	switch (reason - SSL_AD_REASON_OFFSET) {
	case SSL_AD_BAD_CERTIFICATE:
	case SSL_AD_UNSUPPORTED_CERTIFICATE:
	case SSL_AD_CERTIFICATE_REVOKED:
	case SSL_AD_CERTIFICATE_EXPIRED:
	case SSL_AD_CERTIFICATE_UNKNOWN:
	case SSL_AD_UNKNOWN_CA:
	case SSL_AD_ACCESS_DENIED:
	case SSL_AD_CERTIFICATE_REQUIRED: return true;
	default: return false;
	}
}

/* A record at most: contexts are without SSL_MODE_AUTO_RETRY. `ret_more`: it held no data, and the socket was
 * not empty. */
static ssize_t tls_read_record(struct tp_io *io, void *to, size_t n, bool *ret_more)
{
	size_t got = 0;
	ERR_clear_error();
	errno = 0;
	int r = SSL_read_ex(io->ssl, to, n, &got);
	*ret_more = false;
	if (r == 1)
		return (ssize_t)got;
	bool empty = errno != 0; /* EAGAIN, of reading or of an answer to it */
	ssize_t e = tls_result(io, r);
	if (e == TP_IO_TLS && about_our_certificate(ERR_GET_REASON(ERR_peek_error())))
		return TP_IO_UNWANTED;
	*ret_more = e == -EAGAIN && !empty;
	if (*ret_more)
		io->readable = true;
	return e;
}

/* New keys, session tickets, refused renegotiations: a peer that sends nothing else would keep us in here for
 * as long as it likes. */
static ssize_t tls_read(struct tp_io *io, void *to, size_t n)
{
	enum { EMPTY_RECORDS = 16 };
	bool more = true;
	ssize_t got = -EAGAIN;
	for (unsigned i = 0; i < EMPTY_RECORDS && more; i++)
		got = tls_read_record(io, to, n, &more);
	if (more) {
		io->readable = false;
		tp_io_again(io);
	}
	return got;
}

ssize_t tp_io_read(struct tp_io *io, void *to, size_t n)
{
	if (io->ssl != NULL)
		return tls_read(io, to, n);
	ssize_t got;
	do
		got = recv(io->fd, to, n, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0) {
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			io->readable = false;
			return -EAGAIN;
		}
		return -errno;
	}
	/* A short read has emptied the socket, unless an end is queued behind the data: its edge came
	 * already. */
	if ((size_t)got < n && !io->hup)
		io->readable = false;
	return got;
}

/* Writes all of it, record by record, as far as the socket takes it. `error` is written when it fails. */
static size_t tls_write(struct tp_io *io, const char *from, size_t n, ssize_t *error)
{
	size_t sum = 0;
	while (sum < n) {
		size_t put = 0;
		ERR_clear_error();
		errno = 0;
		int r = SSL_write_ex(io->ssl, from + sum, n - sum, &put);
		if (r != 1) {
			ssize_t e = tls_result(io, r);
			io->writable = false;
			if (e != -EAGAIN)
				*error = e == TP_IO_END || e == TP_IO_CUT ? -EPIPE : e;
			break;
		}
		sum += put;
	}
	return sum;
}

/* Bytes of v[0..n) from the `from`th on, as many as fit. */
static size_t gather(char *to, size_t room, const struct iovec *v, int n, size_t from)
{
	size_t sum = 0;
	for (int i = 0; i < n && sum < room; i++) {
		size_t skip = from < v[i].iov_len ? from : v[i].iov_len;
		size_t len = v[i].iov_len - skip;
		from -= skip;
		if (len > room - sum)
			len = room - sum;
		if (len > 0)
			memcpy(to + sum, (const char *)v[i].iov_base + skip, len);
		sum += len;
	}
	return sum;
}

/*
 * Small pieces leave in one record instead of one each.  A record is always as long as what is there allows:
 * a write that is resumed must not be shorter than the one that found no room, though its pieces may have
 * grown.
 */
static ssize_t tls_writev(struct tp_io *io, const struct iovec *v, int n)
{
	enum { RECORD = 16 * 1024 };
	char join[RECORD];
	size_t sum = 0, in_piece = 0;
	ssize_t error = 0;
	for (int i = 0; i < n;) {
		const char *from = (const char *)v[i].iov_base + in_piece;
		size_t len = v[i].iov_len - in_piece;
		if (len < RECORD && i + 1 < n) {
			len = gather(join, RECORD, v + i, n - i, in_piece);
			from = join;
		}
		size_t put = len > 0 ? tls_write(io, from, len, &error) : 0;
		if (error != 0)
			return error;
		sum += put;
		if (put < len)
			break;
		for (in_piece += put; i < n && in_piece >= v[i].iov_len; i++)
			in_piece -= v[i].iov_len;
	}
	return (ssize_t)sum;
}

/* One piece costs the kernel less than a list of one, and small ones cost less to join than to list. */
static ssize_t send_pieces(int fd, const struct iovec *v, int n, size_t sum)
{
	enum { JOIN = 4096 };
	char join[JOIN];
	if (n == 1)
		return send(fd, v[0].iov_base, v[0].iov_len, MSG_NOSIGNAL);
	if (sum <= JOIN) {
		size_t joined = gather(join, JOIN, v, n, 0);
		return send(fd, join, joined, MSG_NOSIGNAL);
	}
	struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)v, .msg_iovlen = (size_t)n};
	return sendmsg(fd, &m, MSG_NOSIGNAL);
}

ssize_t tp_io_writev(struct tp_io *io, const struct iovec *v, int n)
{
	if (io->ssl != NULL)
		return tls_writev(io, v, n);
	size_t want = 0;
	for (int i = 0; i < n; i++)
		want += v[i].iov_len;
	ssize_t put;
	do
		put = send_pieces(io->fd, v, n, want);
	while (put < 0 && errno == EINTR);
	if (put < 0) {
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			return -errno;
		put = 0;
	}
	if ((size_t)put < want)
		io->writable = false;
	return put;
}

int tp_io_write_buf(struct tp_io *io, struct tp_buf *out)
{
	while (out->len > 0 && io->writable) {
		struct iovec v = {out->data, out->len};
		ssize_t put = tp_io_writev(io, &v, 1);
		if (put < 0)
			return (int)put;
		tp_buf_consume(out, (size_t)put);
	}
	return 0;
}

int tp_io_handshake(struct tp_io *io)
{
	ERR_clear_error();
	errno = 0;
	int r = SSL_do_handshake(io->ssl);
	if (r == 1)
		return 0;
	ssize_t e = tls_result(io, r);
	return e == TP_IO_END ? TP_IO_CUT : (int)e;
}

/* Those that want to be called in the next turn of the loop; there is one loop per process. */
static TAILQ_HEAD(, tp_io) waiting = TAILQ_HEAD_INITIALIZER(waiting);

void tp_io_again(struct tp_io *io)
{
	if (io->waits || io->fd < 0)
		return;
	io->waits = true;
	TAILQ_INSERT_TAIL(&waiting, io, link);
}

static void forget(struct tp_io *io)
{
	if (!io->waits)
		return;
	io->waits = false;
	TAILQ_REMOVE(&waiting, io, link);
}

void tp_io_next_turn(void)
{
	struct tp_io *io;
	while ((io = TAILQ_FIRST(&waiting)) != NULL) {
		forget(io);
		event_active(&io->event, EV_READ, 0);
	}
}

int tp_io_release(struct tp_io *io, SSL **ret_ssl)
{
	int fd = io->fd;
	*ret_ssl = io->ssl;
	(void)event_del(&io->event);
	(void)epoll_ctl(errors_fd, EPOLL_CTL_DEL, fd, NULL);
	forget(io);
	io->fd = -1;
	io->ssl = NULL;
	return fd;
}

void tp_io_drop_tls(struct tp_io *io)
{
	SSL_free(io->ssl);
	ERR_clear_error();
	io->ssl = NULL;
}

void tp_io_end(struct tp_io *io)
{
	if (io->ssl != NULL) {
		ERR_clear_error();
		(void)SSL_shutdown(io->ssl);
		ERR_clear_error();
	}
	(void)shutdown(io->fd, SHUT_WR);
}

void tp_io_close(struct tp_io *io, bool orderly, bool reset)
{
	if (io->fd < 0)
		return;
	(void)event_del(&io->event);
	forget(io);
	if (io->ssl != NULL) {
		ERR_clear_error();
		if (orderly && SSL_is_init_finished(io->ssl))
			(void)SSL_shutdown(io->ssl);
		SSL_free(io->ssl);
		ERR_clear_error();
		io->ssl = NULL;
	}
	if (reset) {
		struct linger hard = {1, 0};
		(void)setsockopt(io->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
	}
	(void)close(io->fd);
	io->fd = -1;
}
