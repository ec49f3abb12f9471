"""Overload and Retry-After: cases OV (those that need no combo)."""

import email.utils
import json
import time

import pytest

from harness.checks import FAMILIES, MODELS, not_stopped, relayed, served, stopped
from harness.client import body_for
from harness.lab import O0, O1, O2, SLACK, Rows, between, gaps, quiet, told
from harness.provider import error_body, good_events, ok, status, stream

rows = Rows()

CHAT = "/v1/chat/completions"  # each run of a row asks for a model of its own where the one before was told to wait


def dated(code, seconds):
    """Retry-After as an IMF date that many seconds ahead of now."""
    def step(x):
        date = email.utils.formatdate(time.time() + seconds, usegmt=True)
        x.answer(code, {"Retry-After": date}, error_body(code))
    return step


@rows.table("OV-1", [429, 503])
def _(lab, code):
    u = lab.provider(status(code, {"Retry-After": "2"}), ok())
    t = lab.turnpike(u)
    served(lab.post(t), sends=2)
    gaps(u, told(2))
    stats = t.final_stats()
    assert stats["sends_overload"] == 1 and stats["sends_initial"] == 1, stats


@rows.table("OV-2", [429, 503])
def _(lab, code):
    u = lab.provider(dated(code, 3), ok())
    t = lab.turnpike(u)
    served(lab.post(t), sends=2)
    gaps(u, (2.0, 4.5 - SLACK))


@rows("OV-3")
def _(lab):
    u = lab.provider(status(503, {"Retry-After": "0"}), ok())
    t = lab.turnpike(u)
    served(lab.post(t), sends=2)
    gaps(u, (1.5, 1.8))


@rows("OV-4")
def _(lab):
    u = lab.provider(then=status(503, {"Retry-After": "61"}))
    t = lab.turnpike(u)
    answer = lab.post(t)
    relayed(answer, 503, error_body(503))
    between(answer.took, 0, 0.2, "answer")
    assert answer.all("retry-after") == ["61"] and u.count == 1
    not_stopped(answer)


@rows("OV-5")
def _(lab):
    u = lab.provider(then=status(429, {"Retry-After": "600"}))
    t = lab.turnpike(u)
    answer = lab.post(t)
    relayed(answer, 429, error_body(429))
    assert answer.took < 1
    assert answer.all("retry-after") == ["600"]
    not_stopped(answer)
    quiet(u, 3.0, 1)


@rows.table("OV-6", {"both": {"retry-after-ms": "1500", "Retry-After": "1"},
                     "alone": {"retry-after-ms": "1500"}})
def _(lab, headers):
    u = lab.provider(status(429, headers), ok())
    t = lab.turnpike(u, {"retry": {"retry_after": {"floor": "200ms"}}})
    served(lab.post(t), sends=2)
    gaps(u, (1.5, 1.8))


@rows("OV-7")
def _(lab):
    told_headers = [("Retry-After", "7"), ("retry-after-ms", "7000"), ("x-ratelimit-remaining-requests", "0"),
                    ("request-id", "r1")]
    u = lab.provider()
    t = lab.turnpike(u, {"retry": {"overload": {"sends": 1}}})
    row = u.row("a", status(429, told_headers), ok())
    answer = lab.post(t, headers={"x-row": "a"})
    relayed(answer, 429, error_body(429))
    for pair in told_headers:
        assert pair in answer.headers, answer
    assert row.count == 1
    u.row("b", status(429, {"Retry-After": "17"}), ok())
    assert lab.post(t, headers={"x-row": "b"}, body=body_for(CHAT, model="b")).all("retry-after") == ["17"]
    u.row("c", status(429, {"Retry-After": "7", "retry-after-ms": "900"}), ok())
    answer = lab.post(t, headers={"x-row": "c"}, body=body_for(CHAT, model="c"))
    assert answer.all("retry-after") == ["7"] and answer.all("retry-after-ms") == [], answer


@rows("OV-8")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u, {"retry": {"overload": {"sends": 1}}})

    def ask(step):
        name = str(len(u.rows))
        row = u.row(name, step, ok())
        answer = lab.post(t, headers={"x-row": name}, body=body_for(CHAT, model="m" + name))
        assert row.count == 1
        return answer

    answer = ask(status(429))
    relayed(answer, 429)
    assert answer.all("retry-after") == []
    stopped(answer)
    assert ask(status(429, {"Retry-After": "0"})).all("retry-after") == ["1"]
    assert ask(status(429, {"Retry-After": "7.2"})).all("retry-after") == ["8"]
    assert ask(dated(429, 20)).all("retry-after") in (["20"], ["19"])
    past, = ask(dated(429, -100)).all("retry-after")
    assert past.isdigit() and int(past) >= 1
    answer = ask(status(501, {"Retry-After": "later"}))
    relayed(answer, 501)
    assert answer.all("retry-after") == []


