"""What a scripted provider answers: steps, scripts of them, and what came of each send.

Steps are callables that take an Exchange.  A script is a list of steps, used one per send, and a last step that
is used for ever after.
"""

import hashlib
import json
import threading
import time

from .bodies import error_body, good_body


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
