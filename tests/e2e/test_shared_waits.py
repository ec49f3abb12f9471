"""Waits that a provider told: shared by all turns of a model and credential (SH-5), and targets that it told to
leave alone for long (OV-5, WH-3).  Design 3.3."""

import contextlib
import json
import os
import re
import signal
import threading
import time

import pytest

from harness import turnpike
from harness.checks import local_error, not_stopped, relayed, served, stopped
from harness.client import body_for
from harness.lab import Rows, between, gaps, quiet, told
from harness.provider import error_body, event, good_events, ok, silent, status, stream

rows = Rows()

CHAT = "/v1/chat/completions"
KEY = {"Authorization": "Bearer one"}


class Asked:
    """A request under way in a thread."""

    def __init__(self, lab, t, path=CHAT, headers=KEY, **more):
        self.answer = self.error = None
        body = body_for(path, **more)

        def run():
            try:
                self.answer = lab.post(t, path, body, headers)
            except BaseException as error:  # told by result()
                self.error = error

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def result(self, timeout=30):
        self._thread.join(timeout)
        assert not self._thread.is_alive(), "no answer within %d s" % timeout
        if self.error is not None:
            raise self.error
        return self.answer


def limited(seconds, **how):
    return status(429, {"Retry-After": str(seconds)}, **how)


def told_and_ten(lab, t, u, more=10):
    """One request is told to wait; 0.3 s later come ten more.  All of them, and when the provider told it."""
    first = Asked(lab, t)
    told_at = u.wait_sends(1)[0]
    turnpike.until(lambda: told_at.answered_at, 2, "the provider's 429")
    time.sleep(0.3)
    return [first] + [Asked(lab, t) for _ in range(more)], told_at.answered_at


def cooling(t):
    done = turnpike.run("cooldown", "list", "--json", "--name", t.name)
    assert done.returncode == 0, done
    return {row["name"]: row for row in json.loads(done.stdout)}


# ---- shared waits

@rows("SH-5")
def _(lab):
    u = lab.provider(limited(2), then=ok(after=0.4))
    t = lab.turnpike(u, {"workers": 4})
    asked, told_at = told_and_ten(lab, t, u)
    turnpike.until(lambda: t.stats()["waiting"] == 11, 1.5, "all are held")
    for one in asked:
        served(one.result())
    assert u.count == 12
    sends = u.sends[1:]
    assert sends[0].at - told_at >= 2.0, "sent %.3f s after the 429" % (sends[0].at - told_at)
    # one, then two, and only then more
    assert sends[1].at >= sends[0].answered_at
    assert sends[3].at >= min(sends[1].answered_at, sends[2].answered_at)
    assert sum(t.stats()[k] for k in ("sends_initial", "sends_overload")) == 12


@rows.table("SH-5-off", {"global": {"retry": {"share_waits": False}},
                         "provider": {"providers": {"p": {"retry": {"share_waits": False}}}}})
def _(lab, config):
    u = lab.provider(limited(2), then=ok())
    t = lab.turnpike(u, {"workers": 4, **config})
    asked, told_at = told_and_ten(lab, t, u)
    for one in asked[1:]:
        answer = one.result()
        served(answer, sends=1)
        assert answer.took < 0.5, answer.took
    served(asked[0].result(), sends=2)
    between(u.sends[-1].at - told_at, *told(2))


# What is limited together, and what is not.
@rows.table("SH-5-apart", {
    "model": ({}, {"headers": KEY, "model": "other"}),
    "credential": ({}, {"headers": {"Authorization": "Bearer two"}}),
    "no-credential": ({}, {"headers": {}}),
})
def _(lab, case):
    config, other = case
    u = lab.provider(limited(2), then=ok())
    t = lab.turnpike(u, config)
    first = Asked(lab, t)
    u.wait_sends(1)
    time.sleep(0.3)
    answer = Asked(lab, t, **other).result()
    served(answer, sends=1)
    assert answer.took < 0.5
    served(first.result(), sends=2)


