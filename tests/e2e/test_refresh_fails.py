"""Access tokens that are not to be had: the endpoint fails, or the worker that asks it dies."""

import os
import signal
import threading
import time

import pytest

from harness.checks import local_error, served, stopped
from harness.client import ask, body_for
from harness.exposition import Exposition
from harness.lab import SLACK, Rows, between
from harness.provider import ok, silent, status
from harness.tokens import CANNOT, PATH, no_secrets, pair, refreshing, start, wants
from harness.turnpike import until

rows = Rows()


# ---- the endpoint fails

@rows("down")
def _(lab):
    e = lab.provider()
    url = e.url("/oauth/token")
    e.stop_listening()
    u = lab.provider(then=wants(1))
    t = start(lab, u, url, allow=[CANNOT])
    answers = lab.side_by_side([lambda: lab.post(t)] * 30)
    for answer in answers:
        local_error(answer, 502, code="upstream_credential_rejected")
        stopped(answer)
        assert answer.took < 2 + SLACK
    assert u.count == 0
    assert sum(CANNOT in line for line in t.lines) <= 2, t.log


@rows.table("broken", {
    "redirect": status(307, [("Location", "/elsewhere")]), "html": ok(b"<html>login</html>"),
    "no-token": ok(b'{"ok": true}'), "rejected": status(400, body=b'{"error": "invalid_grant"}'),
    "too-long": ok(b'{"access_token": "access-token-0001", "x": "' + b"x" * 70000 + b'"}'),
    "blank": ok(b'{"access_token": "access token\\r\\nx: 1"}')})
def _(lab, step):
    u, e = lab.provider(then=wants(1)), lab.provider(then=step)
    t = start(lab, u, e, allow=[CANNOT])
    answers = lab.side_by_side([lambda: lab.post(t)] * 8)
    for answer in answers:
        local_error(answer, 502, code="upstream_credential_rejected")
    assert u.count == 0 and e.count == 1, (u.count, e.count)
    assert all(s.target == "/oauth/token" for s in e.sends)
    until(lambda: CANNOT in t.log, 2, "the log says so")


@rows("metrics")
def _(lab):
    u = lab.provider(then=wants(1))
    e = lab.provider(status(503), then=pair(1, expires_in=3600))
    t = start(lab, u, e, allow=[CANNOT], **lab.admin())

    def scrape():
        return Exposition(ask(t.admins[0], "GET", "/metrics", timeout=10).body.decode())

    assert lab.post(t).status != 200 and e.count == 1
    seen = scrape()
    assert seen.of("turnpike_token_refreshes_total") == {("p", "failed"): 1}
    assert seen.of("turnpike_token_age_seconds") == seen.of("turnpike_token_left_seconds") == {}
    until(lambda: lab.post(t).status == 200, 15, "the endpoint is asked again", step=0.2)
    seen = scrape()
    assert seen.of("turnpike_token_refreshes_total") == {("p", "failed"): 1, ("p", "renewed"): 1}
    age, left = seen.of("turnpike_token_age_seconds")[("p",)], seen.of("turnpike_token_left_seconds")[("p",)]
    assert 0 <= age < 60 and 3540 < left <= 3600 and abs(age + left - 3600) < 1, (age, left)
    no_secrets(t)


@rows("hangs")
def _(lab):
    u, e = lab.provider(then=wants(1)), lab.provider(silent(), then=pair(1))
    t = start(lab, u, e, provider={"timeouts": {"first_byte": "1s"}}, allow=[CANNOT])
    answers = lab.side_by_side([lambda: lab.post(t)] * 8)
    for answer in answers:
        local_error(answer, 502, code="upstream_credential_rejected")
        between(answer.took, 0.9, 3)
    assert e.count == 1
    until(lambda: lab.post(t).status == 200, 6, "it is asked again")


