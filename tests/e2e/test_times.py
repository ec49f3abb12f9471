"""Where the time of a turn goes: the histograms of docs/monitoring.md, with bounds."""

import time

import pytest

from harness.checks import served
from harness.client import ask, body_for
from harness.exposition import Exposition
from harness.lab import SLACK, Rows, between
from harness.provider import good_events, ok, status
from harness.turnpike import until

rows = Rows()
PATH = "/v1/chat/completions"
TCP = {"admin": {"listen": ["127.0.0.1:0"]}, "workers": 2}
BUSY = 0.05 + SLACK  # of the machine, for each turn; what must not count is longer


def times(t, turns):
    """{histogram: (count, sum)} once so many turns are over."""
    def seen():
        values = Exposition(ask(t.admins[0], "GET", "/metrics", timeout=10).body.decode()).values
        return {name: (values["turnpike_%s_seconds_count" % name, ()], values["turnpike_%s_seconds_sum" % name, ()])
                for name in ("wait", "first_byte", "turn", "overhead")}
    until(lambda: seen()["turn"][0] == turns, 5, lambda: "%d turns: %r" % (turns, seen()))
    return seen()


@rows("provider-and-client-are-slow")
def _(lab):
    """Neither the upload, nor the provider's time to answer, nor its stream is overhead."""
    u = lab.provider(ok(after=0.8))
    t = lab.turnpike(u, TCP, probe=False)
    body = body_for(PATH)
    c = lab.client(t)
    c.send(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
           % (PATH.encode(), len(body)) + body[:5])
    time.sleep(0.8)
    c.send(body[5:])
    served(c.response("POST"), sends=1)
    seen = times(t, 1)
    assert seen["wait"][0] == 0 and seen["first_byte"][0] == seen["overhead"][0] == 1, seen
    between(seen["turn"][1], 1.55, 1.7)
    between(seen["first_byte"][1], 0.75, 0.85)
    assert 0 < seen["overhead"][1] < BUSY, seen


@rows("waits-are-no-overhead")
def _(lab):
    u = lab.provider(status(503, after=0.3), status(503, after=0.3), then=ok(after=0.3))
    t = lab.turnpike(u, dict(TCP, retry={"transient": {"base": "600ms", "cap": "600ms"}}), probe=False)
    served(lab.post(t), sends=3)
    seen = times(t, 1)
    assert seen["wait"][0] == 2 and seen["first_byte"][0] == 3 and seen["overhead"][0] == 1, seen
    assert seen["wait"][1] >= 0.9
    between(seen["first_byte"][1], 0.85, 1.0)
    assert 0 < seen["overhead"][1] < BUSY, seen


@rows("a-held-stream-is-no-overhead")
def _(lab):
    """The prelude is held until its first output: the provider's time, like what flows behind it."""
    def slow(x):
        prelude, outputs, ending = good_events("chat")
        x.stream_head()
        for piece in prelude + outputs + ending:
            x.sleep(0.2)
            x.piece(piece)
        x.stream_end()

    u = lab.provider(then=slow)
    t = lab.turnpike(u, TCP, probe=False)
    served(lab.post(t, stream=True), sends=1)
    seen = times(t, 1)
    assert seen["turn"][1] > 0.55 and seen["overhead"][0] == 1, seen
    assert seen["first_byte"][1] < 0.2 + SLACK and 0 < seen["overhead"][1] < BUSY, seen


@rows("nobody-answers")
def _(lab):
    """A send that was never answered has no first byte, but its overhead; a turn that made no send has neither."""
    u = lab.provider(then=lambda x: x.close())
    t = lab.turnpike(u, TCP, probe=False)
    same = {"body": body_for(PATH, "k"), "headers": {"Idempotency-Key": "k"}}
    assert lab.post(t, **same).status == 429
    assert lab.post(t, **same).status == 429 and u.count == 1  # from memory
    seen = times(t, 2)
    assert seen["first_byte"][0] == 0 and seen["overhead"][0] == 1 and seen["overhead"][1] < BUSY, seen


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
