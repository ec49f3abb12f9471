"""Streams in other clothes than the dialects' own: another content type, errors longer than a piece, errors that clients
look past."""

import json
import threading

import pytest

from harness.checks import FAMILIES, MODELS, error_json, not_stopped, refusal, relayed, served
from harness.client import body_for
from harness.lab import Rows, quiet
from harness.provider import event, good_events, ok, stream
from harness.turnpike import until

rows = Rows()
QUICK = {"retry": {"overload": {"base": "100ms"}, "transient": {"base": "100ms"}, "retry_after": {"floor": "100ms"}}}
TYPES = {"text": "text/plain; charset=utf-8", "octets": "application/octet-stream", "json": "application/json", "none": None}


def under(kind, pieces, framing="chunked", end="end", gates=()):
    """A stream whose head calls it something else."""
    def step(x):
        headers = [("Content-Type", TYPES[kind])] if TYPES[kind] else []
        if framing == "length":
            headers.append(("Content-Length", str(sum(map(len, pieces)))))
        else:
            headers.append(("Transfer-Encoding", "chunked") if framing == "chunked" else ("Connection", "close"))
        x.head(200, headers)
        x._chunked_out = framing == "chunked"
        for index, piece in enumerate(pieces):
            if index in gates:
                x.await_event(gates[index])
            x.piece(piece)
        if end == "reset":
            x.sleep(0.1)
            x.reset()
        elif framing != "length":
            x.stream_end()
    return step


# ---- another content type

@rows.table("another-type", {"%s-%s" % (f, k): (f, k) for f in MODELS for k in TYPES})
def _(lab, case):
    """As with the right one: event by event, byte for byte, its head as the provider wrote it."""
    family, kind = case
    prelude, outputs, ending = good_events(family)
    pieces = prelude + outputs + ending
    gates = {len(prelude) + 1: threading.Event(), len(pieces) - 1: threading.Event()}
    t = lab.turnpike(lab.provider(under(kind, pieces, gates=gates)), probe=False)
    c = lab.client(t)
    c.request("POST", FAMILIES[family], body=body_for(FAMILIES[family], stream=True))
    answer = c.head(timeout=3)
    assert answer.header("content-type") == TYPES[kind] and answer.framing == "chunked", answer
    for index in sorted(gates):
        c.until(answer, b"".join(pieces[:index]), timeout=3)
        gates[index].set()
    c.rest(answer)
    served(answer, sends=1)
    assert answer.body == b"".join(pieces)
    t.counted(turns_ok=1)


@rows.table("another-type-in-one-piece", {"%s-%s" % (f, h): (f, h) for f in MODELS for h in ("length", "chunked", "close")})
def _(lab, case):
    family, framing = case
    whole = b"".join(sum(good_events(family), []))
    t = lab.turnpike(lab.provider(under("text", [whole], framing)), probe=False)
    answer = lab.post(t, FAMILIES[family], stream=True)
    served(answer, sends=1)
    assert answer.body == whole and answer.framing == "chunked", answer


@rows.table("another-type-byte-by-byte", MODELS)
def _(lab, family):
    whole = b"\xef\xbb\xbf\n" + b"".join(sum(good_events(family), []))
    t = lab.turnpike(lab.provider(under("none", [whole[i:i + 1] for i in range(len(whole))])), probe=False)
    answer = lab.post(t, FAMILIES[family], stream=True)
    served(answer, sends=1)
    assert answer.body == whole


@rows.table("another-type-error-first", MODELS)
def _(lab, family):
    """An error before its first output is retried; the good stream behind it alone is seen."""
    code = {"messages": "overloaded_error", "responses": "server_is_overloaded", "chat": "overloaded"}[family]
    error = event({"type": "error", "error": {"type": code, "code": code, "message": "Busy."}}, "error")
    good = sum(good_events(family), [])
    u = lab.provider(under("text", [b": keep-alive\n\n", error]), under("text", [error]), under("text", good))
    t = lab.turnpike(u, QUICK, probe=False)
    answer = lab.post(t, FAMILIES[family], stream=True)
    served(answer, sends=3)
    assert answer.body == b"".join(good)


@rows.table("another-type-cut", MODELS)
def _(lab, family):
    """Its end is told as the dialect tells it, and before its first output it is the refusal."""
    prelude, outputs, _ = good_events(family)
    u = lab.provider(under("text", prelude + outputs, end="reset"), under("text", prelude, end="reset"))
    t = lab.turnpike(u, probe=False)
    answer = lab.post(t, FAMILIES[family], stream=True)
    assert answer.status == 200 and answer.end in ("cut", "reset") and b'"error"' in answer.body, answer
    refusal(lab.post(t, FAMILIES[family], stream=True), "upstream_reset_replay_refused", family)


