"""Peers that mean harm, or are merely unlucky: what a reader of the code would try in order to break it."""

import gzip
import json
import os
import random
import signal
import socket
import threading
import time
import zlib

import pytest

from harness.checks import FAMILIES, MODELS, served
from harness.client import body_for, chunk_bytes, request_bytes
from harness.lab import SLACK, Rows
from harness.provider import before_body, event, good_body, good_events, ok, raw, silent, status
from harness import turnpike
from harness.tls import authority
from harness.turnpike import resident, until

rows = Rows()
PATH = "/v1/chat/completions"
MIB = 1024 * 1024
SMALL = {"workers": 1, "limits": {"replay_body": "4KiB"}}


# ---- requests that stream through

@rows.table("chunks-that-stream-through", {"one-write": 0, "in-pieces": 3})
def _(lab, pieces):
    """Chunks that arrive before the provider's connection is there are still chunks, not content."""
    u = lab.provider(then=ok())
    t = lab.turnpike(u, SMALL)
    for size in (700, 5000, 9000):
        body = body_for(PATH, "c" * 40_000)
        head = request_bytes("POST", PATH, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
        data = head + chunk_bytes(body, size)
        c = lab.client(t)
        step = len(data) // pieces + 1 if pieces else len(data)
        for at in range(0, len(data), step):
            c.send(data[at:at + step])
            time.sleep(0.02)
        answer = c.response(timeout=5)
        served(answer, sends=1)
        assert answer.header("x-turnpike-replay") == "off"
        assert u.sends[-1].body == body, (size, len(u.sends[-1].body))
        u.close_idle()
        time.sleep(0.1)


# ---- answer heads

@rows.table("interim-then-a-head-in-pieces", list(range(1, 60, 3)))
def _(lab, cut):
    """An interim answer in one packet with the front of the real one."""
    def step(x):
        body = good_body(x.send)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        x.write(b"HTTP/1.1 100 Continue\r\n\r\n" + head[:cut])
        x.sleep(0.05)
        x.write(head[cut:] + body)

    u = lab.provider(step)
    t = lab.turnpike(u, {"workers": 1})
    served(lab.post(t), sends=1)


@rows("a-head-in-two-pieces-before-much-body")
def _(lab):
    body = json.dumps(dict(json.loads(good_body(type("S", (), {"target": PATH})())), pad="p" * 300_000)).encode()

    def step(x):
        x.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/js")
        x.sleep(0.1)
        x.write(b"on\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    u = lab.provider(step)
    t = lab.turnpike(u, {"workers": 1})
    answer = lab.post(t)
    served(answer, sends=1)
    assert answer.body == body


# ---- answers that are kept

OVERLOADED = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'


@rows("errors-in-a-200-one-after-another")
def _(lab):
    """Nothing of the first is left in what is shown of the last, and nothing is lost in memory."""
    u = lab.provider(*[ok(OVERLOADED, {"X-Nth": str(n), "Retry-After": "1"}) for n in range(2)],
                     ok(b'{"error":{"type":"invalid_request_error","message":"no such thing"}}', {"X-Nth": "last"}))
    t = lab.turnpike(u, {"workers": 1, "retry": {"overload": {"base": "100ms"}, "retry_after": {"floor": "100ms"}}})
    answer = lab.post(t)
    assert answer.sends == 3 and answer.all("x-nth") == ["last"], answer
    assert answer.all("retry-after") == [], answer


@rows("error-in-a-200-after-a-503")
def _(lab):
    u = lab.provider(status(503, {"X-Nth": "first", "Set-Cookie": "first=1"}),
                     ok(b'{"error":{"type":"invalid_request_error","message":"no such thing"}}', {"X-Nth": "last"}))
    t = lab.turnpike(u, {"workers": 1})
    answer = lab.post(t)
    assert answer.sends == 2 and answer.all("x-nth") == ["last"] and answer.all("set-cookie") == [], answer


# ---- ends of streams

def whole_stream(send, strip, chunked=False):
    family = [f for f, p in FAMILIES.items() if p == send.target][0]
    pre, out, end = good_events(family)
    data = b"".join(pre + out + end)
    return data[:-strip] if strip else data


@rows.table("a-stream-in-one-piece", {"%s-%d" % (f, n): (f, n) for f in MODELS for n in (0, 1, 2)})
def _(lab, case):
    """Its last line end may be missing; it is as complete as one that came in two pieces."""
    family, strip = case
    data = []

    def step(x):
        data.append(whole_stream(x.send, strip))
        x.answer(200, {"Content-Type": "text/event-stream"}, data[-1], framing="chunked")

    def in_two(x):
        data.append(whole_stream(x.send, strip))
        x.head(200, {"Content-Type": "text/event-stream", "Content-Length": str(len(data[-1]))})
        x.write(data[-1][:-10])
        x.sleep(0.1)
        x.write(data[-1][-10:])

    u = lab.provider(step, in_two)
    t = lab.turnpike(u, {"workers": 1})
    for _ in range(2):
        answer = lab.post(t, FAMILIES[family], stream=True)
        served(answer, sends=1)
        assert answer.body == data[-1], answer
    until(lambda: t.stats()["turns_ok"] == 2, 2, "both turns ended well")


@rows.table("a-cut-stream-with-a-length", {"%s-%d" % (f, n): (f, n) for f in MODELS for n in (1, 5, 40, 60, 5000)})
def _(lab, case):
    """What is missing must not be filled up with our own error event: that would look complete."""
    family, missing = case
    def step(x):
        pre, out, _ = good_events(family)
        part = b"".join(pre + out)
        x.head(200, {"Content-Type": "text/event-stream", "Content-Length": str(len(part) + missing)})
        x.write(part)
        x.sleep(0.1)
        x.close()

    u = lab.provider(step)
    t = lab.turnpike(u, {"workers": 1})
    answer = lab.post(t, FAMILIES[family], stream=True)
    assert answer.status == 200 and answer.end in ("cut", "reset"), answer


@rows.table("a-cut-json-by-close", {"%d" % n: n for n in (1000, 70_000, 200_000)})
def _(lab, size):
    """No framing tells the end: JSON that does not parse was cut, however much of it there is."""
    def step(x):
        body = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"' + b"x" * size
        x.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + body)
        x.sleep(0.1)
        x.close()

    def whole(x):
        body = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"' + b"x" * size + b'"}}]}'
        x.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + body)
        x.sleep(0.1)
        x.close()

    u = lab.provider(step, whole)
    t = lab.turnpike(u, {"workers": 1})
    answer = lab.post(t)
    assert answer.end in ("cut", "reset") or answer.status == 429, answer.status
    served(lab.post(t), sends=1)


