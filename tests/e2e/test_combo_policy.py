"""What the rows of other areas say of a combo: budget, waits, what may have run, 200 with an error."""

import json

import pytest

from harness.checks import FAMILIES, local_error, refusal, relayed, served, stopped
from harness.client import body_for
from harness.combos import CHAT, ask, coded, combo, cooling
from harness.lab import T0, Rows, gaps
from harness.provider import error_body, event, fin, good_events, ok, reset, status, stream
from harness.turnpike import refusing_port

rows = Rows()


# ---- the budget

@rows("BU-2")
def _(lab):
    a, b, c = (lab.provider(then=step) for step in (status(429), status(503), ok()))
    t = combo(lab, a, b, c)
    answer = ask(lab, t, headers={"X-Turnpike-Max-Sends": "3"})
    served(answer, sends=3)
    assert (a.count, b.count, c.count) == (1, 1, 1) and answer.took < 1, answer
    assert answer.header("x-turnpike-target") == "c/model-c"


@rows("BU-2-whole")
def _(lab):
    a, b, c = (lab.provider(then=step) for step in (status(429), status(503), ok()))
    t = combo(lab, a, b, c)
    served(ask(lab, t), sends=4)
    assert (a.count, b.count, c.count) == (1, 2, 1)
    gaps(b, T0)
    stats = t.final_stats()
    assert (stats["sends_initial"], stats["sends_transient"], stats["sends_hop"]) == (1, 1, 2), stats


@rows("BU-5")
def _(lab):
    a, b = lab.provider(then=status(503)), lab.provider()
    answer = ask(lab, combo(lab, a, b), headers={"X-Turnpike-Max-Sends": "1"})
    relayed(answer, 503, error_body(503))
    stopped(answer)
    assert (a.count, b.count) == (1, 0)


@rows.table("all-fail", [429, 503, 500])
def _(lab, code):
    """Three targets all failing: never more than T + 3, each is reached."""
    all3 = [lab.provider(then=status(code)) for _ in range(3)]
    t = combo(lab, *all3, config={"retry": {"overload": {"base": "100ms"}}})
    answer = ask(lab, t)
    relayed(answer, code, error_body(code))
    assert all(u.count >= 1 for u in all3) and sum(u.count for u in all3) <= 6 and answer.sends <= 6


# ---- overload, waits

@rows("OV-5")
def _(lab):
    a, b = lab.provider(then=status(429, {"Retry-After": "600"})), lab.provider()
    t = combo(lab, a, b)
    served(ask(lab, t), sends=2)
    assert 595 < cooling(t)["a/model-a"] <= 600
    served(ask(lab, t), sends=1)
    assert (a.count, b.count) == (1, 2)


@rows("OV-14")
def _(lab):
    a, b = lab.provider(then=coded(429, "insufficient_quota")), lab.provider()
    t = combo(lab, a, b)
    answer = lab.post(t, CHAT, body_for(CHAT, text="x" * 2**20, model="coder"))
    served(answer, sends=2)
    assert (a.count, b.count) == (1, 1)
    assert list(cooling(t)) == ["a key 1"]


@rows("WH-1")
def _(lab):
    limited = status(429, body=b'{"error":{"message":"slow","resets_in_seconds":30}}')
    a, b = lab.provider(then=limited), lab.provider()
    t = combo(lab, a, b)
    for _ in range(5):
        served(ask(lab, t))
    assert (a.count, b.count) == (1, 5)
    assert 25 < cooling(t)["a/model-a"] <= 30


@rows.table("WH-3", {"80s": ("1m20s", 80), "90m": ("1h30m", 5400)})
def _(lab, case):
    a, b = lab.provider(then=coded(429, "rate", "Please try again in %s." % case[0])), lab.provider()
    t = combo(lab, a, b)
    served(ask(lab, t))
    assert case[1] - 5 < cooling(t)["a/model-a"] <= case[1]


# ---- what may have run does not hop

@rows.table("AM-2", {"reset": reset(), "fin": fin()})
def _(lab, step):
    a, b = lab.provider(then=step), lab.provider()
    t = combo(lab, a, b)
    answer = ask(lab, t)
    assert answer.status == 429 and answer.end == "complete"
    refusal(answer, json.loads(answer.body)["error"]["code"])
    assert (a.count, b.count) == (1, 0)
    assert cooling(t) == {}, "a refusal is no evidence"


