"""A raw client.  It writes the bytes it is told to, never sends again by itself, and notes what came when."""

import collections
import contextlib
import itertools
import json
import socket
import ssl
import time

from . import credentials
from .exchange import LINGER_RESET
from .ready import readable

_prompts = itertools.count(1)
carried = collections.defaultdict(set)  # address: the credentials that were sent there


class Response:
    """An answer, read as far as it came."""

    def __init__(self):
        self.version = self.reason = ""
        self.status = None
        self.headers = []
        self.interim = []  # (status, seconds after the request) of 1xx
        self.body = b""
        self.pieces = []  # (time, bytes): chunks where chunked, else what one read gave
        self.trailers = []
        self.framing = None
        # complete: by its framing; cut: FIN before that; reset; close: FIN is the end; timeout
        self.end = None
        self.asked_at = self.head_at = self.end_at = None

    def all(self, name):
        return [v for n, v in self.headers if n.lower() == name.lower()]

    def header(self, name, default=None):
        values = self.all(name)
        return values[0] if values else default

    def json(self):
        return json.loads(self.body)

    @property
    def sends(self):
        value = self.header("x-turnpike-sends")
        return None if value is None else int(value)

    @property
    def stop(self):
        return self.header("x-should-retry") == "false"

    @property
    def code(self):
        """error.code of any family's error shape."""
        return self.json()["error"].get("code")

    @property
    def took(self):
        return self.end_at - self.asked_at

    def events(self):
        return self.body.decode().replace("\r\n", "\n").split("\n\n")

    def __repr__(self):
        return "<response %s %s %r %s>" % (self.status, self.end, self.body[:200], self.headers)


def prompt():
    """A text that no other request of the run has."""
    return "prompt %d" % next(_prompts)


def body_for(path, text=None, stream=None, **more):
    text = text or prompt()
    if path.split("?")[0].endswith("/responses"):
        body = {"model": "m", "input": text}
    elif path.split("?")[0].endswith("/messages"):
        body = {"model": "m", "max_tokens": 64, "messages": [{"role": "user", "content": text}]}
    else:
        body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    if stream is not None:
        body["stream"] = stream
    body.update(more)
    return json.dumps(body).encode()


def request_bytes(method, target, headers=(), body=None, host="127.0.0.1", chunked=None):
    """A well-formed request.  chunked: sizes of the chunks to cut the body into."""
    pairs = list(headers.items()) if isinstance(headers, dict) else list(headers)
    names = {n.lower() for n, _ in pairs}
    out = [("%s %s HTTP/1.1\r\n" % (method, target)).encode("latin-1")]
    if "host" not in names:
        out.append(b"Host: %s\r\n" % host.encode())
    for name, value in pairs:
        out.append(("%s: %s\r\n" % (name, value)).encode("latin-1"))
    if body is not None and "content-type" not in names:
        out.append(b"Content-Type: application/json\r\n")
    if body is not None and chunked is None and "content-length" not in names:
        out.append(b"Content-Length: %d\r\n" % len(body))
    if chunked is not None:
        out.append(b"Transfer-Encoding: chunked\r\n")
    out.append(b"\r\n")
    if body is not None and chunked is None:
        out.append(body)
    elif chunked is not None:
        out.append(chunk_bytes(body, chunked))
    return b"".join(out)


def chunk_bytes(body, size, extension=b"", trailer=b""):
    out = []
    for start in range(0, len(body), size):
        part = body[start:start + size]
        out.append(b"%x%s\r\n%s\r\n" % (len(part), extension, part))
    return b"".join(out) + b"0\r\n" + trailer + b"\r\n"