@rows("a-204-with-a-length-and-a-body")
def _(lab):
    u = lab.provider(raw(b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", then="keep"), then=ok())
    t = lab.turnpike(u, {"workers": 1})
    c = lab.client(t)
    answer = c.ask("DELETE", "/v1/files/1")
    assert answer.status == 204 and answer.all("content-length") == [], answer
    served(c.post(), sends=1)  # and the bytes are nobody's answer
    assert len(u.connections) == 2


# ---- compressed answers

@rows.table("a-compressed-answer-in-one-piece", {"%d-%s" % (n, how): (n, how) for n in (1_000, 30_000, 300_000)
                                                 for how in ("length", "chunked", "close")})
def _(lab, case):
    """It is decoded in several steps, and judged as one."""
    size, framing = case
    body = json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": {
        "role": "assistant", "content": "c" * size}}]}).encode()
    u = lab.provider(ok(gzip.compress(body), {"Content-Encoding": "gzip"}, framing=framing))
    t = lab.turnpike(u, {"workers": 1})
    answer = lab.post(t)
    served(answer, sends=1)
    assert (gzip.decompress(answer.body) if answer.header("content-encoding") else answer.body) == body


@rows("a-compressed-bomb-for-a-reader-who-does-not-read")
def _(lab):
    """What a few bytes unfold to is no more held in memory than what many bytes bring."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = squeeze.compress(b'{"choices":[{"index":0,"message":{"role":"assistant","content":"')
    for _ in range(100):
        bomb += squeeze.compress(b"0" * MIB)
    bomb += squeeze.flush()

    u = lab.provider(lambda x: (x.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                        b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)),
                                x.write_some(bomb, 2)), then=ok())
    t = lab.turnpike(u, {"workers": 1})
    before = resident(t.workers()[0])
    c = lab.client(t, receive_buffer=4096)
    c.request("POST", PATH, (), body_for(PATH))
    time.sleep(1.5)
    grown = resident(t.workers()[0]) - before
    c.reset()
    assert grown < 4 * MIB, grown


# ---- fairness

@rows("a-firehose-does-not-starve-others")
def _(lab):
    """One answer as fast as the machine can: others get their turn of the loop."""
    size = 64 * MIB
    file = os.open(os.path.join(lab.folder, "much"), os.O_RDWR | os.O_CREAT)
    os.ftruncate(file, size)

    def firehose(x):
        x.head(200, {"Content-Type": "application/octet-stream", "Content-Length": str(1000 * size)})
        x.connection.sock.settimeout(None)
        end = time.monotonic() + 3
        at = 0
        while time.monotonic() < end:
            at += os.sendfile(x.connection.sock.fileno(), file, at % size, size - at % size)
        x.close()

    u = lab.provider(then=ok())
    u.row("hose", firehose, firehose)
    t = lab.turnpike(u, {"workers": 1})

    def drink():
        with socket.create_connection(t.address) as s:
            s.sendall(request_bytes("GET", "/v1/files/1", {"x-row": "hose"}))
            into = bytearray(4 * MIB)
            try:
                while s.recv_into(into, len(into), socket.MSG_TRUNC):  # dropped without a copy
                    pass
            except ConnectionResetError:
                pass

    drinkers = [threading.Thread(target=drink) for _ in range(2)]
    for one in drinkers:
        one.start()
    time.sleep(0.5)
    worst = 0.0
    with lab.client(t) as c:
        while any(one.is_alive() for one in drinkers):
            began = time.monotonic()
            served(c.ask("GET", "/v1/models"))
            worst = max(worst, time.monotonic() - began)
            time.sleep(0.01)
    assert worst < 0.3 + SLACK, worst


# ---- clients that leave

@rows("client-resets-a-paused-upload")
def _(lab):
    """The provider reads nothing; the client gives up: its attempt ends at once."""
    def stuck(x):
        x.await_event(go)

    go = threading.Event()
    u = lab.provider(before_body(stuck), receive_buffer=4096)
    t = lab.turnpike(u, SMALL)
    c = lab.client(t)
    c.send(request_bytes("POST", PATH, {"Content-Length": str(64 * MIB), "Content-Type": "application/json"}))
    c.sock.settimeout(0.5)
    try:
        while True:
            c.sock.send(b"x" * 65536)
    except OSError:
        pass
    assert t.stats().gauges["sends"] == 1
    c.reset()
    until(lambda: t.stats().gauges["sends"] == 0, 2, "the attempt of a client that left")
    go.set()


@rows("client-leaves-before-anything-was-sent")
def _(lab):
    """A send that wrote nothing is not paid: the announced re-send still has all of them."""
    blackhole = socket.socket()
    blackhole.bind(("127.0.0.1", 0))
    blackhole.listen(0)
    fill = [socket.socket() for _ in range(4)]
    for s in fill:
        s.setblocking(False)
        s.connect_ex(blackhole.getsockname())
    t = lab.turnpike("http://127.0.0.1:%d/v1" % blackhole.getsockname()[1], {"workers": 1})
    body = body_for(PATH)
    c = lab.client(t)
    c.request("POST", PATH, (), body)
    until(lambda: t.stats().gauges["sends"] == 1, 3, "an attempt that connects")
    c.close()
    until(lambda: t.stats()["turns_gone"] == 1, 3, "the turn's end")
    assert t.stats()["given_back"] == 1
    for s in fill + [blackhole]:
        s.close()


@rows("cut-by-shutdown-then-sent-again")
def _(lab):
    """Ended by us while it may have run: the re-send is the same logical request."""
    u = lab.provider(silent(), then=status(503))
    t = lab.turnpike(u, {"workers": 1, "shutdown": {"drain": "1s"}}, probe=False)
    body = body_for(PATH)
    c = lab.client(t)
    c.request("POST", PATH, (), body)
    u.wait_sends(1)
    t.stop()
    again = lab.turnpike(u, {"workers": 1}, name=t.name, probe=False)
    answer = lab.post(again, body=body)
    assert answer.sends == 3 and u.count == 3, (answer, u.sends)


def old_request(body):
    return request_bytes("POST", PATH, (), body).replace(b"HTTP/1.1", b"HTTP/1.0", 1)


@rows.table("cuts-of-an-answer-that-ends-with-the-connection", ["slow-reader", "shutdown"])
def _(lab, why):
    """HTTP/1.0: only a reset tells that something is missing."""
    def large(x):
        x.stream_head()
        for _ in range(3000):
            x.piece(event({"choices": [{"index": 0, "delta": {"content": "w" * 10_000}}]}))

    u = lab.provider(large)
    t = lab.turnpike(u, {"workers": 1, "limits": {"slow_reader": "1s"}, "shutdown": {"drain": "0s"}}, probe=False)
    c = lab.client(t, receive_buffer=4096)
    c.send(old_request(body_for(PATH, stream=True)))
    answer = c.head()
    assert answer.status == 200 and answer.framing == "close"
    if why == "shutdown":
        time.sleep(0.5)
        t.stop()
    else:
        until(lambda: t.stats().gauges["clients"] == 0, 4, "the end of a slow reader")
    c.rest(answer)
    assert answer.end == "reset", answer


@rows("half-close-serves-what-was-pipelined")
def _(lab):
    u = lab.provider(then=ok(after=0.1))
    t = lab.turnpike(u, {"listen": [{"address": "127.0.0.1:0", "client_half_close": "serve"}]})
    c = lab.client(t)
    c.send(b"".join(request_bytes("POST", PATH, (), body_for(PATH)) for _ in range(3)) + b"POST /v1")
    c.half_close()
    for _ in range(3):
        served(c.response(), sends=1)
    assert c.closed(2) == "fin"


@rows("half-close-leaves-nobody-to-answer")
def _(lab):
    """By default a FIN means that the client is gone: what it had pipelined is not run for nobody."""
    u = lab.provider(then=ok(after=0.3))
    t = lab.turnpike(u)
    c = lab.client(t)
    c.send(b"".join(request_bytes("POST", PATH, (), body_for(PATH)) for _ in range(3)))
    u.wait_sends(1)
    c.half_close()
    time.sleep(0.6)
    assert u.count == 1


@rows("an-early-answer-outlives-an-upload-that-stops")
def _(lab):
    """The client has stopped sending since it reads an answer already: that answer is not cut for it."""
    def early(x):
        pre, out, end = good_events("chat", ["t%d " % n for n in range(8)])
        x.stream_head()
        for piece in pre + out + end:
            x.piece(piece)
            x.sleep(0.3)
        x.stream_end()

    u = lab.provider(before_body(early), then=ok())
    t = lab.turnpike(u, {"limits": {"replay_body": "4KiB", "client_body": "1s"}})
    c = lab.client(t)
    c.send(request_bytes("POST", PATH, {"Content-Length": "1000000", "Content-Type": "application/json"}))
    c.send(b"x" * 10_000)
    served(c.response(), sends=1)


# ---- TLS towards providers

@rows("tls-upload-in-dribs-to-a-slow-provider")
def _(lab):
    ca = authority()

    def slow(x):
        x.sleep(1.5)
        x.read_body()
        x.answer(200, (), good_body(x.send))

    u = lab.provider(before_body(slow), tls=ca.server(), receive_buffer=4096)
    t = lab.turnpike({"p": {"url": "https://localhost:%d/v1" % u.port, "tls": {"ca": ca.ca}}}, SMALL)
    body = body_for(PATH, "".join(random.choice("abcdef") for _ in range(3_000_000)))
    c = lab.client(t)
    c.send(request_bytes("POST", PATH, {"Content-Length": str(len(body)), "Content-Type": "application/json"}))
    at = 0
    end = time.monotonic() + 10
    while at < len(body) and time.monotonic() < end:
        n = random.choice((300, 900, 2000, 3000, 5000, 12000))
        c.send(body[at:at + n])
        at += n
        if at < 700_000:
            time.sleep(0.002)
    answer = c.response(timeout=20)
    served(answer, sends=1)
    assert u.sends[0].body == body


# ---- draining

@rows("drain-and-a-tls-client-that-says-nothing")
def _(lab):
    """A connection that has shaken hands but asks nothing does not hold up the drain."""
    ca = authority()
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"workers": 1, "listen": {"address": "127.0.0.1:0", "tls": {
        "certificate": ca.certificate, "key": ca.key}}}, probe=False)
    raw_sock = socket.create_connection(t.address)
    time.sleep(0.2)
    t.signal(signal.SIGTERM)
    time.sleep(0.3)
    s = ca.client().wrap_socket(raw_sock, server_hostname="localhost")
    began = time.monotonic()
    assert t.wait_exit(10) == 0
    assert time.monotonic() - began < 5
    s.close()


# ---- protocol switches nobody needs

@rows("an-upgrade-that-is-no-websocket-is-ignored")
def _(lab):
    """Java's HttpClient offers h2c with its first request (RFC 9110 section 7.8: may be ignored)."""
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"workers": 1})
    answer = lab.post(t, headers={"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c",
                                  "HTTP2-Settings": "AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA"})
    served(answer, sends=1)
    assert u.sends[0].header("upgrade") is None and u.sends[0].header("http2-settings") is None


def test_idle_clients_leave_descriptors_to_providers(lab, monkeypatch, tmp_path):
    """Whoever only holds connections open does not keep the others from being served."""
    limited = tmp_path / "limited"
    limited.write_text("#!/bin/sh\nulimit -n 120\nexec %s \"$@\"\n" % turnpike.BINARY)
    limited.chmod(0o755)
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"workers": 1}, start=False, allow=["may open only", "not accepting"])
    with monkeypatch.context() as patch:
        patch.setattr(turnpike, "BINARY", str(limited))
        t.start()
    idle = [lab.client(t) for _ in range(200)]
    time.sleep(0.5)
    for c in idle[:10]:
        served(c.post(), sends=1)
    assert sum("not accepting" in line for line in t.lines) == 1
    for c in idle:
        c.close()


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
