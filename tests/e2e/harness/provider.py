"""A scripted provider on a raw socket.

It can do to a connection what real providers and the boxes before them do: reset before, inside or after
reading a request, close, half-close, stall, cut an answer at any byte, talk garbage, read slowly or never.
It notes every connection and every send: a *send* is a request of which it read at least one byte.

Steps are callables that take an Exchange.  A script is a list of steps, used one per send, and a last step that
is used for ever after.  Requests find their script by the header `x-row`; those without it use the main
script, so that one provider can serve many independent rows.
"""

import collections
import contextlib
import hashlib
import json
import socket
import ssl
import struct
import threading
import time

from .bodies import error_body, event, family_of, good_body, good_events  # noqa: F401: tests take them from here
from .body_reader import BodyReader, PeerGone
from .ready import readable

LINGER_RESET = struct.pack("ii", 1, 0)
MOST_TIME = 60.0  # no wait of a provider is longer


class Send:
    """One request as the provider saw it."""

    def __init__(self, connection, number):
        self.connection = connection.number
        self.number = number  # on this connection, from 0
        self.accepted_at = connection.accepted_at
        self.at = time.monotonic()  # first byte read
        self.raw_head = b""
        self.method = self.target = self.version = ""
        self.headers = []  # (name, value) as written, in order
        self.raw_body = b""  # with the framing
        self.body = b""
        self.trailers = []
        self.body_complete = False
        self.body_complete_at = None
        self.read_bytes = 0
        self.wrote = 0
        self.status = None
        self.answered_at = None  # just before the last byte was written
        self.peer_closed_at = None
        self.peer_reset = False
        self.error = None

    def all(self, name):
        return [v for n, v in self.headers if n.lower() == name.lower()]

    def header(self, name, default=None):
        values = self.all(name)
        return values[0] if values else default

    @property
    def sha256(self):
        return hashlib.sha256(self.body).hexdigest()

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return "<send %s %s conn=%d/%d body=%d%s status=%s>" % (
            self.method, self.target[:60], self.connection, self.number, len(self.body),
            "" if self.body_complete else " incomplete", self.status)


class Script:
    """What to answer to the sends of one row, and what came."""

    def __init__(self, steps=(), then=None):
        self._lock = threading.Condition()
        self._steps = list(steps)
        self._then = then
        self.sends = []
        self.beyond = 0  # sends for which no step was left

    def set(self, *steps, then=None):
        with self._lock:
            self._steps, self._then = list(steps), then
        return self

    def take(self, send):
        with self._lock:
            self.sends.append(send)
            self._lock.notify_all()
            if self._steps:
                return self._steps.pop(0)
            if self._then is None:
                self.beyond += 1
                return ok()
            return self._then

    def wait_sends(self, count, timeout=10.0):
        with self._lock:
            if not self._lock.wait_for(lambda: len(self.sends) >= count, timeout):
                raise AssertionError("%d sends after %.1f s, %d were awaited: %r" %
                                     (len(self.sends), timeout, count, self.sends))
            return list(self.sends)

    @property
    def count(self):
        return len(self.sends)

    def gaps(self):
        """Seconds from the provider's answer (its end) to the first byte of the next send."""
        return [b.at - a.answered_at for a, b in zip(self.sends, self.sends[1:])]


class Connection:
    def __init__(self, provider, sock, number, peer):
        self.provider, self.sock, self.number, self.peer = provider, sock, number, peer
        self.accepted_at = time.monotonic()
        self.buffer = bytearray()
        self.sends = []
        self.closed_at = None
        self.peer_closed_at = None
        self.tls_error = None
        self.open = True

    # -- reading
    def recv(self, most=65536, timeout=MOST_TIME):
        """Some bytes, b'' at the peer's end; PeerGone on a reset; TimeoutError."""
        if not self.open:
            raise PeerGone("closed by the provider itself")
        pending = self.sock.pending() if isinstance(self.sock, ssl.SSLSocket) else 0
        if not pending:
            end = time.monotonic() + timeout
            while True:
                left = end - time.monotonic()
                try:
                    ready = readable(self.sock, min(left, 1.0))
                except (OSError, ValueError):
                    raise PeerGone("socket closed")
                if ready:
                    break
                if left <= 0 or self.provider.stopping.is_set():
                    raise TimeoutError("nothing came within %.1f s" % timeout)
        try:
            data = self.sock.recv(most)
        except (ConnectionError, ssl.SSLError, OSError, ValueError) as error:
            self._peer_closed(reset=isinstance(error, ConnectionResetError))
            raise PeerGone(str(error))
        if not data:
            self._peer_closed(reset=False)
        return data

    def _peer_closed(self, reset):
        if self.peer_closed_at is None:
            self.peer_closed_at = time.monotonic()
            for send in self.sends[-1:]:
                send.peer_closed_at, send.peer_reset = self.peer_closed_at, reset

    # -- ends
    def reset(self):
        self.open = False
        with contextlib.suppress(OSError, ValueError):
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_RESET)
        self.close()

    def close(self, notify=False):
        """FIN (or RST when unread bytes are left).  notify: TLS says goodbye first."""
        self.open = False
        if self.closed_at is None:
            self.closed_at = time.monotonic()
        if notify and isinstance(self.sock, ssl.SSLSocket):
            with contextlib.suppress(OSError, ValueError):
                self.sock.settimeout(1.0)
                self.sock = self.sock.unwrap()
        with contextlib.suppress(OSError):
            self.sock.close()


