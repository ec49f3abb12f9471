"""A 200 that carries an error, and streams before their first output: cases PR (with a single target)."""

import json
import threading

import pytest

from harness.bodies import GOOD
from harness.checks import FAMILIES, MODELS, error_json, not_stopped, refusal, served, stopped
from harness.client import body_for
from harness.lab import O0, T0, T1, Rows, gaps, quiet
from harness.provider import event, good_events, ok, status, stream
from harness.turnpike import until

rows = Rows()
REPLAY = {"retry": {"ambiguous_replays": 1}}
QUICK = {"retry": {"overload": {"base": "100ms"}, "transient": {"base": "100ms"}}}


def as_json(value, headers=()):
    return status(200, headers, json.dumps(value))


def error_event(family, code, kind="server_error", message="Something broke."):
    """The family's error as the first event of a stream."""
    if family == "messages":
        return event({"type": "error", "error": {"type": kind, "message": message}}, "error")
    if family == "responses":
        return event({"type": "error", "code": kind, "message": message, "sequence_number": 0}, "error")
    return event({"error": {"message": message, "type": kind, "code": code}})


def failed_event(code, message="Something broke."):
    return event({"type": "response.failed", "sequence_number": 3, "response": {
        "id": "resp_1", "object": "response", "status": "failed", "model": "m", "output": [],
        "error": {"code": code, "message": message}}}, "response.failed")


# ---- a JSON answer

@rows.table("PR-1", MODELS)
def _(lab, family):
    body = {"error": {"code": 502, "message": "upstream went away"}}
    u = lab.provider(then=as_json(body))
    t = lab.turnpike(u, probe=False)
    answer = lab.post(t, FAMILIES[family])
    assert answer.status == 502 and u.count == 3, answer
    assert error_json(answer, family)["message"] == "upstream went away"
    stopped(answer)
    gaps(u, T0, T1)
    t.counted(turns_error=1, turns_ok=0)


@rows("PR-2")
def _(lab):
    u = lab.provider(as_json({"note": "busy"}, {"X-Codex-Status": "overloaded"}), ok())
    t = lab.turnpike(u)
    answer = lab.post(t)
    served(answer, sends=2)
    assert answer.body == json.dumps(GOOD["chat"]("Hello.")).encode() and answer.all("x-codex-status") == []
    gaps(u, O0)


TEXTS = ["The server is overloaded.", '{"error": {"code": 503, "message": "overloaded"}}', "error: rate_limit_exceeded",
         "event: error\ndata: {}\n\n", 'overloaded_error "error":{"type":"overloaded_error"}']


@rows.table("PR-2-mere-words", MODELS)
def _(lab, family):
    """Text that talks about failures, `"error": null` and errors inside a result are answers like any other."""
    u = lab.provider()
    t = lab.turnpike(u)
    variants = [dict(extra, **GOOD[family](text)) for text in TEXTS for extra in ({}, {"error": None})]
    variants += [dict(GOOD[family]("x"), **extra) for extra in (
        {"error": False}, {"error": None}, {"error": {}}, {"error": ""},
        {"warnings": [{"error": {"code": "overloaded"}}]}, {"metadata": {"error": {"code": 503, "message": "m"}}})]

    def one(number, value):
        body = json.dumps(value, indent=number % 3 or None)
        row = u.row(str(number), status(200, body=body), then=status(503))
        answer = lab.post(t, FAMILIES[family], headers={"x-row": str(number)})
        served(answer, sends=1)
        assert answer.body == body.encode() and row.count == 1

    lab.side_by_side([lambda n=n, v=v: one(n, v) for n, v in enumerate(variants)], limit=4)
    t.counted(turns_ok=len(variants), turns_error=0)


@rows.table("PR-2-mere-words-streamed", MODELS)
def _(lab, family):
    u = lab.provider()
    t = lab.turnpike(u)
    pieces = sum(good_events(family, TEXTS), [])
    u.set(stream(pieces, pause=0.01))
    answer = lab.post(t, FAMILIES[family], stream=True)
    served(answer, sends=1)
    assert answer.body == b"".join(pieces)
    until(lambda: t.stats()["turns_ok"] == 1, 1, "counted as a success")


@rows.table("PR-6", {"%s-%s" % (f, name): (f, body) for f in MODELS for name, body in (("empty", b""), ("null", b"null"))})
def _(lab, case):
    family, body = case
    u = lab.provider(status(200, {"Content-Type": "application/json"}, body), then=ok())
    t = lab.turnpike(u)
    refusal(lab.post(t, FAMILIES[family]), "upstream_response_invalid", family)
    quiet(u, 0.5, 1)
    t.counted(turns_refused=1, turns_ok=0)


@rows.table("PR-6-answers", {
    "no-choices": ("chat", {"choices": []}),
    "no-text": ("chat", {"choices": [{"index": 0, "message": {"content": ""}, "finish_reason": "stop"}]}),
    "no-output": ("responses", {"id": "resp_1", "object": "response", "status": "completed", "error": None, "output": []}),
    "no-content": ("messages", {"id": "msg_1", "type": "message", "content": [], "stop_reason": "end_turn"})})
def _(lab, case):
    family, value = case
    u = lab.provider(as_json(value), then=status(503))
    t = lab.turnpike(u, probe=False)
    answer = lab.post(t, FAMILIES[family])
    served(answer, sends=1)
    assert answer.body == json.dumps(value).encode()


PAGE = ("<!DOCTYPE html><html><head><title>%d</title></head><body><h1>Bad gateway</h1><p>Host: api.internal.example</p>"
        "<span>Ray ID: 98a1b2c3d4e5f60a</span>%s</body></html>")
OF_THE_PAGE = (b"<", b"api.internal.example", b"98a1b2c3d4e5f60a", b"Ray ID")


