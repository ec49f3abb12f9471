"""How the scripted provider reads the body of a request."""

import time


class PeerGone(Exception):
    """The proxy closed or reset the connection."""


class BodyReader:
    """Request bodies: Content-Length xor chunked, kept with and without the framing."""

    def __init__(self, connection, send, piece, pause, timeout):
        self.connection, self.send = connection, send
        self.piece, self.pause, self.timeout = piece, pause, timeout

    def run(self, limit):
        send = self.send
        if send.body_complete:
            return
        if "chunked" in (send.header("transfer-encoding") or "").lower():
            self._chunked(limit)
        else:
            want = int(send.header("content-length") or 0)
            end = want if limit is None else min(want, limit)
            body = bytearray(send.body)
            while len(body) < end:
                body += self._take(min(self.piece, end - len(body)))
                send.body = bytes(body) if limit is not None else send.body
            send.raw_body = send.body = bytes(body)
            if len(send.body) == want:
                self._complete()

    def _complete(self):
        self.send.body_complete, self.send.body_complete_at = True, time.monotonic()

    def _chunked(self, limit):
        raw, body = bytearray(), bytearray()

        def line():
            out = bytearray()
            while not out.endswith(b"\r\n"):
                out += self._take(1)
            raw.extend(out)
            return bytes(out[:-2])

        try:
            while True:
                size = int(line().split(b";")[0], 16)
                if size == 0:
                    break
                left = size
                while left:
                    data = self._take(min(self.piece, left))
                    left -= len(data)
                    raw.extend(data)
                    body.extend(data)
                    if limit is not None and len(raw) >= limit:
                        return
                if line() != b"":
                    raise AssertionError("bad chunk end from the proxy")
            while True:
                trailer = line()
                if not trailer:
                    break
                self.send.trailers.append(trailer)
            self._complete()
        finally:
            self.send.raw_body, self.send.body = bytes(raw), bytes(body)

    def _take(self, most):
        buffer = self.connection.buffer
        if not buffer:
            if self.pause:
                self.connection.provider.stopping.wait(self.pause)
            data = self.connection.recv(self.piece, self.timeout)
            if not data:
                raise PeerGone("end of the request's body")
            buffer += data
        out = bytes(buffer[:most])
        del buffer[:most]
        self.send.read_bytes += len(out)
        return out
