"""The capacity gate beside what else holds a send: told waits, tokens that cannot be had; and under reloads."""

import json
import threading

import pytest

from harness import turnpike
from harness.checks import served
from harness.client import ask, body_for
from harness.crowd import CHAT, Busy, Crowd, capacity, order, wait_queued
from harness.lab import Rows, quiet
from harness.provider import ok, status
from harness.turnpike import merge, until, yaml

rows = Rows()


@rows("told-while-it-queues")
def _(lab):
    """A wait that was told while a turn was in the queue holds it when its turn comes."""
    release = threading.Event()

    def refuse(x):
        x.await_event(release)
        status(429, {"Retry-After": "2"})(x)

    u = lab.provider(refuse, then=ok())
    t = lab.turnpike(u, capacity(1))
    crowd = Crowd(lab, t).begun(u)
    for number in (1, 2):
        crowd.add(number)
        wait_queued(t, number)
    release.set()
    for answer in crowd.results():
        served(answer)
    assert u.count == 4 and u.gaps()[0] >= 2.0, u.gaps()


@rows("told-to-one-that-queued")
def _(lab):
    """What a turn was told that had been in the queue holds the others too."""
    release = threading.Event()
    u = lab.provider(Busy(release=release), status(429, {"Retry-After": "2"}), then=ok())
    t = lab.turnpike(u, capacity(1))
    crowd = Crowd(lab, t).begun(u)
    crowd.add(1)
    wait_queued(t, 1)
    release.set()
    u.wait_sends(2)
    turnpike.until(lambda: json.loads(turnpike.run("cooldown", "list", "--json", "--name", t.name).stdout), 2,
                   "the wait is known to all")
    crowd.add(2)
    for answer in crowd.results():
        served(answer)
    assert u.count == 4 and u.gaps()[1] >= 2.0, u.gaps()


def no_token(lab, two):
    """A combo whose first target gets no access token, so that each request goes on to `two`."""
    one, endpoint = lab.provider(then=ok()), lab.provider(then=status(500))
    t = lab.turnpike({"one": {"url": one.url(), "refresh": {"url": endpoint.url("/token"), "refresh_token": "r-0001",
                                                            "state_file": lab.folder + "/token.json"}},
                      "two": {"url": two.url(), "keys": ["k"], "capacity": {"limit": 1}}},
                     {"combos": {"c": {"targets": [{"provider": "one", "model": "m1"},
                                                   {"provider": "two", "model": "m2"}]}},
                      "routes": [{"path": "/v1", "provider": "two"}], "workers": 4,
                      "admin": {"listen": "127.0.0.1:0"}}, allow=[r"access token could not be renewed"])
    return t


@rows("no-token-keeps-its-permit")
def _(lab):
    """The send to the next target, when no token was to be had, counts at that one's gate."""
    release = threading.Event()
    busy = Busy(release=release)
    two = lab.provider(then=busy)
    t = no_token(lab, two)
    crowd = Crowd(lab, t)
    crowd.add(0, body=body_for(CHAT, model="c"))
    two.wait_sends(1)
    crowd.add(1)
    wait_queued(t, 1)
    release.set()
    for answer in crowd.results():
        served(answer, sends=1)
    assert busy.most == 1 and order(two) == [0, 1]


@rows("no-token-keeps-its-place")
def _(lab):
    """And where it has to queue there it is served in its turn."""
    release = threading.Event()
    busy = Busy(release=release)
    two = lab.provider(then=busy)
    t = no_token(lab, two)
    crowd = Crowd(lab, t).begun(two)
    crowd.add(1, body=body_for(CHAT, model="c"))
    wait_queued(t, 1)
    crowd.add(2)
    wait_queued(t, 2)
    release.set()
    for answer in crowd.results():
        served(answer, sends=1)
    assert busy.most == 1 and order(two) == [0, 1, 2]


# ---- reloads

def rewrite(t, config):
    t.config = merge(t.config, config)
    with open(t.file, "w") as out:
        out.write(yaml(t.config))
    return ask(t.admins[0], "POST", "/reload", {"Authorization": "Bearer admin-0001"}, timeout=20)


@rows.table("changed-limit", {"lowered": (3, 1), "raised": (1, 3)})
def _(lab, case):
    """A limit that a reload changes holds for requests that wait already, too."""
    before, after = case
    releases = [threading.Event() for _ in range(before)]
    last, lock, inside = threading.Event(), threading.Lock(), []

    def step(x):
        with lock:
            inside.append(x)
            mine = releases[len(inside) - 1] if len(inside) <= before else last
        x.await_event(mine)
        ok()(x)

    u = lab.provider(then=step)
    t = lab.turnpike(u, merge(capacity(before, workers=2), {"admin": {"token": "admin-0001"}}))
    crowd = Crowd(lab, t)
    for number in range(before + 4):
        crowd.add(number)
    u.wait_sends(before)
    wait_queued(t, 4)
    answer = rewrite(t, {"providers": {"p": {"capacity": {"limit": after}}}})
    assert answer.status == 200, answer.body
    if after > before:
        u.wait_sends(after)
        wait_queued(t, 4 + before - after)
    else:
        for release in releases[:-1]:  # those that end leave more in progress than there may be now
            release.set()
        until(lambda: t.stats()["turns_ok"] == before - 1, 5, "the first ones are served")
        quiet(u, 0.5, before)
        releases[-1].set()
        u.wait_sends(before + 1)
        quiet(u, 0.5, before + 1)
    for event in releases + [last]:
        event.set()
    for answer in crowd.results():
        served(answer, sends=1)


@rows("names-run-out")
def _(lab):
    """The table has 64 gates, and a limit is never silently none: the reload that would need more is refused."""
    u = lab.provider(then=ok())

    def providers(first, n):
        return {"p%d" % i: {"url": u.url(), "capacity": {"limit": 1}} for i in range(first, first + n)}

    one = {"routes": [{"path": "/v1", "provider": "p0"}], "admin": {"listen": "unix:" + lab.folder + "/admin.sock"}}
    t = lab.turnpike(providers(0, 40), one, probe=False, allow=["reload refused"])
    t.config["providers"] = dict(providers(40, 40), p0={"url": u.url(), "capacity": {"limit": 1}})
    answer = rewrite(t, {})
    assert answer.status == 422 and b"no room for its capacity.limit" in answer.body, answer.body
    t.config["providers"] = providers(0, 65)
    answer = rewrite(t, {})
    assert answer.status == 422 and b"p64.capacity.limit" in answer.body and b"64 providers at most" in answer.body, answer.body
    served(lab.post(t), sends=1)


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
