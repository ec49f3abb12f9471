"""Sizes and slow peers: cases SZ (SZ-1 and SZ-5, SZ-6 belong to later features)."""

import json
import subprocess
import time

import pytest

from harness.checks import local_error, served
from harness.client import Client, body_for, chunk_bytes, request_bytes
from harness.lab import Rows, between
from harness.provider import PeerGone, event, ok, stream
from harness.turnpike import alive, resident, until

rows = Rows()
MIB = 1024 * 1024
PATH = "/v1/chat/completions"


def body_of(size):
    empty = len(body_for(PATH, "x"))
    body = body_for(PATH, "x" * (size - empty + 1))
    assert len(body) == size
    return body


@rows.table("SZ-3", {"%+d-%s" % (more, how): (more, how) for more in (-1, 0, 1) for how in ("length", "chunked")})
def _(lab, case):
    more, how = case
    u = lab.provider()
    t = lab.turnpike(u, {"limits": {"body": "1MiB"}})
    body = body_of(MIB + more)
    c = lab.client(t)
    if more <= 0:
        c.request("POST", PATH, body=body, chunked=16384 if how == "chunked" else None)
        served(c.response(), sends=1)
        assert u.sends[0].body == body
        return
    if how == "length":  # told by the head alone
        c.send(request_bytes("POST", PATH, {"Content-Length": str(len(body))}))
        local_error(c.response(timeout=2), 413)
    else:  # while it is still uploading: the last chunk is never sent
        c.send(request_bytes("POST", PATH, {"Transfer-Encoding": "chunked"}) +
               chunk_bytes(body, 16384)[:-len(b"0\r\n\r\n")])
        local_error(c.response(timeout=2), 413)
    assert c.closed(5) is not None
    time.sleep(0.1)
    assert u.count == 0 and u.connections == []


@rows.table("SZ-3-curl", ["length", "chunked"])
def _(lab, how):
    """A client that writes the whole body before it reads can read the answer: no reset overtakes it."""
    u = lab.provider()
    t = lab.turnpike(u, {"limits": {"body": "1MiB"}})
    more = ["-H", "Transfer-Encoding: chunked"] if how == "chunked" else []
    for _ in range(5):
        done = subprocess.run(["curl", "-sS", "-m", "10", "-o", "-", "-w", "\n%{http_code}", "-H", "Expect:",
                               "-H", "Content-Type: application/json", "--data-binary", "@-", *more,
                               "http://127.0.0.1:%d%s" % (t.address[1], PATH)],
                              input=body_of(8 * MIB), capture_output=True)
        text, _, code = done.stdout.decode().rpartition("\n")
        assert code == "413", done
        assert json.loads(text)["error"]["message"]
    assert u.connections == []


@rows.table("SZ-4", {"%+d" % more: more for more in (-1, 0, 1)})
def _(lab, more):
    u = lab.provider()
    t = lab.turnpike(u, {"limits": {"body": "1MiB"}})
    body = body_of(MIB + more)
    c = lab.client(t)
    c.send(request_bytes("POST", PATH, {"Content-Length": str(len(body)), "Expect": "100-continue"}))
    if more > 0:
        answer = c.response(timeout=2)
        local_error(answer, 413)
        assert answer.interim == [] and u.connections == []
        return
    asked = time.monotonic()
    until(lambda: c.poll() or b"HTTP/1.1 100" in c.buffer, 2, "100", step=0.002)
    between(time.monotonic() - asked, 0, 0.05, "100")
    c.sock.sendall(body)
    answer = c.response()
    served(answer, sends=1)
    assert [code for code, _ in answer.interim] == [100]
    assert u.sends[0].body == body and u.sends[0].all("expect") == []


def endless(note):
    """A stream as fast as the peer takes it; note: bytes written so far."""
    def step(x):
        x.stream_head()
        data = event({"choices": [{"index": 0, "delta": {"content": "x" * 4000}}]})
        framed = b"%x\r\n%s\r\n" % (len(data), data) * 16
        left = framed
        try:
            while not x.provider.stopping.is_set():
                left = left[x.write_some(left, timeout=0.5):] or framed
                note.append((time.monotonic(), x.send.wrote))
        except PeerGone:
            pass
    return step