class Exchange:
    """The hands of a step: one send on one connection."""

    def __init__(self, connection, send, script):
        self.connection, self.send, self.script = connection, send, script
        self.provider = connection.provider
        self._chunked_out = False
        self.keep_open = True

    # -- the request's body
    def read_body(self, limit=None, pause=0.0, piece=65536, timeout=MOST_TIME):
        """Reads the body; at most `limit` of its framed bytes; `pause` seconds between pieces."""
        reader = BodyReader(self.connection, self.send, piece, pause, timeout)
        reader.run(limit)
        return self.send.body

    # -- writing
    def write(self, data, answered=False):
        connection = self.connection
        if not connection.open:
            raise PeerGone("closed by the provider itself")
        if answered:
            self.send.answered_at = time.monotonic()
        try:
            connection.sock.settimeout(MOST_TIME)
            connection.sock.sendall(data)
        except (OSError, ValueError) as error:
            connection._peer_closed(reset=isinstance(error, ConnectionResetError))
            raise PeerGone(str(error))
        self.send.wrote += len(data)

    def write_some(self, data, timeout=0.2):
        """As much as the peer takes within `timeout` for each piece; how much that was."""
        sent = 0
        self.connection.sock.settimeout(timeout)
        try:
            while sent < len(data):
                sent += self.connection.sock.send(data[sent:sent + 65536])
        except (TimeoutError, ssl.SSLWantWriteError, BlockingIOError):
            pass
        except (OSError, ValueError) as error:
            self.connection._peer_closed(reset=isinstance(error, ConnectionResetError))
            raise PeerGone(str(error))
        finally:
            self.send.wrote += sent
        return sent

    def head(self, status, headers=(), reason=None, version="HTTP/1.1"):
        self.send.status = status
        line = "%s %d%s\r\n" % (version, status, " " + (reason or REASONS.get(status, "Status")))
        self.write(line.encode() + b"".join(_line(n, v) for n, v in _pairs(headers)) + b"\r\n")

    def answer(self, status, headers=(), body=b"", framing="length", reason=None, version="HTTP/1.1",
               cut=None):
        """A whole answer.  framing: length, chunked, close, none.  cut: only so many bytes of it are sent."""
        headers, body = _pairs(headers), _bytes(body)
        names = {n.lower() for n, _ in headers}
        if "content-type" not in names and body:
            headers.append(("Content-Type", "application/json"))
        if framing == "length" and "content-length" not in names:
            headers.append(("Content-Length", str(len(body))))
        elif framing == "chunked":
            headers.append(("Transfer-Encoding", "chunked"))
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
        elif framing == "close" and "connection" not in names:
            headers.append(("Connection", "close"))
        self.send.status = status
        line = "%s %d%s\r\n" % (version, status, " " + (reason or REASONS.get(status, "Status")))
        if reason == "":
            line = "%s %d\r\n" % (version, status)
        data = line.encode() + b"".join(_line(n, v) for n, v in headers) + b"\r\n"
        if self.send.method != "HEAD" and status not in (204, 304):
            data += body
        self.write(data if cut is None else data[:cut], answered=True)
        if framing == "close":
            self.close()

    # -- streams
    def stream_head(self, headers=(), framing="chunked", status=200):
        headers = [("Content-Type", "text/event-stream")] + _pairs(headers)
        self._chunked_out = framing == "chunked"
        headers.append(("Transfer-Encoding", "chunked") if self._chunked_out else ("Connection", "close"))
        self.head(status, headers)

    def piece(self, data):
        """One piece of a stream, as one chunk."""
        data = _bytes(data)
        self.write(b"%x\r\n%s\r\n" % (len(data), data) if self._chunked_out else data)

    def stream_end(self):
        """The proper end: last chunk, or FIN where the end is the connection's."""
        if self._chunked_out:
            self.write(b"0\r\n\r\n", answered=True)
        else:
            self.send.answered_at = time.monotonic()
            self.close()

    # -- ends and waits
    def reset(self):
        self.keep_open = False
        self.send.answered_at = self.send.answered_at or time.monotonic()
        self.connection.reset()

    def close(self, notify=False):
        self.keep_open = False
        self.send.answered_at = self.send.answered_at or time.monotonic()
        self.connection.close(notify)

    def half_close(self):
        with contextlib.suppress(OSError):
            self.connection.sock.shutdown(socket.SHUT_WR)

    def sleep(self, seconds):
        self.provider.stopping.wait(seconds)

    def await_event(self, barrier, timeout=MOST_TIME):
        """Waits for a barrier of the test; raises when it never comes."""
        end = time.monotonic() + timeout
        while not barrier.wait(0.05):
            if self.provider.stopping.is_set():
                raise PeerGone("provider stops")
            if time.monotonic() > end:
                raise AssertionError("a barrier of the script was never released")

    def await_peer_close(self, timeout=MOST_TIME):
        """True once the peer has closed or reset; anything it still sends is kept."""
        end = time.monotonic() + timeout
        while True:
            try:
                data = self.connection.recv(timeout=end - time.monotonic())
            except PeerGone:
                self.keep_open = False
                return True
            except TimeoutError:
                return False
            if not data:
                self.keep_open = False
                return True
            self.connection.buffer += data


