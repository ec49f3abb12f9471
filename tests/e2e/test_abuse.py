"""Floods and trickles: what a peer can make Turnpike hold, and for how long."""

import time

import pytest

from harness import turnpike
from harness.checks import served
from harness.client import Client, body_for, request_bytes
from harness.lab import Rows, between
from harness.provider import PeerGone, ok
from harness.tls import authority
from harness.turnpike import resident

rows = Rows()
PATH = "/v1/chat/completions"
MIB = 1024 * 1024
MUCH = 4 if "san-" in turnpike.BINARY else 1  # sanitizers keep what was freed for a while


def trickle(c, seconds, pause=0.05, piece=b" "):
    """Sends a piece now and then until the other side answers or closes; how long that took."""
    began = time.monotonic()
    while time.monotonic() < began + seconds and not c.poll():
        try:
            c.sock.sendall(piece)
        except OSError:
            break
        time.sleep(pause)
    return time.monotonic() - began


# ---- slow senders

@rows.table("a-body-that-trickles", ["length", "chunked"])
def _(lab, framing):
    """Never silent, and never done: a byte now and then does not hold a body in memory for ever."""
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"workers": 1, "limits": {"client_body": "1s"}})
    c = lab.client(t)
    chunked = framing == "chunked"
    c.send(request_bytes("POST", PATH, {"Content-Type": "application/json", **(
        {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": "1000000"})}))
    took = trickle(c, 5, piece=b"1\r\n \r\n" if chunked else b" ")
    between(took, 1.0, 1.3, "a trickle of bytes")
    assert c.response(timeout=5).status == 408 and u.count == 0


@rows("a-large-body-that-trickles-at-its-end")
def _(lab):
    """The more is held, the more has to come: 16 KiB a second do not hold 8 MiB."""
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"workers": 1, "limits": {"client_body": "1s"}})
    c = lab.client(t)
    c.send(request_bytes("POST", PATH, {"Content-Length": str(64 * MIB), "Content-Type": "application/json"}))
    c.send(b" " * (8 * MIB))
    took = trickle(c, 10, piece=b" " * 2048)
    between(took, 1.0, 2.3, "40 KiB a second behind 8 MiB")
    assert c.response(timeout=5).status == 408 and u.count == 0


@rows("a-slow-body-that-goes-on-is-served")
def _(lab):
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"workers": 1, "limits": {"client_body": "1s"}})
    body = body_for(PATH, "s" * 120_000)
    c = lab.client(t)
    c.send(request_bytes("POST", PATH, {"Content-Length": str(len(body)), "Content-Type": "application/json"}))
    for at in range(0, len(body), 20_000):
        c.send(body[at:at + 20_000])
        time.sleep(0.4)
    served(c.response(timeout=5), sends=1)
    assert u.sends[0].body == body


@rows("a-tls-client-that-never-finishes")
def _(lab):
    """Half a ClientHello, byte by byte: the limit of heads holds for handshakes."""
    ca = authority()
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"workers": 1, "limits": {"client_header": "1s"}, "listen": {
        "address": "127.0.0.1:0", "tls": {"certificate": ca.certificate, "key": ca.key}}}, probe=False)
    clients = [lab.client(t) for _ in range(50)]
    began = time.monotonic()
    for c in clients:
        c.sock.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
    for c in clients:
        assert c.closed(10) is not None
    between(time.monotonic() - began, 1.0, 2.0, "handshakes that never finish")
    with Client(t.address, tls=ca.client()) as c:
        served(c.post())


# ---- floods of clients

def test_many_incomplete_heads_take_bounded_memory(lab):
    """Each within limits.header, together more than a worker gathers; who sends a head whole is served."""
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"workers": 1, "limits": {"header": "1MiB"}})
    before = resident(t.workers()[0])
    head = b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X-A: %s\r\n" % (b"a" * 900_000)
    clients, cut = [], 0
    try:
        for _ in range(150):
            c = Client(t.address)
            clients.append(c)
            try:
                c.sock.sendall(head)
            except OSError:
                cut += 1
        served(lab.post(t), sends=1)
        cut += sum(c.poll() is not None for c in clients)
        assert cut > 50, cut
        grown = resident(t.workers()[0]) - before
        assert grown < MUCH * 100 * MIB, grown
    finally:
        for c in clients:
            c.close()
    t.counted(clients=0)
    served(lab.post(t), sends=1)


