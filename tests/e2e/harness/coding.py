"""Content codings as senders make them, flushed where they like.

Python has no encoder for br and zstd, so the libraries are asked that Turnpike is built with (libbrotli's and
zstd's packages bring the encoders along).
"""

import ctypes
import zlib


class _Zlib:
    def __init__(self, window):
        self._z = zlib.compressobj(9, zlib.DEFLATED, window)

    def write(self, data):
        return self._z.compress(data) + self._z.flush(zlib.Z_SYNC_FLUSH)

    def end(self):
        return self._z.flush(zlib.Z_FINISH)


class _Brotli:
    _lib = None

    def __init__(self):
        if _Brotli._lib is None:
            lib = ctypes.CDLL("libbrotlienc.so.1")
            lib.BrotliEncoderCreateInstance.restype = ctypes.c_void_p
            lib.BrotliEncoderCreateInstance.argtypes = [ctypes.c_void_p] * 3
            lib.BrotliEncoderCompressStream.argtypes = [ctypes.c_void_p, ctypes.c_int] + [ctypes.c_void_p] * 5
            lib.BrotliEncoderSetParameter.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32]
            lib.BrotliEncoderDestroyInstance.argtypes = [ctypes.c_void_p]
            _Brotli._lib = lib
        self._state = self._lib.BrotliEncoderCreateInstance(None, None, None)
        assert self._lib.BrotliEncoderSetParameter(self._state, 1, 5)  # a quality as servers use it: fast

    def _run(self, operation, data):
        room = ctypes.create_string_buffer(len(data) * 2 + 65536)
        source = ctypes.create_string_buffer(data, len(data) or 1)
        left, free = ctypes.c_size_t(len(data)), ctypes.c_size_t(len(room))
        at, to = ctypes.c_void_p(ctypes.addressof(source)), ctypes.c_void_p(ctypes.addressof(room))
        assert self._lib.BrotliEncoderCompressStream(
            self._state, operation, ctypes.addressof(left), ctypes.addressof(at), ctypes.addressof(free),
            ctypes.addressof(to), None)
        assert left.value == 0
        return room.raw[:len(room) - free.value]

    def write(self, data):
        return self._run(1, data)

    def end(self):
        out = self._run(2, b"")
        self._lib.BrotliEncoderDestroyInstance(self._state)
        return out


class _Buffer(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t), ("used", ctypes.c_size_t)]


class _Zstd:
    _lib = None

    def __init__(self):
        if _Zstd._lib is None:
            lib = ctypes.CDLL("libzstd.so.1")
            lib.ZSTD_createCCtx.restype = ctypes.c_void_p
            lib.ZSTD_compressStream2.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int]
            lib.ZSTD_compressStream2.restype = ctypes.c_size_t
            lib.ZSTD_freeCCtx.argtypes = [ctypes.c_void_p]
            _Zstd._lib = lib
        self._context = self._lib.ZSTD_createCCtx()

    def _run(self, operation, data):
        room = ctypes.create_string_buffer(len(data) * 2 + 65536)
        source = ctypes.create_string_buffer(data, len(data) or 1)
        out = _Buffer(ctypes.addressof(room), len(room), 0)
        into = _Buffer(ctypes.addressof(source), len(data), 0)
        left = self._lib.ZSTD_compressStream2(self._context, ctypes.byref(out), ctypes.byref(into), operation)
        assert left == 0 and into.used == len(data)
        return room.raw[:out.used]

    def write(self, data):
        return self._run(1, data)

    def end(self):
        out = self._run(2, b"")
        self._lib.ZSTD_freeCCtx(self._context)
        return out


CODINGS = {
    "gzip": ("gzip", lambda: _Zlib(16 + zlib.MAX_WBITS)),
    "deflate": ("deflate", lambda: _Zlib(zlib.MAX_WBITS)),
    "raw-deflate": ("deflate", lambda: _Zlib(-zlib.MAX_WBITS)),
    "br": ("br", _Brotli),
    "zstd": ("zstd", _Zstd),
}


def label(name):
    """What Content-Encoding says for it."""
    return CODINGS[name][0]


def pieces(name, parts):
    """Each part coded and flushed; the coding's end is a last piece of its own."""
    encoder = CODINGS[name][1]()
    return [encoder.write(part) for part in parts] + [encoder.end()]


def coded(name, data):
    return b"".join(pieces(name, [data]))
