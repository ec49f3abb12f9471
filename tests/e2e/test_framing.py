"""Framing and headers: cases FR, and what passes on connections."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from harness.checks import FAMILIES, local_error, refusal, relayed, served
from harness.client import Client, body_for, chunk_bytes, request_bytes
from harness.lab import Rows, between, quiet
from harness.provider import before_body, error_body, good_body, ok, raw, silent, status, stream
from harness.turnpike import until

rows = Rows()
WEBSOCKET = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}


def framings(send):
    return [pair for pair in send.headers if pair[0].lower() in ("content-length", "transfer-encoding")]


@rows.table("FR-1", {"small": 30, "2MiB": 2 * 1024 * 1024})
def _(lab, size):
    u = lab.provider()
    t = lab.turnpike(u)
    body = body_for("/v1/chat/completions", "y" * size)
    c = lab.client(t)
    head = request_bytes("POST", "/v1/chat/completions", {"Transfer-Encoding": "chunked", "Trailer": "X-Sum"})
    c.send(head + chunk_bytes(body, len(body) // 3 + 1, b';name="v"', b"X-Sum: 1\r\n"))
    served(c.response(), sends=1)
    send, = u.sends
    assert send.body == body and send.body_complete and len(framings(send)) == 1, send.headers


@rows("FR-3")
def _(lab):
    inner = [("Connection", "X-Inner"), ("X-Inner", "1"), ("Keep-Alive", "timeout=30"), ("X-Outer", "2"),
             ("Proxy-Authenticate", "Basic")]
    u = lab.provider(ok(headers=inner))
    t = lab.turnpike(u)
    own = [("Connection", "keep-alive, X-Secret"), ("X-Secret", "1"), ("Keep-Alive", "timeout=5"),
           ("TE", "trailers"), ("Upgrade", "h2c"), ("Proxy-Authorization", "Basic eA=="), ("X-Trace", "one"),
           ("X-Trace", "two"), ("Accept", "*/*")]
    answer = lab.post(t, headers=own)
    served(answer, sends=1)
    send, = u.sends
    for name in ("X-Secret", "Keep-Alive", "TE", "Upgrade", "Proxy-Authorization"):
        assert send.all(name) == [], send.headers
    assert "x-secret" not in " ".join(send.all("connection")).lower()
    assert send.all("x-trace") == ["one", "two"] and send.all("accept") == ["*/*"]
    assert send.all("host") == ["127.0.0.1:%d" % u.port]
    assert answer.all("x-inner") == [] and answer.all("keep-alive") == [] and answer.all("x-outer") == ["2"]
    assert "x-inner" not in " ".join(answer.all("connection")).lower()


@rows("FR-4")
def _(lab):
    own = [("x-request-id", "req_1"), ("set-cookie", "a=1; Path=/"), ("set-cookie", "b=2"),
           ("x-ratelimit-remaining-tokens", "17"), ("Date", "Tue, 01 Sep 2026 10:00:00 GMT")]
    u = lab.provider(ok(headers=own))
    t = lab.turnpike(u)
    answer = lab.post(t)
    served(answer, sends=1)
    for name in {n for n, _ in own}:
        assert answer.all(name) == [v for n, v in own if n == name], answer
    assert len(answer.all("x-turnpike-request-id")) == 1 and answer.header("x-turnpike-request-id")
    assert answer.all("x-turnpike-target") == ["p"]
    other = lab.post(t)
    assert other.header("x-turnpike-request-id") != answer.header("x-turnpike-request-id")


@rows("FR-4-nothing-of-a-failed-attempt")
def _(lab):
    u = lab.provider(status(503, {"x-request-id": "req_1", "set-cookie": "lost=1", "X-Only-First": "1"}),
                     ok(headers={"x-request-id": "req_2"}))
    t = lab.turnpike(u)
    answer = lab.post(t)
    served(answer, sends=2)
    assert answer.all("x-request-id") == ["req_2"]
    assert answer.all("set-cookie") == [] and answer.all("x-only-first") == []


@rows("FR-4-headers-of-clients-for-turnpike")
def _(lab):
    """x-turnpike-* of a client are for Turnpike; a provider cannot set ours."""
    u = lab.provider(ok(headers={"X-Turnpike-Sends": "99"}))
    t = lab.turnpike(u)
    answer = lab.post(t, headers={"X-Turnpike-Max-Sends": "2", "x-turnpike-logical-id": "secret-id"})
    assert answer.all("x-turnpike-sends") == ["1"]
    assert not [n for n, _ in u.sends[0].headers if n.lower().startswith("x-turnpike")]


@rows("FR-5")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)
    with Client(t.address) as c:
        answer = c.ask("GET", "/v1/responses", WEBSOCKET)
        assert answer.status == 426 and answer.took < 0.2 + 0.3
        assert "websocket" not in (answer.header("upgrade") or "").lower()
    assert u.connections == []


def accept_upgrade(x):
    x.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n\x81\x05hello", answered=True)
    got = bytearray(x.connection.buffer)
    while len(got) < 6:
        got += x.connection.recv(timeout=10) or b"!" * 6
    x.send.tunnelled = bytes(got)
    x.write(b"\x00\xff\r\n\r\nbye")
    x.close()


@rows("FR-5-tunnel")
def _(lab):
    u = lab.provider(accept_upgrade)
    t = lab.turnpike({"p": {"url": u.url(), "upgrade": "tunnel"}})
    with Client(t.address) as c:
        answer = c.ask("GET", "/v1/responses", WEBSOCKET)
        assert answer.status == 101 and answer.header("sec-websocket-accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        assert (answer.header("upgrade") or "").lower() == "websocket"
        c.sock.sendall(b"\x81\x00\r\n\xff\xfe")
        assert c.closed(5) == "fin"
        assert bytes(c.buffer) == b"\x81\x05hello\x00\xff\r\n\r\nbye"
    send, = u.sends
    assert send.tunnelled == b"\x81\x00\r\n\xff\xfe"
    assert send.header("sec-websocket-key") == WEBSOCKET["Sec-WebSocket-Key"]
    assert t.sends_counted() == 1


@rows("FR-5-tunnel-reset")
def _(lab):
    u = lab.provider(lambda x: x.reset(), then=accept_upgrade)
    t = lab.turnpike({"p": {"url": u.url(), "upgrade": "tunnel"}})
    with Client(t.address) as c:
        answer = c.ask("GET", "/v1/responses", WEBSOCKET)
        assert answer.status != 101, answer
    quiet(u, 1.0, 1)


@rows("FR-5-tunnel-declined")
def _(lab):
    u = lab.provider(status(503), then=accept_upgrade)
    t = lab.turnpike({"p": {"url": u.url(), "upgrade": "tunnel"}})
    with Client(t.address) as c:
        assert c.ask("GET", "/v1/responses", WEBSOCKET).status == 503
    quiet(u, 1.0, 1)


@rows("FR-6")
def _(lab):
    def early_hints(x):
        x.write(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
        x.answer(200, (), b'{"object":"list"}')

    u = lab.provider(status(200, {"Content-Length": "12"}, b""), status(204, (), b"", framing="none"),
                     status(304, {"ETag": '"a"'}, b"", framing="none"), early_hints)
    t = lab.turnpike(u, {"workers": 1})
    with Client(t.address) as c:
        head = c.ask("HEAD", "/v1/models")
        assert (head.status, head.body, head.end) == (200, b"", "complete")
        assert head.header("content-length") == "12"
        none = c.ask("GET", "/v1/models")
        assert (none.status, none.body, none.all("transfer-encoding")) == (204, b"", [])
        same = c.ask("GET", "/v1/models")
        assert (same.status, same.body, same.header("etag")) == (304, b"", '"a"')
        last = c.ask("GET", "/v1/models")
        assert (last.status, last.body) == (200, b'{"object":"list"}')
    assert len(u.connections) == 1 and u.count == 4, "one kept connection"


@rows("answers-in-strange-dress")
def _(lab):
    """What providers write in practice: no reason, HTTP/1.0, no framing, both framings, odd case."""
    u = lab.provider()
    t = lab.turnpike(u)
    body = good_body(type("S", (), {"target": "/v1/chat/completions"}))
    size = len(body)
    cases = {
        "no reason": b"HTTP/1.1 200\r\nContent-Length: %d\r\n\r\n%s" % (size, body),
        "blank reason": b"HTTP/1.1 200 \r\ncontent-LENGTH:%d\r\n\r\n%s" % (size, body),
        "1.0 by close": b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + body,
        "1.1 by close": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + body,
        "both framings": b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n"
                         b"%x\r\n%s\r\n0\r\n\r\n" % (size, body),
        "equal lengths": b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Length: %d\r\n\r\n%s" % (
            size, size, body),
        "trailers": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n%X;x=y\r\n%s\r\n0\r\nX-T: 1\r\n\r\n" % (
            size, body),
    }

    def one(name):
        # one that closes without having said so may take a request that was just written with it
        u.row(name, raw(cases[name], then="close" if "by close" in name else "keep"))
        answer = lab.post(t, headers={"x-row": name})
        served(answer, sends=1)
        assert answer.body == body, (name, answer)

    lab.side_by_side([lambda name=name: one(name) for name in cases])


@rows("close-delimited-json-that-does-not-parse-is-cut")
def _(lab):
    u = lab.provider(raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"choices\": [{\"a"))
    t = lab.turnpike(u)
    refusal(lab.post(t), "upstream_response_truncated")


@rows.table("plain-json-by-close", {
    "cut": (b'{"object":"list","data":[{"embedding":[0.1,', True), "cut-large": (b'{"data":"' + b"x" * 300_000, True),
    "whole": (b'{"object":"list","data":[]}', False), "empty": (b"", False), "no-json": (b'{"a":NaN', False),
    "two": (b'{"a":1}\n{"b":', False)})
def _(lab, case):
    """Of other paths too: JSON that breaks off inside was cut. What is no JSON passes as it is."""
    body, cut = case
    u = lab.provider(raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + body))
    answer = lab.post(lab.turnpike(u, probe=False), "/v1/embeddings")
    assert answer.status == 200 and (answer.end in ("cut", "reset")) == cut, answer
    assert body.startswith(answer.body) if cut else answer.body == body, answer  # a reset may overtake bytes


@rows("paths")
def _(lab):
    """The route's path is cut off, the rest appended to the provider's url; nothing else changes."""
    u = lab.provider()
    t = lab.turnpike({"p": u.url("/api/openai/v1"), "q": u.url("")},
                     {"routes": [{"path": "/v1", "provider": "p"}, {"path": "/other/x", "provider": "q"}]})
    for asked, reached in (("/v1/models", "/api/openai/v1/models"), ("/v1/a%2fb?x=%20&y", "/api/openai/v1/a%2fb?x=%20&y"),
                           ("/other/x/messages", "/messages"), ("/v1?q", "/api/openai/v1?q")):
        assert lab.get(t, asked).status == 200
        assert u.sends[-1].target == reached
    count = u.count
    for asked in ("/other", "/v10/models", "/"):
        assert lab.get(t, asked).status == 404, asked
    for asked in ("/v1/../admin", "/v1/%2e%2e/admin", "/v1/./models", "/v1/.%2E/x", "/v1/..%2fadmin", "/v1/.."):
        local_error(lab.get(t, asked), 400, "plain")
    assert u.count == count


@rows("pipelined-requests")
def _(lab):
    """Answered in their order, one after the other at the provider."""
    u = lab.provider(ok(b'{"choices":[1]}', after=0.4), ok(b'{"choices":[2]}'), status(400), ok(b'{"choices":[4]}'))
    t = lab.turnpike(u)
    c = lab.client(t)
    c.send(b"".join(request_bytes("POST", "/v1/chat/completions", body=body_for("/v1/chat/completions"))
                    for _ in range(4)))
    answers = [c.response() for _ in range(4)]
    assert [a.status for a in answers] == [200, 200, 400, 200]
    assert [answers[i].body for i in (0, 1, 3)] == [b'{"choices":[1]}', b'{"choices":[2]}', b'{"choices":[4]}']
    assert u.count == 4
    for a, b in zip(u.sends, u.sends[1:]):
        assert b.at >= a.answered_at


@rows("limits-of-one-state-do-not-cut-the-next")
def _(lab):
    """Bytes that only wait for the end of the loop turn leave no limit behind that is not of the state after it."""
    path = "/v1/chat/completions"
    body = body_for(path)
    late = lambda: ok(b'{"choices":[1]}', after=1.6)
    u = lab.provider(late(), ok(b'{"choices":[1]}'), late())
    t = lab.turnpike(u, {"workers": 1, "limits": {"client_body": "1s", "client_idle": "1s", "client_header": "1s"}})
    at_once = lab.client(t)
    at_once.send(request_bytes("POST", path, {"Expect": "100-continue"}, body=body))
    served(at_once.response(), sends=1)
    pipelined = lab.client(t)
    pipelined.send(request_bytes("POST", path, body=body) * 2)
    for _ in range(2):
        served(pipelined.response(), sends=1)
    assert u.count == 3


@rows("a-bad-request-behind-a-good-one")
def _(lab):
    u = lab.provider(ok(after=0.3))
    t = lab.turnpike(u)
    c = lab.client(t)
    c.send(request_bytes("POST", "/v1/chat/completions", body=body_for("/v1/chat/completions")) +
           b"GET /v1/models HTTP/1.1\r\nHost : x\r\n\r\n")
    served(c.response(), sends=1)
    local_error(c.response("GET"), 400, "plain")
    assert c.closed(3) is not None and u.count == 1


@rows("byte-by-byte")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)
    data = request_bytes("POST", "/v1/chat/completions", body=body_for("/v1/chat/completions"), chunked=7)
    c = lab.client(t)
    for index in range(len(data)):
        c.sock.sendall(data[index:index + 1])
    served(c.response(), sends=1)
    assert u.sends[0].body_complete


@rows("upstream-connections-are-kept")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u, {"workers": 1})
    with Client(t.address) as c:
        for _ in range(10):
            served(c.post(), sends=1)
    for _ in range(10):
        served(lab.post(t), sends=1)
    assert len(u.connections) == 1 and u.count == 20
    t.counted(pooled=1)


@rows("upstream-connections-are-kept-after-errors-and-streams")
def _(lab):
    u = lab.provider(status(400), status(503, framing="chunked"), ok(), stream([b"data: x\n\n", b"data: [DONE]\n\n"]), ok())
    t = lab.turnpike(u, {"workers": 1})
    assert [lab.post(t).status for _ in range(4)] == [400, 200, 200, 200]
    assert len(u.connections) == 1 and u.count == 5


@rows("connection-close-ends-it")
def _(lab):
    u = lab.provider(then=ok(headers={"Connection": "close"}))
    t = lab.turnpike(u, {"workers": 1})
    for _ in range(3):
        answer = lab.post(t)
        served(answer, sends=1)
    assert len(u.connections) == 3


@rows("http-1.0-keeps-its-connection")
def _(lab):
    """A client of HTTP/1.0 that asks for it is told so, and waits for the end of the connection otherwise (ab -k does)."""
    def ask(c, headers=b""):
        body = body_for("/v1/chat/completions")
        c.send(b"POST /v1/chat/completions HTTP/1.0\r\nHost: 127.0.0.1\r\n%sContent-Length: %d\r\n\r\n%s" %
               (headers, len(body), body))
        return c.response()

    t = lab.turnpike(lab.provider(ok(), status(400), then=ok()), probe=False)
    c = lab.client(t)
    for code in (200, 400, 200):
        answer = ask(c, b"Connection: Keep-Alive\r\n")
        assert (answer.status, answer.end, answer.all("connection")) == (code, "complete", ["keep-alive"]), answer
    assert ask(c).all("connection") == ["close"] and c.closed() == "fin"
    assert lab.post(t).all("connection") == [], "HTTP/1.1 needs no such word"


@rows("trace-is-not-served")
def _(lab):
    """Its answer would show the client the key that Turnpike puts in."""
    u = lab.provider(lambda x: x.answer(200, {"Content-Type": "message/http"}, x.send.raw_head))
    t = lab.turnpike({"p": {"url": u.url(), "keys": ["sk-of-the-provider-0123456789"]}})
    answer = lab.client(t).ask("TRACE", "/v1/models")
    local_error(answer, 501, "plain", "not_implemented")
    assert u.count == 0 and b"0123456789" not in answer.body


@rows("client-asks-for-close")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)
    c = lab.client(t)
    answer = c.post(headers={"Connection": "close"})
    served(answer, sends=1)
    assert answer.header("connection") == "close" and c.closed(2) == "fin"


@rows("keepalive-limits")
def _(lab):
    u = lab.provider(ok(), ok(headers={"Keep-Alive": "timeout=2"}))
    t = lab.turnpike({"p": {"url": u.url(), "keepalive": {"idle": "2s"}}}, {"workers": 1})
    served(lab.post(t))
    until(lambda: u.connections[0].peer_closed_at, 4, "the idle connection is closed")
    between(u.connections[0].peer_closed_at - u.sends[0].answered_at, 1.8, 2.6, "idle")
    served(lab.post(t))
    until(lambda: u.connections[1].peer_closed_at, 4, "the idle connection is closed")
    between(u.connections[1].peer_closed_at - u.sends[1].answered_at, 0.5, 1.5, "the provider's timeout less 1 s")


@rows("keepalive-max")
def _(lab):
    u = lab.provider(then=ok(after=0.3))
    t = lab.turnpike({"p": {"url": u.url(), "keepalive": {"max": 2}}}, {"workers": 1})
    lab.side_by_side([lambda: lab.post(t)] * 6)
    until(lambda: t.stats()["pooled"] <= 2, 2, lambda: "pooled: %r" % t.stats()["pooled"])


@rows("nothing-unasked")
def _(lab):
    """Bytes behind an answer, or later on a kept connection, are never taken for the next answer."""
    forged = b'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged'

    def with_more(x):
        x.write(b'HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{"choices":[]}' + forged, answered=True)

    def behind_chunks(x):
        x.write(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ne\r\n{"choices":[]}\r\n0\r\n\r\n' + forged, answered=True)

    def behind_nothing(x):
        x.write(b'HTTP/1.1 204 No Content\r\n\r\n' + forged, answered=True)

    def later(x):
        x.answer(200, (), b'{"choices":[]}')
        x.sleep(0.2)
        x.write(forged)

    u = lab.provider(with_more, behind_chunks, behind_nothing, ok(), later, ok(), ok())
    t = lab.turnpike(u, {"workers": 1}, allow=[r"unasked|unexpected"])
    for number in range(7):
        answer = lab.post(t)
        assert answer.status == (204 if number == 2 else 200) and answer.end == "complete" and answer.sends == 1, answer
        assert b"forged" not in answer.body
        time.sleep(0.4)
    assert u.count == 7 and len(u.connections) == 5


def stop(pid):
    os.kill(pid, signal.SIGSTOP)
    while Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "T":
        os.sched_yield()


@rows("nothing-unasked-in-one-loop-turn")
def _(lab):
    """Bytes that come with the next request, before a byte of it was written, are not its answer."""
    forged = b'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged'
    asked = threading.Semaphore(0)

    def then_unasked(x):
        x.answer(200, (), b'{"choices":[]}')
        assert asked.acquire(timeout=10)
        x.write(forged)
        written.release()

    written = threading.Semaphore(0)
    u = lab.provider(*[then_unasked, ok()] * 12)
    t = lab.turnpike(u, {"workers": 1}, allow=[r"unasked|unexpected|before use"])
    worker, = t.workers()
    first, second = lab.client(t), lab.client(t)
    request = request_bytes("POST", "/v1/chat/completions", body=body_for("/v1/chat/completions"))
    for _ in range(12):
        first.send(request)
        served(first.response(), sends=1)
        stop(worker)  # within the time in which a kept connection is not looked at
        second.send(request)
        asked.release()
        assert written.acquire(timeout=10)
        os.kill(worker, signal.SIGCONT)
        answer = second.response()
        served(answer, sends=1)
        assert b"forged" not in answer.body
    assert u.count == 24


@rows("early-answer-during-upload")
def _(lab):
    """The provider answers at the head and reads on slowly: relayed, and its connection is not used again."""
    def early(x):
        x.answer(413, (), b'{"error":{"message":"too big for me"}}')
        x.sleep(0.5)

    u = lab.provider(before_body(early), then=ok())
    t = lab.turnpike(u, {"workers": 1})
    answer = lab.post(t, body=body_for("/v1/chat/completions", "z" * 30_000_000))
    relayed(answer, 413, b'{"error":{"message":"too big for me"}}')
    served(lab.post(t), sends=1)
    assert u.count == 2 and len(u.connections) == 2


@rows("streamed-upload")
def _(lab):
    """Above limits.replay_body a request passes once, and the answer says so."""
    u = lab.provider(ok(), status(503), ok())
    t = lab.turnpike(u, {"limits": {"replay_body": "64KiB"}})
    body = body_for("/v1/chat/completions", "w" * 1_000_000)
    answer = lab.post(t, body=body)
    served(answer, sends=1)
    assert answer.header("x-turnpike-replay") == "off" and u.sends[0].body == body
    answer = lab.post(t, body=body)
    assert answer.status == 503 and u.count == 2, answer
    assert lab.post(t).header("x-turnpike-replay") is None


@rows("streamed-upload-early-answer")
def _(lab):
    def early(x):
        x.answer(400, (), b'{"error":{"message":"no"}}')
        x.sleep(0.3)

    u = lab.provider(before_body(early), then=ok())
    t = lab.turnpike(u, {"limits": {"replay_body": "64KiB"}})
    c = lab.client(t)
    c.send(request_bytes("POST", "/v1/chat/completions", {"Content-Length": "1000000", "Content-Type": "application/json"}))
    c.send(b"x" * 500_000)
    relayed(c.response(timeout=5), 400, b'{"error":{"message":"no"}}')


@rows.table("client-gone", ["silent", "prelude", "output", "reset"])
def _(lab, case):
    """The attempt is cancelled at once; neutral everywhere."""
    note = []
    step = silent(note) if case in ("silent", "reset") else stream(
        [b": hello\n\n"] if case == "prelude" else [b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'], end="hold")
    u = lab.provider(step)
    t = lab.turnpike(u)
    c = lab.client(t)
    c.request("POST", "/v1/chat/completions", body=body_for("/v1/chat/completions", stream=True))
    u.wait_sends(1)
    if case == "output":
        c.until(c.head(), b"content")
    else:
        time.sleep(0.2)
    left = time.monotonic()
    c.reset() if case == "reset" else c.close()
    until(lambda: u.connections[0].peer_closed_at, 1.0, "the provider sees the end")
    assert u.connections[0].peer_closed_at - left < 0.5
    until(lambda: t.stats()["turns_gone"] == 1, 1, "counted as gone")
    assert u.count == 1
    stats = t.stats()
    assert stats["turns_refused"] == stats["turns_error"] == stats["turns_cut"] == 0, stats


@rows("client-gone-while-uploading")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)
    c = lab.client(t)
    c.send(b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nhalf")
    time.sleep(0.2)
    c.close()
    time.sleep(0.3)
    assert u.connections == []


@rows("half-close-aborts")
def _(lab):
    u = lab.provider(silent())
    t = lab.turnpike(u)
    c = lab.client(t)
    c.request("POST", "/v1/chat/completions", body=body_for("/v1/chat/completions"))
    u.wait_sends(1)
    c.half_close()
    until(lambda: u.connections[0].peer_closed_at, 2, "the attempt is cancelled")
    assert c.closed(2) is not None and bytes(c.buffer) == b""
    until(lambda: t.stats()["turns_gone"] == 1, 1, "counted as gone")


@rows("half-close-serves")
def _(lab):
    u = lab.provider(status(503), ok(after=0.3))
    t = lab.turnpike(u, {"listen": [{"address": "127.0.0.1:0", "client_half_close": "serve"}]})
    c = lab.client(t)
    c.request("POST", "/v1/chat/completions", body=body_for("/v1/chat/completions"))
    c.half_close()
    served(c.response(), sends=2)
    assert c.closed(2) == "fin"


@rows("idle-clients-are-closed")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u, {"limits": {"client_idle": "1s"}})
    c = lab.client(t)
    served(c.post())
    at = time.monotonic()
    assert c.closed(4) == "fin" and bytes(c.buffer) == b""
    between(time.monotonic() - at, 0.9, 1.6, "idle")


@rows("slow-body-is-ended")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u, {"limits": {"client_body": "1s"}})
    c = lab.client(t)
    c.send(b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nhalf")
    answer = c.response(timeout=5)
    assert answer.status in (None, 408), answer  # told, or simply closed
    between(answer.took, 1.0, 1.6, "end")
    assert c.closed(2) is not None and u.connections == []


@rows("identity-coding-is-asked-for")
def _(lab):
    u = lab.provider()
    t = lab.turnpike({"p": u.url(), "q": {"url": u.url(), "compression": "pass"}},
                     {"routes": [{"path": "/v1", "provider": "p"}, {"path": "/q", "provider": "q"}]})
    served(lab.post(t, headers={"Accept-Encoding": "gzip, br"}))
    served(lab.post(t, "/q/chat/completions", headers={"Accept-Encoding": "gzip, br"}))
    assert [s.all("accept-encoding") for s in u.sends] == [["identity"], ["gzip, br"]]


@rows("each-family-whole")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)
    for family, path in FAMILIES.items():
        answer = lab.post(t, path)
        served(answer, sends=1)
        assert answer.body == good_body(u.sends[-1]), family
    u.row("e", status(404))
    relayed(lab.post(t, headers={"x-row": "e"}), 404, error_body(404))


@rows("many-turns-at-once-in-one-worker")
def _(lab):
    gate = threading.Event()

    def wait(x):
        x.await_event(gate)
        x.answer(200, (), good_body(x.send))

    u = lab.provider(then=wait)
    t = lab.turnpike(u, {"workers": 1})
    clients = [lab.client(t) for _ in range(100)]
    for c in clients:
        c.request("POST", "/v1/chat/completions", body=body_for("/v1/chat/completions"))
    u.wait_sends(100)
    stats = t.stats()
    assert stats["turns"] == 100 and stats["sends"] == 100 and stats["clients"] == 100, stats
    gate.set()
    for c in clients:
        served(c.response(), sends=1)


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