@rows("deadline")
def _(lab):
    """A turn waits no longer than its deadline, and not at all for a client that has left."""
    u, e = lab.provider(then=wants(1)), lab.provider(silent(), then=pair(1))
    t = start(lab, u, e, allow=[CANNOT])
    gone = lab.client(t)
    gone.request("POST", PATH, body=body_for(PATH))
    e.wait_sends(1)
    gone.close()
    t.counted(turns_gone=1)
    answer = lab.post(t, headers={"X-Turnpike-Deadline": "1s"})
    local_error(answer, 503, code="access_token_wait_expired")
    assert answer.header("retry-after") == "1" and not answer.stop, answer
    between(answer.took, 0.9, 2)
    e.stop()
    assert e.count == 1 and u.count == 0


def by_credential(answers):
    """{credential: status}; 200 for those that are not in it."""
    return lambda x: status(answers[(x.send.header("authorization") or "")[len("Bearer "):]])(x) \
        if (x.send.header("authorization") or "")[len("Bearer "):] in answers else ok()(x)


def carried(u):
    return [s.header("authorization")[len("Bearer "):] for s in u.sends]


@rows("next-key-when-the-token-is-refused")
def _(lab):
    """Two keys beside the token: when it is refused and no other one can be had the next key is asked."""
    u = lab.provider(then=by_credential({"pooled-0001": 401}))
    e = lab.provider(pair(1), then=status(500))
    t = start(lab, u, e, provider={"keys": ["pooled-0001", "pooled-0002"]}, allow=[CANNOT])
    served(lab.post(t), sends=2)
    u.set(then=by_credential({"pooled-0001": 401, "access-token-0001": 401}))
    for _ in range(2):  # asks the endpoint, and knows that it failed
        served(lab.post(t), sends=2)
    assert carried(u) == ["pooled-0001", "access-token-0001"] + ["access-token-0001", "pooled-0002"] * 2


@rows("next-key-when-the-token-has-expired")
def _(lab):
    u = lab.provider(then=by_credential({"pooled-0001": 401}))
    e = lab.provider(pair(1, expires_in=1), then=status(500))
    t = start(lab, u, e, provider={"keys": ["pooled-0001", "pooled-0002"]}, allow=[CANNOT])
    served(lab.post(t), sends=2)
    time.sleep(1.1)
    for _ in range(2):
        served(lab.post(t), sends=1)
    assert carried(u) == ["pooled-0001", "access-token-0001", "pooled-0002", "pooled-0002"]
    stats = t.final_stats()  # no send was made with the token that could not be had: each first one is what it is
    assert (stats["sends_initial"], stats["sends_refresh"], stats["sends_rotate"]) == (3, 1, 0), stats


@rows("next-key-behind-another-target")
def _(lab):
    """The keys of a target's provider are not used up by those of the target before."""
    other = lab.provider(then=status(429))
    u = lab.provider(then=by_credential({"pooled-0001": 401}))
    e = lab.provider(pair(1), then=status(500))
    providers, config = refreshing(lab, u, e, provider={"keys": ["pooled-0001", "pooled-0002", "pooled-0003"]})
    providers["other"] = {"url": other.url(), "keys": ["other-key-0001", "other-key-0002", "other-key-0003"]}
    config["routes"] = [{"path": "/v1", "provider": "p"}]
    config["combos"] = {"c": {"targets": [{"provider": "other", "model": "x"}, {"provider": "p", "model": "y"}]}}
    config["budget"] = {"sends": 12}
    t = lab.turnpike(providers, config, probe=False, allow=[CANNOT])
    served(lab.post(t), sends=2)
    u.set(then=by_credential({"pooled-0001": 401, "access-token-0001": 401}))
    served(lab.post(t, body=body_for(PATH, model="c")), sends=5)
    assert carried(u)[2:] == ["access-token-0001", "pooled-0002"]


