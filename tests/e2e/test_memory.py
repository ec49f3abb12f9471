"""Allocations that fail in a worker while turns run: each one of a turn in its place, alone or with all behind it.

Whatever it was: no crash, no turn that hangs, no send beyond the budget; the client has an answer or a closed connection,
and the worker serves the next one.
"""

import itertools
import os
import threading

import pytest

from harness import coding, tls, turnpike
from harness.client import Client, ask, body_for
from harness.lab import Rows
from harness.provider import good_events, ok, status, stream
from test_refresh import FIRST

CHAT = "/v1/chat/completions"
LONG = bool(os.environ.get("TP_LONG"))
PLACES = 1000 if LONG else 36  # of a row
FOR_EVER = 1 << 40
FAST = {"reset": {"base": "1ms"}, "transient": {"base": "1ms"}, "overload": {"base": "1ms"},
        "retry_after": {"floor": "1ms"}, "deadline": "5s", "share_waits": False}
BASE = {"workers": 1, "retry": FAST, "blacklist": {"failures": 1000000}}

rows = Rows(allow=[r"."])


class Answers:
    """A provider's steps: some that fail, then a good one, for each request by its own number."""

    def __init__(self, *failures, good=ok()):
        self.failures, self.good, self.made, self.lock = failures, good, {}, threading.Lock()

    def __call__(self, x):
        number = x.send.header("x-number")
        with self.lock:
            at = self.made[number] = self.made.get(number, 0) + 1
        (self.failures[at - 1] if at <= len(self.failures) else self.good)(x)

    def most(self):
        return max(self.made.values(), default=0)


