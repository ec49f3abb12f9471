#include "workers/io.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>

int tp_io_open(struct tp_io *io, struct event_base *base, int fd, SSL *ssl, event_callback_fn fn, void *arg)
{
	short what = EV_READ | EV_WRITE | EV_CLOSED | EV_ET | EV_PERSIST;
	*io = (struct tp_io){.fd = fd, .ssl = ssl, .writable = true};
	errno = 0;
	if (event_assign(&io->event, base, fd, what, fn, arg) != 0 || event_add(&io->event, NULL) != 0) {
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

static ssize_t tls_read(struct tp_io *io, void *to, size_t n)
{
	size_t got = 0;
	ERR_clear_error();
	errno = 0;
	int r = SSL_read_ex(io->ssl, to, n, &got);
	return r == 1 ? (ssize_t)got : tls_result(io, r);
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

/* Small pieces leave in one record instead of one each. */
static ssize_t tls_writev(struct tp_io *io, const struct iovec *v, int n)
{
	ssize_t sum = 0, error = 0;
	char join[16 * 1024];
	for (int i = 0; i < n;) {
		const char *from = v[i].iov_base;
		size_t len = v[i].iov_len;
		int taken = 1;
		if (n - i > 1 && len < sizeof join) {
			len = 0;
			for (taken = 0; i + taken < n && len + v[i + taken].iov_len <= sizeof join; taken++) {
				memcpy(join + len, v[i + taken].iov_base, v[i + taken].iov_len);
				len += v[i + taken].iov_len;
			}
			from = join;
		}
		i += taken;
		size_t put = tls_write(io, from, len, &error);
		if (error != 0)
			return error;
		sum += (ssize_t)put;
		if (put < len)
			break;
	}
	return sum;
}

ssize_t tp_io_writev(struct tp_io *io, const struct iovec *v, int n)
{
	if (io->ssl != NULL)
		return tls_writev(io, v, n);
	size_t want = 0;
	for (int i = 0; i < n; i++)
		want += v[i].iov_len;
	struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)v, .msg_iovlen = (size_t)n};
	ssize_t put;
	do
		put = sendmsg(io->fd, &m, MSG_NOSIGNAL);
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

void tp_io_again(struct tp_io *io)
{
	event_active(&io->event, EV_READ, 0);
}

void tp_io_close(struct tp_io *io, bool orderly, bool reset)
{
	if (io->fd < 0)
		return;
	(void)event_del(&io->event);
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
