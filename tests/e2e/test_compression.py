"""Compressed bodies, both ways: what is compressed is judged, counted and shown like what is not (FR-2, AC-10)."""

import base64
import json
import os
import threading
import time

import pytest

from harness.checks import FAMILIES, MODELS, VALIDATORS, error_json, refusal, relayed, served, tells_body
from harness.client import body_for
from harness.coding import CODINGS, coded, label, pieces
from harness.lab import Rows, gaps, told
from harness.provider import event, good_events, status, stream
from harness.turnpike import BINARY, resident, until

rows = Rows()
SANITIZED = "san-" in BINARY  # freed memory stays resident there for a while
PATH = "/v1/responses"
GOOD = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."},
                                "finish_reason": "stop"}]}).encode()
ONE_SEND = {"retry": {"overload": {"sends": 1}}}
FIXTURES = os.path.join(os.path.dirname(__file__), "..", "data", "fixtures")


def fixture(name):
    with open(os.path.join(FIXTURES, name + ".json"), encoding="utf-8") as file:
        told = json.load(file)
    body = told["body"]
    told["bytes"] = base64.b64decode(body) if told.get("body_base64") else body.encode()
    return told


def compressed(name, data, code=200, headers=None, **how):
    return status(code, dict({"Content-Encoding": label(name)}, **(headers or {})), coded(name, data), **how)


def plain(answer, body):
    """What the provider meant, without a sign of how it was packed, and with the length it has now."""
    assert answer.body == body, answer
    assert answer.all("content-encoding") == [], answer
    if answer.framing != "chunked":
        assert answer.all("content-length") == [str(len(body))], answer


# ---- requests

def codex(metadata):
    return json.dumps({"model": "m", "client_metadata": metadata, "input": "The same prompt. " * 200}).encode()


@rows.table("request", list(CODINGS))
def _(lab, name):
    """Codex's re-send: another order inside client_metadata, and so other coded bytes.  One logical request."""
    first = coded(name, codex({"a": "1", "session": "x" * 40, "b": "2"}))
    again = coded(name, codex({"session": "x" * 40, "b": "2", "a": "1"}))
    other = coded(name, codex({}).replace(b"same", b"next"))
    assert first != again
    u = lab.provider(status(524), then=status(503))
    t = lab.turnpike(u)
    for body in (first, again):
        lab.post(t, PATH, body=body, headers={"Content-Encoding": label(name)})
    assert [s.body for s in u.sends] == [first, again, again], "1 + 2 sends, each byte for byte as it came"
    assert [s.header("content-encoding") for s in u.sends] == [label(name)] * 3
    lab.post(t, PATH, body=other, headers={"Content-Encoding": label(name)})
    assert u.count == 6, "another prompt has a budget of its own"


@rows("request-in-another-coding")
def _(lab):
    """Packed in one way, then in another, then not at all: still what the user asked once."""
    text = codex({})
    u = lab.provider(status(524), then=status(503))
    t = lab.turnpike(u)
    lab.post(t, PATH, body=coded("zstd", text), headers={"Content-Encoding": "zstd"})
    lab.post(t, PATH, body=coded("gzip", text), headers={"Content-Encoding": "GZIP"})
    assert u.count == 3
    lab.post(t, PATH, body=text)
    assert u.count == 3, "the budget was spent"


@rows.table("request-undecodable", {
    "garbage": b"\x1f\x8b\x08 this is no gzip" * 50,
    "cut": coded("gzip", codex({}))[:-9],
    "behind": coded("gzip", codex({})) + b"more",
    "bomb": coded("gzip", b'{"input": "' + b"a" * 4_000_000 + b'"}'),
})
def _(lab, body):
    """What cannot be decoded counts byte for byte, from its first byte on, and goes out as it came."""
    headers = {"Content-Encoding": "gzip"}
    u = lab.provider(status(524), then=status(503))
    t = lab.turnpike(u)
    lab.post(t, PATH, body=body, headers=headers)
    lab.post(t, PATH, body=body, headers=headers)
    assert [s.body == body for s in u.sends] == [True] * 3
    lab.post(t, PATH, body=body[:4] + b"\x01" + body[5:], headers=headers)
    assert u.count == 6, "another byte, another logical request"


# ---- errors

