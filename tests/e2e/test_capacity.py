"""The capacity gate (BR-5, SH-3, design 3.3): never more than capacity.limit at a provider, over all workers; the rest
waits in the order of arrival, bounded in number and time."""

import os
import signal
import threading
import time

import pytest

from harness import turnpike
from harness.checks import local_error, not_stopped, served
from harness.client import ask, body_for
from harness.crowd import CHAT, Busy, Crowd, capacity, order, queued, wait_queued
from harness.exposition import Exposition
from harness.lab import SLACK, Rows, between
from harness.provider import good_events, ok, stream

rows = Rows()


# ---- the limit, the queue, the wait

@rows("BR-5")
def _(lab):
    busy = Busy(1.0)
    u = lab.provider(then=busy)
    t = lab.turnpike(u, capacity(2, queue=5, wait="500ms"))
    crowd = Crowd(lab, t)
    for number in range(20):
        crowd.add(number)
    answers = crowd.results()
    good = [a for a in answers if a.status == 200]
    full = [a for a in answers if a.status == 503 and a.code == "capacity_queue_full"]
    late = [a for a in answers if a.status == 503 and a.code == "capacity_wait_expired"]
    assert (len(good), len(late), len(full)) == (2, 5, 13), answers
    assert busy.most == 2 and u.count == 2
    for answer in full + late:
        error = local_error(answer, 503)
        assert error["type"] == "upstream_error" and answer.sends == 0, answer
        not_stopped(answer)
        assert 1 <= int(answer.header("retry-after")) <= 4, answer
    for answer in full:
        assert answer.took < 0.4 + SLACK, answer.took
    for answer in late:
        between(answer.took, 0.5, 0.6)
    stats = t.final_stats()
    assert stats["refusals_capacity_queue_full"] == 13 and stats["refusals_capacity_wait_expired"] == 5
    assert queued(t) == 0 and stats["turns_error"] == 18
    values = Exposition(ask(t.admins[0], "GET", "/metrics").body.decode()).of("turnpike_blacklisted")
    assert sum(values.values()) == 0
    done = turnpike.run("blacklist", "list", "--json", "--name", t.name)
    assert done.returncode == 0 and done.stdout.strip() == "[]", done


@rows.table("BR-5-families", {"responses": "/v1/responses", "messages": "/v1/messages"})
def _(lab, path):
    release = threading.Event()
    u = lab.provider(then=Busy(release=release))
    t = lab.turnpike(u, capacity(1, queue=0))
    crowd = Crowd(lab, t).begun(u)
    local_error(lab.post(t, path), 503, path.split("/")[-1], "capacity_queue_full")
    release.set()
    served(crowd.results()[0])


@rows("BR-5-deadline")
def _(lab):
    """The turn's own deadline ends a longer wait."""
    release = threading.Event()
    u = lab.provider(then=Busy(release=release))
    t = lab.turnpike(u, capacity(1))
    crowd = Crowd(lab, t).begun(u)
    answer = lab.post(t, headers={"X-Turnpike-Deadline": "700ms"})
    local_error(answer, 503, code="capacity_wait_expired")
    between(answer.took, 0.7, 0.8)
    release.set()
    served(crowd.results()[0])


@rows("BR-5-pace")
def _(lab):
    """Retry-After says when those who wait will have been let go, at the pace of late."""
    u = lab.provider(then=Busy(1.0))
    t = lab.turnpike(u, capacity(1, queue=4))
    served(lab.post(t))
    crowd = Crowd(lab, t)
    for number in range(5):
        crowd.add(number)
    wait_queued(t, 4, 2)
    answer = lab.post(t)
    local_error(answer, 503, code="capacity_queue_full")
    assert answer.header("retry-after") in ("5", "6"), answer
    assert all(a.status == 200 for a in crowd.results())


# ---- four workers

@rows("SH-3")
def _(lab):
    busy = Busy(0.2)
    u = lab.provider(then=busy)
    t = lab.turnpike(u, capacity(3))
    crowd = Crowd(lab, t)
    begun = time.monotonic()
    for number in range(30):
        crowd.add(number)
    for answer in crowd.results():
        served(answer, sends=1)
    assert time.monotonic() - begun < 2.6 + SLACK
    assert busy.most == 3 and u.count == 30


@rows("SH-3-order")
def _(lab):
    release = threading.Event()
    busy = Busy(0.05, release)
    u = lab.provider(then=busy)
    t = lab.turnpike(u, capacity(1))
    crowd = Crowd(lab, t)
    for number in range(10):
        crowd.add(number)
        if number == 0:
            u.wait_sends(1)
        else:
            wait_queued(t, number)  # a barrier where the row has 20 ms
    release.set()
    for answer in crowd.results():
        served(answer, sends=1)
    assert order(u) == list(range(10)) and busy.most == 1


