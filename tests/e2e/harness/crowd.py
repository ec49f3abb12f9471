"""What the rows of the capacity gate share: providers that serve few at once, and crowds of clients."""

import threading
import time

from . import turnpike
from .client import ask
from .exposition import Exposition
from .provider import error_body, ok

CHAT = "/v1/chat/completions"
ONCE = {"X-Turnpike-Max-Sends": "1"}


def capacity(limit, workers=4, **more):
    return {"workers": workers, "providers": {"p": {"capacity": {"limit": limit, **more}}},
            "admin": {"listen": "127.0.0.1:0"}}


def queued(t):
    values = Exposition(ask(t.admins[0], "GET", "/metrics").body.decode()).of("turnpike_queued")
    return sum(values.values())


def wait_queued(t, count, timeout=5):
    turnpike.until(lambda: queued(t) == count, timeout, lambda: "%d wait, not %d" % (queued(t), count))


class Busy:
    """Steps of a provider that take their time: `seconds`, or until `release` is set.  It knows how many are inside, and
    refuses those above its own `limit`."""

    def __init__(self, seconds=0.0, release=None, limit=None):
        self.seconds, self.release, self.limit = seconds, release, limit
        self.inside = self.most = 0
        self.refused_at = []
        self.lock = threading.Lock()

    def __call__(self, x):
        with self.lock:
            full = self.limit is not None and self.inside >= self.limit
            if full:
                self.refused_at.append(time.monotonic())
            else:
                self.inside += 1
                self.most = max(self.most, self.inside)
        if full:
            x.answer(429, {"X-Codex-Model-Capacity": "%d/%d" % (self.limit, self.limit), "Retry-After": "1"},
                     error_body(429))
            return
        try:
            if self.release is not None:
                x.await_event(self.release)
            else:
                x.sleep(self.seconds)
        finally:
            with self.lock:
                self.inside -= 1
        ok()(x)


class Crowd:
    """Requests of many clients, each on a connection of its own."""

    def __init__(self, lab, t):
        self.lab, self.t, self.threads, self.answers = lab, t, [], {}

    def add(self, number, timeout=30, **how):
        def run():
            try:
                self.answers[number] = self.lab.post(self.t, headers={"x-number": str(number)}, timeout=timeout, **how)
            except OSError as error:
                self.answers[number] = error
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self.threads.append(thread)

    def begun(self, provider):
        """Its first request is with the provider."""
        self.add(0)
        provider.wait_sends(1)
        return self

    def results(self, timeout=40):
        for thread in self.threads:
            thread.join(timeout)
            assert not thread.is_alive(), "no answer"
        return [self.answers[number] for number in sorted(self.answers)]


def order(u):
    return [int(send.header("x-number")) for send in u.sends if send.header("x-number")]