@rows.table("validators", {
    "decoded": (compressed("gzip", GOOD, 200, VALIDATORS), True),
    "decoded-error": (compressed("gzip", b'{"error":{"message":"no"}}', 400, VALIDATORS), True),
    "masked": (status(400, VALIDATORS, b'{"error":{"message":"key sk-%s"}}' % (b"abcdefghij" * 4)), True),
    "replaced": (status(400, dict(VALIDATORS, **{"Content-Type": "text/html"}), b"<html>no</html>"), True),
    "as-it-came": (status(200, VALIDATORS, GOOD), False),
    "error-as-it-came": (status(400, VALIDATORS, b'{"error":{"message":"no"}}'), False),
})
def _(lab, case):
    """What the provider says of its bytes does not stand at others (RFC 9110, 8.8.1)."""
    step, changed = case
    answer = lab.post(lab.turnpike(lab.provider(step)))
    assert answer.end == "complete" and tells_body(answer) == ([] if changed else list(VALIDATORS)), answer


@rows.table("FR-2", {"%s-%s" % (n, a): (n, a) for n in CODINGS for a in ("gzip", None)})
def _(lab, case):
    """A compressed 200 and a compressed 429, for clients that ask for it and for those that do not."""
    name, accept = case
    bad = json.dumps({"error": {"message": "Slow down.", "type": "rate_limit", "code": "rate_limited"}}).encode()
    u = lab.provider(compressed(name, GOOD), compressed(name, bad, 429))
    t = lab.turnpike(u, ONE_SEND)
    headers = {"Accept-Encoding": accept} if accept else {}
    answer = lab.post(t, headers=headers)
    served(answer, sends=1)
    plain(answer, GOOD)
    answer = lab.post(t, headers=headers)
    relayed(answer, 429)
    plain(answer, bad)
    assert answer.framing == "length", answer
    assert [s.all("accept-encoding") for s in u.sends] == [["identity"]] * 2


@rows.table("FR-2-lies", list(CODINGS))
def _(lab, name):
    """A label on plain JSON: taken as it is."""
    bad = b'\r\n {"error": {"message": "Slow down.", "code": "rate_limited"}}'
    u = lab.provider()
    t = lab.turnpike(u, ONE_SEND)
    good = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": "x" * 300}}]}).encode()
    u.main.set(status(429, {"Content-Encoding": label(name)}, bad), status(200, {"Content-Encoding": label(name)}, good),
               status(200, {"Content-Encoding": label(name)}, good, framing="chunked"))
    answer = lab.post(t)
    relayed(answer, 429)
    plain(answer, bad)
    for _ in range(2):
        answer = lab.post(t)
        served(answer)
        plain(answer, good)


@rows.table("fixture", {"body-gzip-503": ("body-gzip-503", b"overloaded"), "body-br-429": ("body-br-429", b"limit"),
                        "body-gzip-label-lies": ("body-gzip-label-lies", b"bad gateway")})
def _(lab, case):
    """Error bodies as providers packed them: readable, under their status, with their wait."""
    name, word = case
    answer_of = fixture(name)
    u = lab.provider(then=status(answer_of["status"], answer_of["headers"], answer_of["bytes"]))
    t = lab.turnpike(u, {"retry": {"overload": {"sends": 1}, "transient": {"sends": 1}}}, probe=False)
    answer = lab.post(t)
    relayed(answer, answer_of["status"])
    assert word in answer.body and json.loads(answer.body)["error"]["message"], answer
    plain(answer, answer.body)
    assert answer.all("retry-after") == [v for n, v in answer_of["headers"].items() if n == "retry-after"]
    assert u.count == 1


@rows.table("WH-5", list(CODINGS))
def _(lab, name):
    """A wait that only the compressed body tells is waited."""
    bad = json.dumps({"error": {"message": "Slow down.", "code": "rate_limited", "resets_in_seconds": 2}}).encode()
    u = lab.provider(compressed(name, bad, 429))
    t = lab.turnpike(u)
    served(lab.post(t), sends=2)
    gaps(u.main, told(2))


@rows.table("quota", list(CODINGS))
def _(lab, name):
    """The code inside decides: an exhausted quota is not asked again."""
    bad = json.dumps({"error": {"message": "Pay.", "code": "insufficient_quota"}}).encode()
    u = lab.provider(then=compressed(name, bad, 429))
    t = lab.turnpike(u, probe=False)
    answer = lab.post(t)
    relayed(answer, 429, bad)
    assert answer.all("x-should-retry") == ["false"] and u.count == 1


