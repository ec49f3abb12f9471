"""The capacity gate: every end of a send gives its place back (SZ-6, AC-4), what `auto` learns, combos."""

import os
import threading
import time
import zlib

import pytest

from harness import turnpike
from harness.checks import local_error, relayed, served
from harness.client import Client, body_for
from harness.crowd import CHAT, ONCE, Busy, Crowd, capacity, order, queued, wait_queued
from harness.lab import SLACK, Rows, between
from harness.provider import good_events, ok, reset, silent, status, stream

rows = Rows()


# ---- every end gives the permit back

def one_ends(lab, t, u, ask_for_it):
    """`ask_for_it` ends one request its way; then a plain one is let in at once."""
    ask_for_it()
    begun = time.monotonic()
    answer = lab.post(t)
    served(answer, sends=1)
    assert time.monotonic() - begun < 0.3 + SLACK
    assert queued(t) == 0


@rows.table("SZ-6", {
    "success": (ok(), 200), "4xx": (status(404), 404), "5xx": (status(500), 500), "429": (status(429), 429),
    "refusal": (reset(), 429), "timeout": (silent(), 429),
})
def _(lab, case):
    step, code = case
    u = lab.provider(step, then=ok())
    t = lab.turnpike(u, turnpike.merge(capacity(1), {"providers": {"p": {"timeouts": {"first_byte": "500ms"}}}}))

    def end():
        assert lab.post(t, headers=ONCE).status == code
    one_ends(lab, t, u, end)


@rows("SZ-6-retried")
def _(lab):
    """Between the sends of a turn the permit is free."""
    u = lab.provider(status(429, {"Retry-After": "2"}), then=ok())
    t = lab.turnpike(u, turnpike.merge(capacity(1), {"retry": {"share_waits": False}}))
    crowd = Crowd(lab, t).begun(u)
    turnpike.until(lambda: t.stats()["waiting"] == 1, 2, "the retry waits")
    answer = lab.post(t)
    served(answer, sends=1)
    assert answer.took < 0.3 + SLACK
    served(crowd.results()[0], sends=2)


@rows("SZ-6-refused-goes-first")
def _(lab):
    """A refused turn keeps its ticket: it does not go to the end."""
    release = threading.Event()
    u = lab.provider(status(503, {"Retry-After": "1"}), then=Busy(release=release))
    t = lab.turnpike(u, capacity(1))
    crowd = Crowd(lab, t).begun(u)
    turnpike.until(lambda: t.stats()["waiting"] == 1, 2, "the retry waits")
    crowd.add(1)
    u.wait_sends(2)
    crowd.add(2)
    wait_queued(t, 1)
    wait_queued(t, 2)  # the retry, 1.5 s after its refusal
    release.set()
    for answer in crowd.results():
        served(answer)
    assert order(u) == [0, 1, 0, 2]


@rows.table("SZ-6-gone", ["in-the-stream", "before-the-first-byte"])
def _(lab, when):
    prelude, outputs, ending = good_events("chat")
    step = stream(prelude + outputs, end="hold") if when == "in-the-stream" else silent()
    u = lab.provider(step, then=ok())
    t = lab.turnpike(u, capacity(1))

    def end():
        client = lab.client(t)
        client.request("POST", CHAT, {}, body_for(CHAT, stream=True))
        u.wait_sends(1)
        if when == "in-the-stream":
            client.until(client.head(), b"one ")
        client.reset()
        turnpike.until(lambda: not t.stats().gauges["sends"], 3, "the send is cancelled")
    one_ends(lab, t, u, end)


@rows("SZ-6-stops-reading")
def _(lab):
    """The provider is done; how long the client takes over the rest is no matter of its."""
    prelude, outputs, ending = good_events("chat", ["x" * 8000] * 400)
    u = lab.provider(stream(prelude + outputs + ending), then=ok())
    t = lab.turnpike(u, turnpike.merge(capacity(1), {"limits": {"slow_reader": "1s"}}))
    client = lab.client(t, receive_buffer=4096)
    client.request("POST", CHAT, {}, body_for(CHAT, stream=True))
    u.wait_sends(1)
    answer = lab.post(t, timeout=20)
    served(answer, sends=1)
    assert answer.took < 3 + SLACK
    client.reset()


@rows("SZ-6-stops-reading-decoded")
def _(lab):
    """The same while the answer, which came compressed, waits decoded for its client."""
    prelude, outputs, ending = good_events("chat", [os.urandom(60).hex() * 60 for _ in range(400)])
    packed = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = packed.compress(b"".join(prelude + outputs + ending)) + packed.flush()
    assert len(data) < 60000  # it has all been read when the client is found to be slow
    u = lab.provider(status(200, {"Content-Type": "text/event-stream", "Content-Encoding": "gzip"}, data), then=ok())
    near = os.path.join(lab.folder, "near.sock")  # a socket whose buffers do not grow
    t = lab.turnpike(u, turnpike.merge(capacity(1), {"listen": ["127.0.0.1:0", "unix:" + near],
                                                     "limits": {"slow_reader": "20s"}}))
    client = Client(near)
    client.request("POST", CHAT, {}, body_for(CHAT, stream=True))
    u.wait_sends(1)
    answer = lab.post(t, timeout=10)
    served(answer, sends=1)
    assert answer.took < 3 + SLACK and t.stats().gauges["turns"] == 1
    client.reset()