@rows("SH-5-provider-key")
def _(lab):
    """With the provider's own key all clients have one credential."""
    u = lab.provider(limited(2), then=ok())
    t = lab.turnpike(u, {"providers": {"p": {"keys": ["k"]}}, "clients": [
        {"name": "a", "key": "one"}, {"name": "b", "key": "two"}]}, probe=False)
    first = Asked(lab, t)
    u.wait_sends(1)
    time.sleep(0.3)
    answer = Asked(lab, t, headers={"Authorization": "Bearer two"}).result()
    served(answer, sends=1)
    assert u.sends[1].at - u.sends[0].answered_at >= 2.0
    served(first.result(), sends=2)


# No rate limit of the credential: nobody else waits for it.
@rows.table("SH-5-not-shared", {
    "capacity": status(429, {"Retry-After": "2", "X-Codex-Model-Capacity": "4/4"}),
    "at-capacity": status(429, {"Retry-After": "2"}, b'{"error":{"message":"The model is at capacity"}}'),
    "drowning": status(429, {"Retry-After": "2", "X-Codex-System-Load": "97%"}),
    "overloaded": status(503, {"Retry-After": "2"}),
    "untold": status(429),
})
def _(lab, step):
    u = lab.provider(step, then=ok())
    t = lab.turnpike(u, allow=["alert system_load"])
    first = Asked(lab, t)
    u.wait_sends(1)
    time.sleep(0.3)
    answer = Asked(lab, t).result()
    served(answer, sends=1)
    assert answer.took < 0.5
    served(first.result(), sends=2)


@rows("SH-5-too-large")
def _(lab):
    body = (b'{"error":{"message":"Request too large for m on tokens per min (TPM): Limit 30000, Requested '
            b'50000. Please try again in 7s.","type":"tokens","code":"rate_limit_exceeded"}}')
    u = lab.provider(status(429, body=body), then=ok())
    t = lab.turnpike(u)
    relayed(lab.post(t), 429, body)
    answer = lab.post(t)
    served(answer, sends=1)
    assert answer.took < 0.5


@rows("SH-5-given-up")
def _(lab):
    """The told one may give up: the wait holds the others all the same. A body tells it too."""
    body = b'{"error":{"message":"Rate limit reached, try again in 2s","code":"rate_limit_exceeded"}}'
    u = lab.provider(status(429, body=body), then=ok())
    t = lab.turnpike(u, {"retry": {"overload": {"sends": 1}}})
    relayed(lab.post(t, headers=KEY), 429, body)
    served(lab.post(t, headers=KEY), sends=1)
    assert u.sends[1].at - u.sends[0].answered_at >= 2.0


@rows.table("SH-5-deadline", ["chat", "responses", "messages"])
def _(lab, family):
    path = {"chat": CHAT, "responses": "/v1/responses", "messages": "/v1/messages"}[family]
    u = lab.provider(limited(5), then=ok())
    t = lab.turnpike(u)
    first = Asked(lab, t, path)
    u.wait_sends(1)
    time.sleep(0.3)
    answer = lab.post(t, path, headers={**KEY, "X-Turnpike-Deadline": "3s"})
    error = local_error(answer, 429, family, "rate_limit_shared")
    assert error["type"] == "rate_limit_error", error
    assert answer.took < 0.5 and answer.all("retry-after") == ["5"] and answer.sends == 0, answer
    not_stopped(answer)
    assert "try again in" not in error["message"]
    assert u.count == 1 and t.stats()["refusals_rate_limit_shared"] == 1
    served(first.result(), sends=2)


@rows("SH-5-told-again")
def _(lab):
    """The first that goes is told once more: the others stay held. One whose deadline that passes is told so,
    with the provider's own answer where it has one."""
    u = lab.provider(limited(2), limited(4), then=ok())
    t = lab.turnpike(u)
    first = Asked(lab, t, headers={**KEY, "X-Turnpike-Deadline": "5s"})
    u.wait_sends(1)
    time.sleep(0.3)
    others = [Asked(lab, t) for _ in range(3)]
    served(others[0].result())
    for other in others[1:]:
        served(other.result())
    answer = first.result()
    if answer.status == 429:  # one of the others went first, and was told 4 s: beyond the deadline of this one
        relayed(answer, 429, error_body(429))
        assert answer.all("retry-after") in (["3"], ["4"]), answer
    assert u.sends[2].at - u.sends[1].answered_at >= 4.0
    assert u.count <= 6