@rows.table("error-unreadable", {
    "cut": coded("gzip", b'{"error": {"message": "' + b"m" * 300 + b'"}}')[:-12],
    "garbage": b"\x1f\x8b\x08" + b"\xff" * 100,
    "bomb": coded("gzip", b'{"error": {"message": "' + b"m" * 30_000_000 + b'"}}'),
})
def _(lab, body):
    """An error whose body cannot be shown is shown as the family's JSON, under its status."""
    u = lab.provider(then=status(500, {"Content-Encoding": "gzip"}, body))
    t = lab.turnpike(u, {"retry": {"transient": {"sends": 1}}}, probe=False)
    before = resident(t.workers()[0])
    answer = lab.post(t)
    relayed(answer, 500)
    error_json(answer, "chat")
    plain(answer, answer.body)
    assert b"mmm" not in answer.body
    assert resident(t.workers()[0]) - before < 4 << 20


@rows("error-in-an-unknown-coding")
def _(lab):
    """It cannot be read here; the client may be able to: bytes and label go out together."""
    u = lab.provider(then=status(429, {"Content-Encoding": "lz4"}, b"\x04\x22\x4d\x18 no idea"))
    t = lab.turnpike(u, ONE_SEND, probe=False)
    answer = lab.post(t)
    relayed(answer, 429, b"\x04\x22\x4d\x18 no idea")
    assert answer.all("content-encoding") == ["lz4"] and answer.framing == "length"


# ---- JSON under a 2xx

@rows.table("error-under-200", {"%s-%s" % (n, f): (n, f) for n in CODINGS for f in ("length", "chunked", "close")})
def _(lab, case):
    """A compressed 200 that carries an overload is the 503 it stands for, and is asked again."""
    name, framing = case
    bad = b'{"error": {"message": "The server is overloaded.", "code": "server_is_overloaded", "type": "server_error"}}'
    u = lab.provider(compressed(name, bad, 200, framing=framing))
    t = lab.turnpike(u)
    answer = lab.post(t, PATH)
    served(answer, sends=2)
    assert u.count == 2


@rows.table("json-invalid", {
    "html": ("upstream_response_invalid", coded("gzip", b"<html>Login</html>")),
    "empty": ("upstream_response_invalid", coded("gzip", b"")),
    "nothing": ("upstream_response_invalid", b""),
    "garbage": ("upstream_response_invalid", b"\x1f\x8b\x08" + b"\xff" * 100),
    "not-gzip": ("upstream_response_invalid", b"plain words"),
    "cut": ("upstream_response_truncated", coded("gzip", b'{"id": "1", "output": [' + b"1," * 300 + b"1]}")[:-20]),
})
def _(lab, case):
    """No usable answer, though it may be billed: refused, never sent again."""
    code, body = case
    u = lab.provider(status(200, {"Content-Encoding": "gzip"}, body))
    t = lab.turnpike(u)
    refusal(lab.post(t, PATH), code, "responses")
    assert u.count == 1


@rows("json-without-the-coding's-end")
def _(lab):
    """The JSON is whole, only the checksum behind it is missing: an answer."""
    u = lab.provider()
    t = lab.turnpike(u)
    good = json.dumps({"id": "resp_1", "object": "response", "output": ["x" * 100]}).encode()
    u.main.set(status(200, {"Content-Encoding": "gzip"}, b"".join(pieces("gzip", [good])[:1])))
    answer = lab.post(t, PATH)
    served(answer, sends=1)
    plain(answer, good)


@rows.table("json-large", list(CODINGS))
def _(lab, name):
    """More than is held: committed and decoded as it comes, in pieces of any size."""
    words = ",".join('"%d"' % (n * 7919 % 100003) for n in range(60000))
    good = ('{"id": "resp_1", "object": "response", "output": [%s]}' % words).encode()
    packed = coded(name, good)

    def step(x):
        x.head(200, {"Content-Type": "application/json", "Content-Encoding": label(name),
                     "Content-Length": str(len(packed))})
        for at in range(0, len(packed), 9973):
            x.write(packed[at:at + 9973])
        x.send.answered_at = time.monotonic()

    u = lab.provider(step)
    t = lab.turnpike(u)
    answer = lab.post(t, PATH)
    served(answer, sends=1)
    plain(answer, good)


