"""What attacks from outside have found, each as a kind: answers whose end is unsure, doors held shut, fields twice."""

import contextlib
import os
import signal
import threading

import pytest

from harness import turnpike
from harness.checks import refusal, served
from harness.client import Client, ask, body_for, request_bytes
from harness.lab import Rows
from harness.provider import before_body, good_body, ok, status
from harness.tokens import CANNOT, refreshing

rows = Rows()
UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket"}
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


# ---- answers

@rows.table("an-answer-whose-end-is-unsure", {
    "204-and-chunks": (b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", b"0\r\n\r\n"),
    "204-and-a-length": (b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", b"hello"),
    "identity-and-a-length": (OK + b"Transfer-Encoding: identity\r\nContent-Length: 14\r\n\r\n" + b'{"choices":[]}', b"\r\n"),
    "an-empty-coding-and-a-length": (OK + b"Transfer-Encoding:\r\nContent-Length: 14\r\n\r\n" + b'{"choices":[]}', b"\r\n")})
def _(lab, case):
    """What the provider still owes, by its own reading, would stand in front of the next turn's answer."""
    answer, owed = case

    def first(x):
        x.write(answer, answered=True)

    def next_one(x):
        if x.send.number > 0:
            x.write(owed)
        x.answer(200, (), good_body(x.send))

    u = lab.provider(first, then=next_one)
    t = lab.turnpike(u, {"workers": 1})
    assert lab.post(t).status in (200, 204)
    served(lab.post(t), sends=1)
    assert len(u.connections) == 2 and u.count == 2


@rows("a-204-without-a-body-keeps-its-connection")
def _(lab):
    u = lab.provider(*[status(204, headers, b"", framing="none") for headers in ((), {"Content-Length": "0"})], then=ok())
    t = lab.turnpike(u, {"workers": 1})
    assert [lab.post(t).status for _ in range(3)] == [204, 204, 200]
    assert len(u.connections) == 1


@rows.table("interim-answers-without-end", ["proxy", "token-endpoint"])
def _(lab, who):
    """Each of them is dealt with at once and asks for the next: others get their turn of the loop all the same."""
    begun, enough = threading.Event(), threading.Event()

    file = os.open(os.path.join(lab.folder, "interim"), os.O_RDWR | os.O_CREAT)
    os.write(file, b"HTTP/1.1 102 Processing\r\n\r\n" * 400_000)
    size = os.fstat(file).st_size

    def flood(sock):
        at = 0
        sock.settimeout(None)
        with contextlib.suppress(OSError, ValueError):
            while not enough.is_set():
                at += os.sendfile(sock.fileno(), file, at % size, size - at % size)
                begun.set()
        with contextlib.suppress(OSError):
            sock.close()

    u = lab.provider(then=ok())
    if who == "proxy":
        proxy = lab.proxy(lambda _proxy, sock, _request: flood(sock))
        other = {"url": "https://localhost:9/v1", "via": [proxy.url()]}
    else:
        endpoint = lab.provider(lambda x: flood(x.connection.sock))
        other = refreshing(lab, u, endpoint)[0]["p"]
    t = lab.turnpike({"p": u.url(), "q": other}, {"workers": 1, "routes": [
        {"path": "/v1", "provider": "p"}, {"path": "/q", "provider": "q"}]}, allow=["no way out", CANNOT], probe=False)
    held = lab.client(t)
    held.request("POST", "/q/chat/completions", body=body_for("/v1/chat/completions"))
    try:
        assert begun.wait(20)
        for _ in range(3):
            served(lab.post(t), sends=1)
    finally:
        enough.set()
    assert held.response().status in (502, 503) and u.count == 3
    os.close(file)


# ---- limits of clients

@rows("limits-named-twice")
def _(lab):
    """The lower one holds, wherever it stands: a gateway in front may have added its own."""
    u = lab.provider(then=status(503))
    t = lab.turnpike(u, {"retry": {"transient": {"base": "1ms"}}})
    for values in (("1", "3"), ("3", "1"), ("2", "3", "1")):
        answer = lab.post(t, headers=[("X-Turnpike-Max-Sends", v) for v in values])
        assert (answer.status, answer.sends) == (503, 1), (values, answer)
    u.set(then=status(503, {"Retry-After": "3"}))
    for values in (("1s", "60s"), ("60s", "1s")):
        count = u.count
        answer = lab.post(t, headers=[("X-Turnpike-Deadline", v) for v in values])
        assert answer.status == 503 and u.count == count + 1, (values, answer)
    count = u.count
    assert lab.post(t, headers=[("X-Turnpike-Max-Sends", v) for v in ("1", "many")]).status == 400 and u.count == count


# ---- credentials

SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


def switch(x):
    x.write(SWITCH, answered=True)
    x.await_peer_close()


@rows("credentials-among-the-protocols-of-a-websocket")
def _(lab):
    """How pages carry OpenAI's key, as they cannot set headers: with the provider's key in its place it leaves."""
    u = lab.provider(then=switch)
    t = lab.turnpike({"p": {"url": u.url(), "upgrade": "tunnel", "keys": ["key-of-the-provider-0001"]},
                      "q": {"url": u.url(), "upgrade": "tunnel"}},
                     {"routes": [{"path": "/v1", "provider": "p"}, {"path": "/q", "provider": "q"}]})
    mine = "openai-insecure-api-key.a-key-of-mine, OpenAI-Organization.org-1, openai-project.proj-1"
    for path, asked, got in (("/v1", "realtime, " + mine + ", openai-beta.realtime-v1", ["realtime, openai-beta.realtime-v1"]),
                             ("/v1", mine, []), ("/v1", "realtime", ["realtime"]), ("/q", "realtime, " + mine, ["realtime, " + mine])):
        answer = ask(t.address, "GET", path + "/realtime", dict(UPGRADE, **{"Sec-WebSocket-Protocol": asked}))
        assert answer.status == 101 and u.sends[-1].all("sec-websocket-protocol") == got, (asked, u.sends[-1].headers)


# ---- what a worker holds

@rows("tunnels-are-connections-too")
def _(lab):
    """limits.connections holds for those that were let into a tunnel, and one that ends makes room."""
    u = lab.provider(switch, switch, then=ok())
    t = lab.turnpike({"p": {"url": u.url(), "upgrade": "tunnel"}}, {"workers": 1, "limits": {"connections": 3}},
                     allow=["limits.connections"])
    tunnels = [lab.client(t) for _ in range(2)]
    for c in tunnels:
        assert c.ask("GET", "/v1/responses", UPGRADE).status == 101
    t.counted(clients=0)
    assert lab.client(t).ask("GET", "/v1/models").status == 200
    waiting = lab.client(t)
    waiting.request("GET", "/v1/models")
    turnpike.until(lambda: "limits.connections is reached" in t.log, 5, "a fourth one waits")
    assert not waiting.poll() and not waiting.buffer and u.count == 3
    tunnels[0].close()
    assert waiting.response("GET").status == 200


@rows("a-switch-while-the-worker-drains")
def _(lab):
    """The tunnel is what the worker finishes, though its client has just ceased to be one."""
    asked = threading.Event()

    def late(x):
        assert asked.wait(10)
        x.write(SWITCH, answered=True)
        x.write(x.connection.recv())
        x.await_peer_close()

    u = lab.provider(late)
    t = lab.turnpike({"p": {"url": u.url(), "upgrade": "tunnel"}}, {"workers": 1, "shutdown": {"drain": "20s"}})
    c = lab.client(t)
    c.request("GET", "/v1/responses", UPGRADE)
    u.wait_sends(1)
    t.signal(signal.SIGTERM)
    turnpike.until(lambda: "draining" in t.log, 5, lambda: t.log)
    asked.set()
    assert c.head("GET").status == 101
    c.send(b"over the tunnel")
    turnpike.until(lambda: c.poll() or b"over the tunnel" in c.buffer, 5, "the echo")
    c.close()
    assert t.wait_exit(10) == 0


@rows("a-switch-before-the-request-has-ended")
def _(lab):
    """What is left of its body would be read as the other protocol, or be missing (RFC 9110, 7.8)."""
    u = lab.provider(before_body(switch), then=ok())
    t = lab.turnpike({"p": {"url": u.url(), "upgrade": "tunnel"}}, {"workers": 1, "limits": {"replay_body": "1KiB"}})
    c = lab.client(t)
    c.send(request_bytes("POST", "/v1/responses", dict(UPGRADE, **{"Content-Length": "100000"})) + b" " * 2000)
    refusal(c.response(), "upstream_closed_before_response")
    assert u.count == 1


@rows.table("input-that-finds-no-memory", ["alone", "behind-a-turn"])
def _(lab, where):
    """Half a head is lost: what comes behind the gap is not read as if it followed."""
    if "san-" in turnpike.BINARY:
        return  # sanitizers have an allocator of their own
    memory, gate = turnpike.FailingMalloc(lab.folder), threading.Event()

    def gated(x):
        x.await_event(gate)
        x.answer(200, (), good_body(x.send))

    u = lab.provider(gated, then=ok())
    t = lab.turnpike(u, {"workers": 1}, env=memory.env)
    c = lab.client(t)
    if where == "behind-a-turn":
        c.request("POST", "/v1/chat/completions", body=body_for("/v1/chat/completions"))
        u.wait_sends(1)
    t.counted(clients=1)
    memory.arm(t.workers()[0], 1, 1 << 40)
    c.send(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 30_000)
    turnpike.until(lambda: memory.words[4] > 0, 5, "memory that is wanted")
    memory.disarm()
    with contextlib.suppress(OSError):
        c.request("GET", "/v1/behind")
    gate.set()
    if where == "behind-a-turn":
        served(c.response(), sends=1)
    assert c.closed(10) is not None and not c.buffer
    assert not [s for s in u.sends if "behind" in s.target]


# ---- the admin door

@rows("those-who-take-no-answer-hold-no-admin-door-shut")
def _(lab):
    """More than it has room for, each with more to take than the kernel keeps for it: who comes is served all the
    same."""
    t = lab.turnpike(lab.provider(), {"admin": {"listen": ["127.0.0.1:0"]}})
    deaf = []
    for _ in range(80):
        c = Client(t.admins[0], receive_buffer=4096)
        lab.clients.append(c)
        c.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
        assert c.sock.recv(1) == b"H"  # its requests are being answered
        deaf.append(c)
    for _ in range(20):
        assert ask(t.admins[0], "GET", "/healthz", (), timeout=30).status == 200


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