@rows("SH-5-stream")
def _(lab):
    """The first event of a stream lets others go, long before its first output."""
    prelude, outputs, ending = good_events("chat")
    u = lab.provider(limited(2), stream(prelude + outputs + ending, pause=1.0), then=ok())
    t = lab.turnpike(u)
    first, other = told_and_ten(lab, t, u, 1)[0]
    for one in (first, other):
        served(one.result())
    between(u.sends[2].at - u.sends[1].at, 0, 0.5, "the next one")


@rows("SH-5-stream-limit")
def _(lab):
    """A stream that turns out to be a rate limit told as a 200."""
    error = event({"error": {"message": "Rate limit reached, try again in 2s", "code": "rate_limit_exceeded"}})
    u = lab.provider(limited(2), stream([error]), then=ok())
    t = lab.turnpike(u)
    for one in told_and_ten(lab, t, u, 3)[0]:
        served(one.result())
    assert u.sends[2].at - u.sends[1].answered_at >= 2.0


@rows("SH-5-gone")
def _(lab):
    """A client that leaves while it is held leaves nothing behind."""
    u = lab.provider(limited(2), then=ok())
    t = lab.turnpike(u)
    first = Asked(lab, t)
    u.wait_sends(1)
    time.sleep(0.3)
    clients = [lab.client(t) for _ in range(3)]
    for c in clients:
        c.request("POST", CHAT, body=body_for(CHAT), headers=KEY)
    turnpike.until(lambda: t.stats()["waiting"] == 4, 1, "they are held")
    for c in clients:
        c.close()
    t.counted(turns_gone=3, waiting=1)
    served(first.result(), sends=2)
    quiet(u, 1.0, 2)


@rows("SH-5-leader-gone")
def _(lab):
    """The client of the first that goes leaves: another one goes."""
    u = lab.provider(limited(2), silent(), then=ok())
    t = lab.turnpike(u)
    c = lab.client(t)
    c.request("POST", CHAT, body=body_for(CHAT), headers=KEY)
    u.wait_sends(2)
    other = Asked(lab, t)
    time.sleep(0.5)
    assert u.count == 2
    c.close()
    answer = other.result()
    served(answer, sends=1)
    assert answer.took < 1.0, answer.took


@rows("SH-5-leader-killed")
def _(lab):
    """So it is when the worker of the first that goes is killed."""
    u = lab.provider(limited(2), silent(), then=ok())
    t = lab.turnpike(u, allow=["killed", "ended", "worker"])
    c = lab.client(t)
    c.request("POST", CHAT, body=body_for(CHAT), headers=KEY)
    u.wait_sends(2)
    victim, = [pid for pid in t.workers() if connected_to(pid, u.port)]
    # on connections that the other worker took
    others = []
    while len(others) < 3:
        other = lab.client(t)
        if connected_from(victim, other.sock.getsockname()[1]):
            other.close()
            continue
        other.request("POST", CHAT, body=body_for(CHAT), headers=KEY)
        others.append(other)
    time.sleep(0.3)
    assert u.count == 2
    t.lost = 1
    os.kill(victim, signal.SIGKILL)
    killed = time.monotonic()
    for other in others:
        served(other.response())
    assert time.monotonic() - killed < 2.0


def connections(pid):
    """Pairs (local port, remote port) of the process's established TCP connections."""
    inodes = set()
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc/%d/fd" % pid):
            with contextlib.suppress(OSError):
                match = re.match(r"socket:\[(\d+)\]", os.readlink("/proc/%d/fd/%s" % (pid, name)))
                if match:
                    inodes.add(match[1])
    out = set()
    with open("/proc/net/tcp") as file:
        for line in file.readlines()[1:]:
            words = line.split()
            if words[3] == "01" and words[9] in inodes:
                out.add(tuple(int(words[n].split(":")[1], 16) for n in (1, 2)))
    return out


def connected_to(pid, port):
    return any(remote == port for _, remote in connections(pid))


def connected_from(pid, port):
    time.sleep(0.05)  # it was accepted by now
    return any(remote == port for _, remote in connections(pid))


# ---- targets that cool