@rows("another-type-not-asked-for")
def _(lab):
    """Who asked for JSON cannot read events."""
    u = lab.provider(under("json", sum(good_events("chat"), [])))
    refusal(lab.post(lab.turnpike(u, probe=False), stream=False), "upstream_response_invalid")


# ---- errors that repeat their request

def response(status, error=None):
    """OpenAI's object repeats the instructions and tools of its request, behind the error."""
    return {"id": "resp_1", "object": "response", "status": status, "error": error, "instructions": "i" * 150_000,
            "tools": [{"type": "function", "name": "f%d" % i} for i in range(1000)], "output": []}


def failed(code, message):
    return [event({"type": "response." + kind, "sequence_number": n, "response": what}, "response." + kind)
            for n, (kind, what) in enumerate((("created", response("in_progress")),
                                              ("failed", response("failed", {"code": code, "message": message}))))]


LONG = {"context_length_exceeded": (400, 1), "invalid_prompt": (400, 1), "insufficient_quota": (429, 1),
        "rate_limit_exceeded": (429, 4), "server_is_overloaded": (503, 4)}


@rows.table("long-failure", LONG)
def _(lab, case):
    """200 KB of it: its code decides all the same, and the text shown is the message."""
    status, sends = case
    code = [name for name in LONG if lab.name.endswith(name)][0]
    u = lab.provider(then=stream(failed(code, "This is why.")))
    t = lab.turnpike(u, QUICK, probe=False)
    answer = lab.post(t, "/v1/responses", stream=True)
    relayed(answer, status)
    error = error_json(answer, "responses")
    assert (error["code"], error["message"]) == (code, "This is why.") and u.count == sends, (answer, u.count)


# ---- errors without a type

TYPELESS = {"invalid_image_url": 400, "image_content_policy_violation": 400, "previous_response_not_found": 400,
            "unsupported_country_region_territory": 403}


@rows.table("typeless", {"%s-%s" % (code, how): (code, how) for code in TYPELESS for how in ("failed", "error")})
def _(lab, case):
    """The request is at fault: sending it again would not help."""
    code, how = case
    first = event({"type": "error", "code": code, "message": "No.", "param": None, "sequence_number": 1}, "error")
    u = lab.provider(stream(failed(code, "No.") if how == "failed" else [first]), then=ok())
    t = lab.turnpike(u, QUICK, probe=False)
    answer = lab.post(t, "/v1/responses", stream=True)
    relayed(answer, TYPELESS[code])
    assert error_json(answer, "responses")["code"] == code
    not_stopped(answer)
    quiet(u, 0.5, 1)


# ---- what is no end

@rows.table("empty-finish-reason", {"end": ("chunked", "end"), "by-close": ("close", "end"), "whole": ("chunked", "end")})
def _(lab, case):
    """Some gateways write "" where others write null: the stream has not finished by that."""
    framing, end = case
    whole = lab.name.endswith("whole")
    pieces = [event({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}]})
              for text, reason in (("a ", ""), ("b ", ""), ("c", "stop" if whole else ""))]
    t = lab.turnpike(lab.provider(stream(pieces, framing=framing, end=end, pause=0.05)), probe=False)
    answer = lab.post(t, stream=True)
    assert answer.status == 200 and answer.body.startswith(b"".join(pieces)), answer
    assert (answer.end == "complete", b'"error"' in answer.body) == (whole, not whole), answer


# ---- an error that clients look past

@rows.table("bare-error-is-no-end", {"end": "end", "close": "close", "reset": "reset"})
def _(lab, end):
    """Codex does not see `event: error` of responses: behind one the stream still needs its `response.failed`."""
    prelude, outputs, _ = good_events("responses")
    pieces = prelude + outputs + [event({"type": "error", "code": "server_error", "message": "Oh."}, "error")]
    t = lab.turnpike(lab.provider(stream(pieces, end=end)), probe=False)
    answer = lab.post(t, "/v1/responses", stream=True)
    passed = b"".join(pieces)
    assert answer.status == 200 and answer.body.startswith(passed) and answer.end in ("cut", "reset"), answer
    last = answer.body[len(passed):].decode().split("\ndata: ")
    assert last[0] == "event: response.failed" and json.loads(last[1])["response"]["status"] == "failed", answer
    until(lambda: t.stats()["turns_cut"] == 1, 1, "counted as cut")


@rows("bare-error-and-its-failure")
def _(lab):
    """With the provider's own `response.failed` behind it nothing is added."""
    prelude, outputs, _ = good_events("responses")
    pieces = prelude + outputs + [event({"type": "error", "code": "server_error", "message": "Oh."}, "error")]
    pieces += failed("server_error", "Oh.")[1:]
    t = lab.turnpike(lab.provider(stream(pieces)), probe=False)
    answer = lab.post(t, "/v1/responses", stream=True)
    served(answer, sends=1)
    assert answer.body == b"".join(pieces)


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