def combo(lab, providers, config, other):
    """`c`: the provider with `refresh`, then another one."""
    providers["other"] = {"url": other.url(), "keys": ["other-key-0001"]}
    config.update(routes=[{"path": "/v1", "provider": "p"}], combos={"c": {"targets": [
        {"provider": "p", "model": "a"}, {"provider": "other", "model": "b"}]}})
    return lab.turnpike(providers, config, allow=[CANNOT], probe=False)


@rows("keys-after-failure")
def _(lab):
    """A key that is rejected, an endpoint that fails: the combo's next target."""
    u, e, other = lab.provider(then=status(401)), lab.provider(then=status(500)), lab.provider()
    providers, config = refreshing(lab, u, e, provider={"keys": ["old-key-0001"]})
    t = combo(lab, providers, config, other)
    served(lab.post(t, body=body_for(PATH, model="c")), sends=2)
    assert u.count == 1 and e.count == 1 and other.count == 1
    assert "access-token" not in other.sends[0].raw_head.decode()
    served(lab.post(t, body=body_for(PATH, model="c")), sends=1)  # the first target cools
    assert u.count == 1


@rows("no-token-next-target")
def _(lab):
    u, e, other = lab.provider(), lab.provider(then=status(500)), lab.provider()
    providers, config = refreshing(lab, u, e)
    t = combo(lab, providers, config, other)
    served(lab.post(t, body=body_for(PATH, model="c")), sends=1)
    assert u.count == 0 and e.count == 1 and other.count == 1


# ---- workers die

def worker_of(t, e):
    """The worker that asks the endpoint: its end of the connection."""
    port = e.connections[-1].peer[1]
    wanted = set()
    with open("/proc/net/tcp") as file:
        for line in list(file)[1:]:
            words = line.split()
            if int(words[1].split(":")[1], 16) == port:
                wanted.add("socket:[%s]" % words[9])
    for pid in t.workers():
        for name in os.listdir("/proc/%d/fd" % pid):
            try:
                if os.readlink("/proc/%d/fd/%s" % (pid, name)) in wanted:
                    return pid
            except OSError:
                pass
    raise AssertionError("no worker has this connection")


def patient(lab, t, answers):
    """A client that sends again when its worker died."""
    for _ in range(8):
        answer = lab.post(t, body=body_for(PATH, model="m%d" % threading.get_ident()))
        if answer.status is not None:
            break
        time.sleep(0.1)
    answers.append(answer)


@rows("holder-dies")
def _(lab):
    u = lab.provider(then=wants(2))
    e = lab.provider(silent(), then=pair(2))
    t = start(lab, u, e, allow=["worker .* died", "killed", "ended"])
    t.lost = 16
    answers = []
    callers = [threading.Thread(target=patient, args=(lab, t, answers)) for _ in range(16)]
    for caller in callers:
        caller.start()
    e.wait_sends(1)
    os.kill(worker_of(t, e), signal.SIGKILL)
    for caller in callers:
        caller.join(30)
    assert e.count == 2 and len(answers) == 16, e.count
    for answer in answers:
        served(answer)


@rows("holder-dies-twice")
def _(lab):
    """Who dies is replaced once; then the failure is told, and the endpoint left alone for a moment."""
    u = lab.provider(then=wants(3))
    e = lab.provider(silent(), silent(), then=pair(3))
    t = start(lab, u, e, allow=["worker .* died", "killed", "ended"])
    t.lost = 16
    answers = []
    callers = [threading.Thread(target=patient, args=(lab, t, answers)) for _ in range(16)]
    for caller in callers:
        caller.start()
    for count in (1, 2):
        e.wait_sends(count)
        os.kill(worker_of(t, e), signal.SIGKILL)
    for caller in callers:
        caller.join(30)
    assert {a.status for a in answers} <= {200, 502} and 502 in {a.status for a in answers}, answers
    until(lambda: lab.post(t).status == 200, 6, "it is asked again")
    assert e.count == 3
    assert e.sends[2].at - e.sends[1].at >= 1.0


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