@rows.table("OV-5-again", {
    "429": (429, None, "rate_limit_exceeded", "rate_limit_error", False),
    "503": (503, None, "server_is_overloaded", "server_error", False),
    "529": (529, None, "server_is_overloaded", "server_error", False),
    "quota": (429, b'{"error":{"message":"out","type":"usage_limit_reached","resets_in_seconds":600}}',
              "usage_limit_reached", "usage_limit_reached", True),
})
def _(lab, case):
    code, body, name, kind, quota = case
    headers = {} if body else {"Retry-After": "600"}
    u = lab.provider(status(code, headers, body), then=ok())
    t = lab.turnpike(u, {"workers": 4})
    answer = lab.post(t)
    relayed(answer, code, body)
    assert answer.all("retry-after") == ["600"]
    time.sleep(1.1)
    for _ in range(8):  # whichever worker gets it
        answer = lab.post(t)
        error = local_error(answer, code, "chat", name)
        assert error["type"] == kind, error
        left, = answer.all("retry-after")
        assert 590 <= int(left) <= 599 and answer.sends == 0 and answer.took < 0.3, answer
        assert "try again in" not in error["message"]
        (stopped if quota else not_stopped)(answer)
    assert u.count == 1
    row = cooling(t)["p/m"]
    assert row["told"] and 590 <= row["left"] <= 600, row
    text = turnpike.run("cooldown", "list", "--name", t.name).stdout
    assert re.fullmatch(r"p/m: 59\d s left, as the provider told\n", text), text
    served(lab.post(t, body=body_for(CHAT, model="other")), sends=1)
    # the operator gives it back
    assert turnpike.run("cooldown", "clear", "--name", t.name).stdout == "1 cleared\n"
    assert cooling(t) == {}
    served(lab.post(t), sends=1)


@rows("SH-5-listed-and-ended-by-the-operator")
def _(lab):
    u = lab.provider(limited(9), then=ok())
    t = lab.turnpike(u, {"workers": 4})
    asked, told_at = told_and_ten(lab, t, u)
    turnpike.until(lambda: t.stats()["waiting"] == 11, 1.5, "all are held")
    (name, row), = cooling(t).items()
    assert name == "p/m (one client's credential)", name
    assert row["kind"] == "wait" and row["told"] and 4 <= row["left"] <= 9, row
    text = turnpike.run("cooldown", "list", "--name", t.name).stdout
    assert re.fullmatch(re.escape(name) + r": [5-9] s left, a wait that its requests share\n", text), text
    assert turnpike.run("cooldown", "clear", "--name", t.name).stdout == "1 cleared\n"
    ended_at = time.monotonic()
    for one in asked:
        served(one.result())
    assert cooling(t) == {} and u.count == 12
    for send in u.sends[1:11]:
        between(send.at - ended_at, -1, 1.5)
    assert u.sends[11].at - told_at >= 9  # the first waits for what it was told itself


# ---- the probe: the workers' clock is put forward (harness/clock_shift.c)

@rows("OV-5-probe-each-five-minutes")
def _(lab):
    clock = turnpike.ShiftedClock(lab.folder)
    u = lab.provider(limited(900), limited(900, after=0.5), then=ok())
    t = lab.turnpike(u, {"workers": 4}, env=clock.env, probe=False)

    def together(n):
        return sorted(a.sends for a in lab.side_by_side([lambda: lab.post(t) for _ in range(n)]))

    relayed(lab.post(t), 429)
    assert together(10) == [0] * 10 and u.count == 1
    clock.shift(295)
    answer = lab.post(t)
    local_error(answer, 429)
    assert 590 <= int(answer.header("retry-after")) <= 605 and u.count == 1, answer
    clock.shift(10)
    assert together(10) == [0] * 9 + [1] and u.count == 2  # one over all workers; it was refused
    assert together(10) == [0] * 10 and u.count == 2
    clock.shift(295)
    assert together(10) == [0] * 10 and u.count == 2
    clock.shift(10)
    served(lab.post(t), sends=1)  # and a good answer ends it
    assert cooling(t) == {} and u.count == 3
    served(lab.post(t), sends=1)


def waits(t):
    """How many are in the histogram."""
    stats = json.loads(turnpike.run("stats", "--json", "--name", t.name).stdout)
    return stats["histograms"]["turnpike_wait_seconds"]["count"]