class Provider:
    """Listens on a port of its own; one thread per connection.

    on_accept: a callable (connection) run before anything is read, for faults that need no request; it returns
    False when it dealt with the connection.  idle_close: closes a kept connection that long idle.
    """

    def __init__(self, *steps, then=None, tls=None, host="127.0.0.1", on_accept=None, idle_close=None,
                 backlog=1024, receive_buffer=None, send_buffer=None, port=0):
        self.main = Script(steps, then)
        self.rows = collections.defaultdict(Script)
        self.connections = []
        self.on_accept, self.idle_close, self.tls = on_accept, idle_close, tls
        self.send_buffer = send_buffer
        self.stopping = threading.Event()
        self.errors = []
        self._lock = threading.Lock()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.socket(family, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if receive_buffer:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.listener.bind((host, port))
        self.listener.listen(backlog)
        self.host, self.port = host, self.listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    # -- what tests ask
    def url(self, path="/v1"):
        host = "[%s]" % self.host if ":" in self.host else self.host
        return "%s://%s:%d%s" % ("https" if self.tls else "http", host, self.port, path)

    def row(self, name, *steps, then=None):
        with self._lock:
            return self.rows[name].set(*steps, then=then)

    @property
    def sends(self):
        return self.main.sends

    @property
    def count(self):
        return len(self.main.sends)

    def set(self, *steps, then=None):
        return self.main.set(*steps, then=then)

    def wait_sends(self, count, timeout=10.0):
        return self.main.wait_sends(count, timeout)

    def gaps(self):
        return self.main.gaps()

    def open_connections(self):
        return [c for c in list(self.connections) if c.closed_at is None and c.peer_closed_at is None]

    def close_idle(self):
        """FIN on every kept connection, as a provider does that restarts."""
        for connection in self.open_connections():
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def stop_listening(self):
        """From now on its port refuses connections; those that are open stay."""
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self.listener.close()

    def stop(self):
        self.stopping.set()
        self.stop_listening()
        for connection in list(self.connections):
            with contextlib.suppress(OSError, ValueError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    # -- threads
    def _accept(self):
        while not self.stopping.is_set():
            try:
                sock, peer = self.listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.send_buffer:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.send_buffer)
            with self._lock:
                connection = Connection(self, sock, len(self.connections), peer)
                self.connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            if self.on_accept and self.on_accept(connection) is False:
                return
            if self.tls and not self._handshake(connection):
                return
            while connection.open and not self.stopping.is_set():
                if not self._one(connection, len(connection.sends)):
                    break
        except (PeerGone, TimeoutError):
            pass
        except Exception as error:  # a mistake of a script must not pass unseen
            self.errors.append(error)
            if connection.sends:
                connection.sends[-1].error = error
        finally:
            connection.close()

    def _handshake(self, connection):
        try:
            connection.sock.settimeout(10)
            connection.sock = self.tls.wrap_socket(connection.sock, server_side=True)
            return True
        except (OSError, ValueError) as error:
            connection.tls_error = error
            return False

    def _one(self, connection, number):
        if not connection.buffer:
            try:
                data = connection.recv(timeout=self.idle_close or MOST_TIME)
            except TimeoutError:
                return False
            if not data:
                return False
            connection.buffer += data
        send = Send(connection, number)
        connection.sends.append(send)
        script = self.main
        try:
            self._read_head(connection, send)
        except (PeerGone, TimeoutError):
            script.take(send)  # it counts: one byte was read
            return False
        row = send.header("x-row")
        if row is not None:
            with self._lock:
                script = self.rows[row]
        step = PROBE if row == "probe" else script.take(send)
        exchange = Exchange(connection, send, script)
        if not getattr(step, "before_body", False):
            exchange.read_body()
        step(exchange)
        if (send.header("connection") or "").lower() == "close":
            return False
        return exchange.keep_open and connection.open

    def _read_head(self, connection, send):
        buffer = connection.buffer
        while b"\r\n\r\n" not in buffer:
            send.raw_head = bytes(buffer)
            send.read_bytes = len(buffer)
            data = connection.recv(timeout=20)
            if not data:
                raise PeerGone("end inside a head")
            buffer += data
        raw, _, rest = bytes(buffer).partition(b"\r\n\r\n")
        send.raw_head = raw + b"\r\n\r\n"
        send.read_bytes = len(send.raw_head)
        connection.buffer = bytearray(rest)
        lines = raw.decode("latin-1").split("\r\n")
        send.method, send.target, send.version = lines[0].split(" ")
        for line in lines[1:]:
            name, _, value = line.partition(":")
            send.headers.append((name, value.strip(" \t")))


# ---- steps

def status(code, headers=(), body=None, after=0.0, **how):
    """An error answer (or any other) with a small JSON body."""
    def step(x):
        if after:
            x.sleep(after)
        text = body(x) if callable(body) else body
        if text is None:
            text = error_body(code)
        x.answer(code, headers, text, **how)
    return step


def ok(body=None, headers=(), after=0.0, **how):
    """The family's own 200."""
    def step(x):
        if after:
            x.sleep(after)
        x.answer(200, headers, good_body(x.send) if body is None else body, **how)
    return step


def probe_step(x):
    x.answer(200, (), b'{"probe":true}')


PROBE = probe_step


def before_body(step):
    """The step runs when the head is there and reads the body, or not, by itself."""
    def early(x):
        step(x)
    early.before_body = True
    return early


def reset():
    """Reads the whole request, then resets."""
    return lambda x: x.reset()


def fin():
    """Reads the whole request, then closes."""
    return lambda x: x.close()


def reset_inside(count):
    """Resets when it has read `count` bytes of the body."""
    def step(x):
        x.read_body(limit=count)
        x.reset()
    return before_body(step)


def silent(note=None):
    """Reads everything and says nothing until the peer goes away."""
    def step(x):
        closed = x.await_peer_close()
        if note is not None:
            note.append(closed)
    return step


def raw(data, then="close"):
    """Reads everything, writes these bytes, then: close, reset, keep."""
    def step(x):
        x.write(data, answered=True)
        if then == "reset":
            x.sleep(0.05)  # so that the bytes are delivered before the reset
            x.reset()
        elif then == "close":
            x.close()
    return step


def stream(pieces, headers=(), framing="chunked", pause=0.0, end="end", barriers=None):
    """A stream of pieces.  barriers: {index: threading.Event} awaited before that piece (len = before the end).
    end: end, reset, close (without the last chunk), hold (until the peer leaves)."""
    def step(x):
        x.stream_head(headers, framing)
        events = pieces(x.send) if callable(pieces) else pieces
        for index, data in enumerate(events):
            if barriers and index in barriers:
                x.await_event(barriers[index])
            elif pause and index:
                x.sleep(pause)
            x.piece(data)
        if barriers and len(events) in barriers:
            x.await_event(barriers[len(events)])
        if end == "end":
            x.stream_end()
        elif end == "reset":
            x.sleep(0.1)
            x.reset()
        elif end == "close":
            x.close()
        else:
            x.await_peer_close()
    return step


# ---- bytes

def _bytes(text):
    return text.encode() if isinstance(text, str) else bytes(text)


def _pairs(headers):
    return list(headers.items()) if isinstance(headers, dict) else list(headers)


def _line(name, value):
    return b"%s: %s\r\n" % (_latin(name), _latin(value))


def _latin(text):
    return text if isinstance(text, bytes) else text.encode("latin-1")


REASONS = {200: "OK", 204: "No Content", 304: "Not Modified", 307: "Temporary Redirect", 400: "Bad Request",
           401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 429: "Too Many Requests",
           500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
           504: "Gateway Timeout", 529: "Overloaded"}