class Client:
    """One connection."""

    def __init__(self, address, tls=None, server_name=None, session=None, timeout=30.0, receive_buffer=None):
        self.timeout, self.address = timeout, address
        if isinstance(address, str):
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        else:
            self.sock = socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET,
                                      socket.SOCK_STREAM)
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if receive_buffer:
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.sock.settimeout(timeout)
        try:
            self.sock.connect(address)
            if tls is not None:
                self.sock = tls.wrap_socket(self.sock, server_hostname=server_name or "localhost",
                                            session=session, suppress_ragged_eofs=False)
        except BaseException:
            self.sock.close()
            raise
        self.buffer = bytearray()
        self.asked_at = time.monotonic()
        self._end = None

    # -- writing
    def send(self, data):
        self.asked_at = time.monotonic()
        carried[self.address] |= credentials.in_request(data)
        self.sock.settimeout(self.timeout)
        self.sock.sendall(data)
        return self

    def request(self, method, target, headers=(), body=None, **how):
        return self.send(request_bytes(method, target, headers, body, **how))

    def ask(self, method, target, headers=(), body=None, **how):
        self.request(method, target, headers, body, **how)
        return self.response(method)

    def post(self, target="/v1/chat/completions", body=None, headers=(), stream=None, **how):
        body = body_for(target, stream=stream) if body is None else body
        return self.ask("POST", target, headers, body, **how)

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_RESET)
        self.close()

    def close(self):
        with contextlib.suppress(OSError):
            self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # -- reading
    def _more(self, end):
        """Reads once into the buffer; sets _end to fin, reset or timeout when there is no more."""
        left = end - time.monotonic()
        pending = self.sock.pending() if isinstance(self.sock, ssl.SSLSocket) else 0
        if not pending and not readable(self.sock, left):
            return "timeout"
        try:
            data = self.sock.recv(262144)
        except (ssl.SSLWantReadError, TimeoutError):
            return None
        except OSError as error:
            ragged = isinstance(error, ssl.SSLError) and "EOF" in (error.reason or "")
            self._end = "ragged" if ragged else "reset"  # ragged: TCP end without close_notify
            return self._end
        if not data:
            self._end = "fin"
            return self._end
        self.buffer += data
        return None

    def response(self, method="POST", timeout=None):
        """Reads one answer to its end; 1xx are noted and passed over."""
        answer = self.head(method, timeout)
        return self.rest(answer, timeout)

    def head(self, method="POST", timeout=None):
        """Reads only the head of the answer.  end is set when none came."""
        end = time.monotonic() + (timeout or self.timeout)
        answer = Response()
        answer.asked_at = self.asked_at
        while True:
            while b"\r\n\r\n" not in self.buffer:
                why = self._more(end)
                if why:
                    answer.end, answer.end_at = {"fin": "cut", "ragged": "cut"}.get(why, why), time.monotonic()
                    answer.body = bytes(self.buffer)
                    return answer
            raw, _, rest = bytes(self.buffer).partition(b"\r\n\r\n")
            self.buffer = bytearray(rest)
            lines = raw.decode("latin-1").split("\r\n")
            version, _, tail = lines[0].partition(" ")
            code, _, reason = tail.partition(" ")
            status = int(code)
            if 100 <= status < 200 and status != 101:
                answer.interim.append((status, time.monotonic() - self.asked_at))
                continue
            answer.version, answer.status, answer.reason = version, status, reason
            answer.head_at = time.monotonic()
            for line in lines[1:]:
                name, _, value = line.partition(":")
                answer.headers.append((name, value.strip(" \t")))
            answer.framing = self._framing(answer, method)
            return answer

    @staticmethod
    def _framing(answer, method):
        codings, lengths = answer.all("transfer-encoding"), answer.all("content-length")
        if codings and lengths:
            raise AssertionError("two framings in one answer: %r" % answer)
        if method == "HEAD" or answer.status in (204, 304) or answer.status == 101:
            return "none"
        if codings:
            if codings != ["chunked"]:
                raise AssertionError("strange coding: %r" % codings)
            return "chunked"
        if lengths:
            if len(lengths) != 1 or not lengths[0].isdigit():
                raise AssertionError("strange length: %r" % lengths)
            return "length"
        return "close"

    def rest(self, answer, timeout=None):
        """Reads the body of an answer whose head is there, to its end."""
        for _ in self.pieces(answer, timeout):
            pass
        return answer

    def pieces(self, answer, timeout=None):
        """Yields (time, bytes) as the body comes; sets answer.end."""
        if answer.end is not None:
            return
        end = time.monotonic() + (timeout or self.timeout)
        reader = {"none": self._none, "chunked": self._chunked, "length": self._length,
                  "close": self._to_end}[answer.framing]
        for data in reader(answer, end):
            piece = (time.monotonic(), data)
            answer.pieces.append(piece)
            answer.body += data
            yield piece
        answer.end_at = time.monotonic()

    def until(self, answer, marker, timeout=None):
        """Reads pieces until the body holds `marker`; raises when it does not come."""
        if marker in answer.body:
            return answer
        for _ in self.pieces(answer, timeout):
            if marker in answer.body:
                return answer
        raise AssertionError("%r did not come: %r" % (marker, answer))

    @staticmethod
    def _none(answer, _end):
        answer.end = "complete"
        return iter(())

    def _fail(self, answer, why):
        answer.end = {"fin": "cut", "ragged": "cut"}.get(why, why)

    def _length(self, answer, end):
        left = int(answer.header("content-length")) - len(answer.body)
        while left:
            if not self.buffer:
                why = self._more(end)
                if why:
                    return self._fail(answer, why)
                continue
            data = bytes(self.buffer[:left])
            del self.buffer[:left]
            left -= len(data)
            yield data
        answer.end = "complete"

    def _to_end(self, answer, end):
        while True:
            if self.buffer:
                data = bytes(self.buffer)
                self.buffer.clear()
                yield data
            why = self._more(end)
            if why:
                answer.end = {"fin": "close", "ragged": "cut"}.get(why, why)
                return

    def _chunked(self, answer, end):
        while True:
            line, why = self._line(end)
            if why:
                return self._fail(answer, why)
            size = int(line.split(b";")[0], 16)
            if size == 0:
                break
            while len(self.buffer) < size + 2:
                why = self._more(end)
                if why:
                    if self.buffer:
                        answer.body += bytes(self.buffer[:size])
                    return self._fail(answer, why)
            if self.buffer[size:size + 2] != b"\r\n":
                raise AssertionError("bad end of a chunk")
            data = bytes(self.buffer[:size])
            del self.buffer[:size + 2]
            yield data
        while True:
            line, why = self._line(end)
            if why:
                return self._fail(answer, why)
            if not line:
                break
            answer.trailers.append(line)
        answer.end = "complete"

    def _line(self, end):
        while b"\r\n" not in self.buffer:
            why = self._more(end)
            if why:
                return b"", why
        line, _, rest = bytes(self.buffer).partition(b"\r\n")
        self.buffer = bytearray(rest)
        return line, None

    def poll(self):
        """Takes what has come, without waiting; how the connection ended, or None."""
        while self._end is None and self._more(time.monotonic()) is None:
            pass
        return self._end

    def closed(self, timeout=5.0):
        """How the connection ended: fin, reset, ragged (TLS end without a goodbye); None when it is still open after `timeout`."""
        end = time.monotonic() + timeout
        while self._end is None and time.monotonic() < end:
            why = self._more(end)
            if why == "timeout":
                return None
        return self._end


def ask(address, method, target, headers=(), body=None, tls=None, timeout=30.0, **how):
    """One request on a connection of its own."""
    with Client(address, tls=tls, timeout=timeout) as client:
        return client.ask(method, target, headers, body, **how)


def refused(address):
    """No connection is taken any more. (A SYN that meets the closing is asked again by the kernel: not yet.)"""
    try:
        Client(address, timeout=1).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        pass
    return False


def post(address, target="/v1/chat/completions", body=None, headers=(), stream=None, timeout=30.0, **how):
    with Client(address, timeout=timeout) as client:
        return client.post(target, body, headers, stream, **how)
