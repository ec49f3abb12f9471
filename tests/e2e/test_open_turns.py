"""The turns that have been open for longest (design 11): what each does, for what it waits and until when, and that nothing
of it is left behind."""

import contextlib
import json
import os
import signal
import socket
import threading
import time

import pytest

from harness.client import body_for, request_bytes
from harness.lab import Rows
from harness.provider import event, ok, silent, status, stream
from harness.turnpike import run, until

rows = Rows()
CHAT = "/v1/chat/completions"
KEYS = ["id", "logical", "family", "provider", "model", "state", "waits_for", "left", "sends", "age", "slot"]


def listed(t):
    done = run("stats", "--json", "--name", t.name)
    assert done.returncode == 0, done
    return json.loads(done.stdout)["open_turns"]


def shows(t, count=1, **values):
    """Once so many are listed, the last of them like this."""
    def there():
        turns = listed(t)
        return len(turns) == count and all(turns[-1][key] == value for key, value in values.items()) and turns
    return until(there, 10, lambda: "%d of them, %r: %r" % (count, values, listed(t)), step=0.1)


def ask(lab, t, path=CHAT, headers=(), **more):
    c = lab.client(t)
    c.request("POST", path, headers, body_for(path, **more))
    return c


def gone(t, *clients):
    """Their clients leave: each is taken out at once, not with the next beat."""
    for c in clients:
        c.close()
    t.counted(turns_gone=len(clients))
    assert listed(t) == []


@rows("open-receiving")
def _(lab):
    t = lab.turnpike(lab.provider(then=ok()))
    c = lab.client(t)
    c.send(request_bytes("POST", CHAT, body=body_for(CHAT))[:-1])
    turn, = shows(t, state="receiving", waits_for=None, left=None, logical=None, sends=0, family="chat")
    assert list(turn) == KEYS and 1 <= turn["age"] < 10 and turn["slot"] in (0, 1)
    gone(t, c)


@rows("open-sending")
def _(lab):
    t = lab.turnpike(lab.provider(silent(), then=ok()), {"log": {"level": "info"}})
    c = ask(lab, t, model="gpt-5")
    turn, = shows(t, state="sending", provider="p", model="gpt-5", sends=1, waits_for=None)
    gone(t, c)
    line = next(line for line in t.lines if turn["id"] in line)
    assert "logical=" + turn["logical"] in line, "the same as in the log"


@rows("open-holding")
def _(lab):
    def half(x):
        x.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", answered=True)
        x.await_peer_close()

    t = lab.turnpike(lab.provider(half, then=ok()))
    c = ask(lab, t)
    shows(t, state="holding")
    gone(t, c)


@rows("open-streaming")
def _(lab):
    gate = threading.Event()
    first = event({"choices": [{"index": 0, "delta": {"content": "x"}}]})
    t = lab.turnpike(lab.provider(stream([first, event("[DONE]")], barriers={1: gate}), then=ok()))
    c = ask(lab, t, stream=True)
    shows(t, state="streaming", sends=1, left=None)
    gate.set()
    assert c.response().status == 200
    until(lambda: listed(t) == [], 5, "it is over")


@rows("open-connecting")
def _(lab):
    with socket.socket() as full, socket.socket() as first, contextlib.ExitStack() as more:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        first.connect(full.getsockname())
        for _ in range(2):  # the queue is full by now: the next one's SYN is dropped
            s = more.enter_context(socket.socket())
            s.setblocking(False)
            s.connect_ex(full.getsockname())
        t = lab.turnpike("http://127.0.0.1:%d/v1" % full.getsockname()[1])
        c = ask(lab, t)
        shows(t, state="connecting", provider="p")
        gone(t, c)


@rows("open-waiting")
def _(lab):
    t = lab.turnpike(lab.provider(status(429, {"Retry-After": "30", "X-Codex-Model-Capacity": "4/4"}), then=ok()))
    c = ask(lab, t)
    turn, = shows(t, state="waiting", waits_for="overload", sends=1)
    assert 20 < turn["left"] <= 30
    gone(t, c)


@rows("open-rate-limit")
def _(lab):
    body = json.dumps({"error": {"code": "rate_limit_exceeded", "message": "slow down"}}).encode()
    t = lab.turnpike(lab.provider(status(429, {"Retry-After": "30"}, body), then=ok()), probe=False)
    first = ask(lab, t, model="m")
    shows(t, state="waiting", waits_for="overload")
    second = ask(lab, t, model="m")
    turn = shows(t, 2, state="waiting", waits_for="rate_limit", sends=0)[1]
    assert 15 < turn["left"] <= 30
    gone(t, first, second)


