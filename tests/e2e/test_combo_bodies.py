"""Combos: request bodies that arrive compressed are decoded where the model must be known, within bounds."""

import zlib

import pytest

from harness.checks import local_error, served
from harness.client import body_for, prompt, request_bytes
from harness.coding import CODINGS, coded, label
from harness.combos import CHAT, combo, same_but_model
from harness.lab import Rows
from harness.provider import status

rows = Rows()


def send(lab, t, coding, body, **how):
    return lab.post(t, CHAT, body, {"Content-Encoding": coding}, **how)


@rows.table("coding", {"%s-%s" % (name, "chunked" if chunked else "length"): (name, chunked)
                       for name in CODINGS for chunked in (None, 1000)})
def _(lab, case):
    """Both targets get the plain body, byte for byte but for the model."""
    name, chunked = case
    a, b = lab.provider(then=status(404)), lab.provider()
    body = body_for(CHAT, text="".join(prompt() for _ in range(5000)), model="coder")
    t = combo(lab, a, b)
    served(send(lab, t, label(name), coded(name, body), chunked=chunked), sends=2)
    for u, model in ((a, "model-a"), (b, "model-b")):
        same_but_model(body, u.sends[0], model)
        assert u.sends[0].all("content-encoding") == []


@rows.table("plain-model", list(CODINGS))
def _(lab, name):
    """A model that is no combo: decoded to be read, sent as it came."""
    a = lab.provider()
    body = coded(name, body_for(CHAT, model="gpt-5"))
    served(send(lab, combo(lab, a), label(name), body), sends=1)
    assert a.sends[0].body == body and a.sends[0].all("content-encoding") == [label(name)]


def bomb(lab, t, name, size):
    """A body that decodes to `size` bytes of one value; sent only as far as Turnpike takes it."""
    raw = b'{"model":"coder","messages":"' + b" " * size + b'"}'
    return send(lab, t, label(name), coded(name, raw))


@rows.table("bomb", list(CODINGS))
def _(lab, name):
    """Above the ratio: 413, nothing is sent, and memory stays where it was."""
    a = lab.provider()
    t = combo(lab, a, config={"workers": 1})
    served(lab.post(t, CHAT, body_for(CHAT, model="coder")))
    before = peak(t)
    for _ in range(3):
        local_error(bomb(lab, t, name, 60 * 2**20), 413)
    assert a.count == 1
    assert peak(t) - before < 40 * 2**20, "brotli and zstd may take their windows"


def peak(t):
    """Most resident bytes that one of its workers ever had."""
    return max(int(line.split()[1]) * 1024 for pid in t.workers() for line in open("/proc/%d/status" % pid)
               if line.startswith("VmHWM:"))


@rows("bomb-early")
def _(lab):
    """Refused while it arrives: the end of the body is never sent."""
    a = lab.provider()
    t = combo(lab, a)
    whole = coded("gzip", b'{"model":"coder","x":"' + b" " * (80 * 2**20))
    with lab.client(t) as c:
        head = request_bytes("POST", CHAT, {"Content-Encoding": "gzip", "Content-Length": str(len(whole) + 10**6)},
                             None)
        c.send(head + whole)
        answer = c.response()
    local_error(answer, 413)
    assert a.count == 0


@rows.table("too-large", list(CODINGS))
def _(lab, name):
    """Within the ratio, but more than limits.replay_body."""
    a = lab.provider()
    t = combo(lab, a, config={"limits": {"replay_body": "100KiB"}})
    body = body_for(CHAT, text="".join(prompt() for _ in range(10000)), model="coder")
    packed = coded(name, body)
    assert len(packed) < 100 * 1024 < len(body)
    local_error(send(lab, t, label(name), packed), 413)
    assert a.count == 0


@rows("too-large-without-combos")
def _(lab):
    """Where no model has to be known it is none of Turnpike's business."""
    a = lab.provider()
    t = lab.turnpike({"a": a.url()}, {"limits": {"replay_body": "100KiB"}})
    packed = zlib.compress(body_for(CHAT, text="y" * 10**6, model="gpt-5"))
    served(send(lab, t, "deflate", packed), sends=1)
    assert a.sends[0].body == packed


@rows.table("damaged", {"cut": lambda b: b[:-9], "garbage": lambda b: b"\x00" * 50})
def _(lab, how):
    """Its model cannot be read: it goes where it always went, and the provider says what it thinks of it."""
    a = lab.provider(then=status(400))
    packed = how(coded("gzip", body_for(CHAT, model="coder")))
    assert send(lab, combo(lab, a), "gzip", packed).status == 400
    assert a.sends[0].body == packed


@rows("label-lies")
def _(lab):
    """Plain JSON under a label, as clients behind a decoding gateway send it."""
    a = lab.provider()
    body = body_for(CHAT, model="coder")
    local_error(send(lab, combo(lab, a), "gzip", body), 400)
    assert a.count == 0


@rows("unknown-coding")
def _(lab):
    a = lab.provider(then=status(415))
    body = b"\x01\x02" + body_for(CHAT, model="coder")
    assert send(lab, combo(lab, a), "compress", body).status == 415
    assert a.sends[0].body == body


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