@rows("json-large-cut")
def _(lab):
    """Committed, and then the coding breaks or ends too early: the client can see it."""
    good = b'{"output": [' + b",".join(b'"%d"' % (n * 7919 % 100003) for n in range(60000)) + b"]}"
    packed = coded("gzip", good)
    spoilt = packed[:-3000] + b"\xff" * 3000
    u = lab.provider(status(200, {"Content-Encoding": "gzip"}, packed[:-3000]),
                     status(200, {"Content-Encoding": "gzip"}, spoilt))
    t = lab.turnpike(u)
    for prompt in ("cut", "spoilt"):
        answer = lab.post(t, PATH, body=body_for(PATH, prompt))
        assert answer.status == 200 and answer.end in ("cut", "reset"), answer.end
        assert answer.body[:100_000] == good[:100_000]
    t.counted(turns_cut=2)


@rows("bomb")
def _(lab):
    """64 MiB of blanks in 64 KiB: neither memory nor the client gets them."""
    u = lab.provider(compressed("gzip", b'{"output": [' + b" " * (64 << 20) + b"]}"))
    t = lab.turnpike(u)
    before = max(resident(pid) for pid in t.workers())
    answer = lab.post(t, PATH)
    assert answer.end in ("cut", "reset") and len(answer.body) < 12 << 20, (answer.end, len(answer.body))
    assert max(resident(pid) for pid in t.workers()) - before < 16 << 20


@rows("slow-readers")
def _(lab):
    """Clients that do not read: what they are owed waits as the provider's few bytes, not as its many."""
    good = b'{"output": [' + b",".join(b'"%08x%s"' % (n * 2654435761 % (1 << 32), b"x" * 500)
                                        for n in range(20000)) + b"]}"
    packed = coded("gzip", good)
    assert 60 < len(good) / len(packed) < 100, len(good) / len(packed)
    u = lab.provider(then=status(200, {"Content-Encoding": "gzip"}, packed))
    t = lab.turnpike(u, {"workers": 1}, probe=False)
    before = resident(t.workers()[0])
    readers = [lab.client(t, receive_buffer=65536) for _ in range(8)]
    for n, c in enumerate(readers):
        c.request("POST", PATH, body=body_for(PATH, "prompt %d" % n))
    answers = [c.head() for c in readers]
    time.sleep(0.7)
    grown = resident(t.workers()[0]) - before
    readers[0].rest(answers[0])
    served(answers[0], sends=1)
    plain(answers[0], good)
    assert SANITIZED or grown < len(readers) * 230_000, "a piece, the decoder's window and one written piece for each: %d" % grown
    for c in readers:
        c.reset()