@rows("SZ-2")
def _(lab):
    """A slow reader makes the provider wait; the worker holds little."""
    note = []
    u = lab.provider(endless(note), send_buffer=65536)
    t = lab.turnpike(u, {"workers": 1})
    served(lab.post(t, headers={"x-row": "warm"}))
    worker, = t.workers()
    before = resident(worker)
    c = lab.client(t, receive_buffer=16384)
    c.request("POST", PATH, body=body_for(PATH, stream=True))
    # until the kernel's own buffers are full, which takes longer on a busy machine; then the provider has to wait
    for _ in range(150):
        c.sock.recv(1024)
        time.sleep(0.1)
        half, last = (max([w for at, w in note if at <= time.monotonic() - ago] or [0]) for ago in (1.5, 0))
        if half > 0 and last - half < MIB:
            break
    assert last - half < MIB, "the provider is made to wait"
    # what the kernel's own buffers take: both sockets of each hop
    assert last < 48 * MIB, last
    assert resident(worker) - before < 2 * MIB, "%d KiB more" % ((resident(worker) - before) // 1024)
    c.reset()
    until(lambda: u.connections[-1].peer_closed_at, 3, "the provider's end")


@rows("SZ-2-slow-reader")
def _(lab):
    note = []
    u = lab.provider(endless(note))
    t = lab.turnpike(u, {"limits": {"slow_reader": "3s"}})
    c = lab.client(t, receive_buffer=16384)
    c.request("POST", PATH, body=body_for(PATH, stream=True))
    u.wait_sends(1)
    until(lambda: u.connections[0].peer_closed_at, 12, "it is dropped")
    filled = next(at for at, wrote in note if wrote == note[-1][1])
    # the provider notes a write a moment after the window has taken it
    between(u.connections[0].peer_closed_at - filled, 2.0, 4.0, "drop after the window filled")
    until(lambda: t.stats()["clients"] == 0, 2, "its place is free")


@rows("SZ-7")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u, {"limits": {"client_header": "2s"}})
    head = b"GET /v1/models HTTP/1.1\r\n"
    first, ended, slowest = {}, {}, 0.0
    drips = [Client(t.address) for _ in range(500)]
    try:
        for step in range(4):
            for index, c in enumerate(drips):
                if index in ended:
                    continue
                try:
                    first.setdefault(index, time.monotonic())
                    c.sock.sendall(head[step:step + 1])
                except OSError:
                    ended[index] = time.monotonic()
            end = time.monotonic() + 1.0
            while time.monotonic() < end:
                asked = time.monotonic()
                served(lab.post(t))
                slowest = max(slowest, time.monotonic() - asked)
                for index, c in enumerate(drips):
                    if index not in ended and c.poll():
                        ended[index] = time.monotonic()
                time.sleep(0.02)
    finally:
        for c in drips:
            c.close()
    assert len(ended) == 500, "%d of 500 were closed" % len(ended)
    for index in ended:
        between(ended[index] - first[index], 2.0, 3.0, "end of drip %d" % index)
    assert slowest < 0.05 + 0.3, "a normal client took %.3f s" % slowest


@rows("header-limit-slow")
def _(lab):
    """A head that arrives complete within the limit is served however it was cut."""
    u = lab.provider()
    t = lab.turnpike(u, {"limits": {"client_header": "2s"}})
    c = lab.client(t)
    data = request_bytes("GET", "/v1/models", {"X-A": "b"})
    for start in range(0, len(data), 10):
        c.sock.sendall(data[start:start + 10])
        time.sleep(0.05)
    assert c.response("GET").status == 200


@rows("large-bodies-both-ways")
def _(lab):
    answer_body = b'{"choices": ["' + b"q" * (20 * MIB) + b'"]}'
    u = lab.provider(ok(answer_body), ok(answer_body, framing="chunked"), ok(answer_body, framing="close"))
    t = lab.turnpike(u)
    body = body_of(20 * MIB)
    for _ in range(3):
        answer = lab.post(t, body=body)
        assert answer.status == 200 and answer.end in ("complete", "close")
        assert answer.body == answer_body
    assert all(send.body == body for send in u.sends)


@rows("a-line-that-never-ends")
def _(lab):
    """Short form of SZ-1: one data line of 1.1 MiB arrives whole."""
    line = b'data: {"choices":[{"index":0,"delta":{"content":"' + b"l" * 1_150_000 + b'"}}]}\n\n'
    pieces = [line[i:i + 9000] for i in range(0, len(line), 9000)]
    u = lab.provider(stream(pieces + [b"data: [DONE]\n\n"]))
    t = lab.turnpike(u, {"workers": 1})
    answer = lab.post(t, stream=True)
    served(answer, sends=1)
    assert answer.body == line + b"data: [DONE]\n\n"
    assert all(alive(pid) for pid in t.workers())


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
