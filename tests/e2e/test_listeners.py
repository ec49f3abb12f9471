"""Listeners, who may ask, and whose credential goes where."""

import os
import time

import pytest

from harness.checks import FAMILIES, local_error, served
from harness.client import Client, body_for, request_bytes
from harness.lab import Rows
from harness.provider import ok, status
from harness.turnpike import run, until

rows = Rows()
PATH = "/v1/chat/completions"


@rows("ipv6")
def _(lab):
    u = lab.provider(status(503), ok(), host="::1")
    t = lab.turnpike(u, {"listen": "[::1]:0"}, probe=False)
    assert t.address[0] == "::1"
    served(lab.client(t).post(headers={"Host": "[::1]:%d" % t.address[1]}), sends=2)
    assert u.sends[0].all("host") == ["[::1]:%d" % u.port]


@rows("unix")
def _(lab):
    path = os.path.join(lab.folder, "turnpike.sock")
    u = lab.provider()
    t = lab.turnpike(u, {"listen": "unix:" + path}, probe=False)
    assert t.address == path
    for _ in range(5):
        served(lab.post(t, headers={"Host": "localhost"}), sends=1)
    u.close_idle()
    t.check_idle()
    t.stop()
    assert not os.path.exists(path), "the socket's file is removed"


@rows("several")
def _(lab):
    path = os.path.join(lab.folder, "s.sock")
    t = lab.turnpike(lab.provider(), {"listen": ["127.0.0.1:0", "[::1]:0", "unix:" + path]}, probe=False)
    assert len(t.addresses) == 3 and t.addresses[2] == path
    for address in t.addresses:
        served(lab.post(address, headers={"Host": "localhost"}), sends=1)


@rows("all-workers-serve")
def _(lab):
    """Each worker has a socket of its own; all of them are served."""
    u = lab.provider()
    t = lab.turnpike(u, {"workers": 4})
    clients = [lab.client(t) for _ in range(64)]
    for c in clients:
        served(c.post())
    t.counted(clients=64, connections=64)


@rows("anonymous-host-and-origin")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u, {"hosts": ["ai.internal"], "origins": ["https://app.example"]})
    port = t.address[1]
    for host in ("127.0.0.1", "127.0.0.1:%d" % port, "localhost", "LOCALHOST:%d" % port, "[::1]:%d" % port,
                 "ai.internal", "ai.internal:%d" % port):
        assert lab.post(t, headers={"Host": host}).status == 200, host
    assert lab.post(t, headers={"Origin": "https://app.example"}).status == 200
    count = u.count
    for host in ("evil.example", "evil.example:%d" % port, "127.0.0.1.evil.example", "localhost.evil.example",
                 "192.168.1.1", "xai.internal"):
        answer = lab.post(t, headers={"Host": host})
        assert answer.status in (400, 403, 421), (host, answer)
        assert answer.json()["error"]["message"]
    for origin in ("https://evil.example", "null", "http://app.example", "https://app.example.evil.example"):
        answer = lab.post(t, headers={"Origin": origin})
        assert answer.status == 403, (origin, answer)
        assert answer.all("access-control-allow-origin") == []
    assert u.count == count


@rows("anonymous-elsewhere-is-a-mistake")
def _(lab):
    """Without clients only loopback and unix listeners are allowed."""
    path = os.path.join(lab.folder, "wrong.yaml")
    text = "listen: 0.0.0.0:0\nproviders: { p: { url: 'http://127.0.0.1:9/v1' } }\n"
    for more, code in (("", 1), ("allow_anonymous: true\n", 0), ("clients: [ { name: a, key: kkkkkkkkkkkkkkkk } ]\n", 0)):
        with open(path, "w") as out:
            out.write(text + more)
        done = run("check", "-c", path)
        assert done.returncode == code, (more, done)


CLIENTS = {"clients": [{"name": "team-a", "key": "key-of-team-a"}, {"name": "team-b", "key": "key-of-team-b"}]}


@rows("keys-of-clients")
def _(lab):
    u = lab.provider()
    t = lab.turnpike({"p": {"url": u.url(), "keys": ["provider-key"]}}, CLIENTS)
    for headers in ({"Authorization": "Bearer key-of-team-a"}, {"x-api-key": "key-of-team-b"},
                    {"authorization": "bearer key-of-team-b"}, {"Host": "any.example", "x-api-key": "key-of-team-a"}):
        served(lab.post(t, headers=headers), sends=1)
        send = u.sends[-1]
        assert send.all("authorization") == ["Bearer provider-key"] and send.all("x-api-key") == []
        assert b"key-of-team" not in send.raw_head
    count = u.count
    for family, path in FAMILIES.items():
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic key-of-team-a"},
                        {"x-api-key": ""}, {"Authorization": "Bearer key-of-team-a2"},
                        {"Authorization": "Bearer key-of-team-"}, {"Authorization": "Bearer key-of-team-c"},
                        {"x-api-key": "Key-of-team-a"}):
            answer = lab.post(t, path, headers=headers)
            local_error(answer, 401, family)
    assert u.count == count