@rows("http-1.0-client")
def _(lab):
    """A client without chunks: its answer ends with the connection."""
    good = json.dumps({"id": "resp_1", "object": "response", "output": ["x" * 100]}).encode()
    u = lab.provider(compressed("gzip", good))
    t = lab.turnpike(u)
    body = body_for(PATH)
    c = lab.client(t)
    c.send(b"POST /v1/responses HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    answer = c.response()
    assert answer.status == 200 and answer.body == good and answer.end == "close", answer
    assert answer.all("content-encoding") == []


@rows("unknown-coding")
def _(lab):
    """Relayed as it is, uninspected, and said once in the log."""
    body = b"\x04\x22\x4d\x18 no idea"
    u = lab.provider(status(200, {"Content-Encoding": "lz4"}, body), status(200, {"Content-Encoding": "gzip, br"}, body))
    t = lab.turnpike(u)
    for want in ("lz4", "gzip, br"):
        answer = lab.post(t, PATH)
        served(answer, sends=1)
        assert answer.body == body and answer.all("content-encoding") == [want]
    until(lambda: t.log.count("content coding is not known") == 2, 1, "a line for each")


@rows("plain-family")
def _(lab):
    """What is not inspected passes as it is: the client asked for it."""
    packed = coded("gzip", b'{"data": []}')
    u = lab.provider(then=status(200, {"Content-Encoding": "gzip"}, packed))
    t = lab.turnpike(u, probe=False)
    answer = lab.get(t, "/v1/files", headers={"Accept-Encoding": "gzip"})
    assert answer.body == packed and answer.all("content-encoding") == ["gzip"]
    assert u.sends[0].all("accept-encoding") == ["gzip"]


@rows("head-request")
def _(lab):
    """Without a body there is nothing to decode; the fields are about the one a GET would have."""
    def step(x):
        x.head(429 if x.send.number else 200, {"Content-Encoding": "gzip", "Content-Length": "77"})
        x.send.answered_at = time.monotonic()

    u = lab.provider(then=step)
    t = lab.turnpike(u, ONE_SEND, probe=False)
    for _ in range(2):
        answer = lab.client(t).ask("HEAD", "/v1/models")
        assert answer.all("content-encoding") == ["gzip"] and answer.all("content-length") == ["77"], answer


# ---- streams

@rows.table("AC-10", {"%s-%s" % (n, f): (n, f) for n in CODINGS for f in MODELS})
def _(lab, case):
    """Flushed per event: each is at the client, plain, before the next is written."""
    name, family = case
    prelude, outputs, ending = good_events(family)
    events = prelude + outputs + ending
    gates = {index: threading.Event() for index in range(len(prelude) + 1, len(events))}
    u = lab.provider(stream(pieces(name, events), {"Content-Encoding": label(name)}, barriers=gates))
    t = lab.turnpike(u)
    c = lab.client(t)
    c.request("POST", FAMILIES[family], body=body_for(FAMILIES[family], stream=True),
              headers={"Accept-Encoding": "gzip"})
    answer = c.head()
    assert answer.header("content-type") == "text/event-stream" and answer.all("content-encoding") == []
    for index in range(len(prelude), len(events)):
        c.until(answer, b"".join(events[:index + 1]), timeout=3)
        if index + 1 in gates:
            gates[index + 1].set()
    c.rest(answer)
    served(answer, sends=1)
    assert answer.body == b"".join(events)
    assert u.sends[0].all("accept-encoding") == ["identity"]
    until(lambda: t.stats()["turns_ok"] == 1, 1, "counted as a success")


@rows.table("AC-10-latency", ["gzip", "br", "zstd"])
def _(lab, name):
    """Within 100 ms of its sending (the median event: the machine is busy with other rows)."""
    prelude, outputs, ending = good_events("chat", ["word %d " % n for n in range(30)])
    events = prelude + outputs + ending
    times = []

    def step(x):
        x.stream_head({"Content-Encoding": label(name)})
        for piece in pieces(name, events):
            times.append(time.monotonic())
            x.piece(piece)
            x.sleep(0.02)
        x.stream_end()

    u = lab.provider(step)
    t = lab.turnpike(u)
    c = lab.client(t)
    c.request("POST", "/v1/chat/completions", body=body_for("/v1/chat/completions", stream=True))
    answer = c.head()
    late = []
    for index in range(len(prelude), len(events)):
        c.until(answer, b"".join(events[:index + 1]), timeout=3)
        late.append(time.monotonic() - times[index])
    c.rest(answer)
    assert sorted(late)[len(late) // 2] < 0.1, late
    assert answer.body == b"".join(events)


@rows.table("pass", ["gzip, br", None])
def _(lab, accept):
    """compression: pass leaves the client's wish alone; what comes of it is decoded all the same."""
    prelude, outputs, ending = good_events("messages")
    events = prelude + outputs + ending
    u = lab.provider()
    t = lab.turnpike(u, {"providers": {"p": {"compression": "pass"}}})
    u.main.set(stream(pieces("gzip", events), {"Content-Encoding": "gzip"}))
    answer = lab.post(t, "/v1/messages", stream=True, headers={"Accept-Encoding": accept} if accept else {})
    served(answer, sends=1)
    plain(answer, b"".join(events))
    assert u.sends[0].all("accept-encoding") == ([accept] if accept else [])


@rows.table("stream-in-every-cut", list(CODINGS))
def _(lab, name):
    """However the coded bytes are cut, and however little was flushed."""
    prelude, outputs, ending = good_events("messages")
    data = b"".join(prelude + outputs + ending)
    packed = coded(name, data)
    u = lab.provider()
    t = lab.turnpike(u)

    def one(size):
        u.row(str(size), stream([packed[i:i + size] for i in range(0, len(packed), size)],
                                {"Content-Encoding": label(name)}))
        answer = lab.post(t, "/v1/messages", stream=True, headers={"x-row": str(size)})
        served(answer, sends=1)
        assert answer.body == data, size

    lab.side_by_side([lambda size=size: one(size) for size in (1, 2, 3, 7, 50, 1000, len(packed))])


@rows.table("stream-error-first", list(CODINGS))
def _(lab, name):
    """An overload in a compressed stream before its first output is asked again."""
    bad = event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "error")
    u = lab.provider(stream(pieces(name, good_events("messages")[0][:1] + [bad]), {"Content-Encoding": label(name)}))
    t = lab.turnpike(u)
    served(lab.post(t, "/v1/messages", stream=True), sends=2)
    assert u.count == 2


@rows.table("stream-cut", {"%s-%s" % (n, e): (n, e) for n in ("gzip", "br", "zstd") for e in ("reset", "close", "end")})
def _(lab, case):
    """Dead after output: the family's own error ends it, in plain text."""
    name, end = case
    prelude, outputs, _ = good_events("responses")
    u = lab.provider(stream(pieces(name, prelude + outputs)[:-1], {"Content-Encoding": label(name)}, end=end))
    t = lab.turnpike(u)
    answer = lab.post(t, "/v1/responses", stream=True)
    assert answer.status == 200 and answer.end in ("cut", "reset")
    assert answer.body.startswith(b"".join(prelude + outputs) + b"event: response.failed\n"), answer
    assert u.count == 1


@rows.table("stream-broken", ["gzip", "br", "zstd"])
def _(lab, name):
    """The coding breaks after output."""
    prelude, outputs, _ = good_events("responses")
    parts = pieces(name, prelude + outputs)[:-1] + [b"\xff" * 400]
    u = lab.provider(stream(parts, {"Content-Encoding": label(name)}, end="hold", pause=0.1 if name == "br" else 0))
    t = lab.turnpike(u)
    answer = lab.post(t, "/v1/responses", stream=True)
    assert answer.end in ("cut", "reset") and b"event: response.failed\n" in answer.body, answer
    t.counted(turns_cut=1)


@rows.table("stream-prelude-broken", ["gzip", "br", "zstd"])
def _(lab, name):
    """The coding breaks before any output: nothing was committed."""
    prelude, _, _ = good_events("responses")
    u = lab.provider(stream(pieces(name, prelude)[:-1] + [b"\xff" * 400], {"Content-Encoding": label(name)}, end="hold"))
    t = lab.turnpike(u)
    refusal(lab.post(t, "/v1/responses", stream=True), "upstream_response_invalid", "responses")
    assert u.count == 1


@rows.table("stream-without-the-coding's-end", ["gzip", "br", "zstd"])
def _(lab, name):
    """The last event came, only the coding was not closed: nothing is missing."""
    prelude, outputs, ending = good_events("responses")
    events = prelude + outputs + ending
    u = lab.provider(stream(pieces(name, events)[:-1], {"Content-Encoding": label(name)}))
    t = lab.turnpike(u)
    answer = lab.post(t, "/v1/responses", stream=True)
    served(answer, sends=1)
    plain(answer, b"".join(events))


@rows.table("stream-lies", ["gzip", "zstd"])
def _(lab, name):
    """A plain stream under a label."""
    prelude, outputs, ending = good_events("responses")
    events = prelude + outputs + ending
    u = lab.provider(stream(events, {"Content-Encoding": label(name)}))
    t = lab.turnpike(u)
    answer = lab.post(t, "/v1/responses", stream=True)
    served(answer, sends=1)
    plain(answer, b"".join(events))


@rows("members-follow-each-other")
def _(lab):
    """A sender that packs each event by itself: gzip members, zstd frames."""
    prelude, outputs, ending = good_events("responses")
    events = prelude + outputs + ending
    u = lab.provider()
    t = lab.turnpike(u)
    for name in ("gzip", "zstd"):
        u.main.set(stream([coded(name, e) for e in events], {"Content-Encoding": name}))
        answer = lab.post(t, "/v1/responses", stream=True)
        served(answer, sends=1)
        plain(answer, b"".join(events))


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