@rows("SH-3-handed-on")
def _(lab):
    """Woken, not found by the sweep: a freed place is taken within far less than its 100 ms, by whichever worker."""
    release = threading.Event()
    u = lab.provider(Busy(release=release), then=Busy(0.02))
    t = lab.turnpike(u, capacity(1))
    crowd = Crowd(lab, t).begun(u)
    for number in range(1, 25):
        crowd.add(number)
        wait_queued(t, number)  # one by one, so that neighbours in the queue are of different workers
    release.set()
    for answer in crowd.results():
        served(answer, sends=1)
    waits = sorted(b.at - a.answered_at for a, b in zip(u.sends, u.sends[1:]))
    assert waits[len(waits) // 2] < 0.02, waits


def sockets(t):
    return {pid: sum(n for name, n in turnpike.descriptors(pid).items() if name.startswith("socket:"))
            for pid in t.workers()}


def taken_by(t, ask_for_it, there):
    """Which worker takes the connection of the request that is made."""
    before = sockets(t)
    ask_for_it()
    there()
    after = sockets(t)
    return max(after, key=lambda pid: after[pid] - before[pid])


@rows.table("SH-3-worker-killed", ["holder", "others"])
def _(lab, who):
    """Killed while it holds the permit, and while its clients wait: both are free at once, the order of the others stands."""
    release = threading.Event()
    u = lab.provider(then=Busy(release=release))
    t = lab.turnpike(u, capacity(1), allow=["died", "killed", "signal"])
    t.lost = 64
    crowd, worker = Crowd(lab, t), {}
    worker[0] = taken_by(t, lambda: crowd.add(0), lambda: u.wait_sends(1))
    for number in range(1, 17):
        worker[number] = taken_by(t, lambda: crowd.add(number), lambda: wait_queued(t, number))
    victim = worker[0] if who == "holder" else next(pid for pid in worker.values() if pid != worker[0])
    lost = {number for number, pid in worker.items() if pid == victim}
    os.kill(victim, signal.SIGKILL)
    turnpike.until(lambda: set(crowd.answers) == lost, 5, lambda: "%r lost, not %r" % (set(crowd.answers), lost))
    turnpike.until(lambda: victim not in t.workers() and len(t.workers()) == 4, 5, "another worker")
    wait_queued(t, 17 - len(lost) - 1)  # one is, or goes, inside
    release.set()
    crowd.results()
    good = [number for number, answer in sorted(crowd.answers.items()) if answer.status == 200]
    assert good == [number for number in range(17) if number not in lost]
    assert [number for number in order(u) if number in good] == good
    assert queued(t) == 0
    # nothing leaked
    again = Busy(0.1)
    u.set(then=again)
    crowd = Crowd(lab, t)
    for number in range(6):
        crowd.add(number)
    for answer in crowd.results():
        served(answer, sends=1)
    assert again.most == 1


def waiter(lab, t, number, wanted):
    """A request that waits, taken by a worker of which `wanted(pid)` is true; its connection and that worker."""
    for _ in range(200):
        waiting, client = queued(t), []

        def come():
            client.append(lab.client(t))
            client[0].request("POST", CHAT, {"x-number": str(number)}, body_for(CHAT))

        pid = taken_by(t, come, lambda: wait_queued(t, waiting + 1))
        if wanted(pid):
            return client[0], pid
        client[0].reset()
        wait_queued(t, waiting)
    raise AssertionError("no worker as wanted in 200 tries")


@rows("SH-3-worker-stopped")
def _(lab):
    """A worker that does not fetch what is its client's turn holds the others up for a second, not for ever."""
    release = threading.Event()
    u = lab.provider(Busy(release=release), then=ok())
    t = lab.turnpike(u, capacity(1, workers=2))
    crowd = Crowd(lab, t)
    holder = taken_by(t, lambda: crowd.add(0), lambda: u.wait_sends(1))
    first, stopped = waiter(lab, t, 1, lambda pid: pid != holder)
    second, _ = waiter(lab, t, 2, lambda pid: pid == holder)
    os.kill(stopped, signal.SIGSTOP)
    try:
        release.set()
        served(second.response(timeout=5), sends=1)
        assert u.count == 2
    finally:
        os.kill(stopped, signal.SIGCONT)
    served(first.response(), sends=1)
    served(crowd.results()[0])
    assert order(u)[:3] == [0, 2, 1]


@rows("SH-3-too-large-to-hold")
def _(lab):
    """A body that streams through waits with its client held back, and arrives whole."""
    release = threading.Event()

    def take(x):
        x.read_body()
        ok()(x)

    u = lab.provider(Busy(release=release), then=take)
    t = lab.turnpike(u, turnpike.merge(capacity(1), {"limits": {"replay_body": "64KiB", "client_body": "1s"}}))
    crowd = Crowd(lab, t).begun(u)
    body = body_for(CHAT, text="x" * 3000000)
    crowd.add(1, body=body)
    wait_queued(t, 1)
    time.sleep(1.5)  # longer than limits.client_body: it is not the client that is slow
    assert queued(t) == 1
    release.set()
    for answer in crowd.results():
        served(answer, sends=1)
    assert u.sends[1].body == body


@rows("SH-3-client-gone")
def _(lab):
    """A client that leaves the queue holds nobody behind it up."""
    release = threading.Event()
    u = lab.provider(then=Busy(release=release))
    t = lab.turnpike(u, capacity(1))
    crowd = Crowd(lab, t).begun(u)
    gone = lab.client(t)
    gone.request("POST", CHAT, {"x-number": "77"}, body_for(CHAT))
    wait_queued(t, 1)
    crowd.add(1)
    wait_queued(t, 2)
    gone.reset()
    wait_queued(t, 1)
    release.set()
    for answer in crowd.results():
        served(answer, sends=1)
    assert order(u) == [0, 1]


@rows("SH-3-heartbeat")
def _(lab):
    """A streaming client hears something while it waits."""
    release = threading.Event()
    prelude, outputs, ending = good_events("chat")
    u = lab.provider(Busy(release=release), then=stream(prelude + outputs + ending))
    t = lab.turnpike(u, {**capacity(1), "retry": {"heartbeat": {"after": "200ms", "every": "200ms"}}})
    crowd = Crowd(lab, t).begun(u)
    waiting = lab.client(t)
    waiting.request("POST", CHAT, {}, body_for(CHAT, stream=True))
    answer = waiting.head()
    waiting.until(answer, b":", 3)
    assert u.count == 1 and queued(t) == 1
    release.set()
    waiting.rest(answer)
    assert answer.status == 200 and answer.end == "complete" and b"[DONE]" in answer.body
    served(crowd.results()[0])


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
