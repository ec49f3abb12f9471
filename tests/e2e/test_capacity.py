"""The capacity gate (BR-5, SH-3, SZ-6, design 3.3): never more than capacity.limit at a provider, over all workers; the
rest waits in the order of arrival, bounded in number and time."""

import os
import signal
import threading
import time

from harness import turnpike
from harness.checks import local_error, not_stopped, relayed, served
from harness.client import Client, body_for
from harness.exposition import Exposition
from harness.lab import SLACK, Rows, between, told
from harness.provider import error_body, good_events, ok, status, stream

rows = Rows()

CHAT = "/v1/chat/completions"


def capacity(limit, **more):
    return {"providers": {"p": {"capacity": {"limit": limit, **more}}}}


class Busy:
    """A provider's step: an answer that takes its time, until released or for `seconds`; knows how many are inside."""

    def __init__(self, seconds=0.0, gate=None, limit=None, headers=()):
        self.seconds, self.gate, self.limit, self.headers = seconds, gate, limit, dict(headers)
        self.inside = self.most = self.refused = 0
        self.lock = threading.Lock()

    def __call__(self, x):
        with self.lock:
            full = self.limit is not None and self.inside >= self.limit
            self.refused += full
            self.inside += not full
            self.most = max(self.most, self.inside)
        x.read_body()
        if full:
            x.answer(429, self.headers, error_body(429, "chat") if callable(error_body) else b"{}")
            return
        try:
            if self.gate is not None:
                x.await_event(self.gate)
            else:
                x.sleep(self.seconds)
        finally:
            with self.lock:
                self.inside -= 1
        ok()(x)