def one_of(lab, kind):
    """A provider that cannot be reached, as AM-4 lists them."""
    if kind == "port":
        return "http://127.0.0.1:%d/v1" % refusing_port()
    if kind == "name":
        return "http://no-such-host.invalid/v1"
    return lab.provider(on_accept=lambda connection: connection.close() or False).url().replace("http:", "https:")


@rows.table("AM-4", ["port", "tls", "name"])
def _(lab, kind):
    b = lab.provider()
    t = combo(lab, one_of(lab, kind), b, config={"providers": {"a": {"timeouts": {"connect": "3s"}}}})
    served(ask(lab, t), sends=1)
    assert b.count == 1
    stats = t.final_stats()
    assert stats["possibly_billed"] == 0 and stats["given_back"] == 1, stats
    served(ask(lab, t), sends=1)
    assert t.final_stats()["given_back"] == 1, "it cools"


@rows("AM-4-after-an-answer")
def _(lab):
    """The last target cannot be reached: the earlier answer is shown."""
    a = lab.provider(then=status(404))
    answer = ask(lab, combo(lab, a, one_of(lab, "port")))
    relayed(answer, 404, error_body(404))
    assert answer.sends == 1


# ---- 200 with an error, streams

@rows("PR-1")
def _(lab):
    a, b = lab.provider(then=ok(b'{"error":{"code":502,"message":"upstream"}}')), lab.provider()
    served(ask(lab, combo(lab, a, b)), sends=3)
    assert (a.count, b.count) == (2, 1)


def responses_failed(code):
    prelude, _, _ = good_events("responses")
    failed = {"id": "resp_bad", "object": "response", "status": "failed", "model": "m", "output": [],
              "error": {"code": code, "message": "no"}}
    return [p.replace(b"resp_1", b"resp_bad") for p in prelude] + [
        event({"type": "response.failed", "sequence_number": 2, "response": failed}, "response.failed")]


@rows("PR-3")
def _(lab):
    a = lab.provider(then=stream(responses_failed("server_is_overloaded"), pause=0.3))
    good = sum(good_events("responses"), [])
    b = lab.provider(then=stream(good))
    answer = ask(lab, combo(lab, a, b), "/v1/responses", stream=True)
    served(answer, sends=2)
    assert answer.body == b"".join(good)
    assert (a.count, b.count) == (1, 1)


@rows.table("PR-4", ["responses", "messages"])
def _(lab, family):
    error = {"type": "error", "code": "rate_limit_exceeded", "message": "slow"} if family == "responses" else {
        "type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}
    a = lab.provider(then=stream([event(error, "error")]))
    good = sum(good_events(family), [])
    b = lab.provider(then=stream(good))
    answer = ask(lab, combo(lab, a, b), FAMILIES[family], stream=True)
    served(answer, sends=2)
    assert answer.body == b"".join(good) and (a.count, b.count) == (1, 1)


@rows("PR-4-invalid")
def _(lab):
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}}
    a, b = lab.provider(then=stream([event(error, "error")])), lab.provider()
    answer = ask(lab, combo(lab, a, b), "/v1/messages", stream=True)
    local_error(answer, 400, "messages")
    assert (a.count, b.count) == (1, 0)


@rows("PR-4-safety")
def _(lab):
    a, b = lab.provider(then=stream(responses_failed("cyber_policy"))), lab.provider()
    answer = ask(lab, combo(lab, a, b), "/v1/responses", stream=True)
    local_error(answer, 400, "responses", "cyber_policy")
    assert (a.count, b.count) == (1, 0)


@rows("AC-3")
def _(lab):
    prelude, outputs, _ = good_events("messages")
    error = event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "error")
    a, b = lab.provider(then=stream(prelude + outputs + [error])), lab.provider()
    answer = ask(lab, combo(lab, a, b), "/v1/messages", stream=True)
    assert answer.body.count(b"event: message_start") == 1 and b"overloaded_error" in answer.body
    assert all(answer.body.count(o) == 1 for o in outputs) and (a.count, b.count) == (1, 0)


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