@rows("keys-of-clients-before-the-body")
def _(lab):
    u = lab.provider()
    t = lab.turnpike({"p": {"url": u.url(), "keys": ["provider-key"]}}, CLIENTS)
    for more in ({}, {"Expect": "100-continue"}):
        c = lab.client(t)
        c.send(request_bytes("POST", PATH, dict({"Content-Length": "100000000"}, **more)))
        answer = c.response(timeout=2)
        local_error(answer, 401)
        assert answer.interim == [] and answer.took < 1
        assert c.closed(5) is not None
    assert u.connections == []


@rows("client-key-is-never-passed-on")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u, CLIENTS, probe=False)
    served(lab.post(t, headers={"x-api-key": "key-of-team-a", "Authorization": "Bearer mine"}), sends=1)
    served(lab.post(t, headers={"Authorization": "Bearer key-of-team-a"}), sends=1)
    for send in u.sends:
        assert b"key-of-team" not in send.raw_head, send.raw_head


@rows("own-key-replaces-every-credential")
def _(lab):
    credentials = {"Authorization": "Bearer mine", "x-api-key": "mine", "api-key": "mine", "x-goog-api-key": "mine",
                   "Cookie": "session=mine", "OpenAI-Organization": "mine", "ChatGPT-Account-ID": "mine",
                   "X_Api_Key": "mine", "api_key": "mine", "openai_organization": "mine"}
    u = lab.provider()
    t = lab.turnpike({"p": {"url": u.url(), "keys": ["own"]},
                      "a": {"url": u.url(), "keys": ["own"], "family": "anthropic"},
                      "g": {"url": u.url(), "keys": ["own"], "key_header": "x-goog-api-key"}},
                     {"routes": [{"path": "/v1", "provider": "p"}, {"path": "/a", "provider": "a"},
                                 {"path": "/g", "provider": "g"}]})
    for path, name, value in (("/v1/chat/completions?key=mine&x=1", "authorization", "Bearer own"),
                              ("/a/messages", "x-api-key", "own"), ("/g/models", "x-goog-api-key", "own")):
        assert lab.post(t, path, headers=credentials).status == 200
        send = u.sends[-1]
        assert send.all(name) == [value], send.headers
        assert b"mine" not in send.raw_head, send.raw_head
    assert u.sends[0].target == "/v1/chat/completions?x=1"


@rows("own-credential-passes-without-keys")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)
    served(lab.post(t, headers={"Authorization": "Bearer mine", "x-api-key": "mine"}))
    assert u.sends[0].all("authorization") == ["Bearer mine"] and u.sends[0].all("x-api-key") == ["mine"]


@rows("own-key-rejected")
def _(lab):
    u = lab.provider(status(401), ok())
    t = lab.turnpike({"p": {"url": u.url(), "keys": ["own"]}})
    answer = lab.post(t)
    local_error(answer, 502, "chat", "upstream_credential_rejected")
    assert answer.stop and u.count == 1


def timers(port):
    """What the kernel waits for on connections that `port` accepted, by the peer's port: [kind, seconds left]."""
    with open("/proc/net/tcp") as file:
        next(file)
        lines = [line.split() for line in file]
    mine = [(f[2], f[5]) for f in lines if f[1].endswith(":%04X" % port) and f[3] == "01"]
    return {int(peer.split(":")[1], 16): [int(timer.split(":")[0]), int(timer.split(":")[1], 16) / 100] for peer, timer in mine}


@rows("vanished-clients-are-looked-for")
def _(lab):
    """An idle connection is asked after half a minute whether anybody is there (2: the kernel's keep-alive)."""
    t = lab.turnpike(lab.provider(), {"workers": 2})
    clients = [lab.client(t) for _ in range(8)]
    for c in clients:
        served(c.post())
        c.port = c.sock.getsockname()[1]
    until(lambda: all(timers(t.address[1])[c.port][0] == 2 for c in clients), 5, "nothing waits for an acknowledgement")
    assert all(20 < timers(t.address[1])[c.port][1] <= 30 for c in clients)


@rows("too-many-connections")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u, {"workers": 1, "limits": {"connections": 10}}, allow=[r"connections"])
    held = [lab.client(t) for _ in range(10)]
    for c in held:
        served(c.post())
    extra = lab.client(t)
    extra.request("POST", PATH, body=body_for(PATH))
    time.sleep(0.5)
    assert u.count == 10 and b" 200 " not in extra.buffer
    held[0].close()
    if extra.poll() is None:
        served(extra.response(timeout=5))  # its turn has come
    extra.close()
    with Client(t.address, timeout=5) as c:
        served(c.post())


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