@rows.table("PR-7", MODELS)
def _(lab, family):
    u = lab.provider(status(200, {"Content-Type": "text/html; charset=utf-8"}, PAGE % (200, "")), then=ok())
    t = lab.turnpike(u)
    answer = lab.post(t, FAMILIES[family])
    refusal(answer, "upstream_response_invalid", family)
    assert not any(part in answer.body for part in OF_THE_PAGE), answer
    quiet(u, 0.5, 1)


@rows.table("PR-8", {"%s-%d" % (f, c): (f, c, n, p) for f in MODELS for c, n, p in ((502, 3, 0), (524, 1, 200_000))})
def _(lab, case):
    family, code, sends, padding = case
    page = PAGE % (code, "<p>padding</p>" * (padding // 14))
    u = lab.provider(then=status(code, {"Content-Type": "text/html", "CF-RAY": "98a1b2c3d4e5f60a-FRA"}, page))
    t = lab.turnpike(u, QUICK, probe=False)
    answer = lab.post(t, FAMILIES[family])
    assert answer.status == code and answer.end == "complete" and u.count == sends, answer
    error_json(answer, family)
    assert len(answer.body) <= 65536 and not any(part in answer.body for part in OF_THE_PAGE), answer
    stopped(answer)


# ---- a stream before its first output

@rows("PR-3")
def _(lab):
    """Responses: created, in_progress, 1 s later failed (overloaded): the next stream alone is seen."""
    prelude, outputs, ending = good_events("responses")
    good = prelude + outputs + ending

    def overloaded(x):
        x.stream_head()
        for piece in prelude:
            x.piece(piece.replace(b"resp_1", b"resp_0"))
        x.sleep(1.0)
        x.piece(failed_event("server_is_overloaded", "Our servers are currently overloaded."))
        x.stream_end()

    u = lab.provider(overloaded, stream(good))
    t = lab.turnpike(u)
    answer = lab.post(t, "/v1/responses", stream=True)
    served(answer, sends=2)
    assert answer.body == b"".join(good) and u.count == 2


@rows.table("PR-4-overload-first", MODELS)
def _(lab, family):
    """Families: overloaded_error, or its like, as the first event is retried; then the good stream byte for byte."""
    kind = {"messages": "overloaded_error", "responses": "server_is_overloaded", "chat": "overloaded"}[family]
    good = sum(good_events(family), [])
    u = lab.provider(stream([error_event(family, 503, kind, "Overloaded")]), stream(good))
    t = lab.turnpike(u, QUICK)
    answer = lab.post(t, FAMILIES[family], stream=True)
    served(answer, sends=2)
    assert answer.body == b"".join(good) and u.count == 2
    t.counted(sends_overload=1)


@rows.table("PR-4-invalid", {"chat": "invalid_request", "responses": "invalid_request", "messages": "invalid_request_error"})
def _(lab, kind):
    family = "messages" if kind.endswith("_error") else "chat" if lab.name.endswith("chat") else "responses"
    u = lab.provider(stream([error_event(family, None, kind, "No such parameter.")]), then=ok())
    t = lab.turnpike(u)
    answer = lab.post(t, FAMILIES[family], stream=True)
    assert answer.status == 400 and answer.end == "complete", answer
    assert error_json(answer, family)["message"] == "No such parameter."
    not_stopped(answer)
    quiet(u, 0.5, 1)


@rows("PR-4-safety")
def _(lab):
    prelude, _, _ = good_events("responses")
    u = lab.provider(stream(prelude[:1] + [failed_event("cyber_policy")]), then=ok())
    t = lab.turnpike(u)
    answer = lab.post(t, "/v1/responses", stream=True)
    assert answer.status == 400 and error_json(answer, "responses")["code"] == "cyber_policy", answer
    quiet(u, 0.5, 1)


@rows.table("PR-5", MODELS)
def _(lab, family):
    """The head at once, the first output after 20 s: the client has its head by hold.time, and all of the stream."""
    prelude, outputs, ending = good_events(family)
    gate = threading.Event()
    u = lab.provider(stream(prelude + outputs + ending, barriers={0: gate}))
    t = lab.turnpike(u)
    c = lab.client(t)
    timer = threading.Timer(20.0, gate.set)
    timer.start()
    c.request("POST", FAMILIES[family], body=body_for(FAMILIES[family], stream=True))
    answer = c.head(timeout=12)
    assert answer.status == 200 and answer.head_at - answer.asked_at <= 10.3, answer
    c.rest(answer)
    timer.cancel()
    served(answer, sends=1)
    assert answer.body == b"".join(prelude + outputs + ending)
    assert answer.took >= 19.9


def contained(**more):
    return body_for("/v1/responses", stream=True, store=False, tools=[{"type": "function", "name": "f"}], **more)


@rows("PR-9")
def _(lab):
    prelude, _, _ = good_events("responses")
    u = lab.provider(stream(prelude[:1], end="reset"), then=ok())
    t = lab.turnpike(u)
    answer = lab.post(t, "/v1/responses", body=contained())
    refusal(answer, "upstream_reset_replay_refused", "responses")
    quiet(u, 0.5, 1)


@rows("PR-9-replaced")
def _(lab):
    """With the allowance the client sees one stream, with one `created`."""
    prelude, outputs, ending = good_events("responses")
    good = prelude + outputs + ending
    u = lab.provider(stream(prelude[:1], end="reset"), stream(good))
    t = lab.turnpike(u, REPLAY)
    answer = lab.post(t, "/v1/responses", body=contained())
    served(answer, sends=2)
    assert answer.body == b"".join(good)
    assert u.count == 2 and u.sends[0].connection != u.sends[1].connection


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
