"""The capacity gate beside what else holds a send: told waits, tokens that cannot be had."""

import json
import threading

import pytest

from harness import turnpike
from harness.checks import served
from harness.client import body_for
from harness.crowd import CHAT, Busy, Crowd, capacity, order, wait_queued
from harness.lab import Rows
from harness.provider import ok, status

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
    crowd = Crowd(lab, t)
    crowd.add(0)
    u.wait_sends(1)
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
    crowd = Crowd(lab, t)
    crowd.add(0)
    u.wait_sends(1)
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
    crowd = Crowd(lab, t)
    crowd.add(0)
    two.wait_sends(1)
    crowd.add(1, body=body_for(CHAT, model="c"))
    wait_queued(t, 1)
    crowd.add(2)
    wait_queued(t, 2)
    release.set()
    for answer in crowd.results():
        served(answer, sends=1)
    assert busy.most == 1 and order(two) == [0, 1, 2]


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
