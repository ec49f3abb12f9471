"""What others were told while a combo's turn is held: it goes on to a target that is free."""

import threading
import time

import pytest

from harness.checks import local_error, relayed, served
from harness.client import body_for
from harness.combos import CHAT, ask, coded, combo, cooling
from harness.exposition import Exposition
from harness.lab import Rows, told
from harness.provider import ok, status

rows = Rows()


def by_route(lab, t):
    """A request for the first target's model that no combo is asked for."""
    return lab.post(t, body=body_for(CHAT, model="model-a"))


# ---- a rate limit's wait that others share

@rows.table("shared-wait", {"held": {}, "deadline": {"X-Turnpike-Deadline": "2s"}})
def _(lab, headers):
    """It holds who has nobody else to ask; this one has."""
    a, b = lab.provider(status(429, {"Retry-After": "8"}), then=ok()), lab.provider()
    t = combo(lab, a, b, config={"retry": {"overload": {"sends": 1}}})
    relayed(by_route(lab, t), 429)
    for _ in range(6):  # whichever worker takes it
        answer = lab.post(t, body=body_for(CHAT, model="coder"), headers=headers)
        served(answer, sends=1)
        assert answer.header("x-turnpike-target") == "b/model-b" and answer.took < 4, answer
    assert (a.count, b.count) == (1, 6)


@rows("shared-wait-next-declines")
def _(lab):
    """The next target declines: that is shown, the first one is not asked before its time."""
    a, b = lab.provider(status(429, {"Retry-After": "20"}), then=ok()), lab.provider(then=status(404))
    t = combo(lab, a, b, config={"retry": {"overload": {"sends": 1}}})
    relayed(by_route(lab, t), 429)
    relayed(ask(lab, t), 404)
    assert (a.count, b.count) == (1, 1)


@rows("shared-wait-one-target")
def _(lab):
    """The only target: it is waited for."""
    a = lab.provider(status(429, {"Retry-After": "2"}), then=ok())
    t = combo(lab, a, config={"retry": {"overload": {"sends": 1}}})
    relayed(by_route(lab, t), 429)
    served(ask(lab, t), sends=1)
    assert a.gaps()[0] >= told(2)[0], a.gaps()


# ---- the target cools by now

@rows.table("told-while-it-retries", ["4", "400"])
def _(lab, seconds):
    """Between two sends to a target others are told to leave it alone: the next target is asked, and it counts."""
    a, b = lab.provider(status(503), status(429, {"Retry-After": seconds}), then=ok()), lab.provider()
    t = combo(lab, a, b, config=lab.admin({"retry": {"transient": {"base": "4s"}}}))
    with lab.client(t) as c:
        c.request("POST", CHAT, (), body_for(CHAT, model="coder"))
        t.counted(waiting=1)
        served(ask(lab, t), sends=2)
        served(c.response(), sends=2)
    assert (a.count, b.count) == (2, 2)
    page = Exposition(lab.get(t.admins[0], "/metrics").body.decode())
    assert page.of("turnpike_hops_total") == {("coder",): 2}
    assert page.sum("turnpike_sends_total", **{"class": "hop"}) == 2


@rows("told-while-it-retries-alone")
def _(lab):
    """The other target was asked before: the turn says what it has, without a send before the time."""
    a, b = lab.provider(then=status(404)), lab.provider(status(503), status(429, {"Retry-After": "70"}), then=ok())
    t = combo(lab, a, b, config={"retry": {"transient": {"base": "4s"}}})
    with lab.client(t) as c:
        c.request("POST", CHAT, (), body_for(CHAT, model="coder"))
        t.counted(waiting=1)
        relayed(ask(lab, t), 429)
        local_error(c.response(), 429, code="rate_limit_exceeded")
    assert (a.count, b.count) == (2, 2)


@rows.table("told-while-it-queues", {"told": status(429, {"Retry-After": "30"}), "quota": coded(429, "insufficient_quota"),
                                     "key": status(401), "failed": status(501)})
def _(lab, step):
    """In the queue of a target that is left alone meanwhile, for whatever reason: it costs no send there."""
    release = threading.Event()

    def first(x):
        x.await_event(release)
        step(x)

    a, b = lab.provider(first, then=ok()), lab.provider()
    t = combo(lab, a, b, config={"providers": {"a": {"capacity": {"limit": 1}}}})
    clients = [lab.client(t) for _ in range(4)]
    for number, c in enumerate(clients):
        c.request("POST", CHAT, (), body_for(CHAT, model="coder"))
        a.wait_sends(1)
        t.counted(turns=number + 1, waiting=number)
    begun = time.monotonic()
    release.set()
    for number, c in enumerate(clients):
        served(c.response(), sends=2 if number == 0 else 1)
    assert time.monotonic() - begun < 5
    assert (a.count, b.count) == (1, 4)
    assert any(name.startswith("a") for name in cooling(t)), cooling(t)


# ---- none is free

@rows.table("soonest", {"cools": None, "full": {"capacity": {"limit": 1, "queue": 0}}})
def _(lab, first):
    """The last one is blacklisted for long; what is told is when the first one may be asked again."""
    release = threading.Event()

    def held(x):
        x.await_event(release)
        ok()(x)

    a = lab.provider(held if first else status(429, {"Retry-After": "9"}), then=ok())
    b = lab.provider(status(500), status(500), then=ok())
    t = combo(lab, a, b, config={"blacklist": {"failures": 1, "duration": "10m"}, "retry": {"transient": {"sends": 1}},
                                 "routes": [{"path": "/v1", "provider": "a"}, {"path": "/b", "provider": "b"}],
                                 "providers": {"a": first or {}}}, allow=["alert url_listed"])
    for _ in range(2):
        relayed(lab.post(t, "/b/chat/completions"), 500)
    with lab.client(t) as c:
        c.request("POST", CHAT, (), body_for(CHAT, model="coder"))
        a.wait_sends(1)
        if not first:
            relayed(c.response(), 429)
        answer = ask(lab, t)
        local_error(answer, 503, code="upstream_blacklisted")
        assert 1 <= int(answer.header("retry-after")) <= 9, answer
        release.set()
        if first:
            served(c.response())
    assert (a.count, b.count) == (1, 2)


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
