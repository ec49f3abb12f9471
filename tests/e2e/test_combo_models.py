"""Combos in the lists of models."""

import gzip
import json

import pytest

from harness.checks import VALIDATORS, relayed, served, tells_body
from harness.combos import combo
from harness.lab import Rows
from harness.provider import error_body, raw, status

rows = Rows()
OPENAI = (b'{\n  "object": "list",\n  "data": [ {"id":"gpt-5","object":"model","created":1.50e+3,"x":"\\u00e9"},\n'
          b'    {"id":"o9", "object":"model"} ],\n  "extra": null }\n')
ANTHROPIC = (b'{"data":[{"type":"model","id":"claude-9","display_name":"Claude 9","created_at":"2026-01-01T00:00:00Z"}],'
             b'"has_more":false,"first_id":"claude-9","last_id":"claude-9"}')
ENTRY = b'{"id":"coder","object":"model","created":0,"owned_by":"turnpike"}'


def lists(body, headers=(), **how):
    return status(200, dict({"Content-Type": "application/json"}, **dict(headers)), body, **how)


@rows.table("openai", ["length", "chunked", "close"])
def _(lab, framing):
    a = lab.provider(then=lists(OPENAI, framing=framing))
    answer = lab.get(combo(lab, a), headers={"Accept-Encoding": "gzip, br"})
    served(answer, sends=1)
    at = OPENAI.index(b" ],\n") + 1
    assert answer.body == OPENAI[:at] + b"," + ENTRY + OPENAI[at:], answer.body
    assert [m["id"] for m in json.loads(answer.body)["data"]] == ["gpt-5", "o9", "coder"]
    assert a.sends[0].all("accept-encoding") == ["identity"]


@rows("anthropic")
def _(lab):
    answer = lab.get(combo(lab, lab.provider(then=lists(ANTHROPIC))))
    served(answer, sends=1)
    before, after = json.loads(ANTHROPIC), json.loads(answer.body)
    entry = after["data"].pop()
    assert after == before and (entry["type"], entry["id"]) == ("model", "coder")
    assert set(entry) == {"type", "id", "display_name", "created_at"}


@rows("empty-list")
def _(lab):
    answer = lab.get(combo(lab, lab.provider(then=lists(b'{"object":"list","data":[]}'))))
    assert answer.body == b'{"object":"list","data":[' + ENTRY + b"]}"


@rows("compressed")
def _(lab):
    """One that compresses all the same."""
    a = lab.provider(then=lists(gzip.compress(OPENAI), {"Content-Encoding": "gzip"}))
    answer = lab.get(combo(lab, a))
    assert [m["id"] for m in answer.json()["data"]] == ["gpt-5", "o9", "coder"]
    assert answer.all("content-encoding") == []


BIG = b'{"object":"list","data":[{"id":"' + b"x" * 1500000 + b'"}]}'


@rows.table("unchanged", {
    "more-pages": ANTHROPIC.replace(b"false", b"true"), "not-json": b"{oops", "other-shape": b'{"models":[{"slug":"m"}]}',
    "there-already": OPENAI.replace(b"gpt-5", b"coder"), "no-array": b'{"object":"list","data":{}}', "large": BIG,
    "deep": b'{"object":"list","data":[' + b"[" * 5000 + b"]" * 5000 + b"]}", "empty": b""})
def _(lab, body):
    answer = lab.get(combo(lab, lab.provider(then=lists(body))))
    assert answer.status == 200 and answer.end == "complete" and answer.body == body, answer


CONDITIONS = {"If-None-Match": '"v1"', "If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT", "If-Match": '"v1"',
              "If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:37 GMT", "If-Range": '"v1"', "Range": "bytes=0-5"}


@rows("validators")
def _(lab):
    """They are the provider's list's: a client would keep a list of ours on the strength of them, whatever combos
    there are by then."""
    a = lab.provider(then=lists(OPENAI, VALIDATORS))
    t = combo(lab, a)
    answer = lab.get(t, headers=CONDITIONS)
    served(answer, sends=1)
    assert len(answer.json()["data"]) == 3
    assert tells_body(answer) == []
    assert [name for name in CONDITIONS if a.sends[0].all(name)] == []
    answer = lab.get(t, "/v1/models/gpt-5", headers=CONDITIONS)  # which is relayed as it is
    assert answer.body == OPENAI and all(answer.all(name) == [value] for name, value in VALIDATORS.items())
    assert all(a.sends[1].all(name) == [value] for name, value in CONDITIONS.items())


@rows("text")
def _(lab):
    a = lab.provider(then=status(200, {"Content-Type": "text/plain"}, OPENAI))
    answer = lab.get(combo(lab, a))
    assert answer.body == OPENAI and answer.header("content-length") == str(len(OPENAI))


@rows.table("error", [401, 404, 500])
def _(lab, code):
    a = lab.provider(then=status(code))
    answer = lab.get(combo(lab, a, config={"providers": {"a": {"keys": []}}, "retry": {"transient": {"sends": 1}}}))
    relayed(answer, code, error_body(code))


@rows.table("cut", {"close": b"", "length": b"Content-Length: 5000\r\n"})
def _(lab, field):
    """A list that breaks off is shown, and as cut, as it would be without combos."""
    half = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + field + b"\r\n" + OPENAI[:60]
    answer = lab.get(combo(lab, lab.provider(then=raw(half))))
    assert answer.status == 200 and answer.body == OPENAI[:60] and answer.end != "complete", answer


@rows.table("one", {"name": "coder", "prefix": "combo/coder", "coded": "combo%2Fcoder"})
def _(lab, name):
    a = lab.provider()
    t = combo(lab, a)
    answer = lab.get(t, "/v1/models/" + name)
    assert answer.status == 200 and answer.body == ENTRY and answer.sends == 0, answer
    answer = lab.get(t, "/v1/models/" + name, headers={"anthropic-version": "2023-06-01"})
    assert answer.json()["display_name"] == "coder" and a.count == 0


@rows("one-of-the-provider")
def _(lab):
    body = b'{"id":"gpt-5","object":"model"}'
    a = lab.provider(then=lists(body))
    answer = lab.get(combo(lab, a), "/v1/models/gpt-5")
    served(answer, sends=1)
    assert answer.body == body


@rows("no-combos")
def _(lab):
    """Nothing changes, and nothing is held."""
    a = lab.provider(then=lists(OPENAI))
    answer = lab.get(lab.turnpike({"a": a.url()}), headers={"Accept-Encoding": "gzip"})
    assert answer.body == OPENAI and answer.header("content-length") == str(len(OPENAI))
    assert a.sends[0].all("accept-encoding") == ["gzip"]


@rows("root-route")
def _(lab):
    a = lab.provider(then=lists(OPENAI))
    t = combo(lab, a, config={"providers": {"a": {"url": a.url("")}}, "routes": [{"path": "/", "provider": "a"}]})
    assert lab.get(t).json()["data"][-1]["owned_by"] == "turnpike"
    assert lab.get(t, "/v1/models/coder").body == ENTRY


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