@rows("OV-9")
def _(lab):
    u = lab.provider(status(429), status(429), ok())
    t = lab.turnpike(u, {"retry": {"overload": {"base": "120ms"}}})
    served(lab.post(t, headers=[("X-Trace", "a"), ("X-Trace", "b"), ("Cookie", "c=1"), ("X-Odd", "  v  ")]),
           sends=3)
    one, *others = u.sends
    for other in others:
        assert other.body == one.body and other.headers == one.headers
        assert other.raw_head == one.raw_head


@rows("OV-10")
def _(lab):
    u = lab.provider(then=status(429, {"Retry-After": "1"}))
    t = lab.turnpike(u, {"retry": {"overload": {"sends": 2}}})
    answer = lab.post(t)
    relayed(answer, 429)
    gaps(u, told(1))
    assert answer.all("retry-after") == ["1"]
    stopped(answer)


@rows.table("OV-11", {"told": status(503, {"Retry-After": "3"}), "untold": status(429)})
def _(lab, step):
    u = lab.provider(step, then=ok())
    t = lab.turnpike(u)
    c = lab.client(t)
    c.request("POST", "/v1/chat/completions", body=b'{"model":"m","messages":[]}')
    u.wait_sends(1)
    time.sleep(0.5)
    assert t.stats()["waiting"] == 1
    c.close()
    quiet(u, 6.0, 1)
    stats = t.final_stats()
    assert stats["waiting"] == 0 and stats["turns_gone"] == 1, stats


@rows("OV-12")
def _(lab):
    u = lab.provider(then=status(429, {"Retry-After": "3"}))
    t = lab.turnpike(u, {"retry": {"deadline": "4s"}})
    answer = lab.post(t)
    relayed(answer, 429)
    assert u.count == 2 and answer.all("retry-after") == ["3"]
    between(answer.took, 3.0, 4.3 - SLACK, "answer")


@rows("OV-12-gone")
def _(lab):
    u = lab.provider(then=status(429, {"Retry-After": "3"}))
    t = lab.turnpike(u, {"retry": {"deadline": "4s"}})
    c = lab.client(t)
    c.request("POST", "/v1/chat/completions", body=b'{"model":"m","messages":[]}')
    u.wait_sends(1)
    time.sleep(1)
    c.close()
    quiet(u, 4.0, 1)


@rows("OV-12-header")
def _(lab):
    """The client's own deadline only lowers."""
    u = lab.provider(then=status(429, {"Retry-After": "3"}))
    t = lab.turnpike(u)
    answer = lab.post(t, headers={"X-Turnpike-Deadline": "2s"})
    relayed(answer, 429)
    assert u.count == 1 and answer.took < 1


OVERLOADED = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'


@rows("OV-13")
def _(lab):
    u = lab.provider(status(529, body=OVERLOADED), ok())
    t = lab.turnpike(u)
    served(lab.post(t, "/v1/messages"), sends=2)
    gaps(u, O0)


@rows.table("OV-13-always", [529, 429])
def _(lab, code):
    body = OVERLOADED if code == 529 else error_body(429)
    u = lab.provider(then=status(code, body=body))
    t = lab.turnpike(u)
    answer = lab.post(t, "/v1/messages")
    relayed(answer, code, body)
    stopped(answer)
    assert u.count == 4 and answer.sends == 4
    gaps(u, O0, O1, O2)
    assert answer.all("retry-after") == []


@rows("dead-over-workers")
def _(lab):
    """Three waits of 55 s or more in a row, whichever worker they are in: the model is dead for all of them, until
    a success."""
    u = lab.provider(then=status(429))
    t = lab.turnpike(u, {"workers": 4}, allow=["model_dead"])
    waiting = []
    for name in ("a", "b", "c"):
        u.row(name, then=status(429, {"Retry-After": "56"}))
        waiting.append(lab.client(t))
        waiting[-1].request("POST", CHAT, body=body_for(CHAT, model=name), headers={"x-row": name})
        t.counted(waiting=len(waiting))
    for _ in range(8):
        answer = lab.post(t)
        relayed(answer, 429, error_body(429))
        stopped(answer)
        assert answer.sends == 1 and answer.took < 0.3, answer
    u.row("good", then=ok())
    served(lab.post(t, headers={"x-row": "good"}), sends=1)
    u.set(status(429), ok())
    served(lab.post(t), sends=2)
    for c in waiting:
        c.close()
    t.counted(waiting=0, turns_gone=3)