@rows("open-capacity")
def _(lab):
    u = lab.provider(silent(), then=ok())
    t = lab.turnpike({"p": {"url": u.url(), "capacity": {"limit": 1, "wait": "40s"}}})
    first = ask(lab, t)
    u.wait_sends(1)
    second = ask(lab, t)
    turn = shows(t, 2, state="waiting", waits_for="capacity", sends=0)[1]
    assert 30 < turn["left"] <= 40
    gone(t, second, first)


@rows("open-joining")
def _(lab):
    u = lab.provider(silent(), then=ok())
    t = lab.turnpike(u)
    same = {"X-Turnpike-Logical-Id": "one"}
    first = ask(lab, t, headers=same)
    u.wait_sends(1)
    second = ask(lab, t, headers=same)
    turns = shows(t, 2, state="joining", waits_for=None)
    assert turns[0]["logical"] == turns[1]["logical"] and turns[0]["id"] != turns[1]["id"]
    assert turns[0]["age"] >= turns[1]["age"] and 100 < turns[1]["left"] <= 120
    gone(t, second, first)


@rows("open-cooldown")
def _(lab):
    u = lab.provider(status(429, {"Retry-After": "20"}), then=ok())
    t = lab.turnpike({"p": u}, {"routes": [{"path": "/v1", "provider": "p"}], "retry": {"overload": {"sends": 1}},
                                "combos": {"coder": {"targets": [{"provider": "p", "model": "m"}],
                                                     "wait_for_cooldown": "30s"}}})
    assert lab.post(t, body=body_for(CHAT, model="coder")).status == 429
    c = ask(lab, t, model="coder")
    turn, = shows(t, state="waiting", waits_for="cooldown", sends=0)
    assert 20 < turn["left"] <= 30
    gone(t, c)


@rows("open-token")
def _(lab):
    u, endpoint = lab.provider(then=ok()), lab.provider(silent())
    section = {"url": endpoint.url("/token"), "refresh_token": "first-refresh-token-0001",
               "state_file": os.path.join(lab.folder, "token.json")}
    t = lab.turnpike({"p": {"url": u.url(), "refresh": section}}, allow=[r"access token could not be renewed"])
    c = ask(lab, t)
    shows(t, state="waiting", waits_for="token", provider="p")
    gone(t, c)


@rows("open-names")
def _(lab):
    """A model that is no plain name is not shown, nor a long one; nothing else is the client's word."""
    u = lab.provider(then=silent())
    t = lab.turnpike(u, probe=False)
    models = ["tell me \x1b[31m a secret", "x" * 48, "org/name-1.5:free@2"]
    clients = [ask(lab, t, model=model) for model in models]
    turns = shows(t, 3)
    assert sorted(turn["model"] or "" for turn in turns) == ["", "", models[2]]
    gone(t, *clients)


@rows("open-many")
def _(lab):
    """At most eight of each worker and twenty in all, the oldest; younger ones follow when those end."""
    u = lab.provider(then=silent())
    t = lab.turnpike(u, {"workers": 1}, probe=False)
    clients = [ask(lab, t, model="m%d" % n) for n in range(12)]
    names = lambda: [turn["model"] for turn in listed(t)]
    first = until(lambda: (lambda all: len(all) == 8 and all)(names()), 10, "eight of them", step=0.1)
    assert set(first) <= {"m%d" % n for n in range(12)}
    for c, n in zip(clients, range(12)):
        if "m%d" % n in first[:4]:
            c.close()
    until(lambda: len(names()) == 8 and not set(first[:4]) & set(names()), 10, names, step=0.1)
    assert names()[:4] == first[4:]
    for c in clients:
        c.close()
    until(lambda: names() == [], 5, names)


@rows("open-killed")
def _(lab):
    """What a killed worker had open is gone with it, and its successor's cells begin empty."""
    u = lab.provider(then=silent())
    t = lab.turnpike(u, {"workers": 1}, probe=False, allow=[r"killed|died|worker"])
    ask(lab, t)
    shows(t, state="sending")
    worker, = t.workers()
    os.kill(worker, signal.SIGKILL)
    t.lost += 1
    t.base_descriptors = {}
    until(lambda: t.workers() not in ([], [worker]), 10, "another worker")
    assert listed(t) == []
    again = ask(lab, t)
    turn, = shows(t, state="sending")
    assert turn["age"] < 10
    gone(t, again)


@rows("open-short")
def _(lab):
    """Turns that end within a second are never listed, and /stats has the list too."""
    t = lab.turnpike(lab.provider(then=ok()), {"admin": {"listen": ["127.0.0.1:0"]}})
    end = time.monotonic() + 2.2
    while time.monotonic() < end:
        assert lab.post(t).status == 200
        assert json.loads(lab.get(t.admins[0], "/stats").body)["open_turns"] == []


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