@rows("SH-5-all-are-over-and-each-counts")
def _(lab):
    """The time after which no wait holds anybody comes while a turn is still held: it goes, and its wait is told."""
    clock = turnpike.ShiftedClock(lab.folder)
    u = lab.provider(limited(50), then=ok())
    t = lab.turnpike(u, env=clock.env, probe=False)
    asked, _ = told_and_ten(lab, t, u, more=3)
    turnpike.until(lambda: t.stats()["waiting"] == 4, 5, "all are held")
    clock.shift(50 + 61)
    for one in asked[1:]:
        served(one.result(), sends=1)
    served(asked[0].result(60), sends=2)
    turnpike.until(lambda: waits(t) == 4, 5, "all waits are told")


@rows.table("OV-5-family", ["responses", "messages"])
def _(lab, family):
    u = lab.provider(limited(600), then=ok())
    t = lab.turnpike(u)
    lab.post(t, "/v1/" + family)
    error = local_error(lab.post(t, "/v1/" + family), 429, family, "rate_limit_exceeded")
    assert error["type"] == "rate_limit_error", error
    assert u.count == 1


@rows("OV-5-credential")
def _(lab):
    """A limit belongs to the account that met it: other clients' own credentials are served. Overload is the
    provider's: it holds all of them."""
    u = lab.provider(limited(600), ok(), status(503, {"Retry-After": "700"}), then=ok())
    t = lab.turnpike(u)
    two = {"Authorization": "Bearer two"}
    relayed(lab.post(t, headers=KEY), 429)
    local_error(lab.post(t, headers=KEY), 429)
    assert u.count == 1
    assert "p/m (one client's credential)" in cooling(t)
    assert "one" not in json.dumps(cooling(t)).replace("one client", "")
    served(lab.post(t, headers=two), sends=1)
    relayed(lab.post(t, headers=two), 503)
    local_error(lab.post(t, headers=two), 503)
    local_error(lab.post(t, headers={"x-api-key": "three"}), 503)
    assert u.count == 3 and set(cooling(t)) == {"p/m", "p/m (one client's credential)"}


@rows("OV-5-resend")
def _(lab):
    """The same request again within its time costs no send, and is sent when the time is over."""
    u = lab.provider(limited(3), then=ok())
    t = lab.turnpike(u, {"retry": {"retry_after": {"floor": "1s", "ceiling": "2s"}}})
    body = body_for(CHAT)
    relayed(lab.post(t, body=body), 429)
    local_error(lab.post(t, body=body), 429)
    assert u.count == 1
    time.sleep(3.0)
    served(lab.post(t, body=body), sends=2)
    gaps(u, (3.0, 3.6))


@rows("OV-5-waiting")
def _(lab):
    """A turn in a wait of its own when its target is told a long one: it is not sent either."""
    u = lab.provider(status(503, {"Retry-After": "2"}), status(503, {"Retry-After": "600"}), then=ok())
    t = lab.turnpike(u)
    first = Asked(lab, t)
    u.wait_sends(1)
    time.sleep(0.3)
    relayed(lab.post(t), 503)
    answer = first.result()
    relayed(answer, 503, error_body(503))
    left, = answer.all("retry-after")
    assert 590 <= int(left) <= 599 and answer.sends == 1, answer
    assert u.count == 2


@rows.table("WH-3", {"80": "1m20s", "5400": "1h30m"})
def _(lab, words):
    seconds = {"1m20s": 80, "1h30m": 5400}[words]
    body = json.dumps({"error": {"message": "Please try again in %s" % words}}).encode()
    u = lab.provider(status(429, body=body), then=ok())
    t = lab.turnpike(u)
    answer = lab.post(t)
    relayed(answer, 429, body)
    assert answer.all("retry-after") == [str(seconds)] and answer.took < 0.3
    assert seconds - 2 <= cooling(t)["p/m"]["left"] <= seconds
    local_error(lab.post(t), 429, "chat", "rate_limit_exceeded")
    assert u.count == 1


@rows("OV-5-other-status")
def _(lab):
    """A long Retry-After of what is neither load nor a limit is no reason to ask nobody."""
    u = lab.provider(status(404, {"Retry-After": "600"}), then=ok())
    t = lab.turnpike(u)
    relayed(lab.post(t), 404)
    assert cooling(t) == {}
    served(lab.post(t), sends=1)


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