@rows.table("OV-14", {"code": {"code": "insufficient_quota", "type": "requests"},
                      "type": {"code": None, "type": "insufficient_quota"},
                      "billing": {"code": "billing_not_active", "type": "billing_not_active"}})
def _(lab, told_by):
    """A used-up quota: nothing to wait for, whatever the size of the request."""
    body = json.dumps({"error": dict(told_by, message="You exceeded your current quota.")}).encode()
    u = lab.provider(then=status(429, body=body))
    t = lab.turnpike(u, probe=False)
    answer = lab.post(t, body=body_for("/v1/chat/completions", "x" * (1 << 20)))
    relayed(answer, 429, body)
    stopped(answer)
    assert answer.took < 0.5 and answer.all("retry-after") == []
    quiet(u, 1.0, 1)


@rows("OV-15")
def _(lab):
    """Of several limits only the one that is used up counts."""
    u = lab.provider(status(429, {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "3s",
                                  "x-ratelimit-remaining-tokens": "500", "x-ratelimit-reset-tokens": "40s"}), ok())
    t = lab.turnpike(u)
    served(lab.post(t), sends=2)
    gaps(u, told(3))


@rows("OV-15-anthropic")
def _(lab):
    def limited(x):
        at = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + s)) for s in (3, 40)]
        prefix = "anthropic-ratelimit-"
        x.answer(429, {prefix + "requests-remaining": "0", prefix + "requests-reset": at[0],
                       prefix + "tokens-remaining": "500", prefix + "tokens-reset": at[1]}, error_body(429))

    u = lab.provider(limited, ok())
    t = lab.turnpike(u)
    served(lab.post(t, "/v1/messages"), sends=2)
    gaps(u, (2.0, 3.6 - SLACK))


SIGNS = {"chat": b": turnpike waiting\n\n", "responses": b": turnpike waiting\n\n",
         "messages": b'event: ping\ndata: {"type": "ping"}\n\n'}
BEATING = {"retry": {"heartbeat": {"after": "1s", "every": "1s"}}}


def beats(answer, count):
    """The head and the first sign of life 1.0 s after the request, then one each second."""
    between(answer.head_at - answer.asked_at, 1.0, 1.3 - SLACK, "head")
    for number, (at, _) in enumerate(answer.pieces[:count]):
        between(at - answer.asked_at, 1.0 + number, 1.3 + number - SLACK, "sign %d" % number)


def without_blanks(data):
    return data.replace(b" ", b"")


@rows.table("OV-17", MODELS)
def _(lab, family):
    good = sum(good_events(family), [])
    u = lab.provider(status(429, {"Retry-After": "3"}), stream(good))
    t = lab.turnpike(u, BEATING)
    answer = lab.post(t, FAMILIES[family], stream=True)
    assert answer.status == 200 and answer.end == "complete" and u.count == 2, answer
    beats(answer, 2)  # the third is due when the second send is
    signs, _, rest = answer.body.partition(good[0])
    assert good[0] + rest == b"".join(good), answer
    assert without_blanks(signs) in [without_blanks(SIGNS[family]) * n for n in (2, 3)], answer


@rows.table("OV-17-failure", MODELS)
def _(lab, family):
    """The head is out when the second answer is a 400: told as the family's event, without a clean end."""
    body = b'{"error":{"type":"invalid_request_error","message":"No such parameter."}}'
    u = lab.provider(status(429, {"Retry-After": "3"}), status(400, body=body), ok())
    t = lab.turnpike(u, BEATING)
    answer = lab.post(t, FAMILIES[family], stream=True)
    assert answer.status == 200 and u.count == 2, answer
    assert b"No such parameter." in answer.body and b"[DONE]" not in answer.body, answer
    name = {"chat": b'data: {"error"', "responses": b"event: response.failed\n", "messages": b"event: error\n"}[family]
    assert without_blanks(name) in without_blanks(answer.body), answer
    t.counted(turns_error=1, turns_ok=0)


@rows("OV-17-off")
def _(lab):
    """By default there is no byte before the real answer."""
    u = lab.provider(status(429, {"Retry-After": "3"}), stream(sum(good_events("chat"), [])))
    t = lab.turnpike(u)
    answer = lab.post(t, stream=True)
    served(answer, sends=2)
    assert answer.head_at - answer.asked_at >= 3.0
    assert answer.body == b"".join(sum(good_events("chat"), []))


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