def places(total):
    """Numbers of allocations: all of the first ones, then evenly to the end."""
    if total <= PLACES:
        return list(range(1, total + 1))
    first = PLACES // 2
    return sorted(set(range(1, first + 1)) | {first + (total - first) * n // (PLACES - first) for n in range(1, PLACES - first + 1)})


class Gone:
    """The connection was closed before there was an answer."""
    status, end = None, "reset"


class Sweep:
    def __init__(self, lab, providers, config, path=CHAT, model="m", stream=False, beside=1):
        self.lab, self.path, self.model, self.stream, self.beside = lab, path, model, stream, beside
        self.memory = turnpike.FailingMalloc(lab.folder)
        self.t = lab.turnpike(providers, turnpike.merge(BASE, config), env=self.memory.env, probe=False)
        self.worker = self.t.workers()[0]
        self.numbers = itertools.count(1)

    def turn(self):
        number = next(self.numbers)
        return self.lab.post(self.t, self.path, body_for(self.path, str(number), model=self.model, stream=self.stream),
                             {"x-number": str(number)}, timeout=15)

    def turns(self):
        return self.lab.side_by_side([self.turn] * self.beside)

    def good(self):
        """The next one is served: what the last one left behind may need a moment."""
        turnpike.until(lambda: self.turn().status in self.expected, 10, lambda: "served again:\n" + self.t.log[-3000:])

    def run(self, expected=(200,), before=lambda: None):
        self.expected = expected
        self.good()
        self.good()
        before()
        self.memory.arm(self.worker, FOR_EVER, 0)
        self.turns()
        total = self.memory.disarm()[0] + 5
        assert total > 5, "nothing is counted"
        failed = 0
        for times in (1, FOR_EVER):
            for first in places(total):
                before()
                self.memory.arm(self.worker, first, times)
                answers = self.turns()
                failed += self.memory.disarm()[1]
                for answer in answers:
                    assert answer.end != "timeout", (first, times, answer)
                assert self.t.workers() == [self.worker], (first, times, self.t.log[-3000:])
                self.good()
        assert failed > 0


@rows.table("json", {"kept": {}, "fresh": {"keepalive": {"max": 0}}})
def _(lab, more):
    a = Answers()
    u = lab.provider(then=a)
    Sweep(lab, {"p": dict({"url": u.url(), "keys": ["key-0001"]}, **more)}, {}).run()
    assert a.most() == 1


@rows("retries")
def _(lab):
    a = Answers(status(503), status(500))
    u = lab.provider(then=a)
    Sweep(lab, {"p": {"url": u.url()}}, {}).run()
    assert a.most() <= 4


@rows("stream")
def _(lab):
    a = Answers(status(503), good=stream(sum(good_events("chat"), [])))
    u = lab.provider(then=a)
    Sweep(lab, {"p": {"url": u.url()}}, {}, stream=True).run()
    assert a.most() <= 4


@rows("combo")
def _(lab):
    one, two = Answers(good=status(503)), Answers()
    u, v = lab.provider(then=one), lab.provider(then=two)
    s = Sweep(lab, {"one": {"url": u.url(), "keys": ["k-one-0001", "k-one-0002"]}, "two": {"url": v.url(), "keys": ["k-two-0001"]}},
              {"routes": [{"path": "/v1", "provider": "one"}],
               "combos": {"c": {"cooldown": "1ms", "targets": [{"provider": "one", "model": "a"}, {"provider": "two", "model": "b"}]}}},
              model="c")
    s.run()
    assert max(one.made.get(n, 0) + two.made.get(n, 0) for n in set(one.made) | set(two.made)) <= 5


@rows("queue")
def _(lab):
    a = Answers(good=lambda x: (x.sleep(0.02), ok()(x)))
    u = lab.provider(then=a)
    Sweep(lab, {"p": {"url": u.url(), "capacity": {"limit": 1}}}, {}, beside=4).run()
    assert a.most() == 1


@rows.table("snapshot", ["shape", "full"])
def _(lab, bodies):
    folder = os.path.join(lab.folder, "snapshots")
    os.mkdir(folder)
    a = Answers(status(503), good=status(400))
    u = lab.provider(then=a)
    Sweep(lab, {"p": {"url": u.url()}}, {"snapshots": {"directory": folder, "bodies": bodies}}).run(expected=(400,))
    assert a.most() <= 4


@rows("tls")
def _(lab):
    ca = tls.authority()
    a = Answers()
    u = lab.provider(then=a, tls=ca.server())
    Sweep(lab, {"p": {"url": "https://localhost:%d/v1" % u.port, "tls": {"ca": ca.ca}, "keepalive": {"max": 0}}}, {}).run()
    assert a.most() == 1


@rows("tls-listener")
def _(lab):
    ca = tls.authority()
    a = Answers()
    u = lab.provider(then=a)
    s = Sweep(lab, {"p": {"url": u.url()}}, {"listen": [{"address": "127.0.0.1:0", "tls": {"certificate": ca.certificate, "key": ca.key}}]})
    context = ca.client()

    def turn():
        number = next(s.numbers)
        try:
            with Client(s.t.address, tls=context, timeout=15) as c:
                return c.post(s.path, body_for(s.path, str(number)), {"x-number": str(number)})
        except OSError as error:  # in the handshake
            assert not isinstance(error, TimeoutError), error
            return Gone()
    s.turn = turn
    s.run()
    assert a.most() == 1


@rows("refresh")
def _(lab):
    """Each turn finds that its token was rejected, and has to get the next one."""
    got, lock = itertools.count(1), threading.Lock()
    seen = set()

    def token(x):
        ok(b'{"access_token": "access-%d", "expires_in": 1000}' % next(got))(x)

    def good(x):  # a token is good for the turn that brought it about, and no other
        with lock:
            fresh = (token_of := x.send.header("authorization")) not in seen
            seen.add(token_of)
        (ok() if fresh else status(401))(x)
    a = Answers(good=good)
    u, e = lab.provider(then=a), lab.provider(then=token)
    Sweep(lab, {"p": {"url": u.url(), "refresh": {"url": e.url("/token"), "refresh_token": FIRST,
                                                  "state_file": os.path.join(lab.folder, "token.json")}}}, {}).run()
    assert a.most() <= 4


@rows("egress")
def _(lab):
    ca = tls.authority()
    a = Answers()
    u, p = lab.provider(then=a, tls=ca.server()), lab.proxy()
    Sweep(lab, {"p": {"url": "https://localhost:%d/v1" % u.port, "tls": {"ca": ca.ca}, "via": [p.url(), "direct"],
                      "keepalive": {"max": 0}}}, {}).run()
    assert a.most() == 1


@rows("compressed-error")
def _(lab):
    """A body that is decoded, searched for secrets and written anew."""
    body = coding.coded("gzip", b'{"error":{"message":"no key sk-test-0123456789abcdef0123 in /etc/secret/place","code":"x"}}')
    a = Answers(good=status(400, [("Content-Encoding", "gzip"), ("Content-Type", "application/json")], body))
    u = lab.provider(then=a)
    Sweep(lab, {"p": {"url": u.url()}}, {}).run(expected=(400,))
    assert a.most() == 1


@rows("upload")
def _(lab):
    """Larger than what is kept: it streams through."""
    a = Answers()
    u = lab.provider(then=a)
    s = Sweep(lab, {"p": {"url": u.url()}}, {"limits": {"replay_body": "16KiB"}})

    def turn():
        number = next(s.numbers)
        return lab.post(s.t, CHAT, body_for(CHAT, "%d %s" % (number, "x" * 100000)), {"x-number": str(number)}, timeout=15)
    s.turn = turn
    s.run()
    assert a.most() == 1


@rows("models")
def _(lab):
    u = lab.provider(then=ok(b'{"object":"list","data":[{"id":"m1"}]}'))
    s = Sweep(lab, {"p": {"url": u.url(), "keys": ["key-0001"]}},
              {"combos": {"c": {"targets": [{"provider": "p", "model": "m1"}]}}})
    s.turn = lambda: lab.get(s.t, timeout=15)
    s.run()


@rows("reload")
def _(lab):
    """The next configuration that has no room: refused, or taken, and turns go on."""
    a = Answers()
    u = lab.provider(then=a)
    s = Sweep(lab, {"p": {"url": u.url(), "keys": ["key-0001"]}}, {"admin": {"listen": ["unix:" + lab.folder + "/admin.sock"]}})
    turn = s.turn

    def reload_and_turn():
        answer = ask(s.t.admins[0], "POST", "/reload", timeout=15)
        assert answer.status in (200, 422), answer
        return turn()
    s.turn = reload_and_turn
    s.good = lambda: turnpike.until(lambda: turn().status == 200, 10, "served again")
    s.run()
    assert a.most() == 1


@pytest.mark.skipif("san-" in turnpike.BINARY, reason="sanitizers have allocations of their own")
@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
