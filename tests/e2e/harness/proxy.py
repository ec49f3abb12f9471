"""A scripted HTTP proxy on a raw socket: CONNECT and absolute form, for `via`.

It notes every connection and every request.  Steps are callables (proxy, sock, request) that end a request in
some other way than passing it on; they are used one per request, and the last one, `then`, for ever after.
"""

import base64
import contextlib
import socket
import struct
import threading

from .ready import readable, which_readable

MOST_TIME = 60.0
LINGER_RESET = struct.pack("ii", 1, 0)


class Request:
    def __init__(self, connection, raw):
        self.connection, self.raw = connection, raw
        lines = raw.decode("latin-1").split("\r\n")
        self.method, self.target, self.version = lines[0].split(" ")
        self.headers = [tuple(line.split(": ", 1)) for line in lines[1:] if line]

    def header(self, name):
        return next((v for n, v in self.headers if n.lower() == name), None)

    def __repr__(self):
        return "<%s %s conn=%d>" % (self.method, self.target, self.connection)


class Proxy:
    def __init__(self, *steps, then=None, user=None):
        """user: "name:password" that it wants, else it answers 407."""
        self._steps, self._then = list(steps), then
        self.wants = user and "Basic " + base64.b64encode(user.encode()).decode()
        self.user = user
        self.stopping = threading.Event()
        self.requests, self.errors = [], []
        self.connections = 0
        self._sockets, self._threads = [], []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self._start(self._accept)

    def set(self, *steps, then=None):
        self._steps, self._then = list(steps), then

    @property
    def address(self):
        return "127.0.0.1:%d" % self.port

    def url(self, user=None):
        return "http://%s%s" % (user + "@" if user else "", self.address)

    def stop(self):
        self.stopping.set()
        for sock in [self._listener, *self._sockets]:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            with contextlib.suppress(OSError):
                sock.close()
        for thread in self._threads:
            thread.join(5)

    # -- inside
    def _start(self, function, *arguments):
        thread = threading.Thread(target=function, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        while not self.stopping.is_set():
            try:
                sock = self._listener.accept()[0]
            except OSError:
                return
            self.connections += 1
            self._sockets.append(sock)
            self._start(self._serve, sock, self.connections)

    def _serve(self, sock, number):
        try:
            upstream = None
            buffer = b""
            while True:
                while b"\r\n\r\n" not in buffer:
                    data = sock.recv(65536)
                    if not data:
                        return
                    buffer += data
                head, buffer = buffer.split(b"\r\n\r\n", 1)
                request = Request(number, head)
                length = int(request.header("content-length") or 0)
                while len(buffer) < length:
                    buffer += sock.recv(65536)
                body, buffer = buffer[:length], buffer[length:]
                self.requests.append(request)
                step = self._steps.pop(0) if self._steps else self._then
                if step is None and self.wants and request.header("proxy-authorization") != self.wants:
                    step = answer(407, "Proxy-Authenticate: Basic realm=\"p\"\r\n")
                if step is not None:
                    step(self, sock, request)
                    if sock.fileno() < 0:
                        return
                elif request.method == "CONNECT":
                    self._tunnel(sock, request)
                    return
                else:
                    upstream = self._forward(sock, request, body, upstream)
        except (OSError, ValueError) as error:
            if not self.stopping.is_set() and not isinstance(error, ConnectionError):
                self.errors.append(repr(error))
        finally:
            with contextlib.suppress(OSError):
                sock.close()

    def _dial(self, authority):
        host, port = authority.rsplit(":", 1)
        made = socket.create_connection((host.strip("[]"), int(port)), timeout=MOST_TIME)
        self._sockets.append(made)
        return made

    def _tunnel(self, sock, request):
        upstream = self._dial(request.target)
        sock.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        ends = {sock: upstream, upstream: sock}
        while ends:
            for ready in which_readable(ends, 1.0):
                data = ready.recv(65536)
                if data:
                    ends[ready].sendall(data)
                else:
                    upstream.close()
                    return
            if self.stopping.is_set():
                return

    def _forward(self, sock, request, body, upstream):
        assert request.target.startswith("http://"), request
        authority, slash, path = request.target[len("http://"):].partition("/")
        if upstream is None:
            upstream = self._dial(authority)
            self._start(self._back, upstream, sock)
        lines = ["%s %s HTTP/1.1" % (request.method, slash + path)]
        lines += ["%s: %s" % (n, v) for n, v in request.headers if n.lower() != "proxy-authorization"]
        upstream.sendall("\r\n".join(lines).encode("latin-1") + b"\r\nVia: 1.1 test\r\n\r\n" + body)
        return upstream

    @staticmethod
    def _back(upstream, sock):
        with contextlib.suppress(OSError, ValueError):
            while True:
                data = upstream.recv(65536)
                if not data:
                    break
                sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)


# -- steps

def answer(status, headers="", body=b"no"):
    def step(_proxy, sock, _request):
        sock.sendall(("HTTP/1.1 %d Refused\r\n%sContent-Length: %d\r\n\r\n" %
                      (status, headers, len(body))).encode() + body)
    return step


def raw(data, then_close=True):
    """These bytes instead of an answer."""
    def step(_proxy, sock, _request):
        sock.sendall(data)
        if then_close:
            sock.close()
    return step


def reset(_proxy, sock, _request):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_RESET)
    sock.close()


def close(_proxy, sock, _request):
    sock.shutdown(socket.SHUT_RDWR)
    sock.close()


def stall(proxy, sock, _request):
    """Nothing, until the peer goes."""
    while not proxy.stopping.is_set():
        if readable(sock, 0.2) and not sock.recv(65536):
            sock.close()
            return