@rows.table("a-flood-in-a-request", {
    "fields": (b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"X-A: b\r\n", {431}),
    "one-field": (b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ", b"a" * 1024, {431}),
    "target": (b"GET /v1/", b"a" * 1024, {414}),
    "empty-lines": (b"\r\n", b"\r\n", {400}),
    "chunk-extensions": (b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n" % PATH.encode(),
                         b"1;%s\r\n \r\n" % (b"e" * 200), {400, 413}),
    "one-chunk-extension": (b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" % PATH.encode(),
                            b"e" * 1024, {400, 413}),
    "trailers": (b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" % PATH.encode(),
                 b"X-A: b\r\n", {400, 413}),
})
def _(lab, case):
    """Ends with an error within a few MiB, in little memory, and nothing is sent."""
    front, piece, statuses = case
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"workers": 1})
    before = resident(t.workers()[0])
    c = lab.client(t)
    c.sock.settimeout(5)
    sent = 0
    try:
        c.sock.sendall(front)
        block = piece * max(1, 16384 // len(piece))
        while sent < 300 * MIB and not c.poll():
            c.sock.sendall(block)
            sent += len(block)
    except OSError:
        pass
    answer = c.response(timeout=5)
    assert answer.status in statuses or answer.end == "reset", (answer, sent)
    assert sent < 32 * MIB and u.count == 0, sent
    assert resident(t.workers()[0]) - before < MUCH * 8 * MIB


# ---- floods of providers

def forever(front, piece):
    def step(x):
        x.write(front)
        try:
            for _ in range(2_000):
                x.write(piece)
        except PeerGone:
            pass
        x.close()
    return step


HEAD = b"HTTP/1.1 200 OK\r\n"


@rows.table("a-flood-in-an-answer", {
    "interim": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 500),
    "fields": (HEAD, b"X-A: b\r\n" * 2000),
    "one-field": (HEAD + b"X-A: ", b"a" * 16384),
    "chunk-extensions": (HEAD + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
                         b"1;%s\r\n \r\n" % (b"e" * 16000)),
    "trailers": (HEAD + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n",
                 b"X-A: b\r\n" * 2000),
    "one-event": (HEAD + b"Content-Type: text/event-stream\r\n\r\ndata: ", b"a" * 16384),
    "comments": (HEAD + b"Content-Type: text/event-stream\r\n\r\n", b": ping\n\n" * 2000),
    "empty-events": (HEAD + b"Content-Type: text/event-stream\r\n\r\n", b"event: a\ndata: {}\n\n" * 1000),
    "error-body": (b"HTTP/1.1 503 Busy\r\nContent-Type: application/json\r\n\r\n{\"a\":\"", b"a" * 16384),
})
def _(lab, case):
    """Whatever becomes of the turn: little memory, an end in time, and others are served meanwhile."""
    u = lab.provider(then=ok())
    u.row("flood", then=forever(*case))
    t = lab.turnpike(u, {"workers": 1, "budget": {"sends": 2, "reserve": 0},
                         "blacklist": {"failures": 1000}})
    before = resident(t.workers()[0])
    c = lab.client(t)
    c.request("POST", PATH, {"x-row": "flood"}, body_for(PATH, stream=True))
    most, began = 0, time.monotonic()
    while not c.poll() and time.monotonic() < began + 20:
        most = max(most, resident(t.workers()[0]) - before)
        time.sleep(0.05)
    served(lab.post(t), sends=1)
    answer = c.response(timeout=30)
    assert answer.end != "timeout", answer
    most = max(most, resident(t.workers()[0]) - before)
    assert most < MUCH * 12 * MIB, most


# ---- what runs out

def test_100000_logical_ids(lab):
    """A table of 65536 records for 100,000 ids: each is served, and none of them gets more than its sends."""
    u = lab.provider(then=ok(b"{}"))
    t = lab.turnpike(u, {"workers": 2, "log": {"level": "warn"}}, probe=False)

    def some(worker):
        with Client(t.address, timeout=60) as c:
            for batch in range(250):
                c.send(b"".join(request_bytes("POST", PATH, {"Idempotency-Key": "id-%d-%d-%d" % (worker, batch, n)},
                                              b'{"model":"m"}') for n in range(20)))
                for _ in range(20):
                    answer = c.response()
                    assert answer.status == 200 and answer.sends in (1, None), answer
        return 5000

    done = sum(lab.side_by_side([lambda w=w: some(w) for w in range(20)], limit=20))
    assert done == 100_000
    stats = t.final_stats()
    assert stats["turns_ok"] == 100_000 and t.sends_counted(stats) == 100_000 == u.count, stats


def limited(monkeypatch, tmp_path, line):
    script = tmp_path / "limited"
    script.write_text("#!/bin/sh\n%s\nexec %s \"$@\"\n" % (line, turnpike.BINARY))
    script.chmod(0o755)
    monkeypatch.setattr(turnpike, "BINARY", str(script))


@pytest.mark.skipif("san-" in turnpike.BINARY, reason="sanitizers reserve terabytes")
def test_memory_that_runs_out_costs_turns_not_the_worker(lab, monkeypatch, tmp_path):
    """200 MiB of address space, and bodies that want more: some are refused, the rest is served."""
    real = turnpike.BINARY
    u = lab.provider(then=ok())
    with monkeypatch.context() as patch:
        limited(patch, tmp_path, "ulimit -v 204800")
        t = lab.turnpike(u, {"workers": 1}, start=False, allow=["memory"])
        t.start()
    assert turnpike.BINARY == real
    worker = t.workers()
    clients = [lab.client(t) for _ in range(12)]
    for c in clients:
        c.request("POST", PATH, {"Content-Length": str(40 * MIB), "Content-Type": "application/json"})
    for c in clients:
        c.sock.settimeout(2)
        try:
            c.sock.sendall(b" " * (30 * MIB))
        except OSError:
            pass
    served(lab.post(t), sends=1)
    for c in clients:
        c.close()
    t.counted(clients=0)
    assert t.workers() == worker
    served(lab.post(t), sends=1)


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
