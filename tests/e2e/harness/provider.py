"""A scripted provider on a raw socket.

It can do to a connection what real providers and the boxes before them do: reset before, inside or after
reading a request, close, half-close, stall, cut an answer at any byte, talk garbage, read slowly or never.
It notes every connection and every send: a *send* is a request of which it read at least one byte.

Requests find their script (script.py) by the header `x-row`; those without it use the main script, so that one
provider can serve many independent rows.
"""

import collections
import contextlib
import socket
import threading

from .bodies import error_body, event, family_of, good_body, good_events  # noqa: F401: tests take them from here
from .exchange import MOST_TIME, Connection, Exchange, PeerGone
from .script import (PROBE, Script, Send, before_body, fin, ok, raw, reset, reset_inside, silent, status,  # noqa: F401
                     stream)  # these too


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
