"""tests/data/http1_requests.tsv over the wire: one plain listener with default limits, line by line."""

import os
import re
import time

import pytest

from harness import checks
from harness.client import Client
from harness.lab import Lab
from harness.provider import family_of
from harness.tables import unescape
from harness.turnpike import ROOT

PATH = os.path.join(ROOT, "tests", "data", "http1_requests.tsv")


def table():
    with open(PATH, encoding="utf-8") as file:
        lines = file.read().split("\n")[1:]
    return [line.split("\t") for line in lines if line]


LINES = table()


@pytest.fixture(scope="module")
def plain_listener():
    lab = Lab("http1-table")
    try:
        u = lab.provider()
        # the table's Host values are no loopback names; this is the only deviation from the defaults
        t = lab.turnpike(u, {"allow_anonymous": True, "hosts": ["api.example", "2001:db8::1"]})
        yield t, u
        lab.check()
    finally:
        lab.close()


def test_the_table_is_there():
    verdicts = [verdict for _, verdict, _ in LINES]
    assert verdicts.count("accept") == 25 and len(verdicts) == 88


@pytest.mark.parametrize("request_, verdict, reason", LINES, ids=[
    "%s-%s" % (verdict, re.sub(r"\W+", "-", reason)) for _, verdict, reason in LINES])
def test_line(plain_listener, request_, verdict, reason):
    t, u = plain_listener
    data = unescape(request_)
    sends, connections, reads = u.count, len(u.connections), sum(s.read_bytes for s in u.sends)
    first = data.lstrip(b"\r\n").split(b"\r\n")[0].split(b" ")
    method = first[0].decode("latin-1")
    with Client(t.address, timeout=10) as c:
        c.send(data)
        answer = c.response(method)
        if verdict == "accept":
            assert answer.status == 200 and answer.end in ("complete", "close"), answer
            assert u.count == sends + 1, u.sends[sends:]
            forwarded(u.sends[-1], u, data, method)
            return
        assert answer.status == int(verdict) and answer.end == "complete", answer
        target = first[1].decode("latin-1") if len(first) > 1 else "/"
        family = family_of(target) if verdict != "414" else "plain"
        if method != "HEAD":
            error = checks.error_json(answer, "messages" if family == "messages" else "plain")
            assert error["message"]
        assert answer.all("retry-after") == []
        assert c.closed(5) in ("fin", "reset")
    time.sleep(0.02)
    assert u.count == sends and len(u.connections) == connections, u.sends[sends:]
    assert sum(s.read_bytes for s in u.sends) == reads


def forwarded(send, u, data, method):
    """Exactly one request, with a head of its own and one framing at most."""
    assert send.version == "HTTP/1.1" and send.method == method
    assert send.all("host") == ["127.0.0.1:%d" % u.port]
    framings = send.all("content-length") + send.all("transfer-encoding")
    body = data.partition(b"\r\n\r\n")[2]
    assert len(framings) == (1 if body and send.body else len(framings)) <= 1, send.headers
    assert send.body_complete
    if b"content-length" in data.lower():
        assert send.body == body
    elif b"0123456789" in data:
        assert send.body == b"0123456789" * 2
    elif body:
        assert send.body == b"{}"
    else:
        assert send.body == b""
    for name in ("expect", "transfer-encoding", "trailer", "x-sum", "te"):
        assert name == "transfer-encoding" or send.all(name) == [], send.headers
    assert b";name" not in send.raw_body and b"x-sum" not in send.raw_head.lower()
    names = [n for n, _ in send.headers]
    if b"X-D: a\tb" in data:
        pairs = dict(send.headers)
        assert (pairs["X-A"], pairs["X-B"], pairs["X-C"], pairs["X-D"]) == ("1", "2", "", "a\tb")
    if b"caf\xe9" in data:
        assert send.header("x-name") == "caf\xe9"
    if b"~9z" in data:
        assert "!#$%&'*+-.^_`|~9z" in names
    if b"X-Long" in data:
        assert send.header("x-long") == "a" * 60000
    target = data.lstrip(b"\r\n").split(b" ")[1].decode("latin-1")
    if target.startswith("/v1/"):
        assert send.target == target