@rows("AC-4-gate")
def _(lab):
    """A stream that stalls is ended after timeouts.idle, and the next request is let in."""
    prelude, outputs, _ = good_events("chat", ["t%d " % n for n in range(10)])
    u = lab.provider(stream(prelude + outputs, end="hold"), then=ok())
    t = lab.turnpike(u, turnpike.merge(capacity(1), {"providers": {"p": {"timeouts": {"idle": "3s"}}}}))
    crowd = Crowd(lab, t)
    crowd.add(0, stream=True)
    u.wait_sends(1)
    begun = time.monotonic()
    served(lab.post(t), sends=1)
    between(time.monotonic() - begun, 2.5, 3.5)
    assert b"error" in crowd.results()[0].body


# ---- auto

@rows("auto-told")
def _(lab):
    """The provider names its limit: from then on nobody is refused."""
    busy = Busy(0.1, limit=3)
    u = lab.provider(then=busy)
    t = lab.turnpike(u, capacity("auto"))
    crowd = Crowd(lab, t)
    for number in range(12):
        crowd.add(number)
    for answer in crowd.results():
        served(answer)
    learned = len(busy.refused_at)
    assert 0 < learned <= 9
    crowd = Crowd(lab, t)
    for number in range(24):
        crowd.add(number)
    for answer in crowd.results():
        served(answer, sends=1)
    assert len(busy.refused_at) == learned and busy.most == 3


@rows("auto-untold")
def _(lab):
    """Without a number: as many as were accepted."""
    release = threading.Event()
    busy = Busy(release=release)
    u = lab.provider(then=busy)
    t = lab.turnpike(u, capacity("auto"))
    crowd = Crowd(lab, t)
    for number in range(3):
        crowd.add(number)
    u.wait_sends(3)
    u.set(status(503, {}, b'{"error":{"message":"at capacity"}}'), then=busy)
    crowd.add(3)
    u.wait_sends(4)
    turnpike.until(lambda: t.stats()["waiting"] == 1, 2, "the retry waits")
    crowd.add(4)
    wait_queued(t, 1)
    wait_queued(t, 2)  # the refused one comes back, to wait
    assert u.count == 4
    release.set()
    for answer in crowd.results():
        served(answer)
    assert sorted(order(u)[-2:]) == [3, 4]


@rows("auto-rate-limit")
def _(lab):
    """A told rate limit says nothing about how many at once."""
    release = threading.Event()
    busy = Busy(release=release)
    u = lab.provider(then=busy)
    t = lab.turnpike(u, turnpike.merge(capacity("auto"), {"retry": {"share_waits": False}}))
    crowd = Crowd(lab, t)
    for number in range(2):
        crowd.add(number)
    u.wait_sends(2)
    u.set(status(429, {"Retry-After": "1"}), then=busy)
    relayed(lab.post(t, headers=ONCE), 429)
    for number in range(2, 5):
        crowd.add(number)
    u.wait_sends(6)
    release.set()
    for answer in crowd.results():
        served(answer, sends=1)


# ---- combos

@rows.table("combo", {"queue-full": {"queue": 0}, "wait-expired": {"wait": "300ms"}})
def _(lab, limits):
    """A target that takes no more is passed over; the last one is told."""
    release = threading.Event()
    one, two = lab.provider(then=Busy(release=release)), lab.provider(then=Busy(release=release))
    t = lab.turnpike({name: {"url": p.url(), "keys": ["k"], "capacity": {"limit": 1, **limits}}
                      for name, p in (("one", one), ("two", two))},
                     {"combos": {"c": {"targets": [{"provider": "one", "model": "m1"},
                                                   {"provider": "two", "model": "m2"}]}},
                      "routes": [{"path": "/v1", "provider": "one"}], "workers": 4})
    crowd = Crowd(lab, t)
    crowd.add(0, body=body_for(CHAT, model="c"))
    one.wait_sends(1)
    crowd.add(1, body=body_for(CHAT, model="c"))
    two.wait_sends(1)
    answer = lab.post(t, body=body_for(CHAT, model="c"))
    local_error(answer, 503, code="capacity_" + {"queue": "queue_full", "wait": "wait_expired"}[list(limits)[0]])
    release.set()
    for answer in crowd.results():
        served(answer, sends=1)
    assert one.count == 1 and two.count == 1
    assert turnpike.run("cooldown", "list", "--json", "--name", t.name).stdout.strip() == "[]"


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
