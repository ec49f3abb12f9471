"""A TLS 1.3 client that renews its keys over and over: Python's ssl cannot, so OpenSSL is called directly."""

import ctypes

import _ssl

REQUESTED = 1  # the other side has to answer each

_lib = ctypes.CDLL(_ssl.__file__)  # whatever OpenSSL it is linked with
for _name in ("TLS_client_method", "SSL_CTX_new", "SSL_new", "BIO_s_mem", "BIO_new"):
    getattr(_lib, _name).restype = ctypes.c_void_p
for _name, _types in {"SSL_CTX_new": 1, "SSL_new": 1, "BIO_new": 1, "SSL_connect": 1, "SSL_do_handshake": 1, "SSL_free": 1,
                      "SSL_CTX_free": 1, "SSL_set_bio": 3}.items():
    getattr(_lib, _name).argtypes = [ctypes.c_void_p] * _types
_lib.SSL_key_update.argtypes = [ctypes.c_void_p, ctypes.c_int]
_lib.SSL_write.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
_lib.BIO_read.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
_lib.BIO_write.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]


class Renewing:
    """A connected socket with a handshake behind it; `close()` frees OpenSSL's part."""

    def __init__(self, sock):
        self.sock = sock
        self.context = _lib.SSL_CTX_new(_lib.TLS_client_method())
        self.ssl = _lib.SSL_new(self.context)
        self.come, self.go = (_lib.BIO_new(_lib.BIO_s_mem()) for _ in range(2))
        _lib.SSL_set_bio(self.ssl, self.come, self.go)
        while _lib.SSL_connect(self.ssl) != 1:
            sock.sendall(self.written())
            data = sock.recv(65536)
            assert data, "the handshake failed"
            _lib.BIO_write(self.come, data, len(data))
        sock.sendall(self.written())

    def written(self):
        room = ctypes.create_string_buffer(65536)
        parts = []
        while (n := _lib.BIO_read(self.go, room, len(room))) > 0:
            parts.append(room.raw[:n])
        return b"".join(parts)

    def updates(self, count, then=b""):
        """The bytes of so many key updates, and of `then` behind them."""
        for _ in range(count):
            assert _lib.SSL_key_update(self.ssl, REQUESTED) == 1 and _lib.SSL_do_handshake(self.ssl) == 1
        if then:
            assert _lib.SSL_write(self.ssl, then, len(then)) == len(then)
        return self.written()

    def close(self):
        _lib.SSL_free(self.ssl)
        _lib.SSL_CTX_free(self.context)
        self.sock.close()
