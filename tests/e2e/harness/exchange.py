"""A connection as a scripted provider has it, and the hands of a step: one send on it."""

import contextlib
import socket
import ssl
import struct
import time

from .body_reader import BodyReader, PeerGone
from .ready import readable

LINGER_RESET = struct.pack("ii", 1, 0)
MOST_TIME = 60.0  # no wait of a provider is longer


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
