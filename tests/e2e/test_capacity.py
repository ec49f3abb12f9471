"""The capacity gate (BR-5, SH-3, SZ-6, design 3.3): never more than capacity.limit at a provider, over all workers; the
rest waits in the order of arrival, bounded in number and time."""

import os
import signal
import threading
import time
import zlib

import pytest

from harness import turnpike
from harness.checks import local_error, not_stopped, relayed, served
from harness.client import Client, ask, body_for
from harness.exposition import Exposition
from harness.lab import SLACK, Rows, between
from harness.provider import error_body, good_events, ok, reset, silent, status, stream

rows = Rows()

CHAT = "/v1/chat/completions"


def capacity(limit, workers=4, **more):
    return {"workers": workers, "providers": {"p": {"capacity": {"limit": limit, **more}}},
            "admin": {"listen": "127.0.0.1:0"}}


def queued(t):
    values = Exposition(ask(t.admins[0], "GET", "/metrics").body.decode()).of("turnpike_queued")
    return sum(values.values())


def wait_queued(t, count, timeout=5):
    turnpike.until(lambda: queued(t) == count, timeout, lambda: "%d wait, not %d" % (queued(t), count))


class Busy:
    """Steps of a provider that take their time: `seconds`, or until `release` is set.  It knows how many are inside, and
    refuses those above its own `limit`."""

    def __init__(self, seconds=0.0, release=None, limit=None):
        self.seconds, self.release, self.limit = seconds, release, limit
        self.inside = self.most = self.refused = 0
        self.refused_at = []
        self.lock = threading.Lock()

    def __call__(self, x):
        with self.lock:
            full = self.limit is not None and self.inside >= self.limit
            if full:
                self.refused_at.append(time.monotonic())
            else:
                self.inside += 1
                self.most = max(self.most, self.inside)
        if full:
            x.answer(429, {"X-Codex-Model-Capacity": "%d/%d" % (self.limit, self.limit), "Retry-After": "1"},
                     error_body(429))
            return
        try:
            if self.release is not None:
                x.await_event(self.release)
            else:
                x.sleep(self.seconds)
        finally:
            with self.lock:
                self.inside -= 1
        ok()(x)


class Crowd:
    """Requests of many clients, each on a connection of its own."""

    def __init__(self, lab, t):
        self.lab, self.t, self.threads, self.answers = lab, t, [], {}

    def add(self, number, timeout=30, **how):
        def run():
            try:
                self.answers[number] = self.lab.post(self.t, headers={"x-number": str(number)}, timeout=timeout, **how)
            except OSError as error:
                self.answers[number] = error
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self.threads.append(thread)

    def results(self, timeout=40):
        for thread in self.threads:
            thread.join(timeout)
            assert not thread.is_alive(), "no answer"
        return [self.answers[number] for number in sorted(self.answers)]


def order(u):
    return [int(send.header("x-number")) for send in u.sends if send.header("x-number")]


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
    crowd = Crowd(lab, t)
    crowd.add(0)
    u.wait_sends(1)
    local_error(lab.post(t, path), 503, path.split("/")[-1], "capacity_queue_full")
    release.set()
    served(crowd.results()[0])


@rows("BR-5-deadline")
def _(lab):
    """The turn's own deadline ends a longer wait."""
    release = threading.Event()
    u = lab.provider(then=Busy(release=release))
    t = lab.turnpike(u, capacity(1))
    crowd = Crowd(lab, t)
    crowd.add(0)
    u.wait_sends(1)
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
    crowd = Crowd(lab, t)
    crowd.add(0)
    u.wait_sends(1)
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
    crowd = Crowd(lab, t)
    crowd.add(0)
    u.wait_sends(1)
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
    crowd = Crowd(lab, t)
    crowd.add(0)
    u.wait_sends(1)
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
    crowd = Crowd(lab, t)
    crowd.add(0)
    u.wait_sends(1)
    waiting = lab.client(t)
    waiting.request("POST", CHAT, {}, body_for(CHAT, stream=True))
    answer = waiting.head()
    waiting.until(answer, b":", 3)
    assert u.count == 1 and queued(t) == 1
    release.set()
    waiting.rest(answer)
    assert answer.status == 200 and answer.end == "complete" and b"[DONE]" in answer.body
    served(crowd.results()[0])


# ---- every end gives the permit back

def one_ends(lab, t, u, ask_for_it):
    """`ask_for_it` ends one request its way; then a plain one is let in at once."""
    ask_for_it()
    begun = time.monotonic()
    answer = lab.post(t)
    served(answer, sends=1)
    assert time.monotonic() - begun < 0.3 + SLACK
    assert queued(t) == 0


ONCE = {"X-Turnpike-Max-Sends": "1"}


@rows.table("SZ-6", {
    "success": (ok(), 200), "4xx": (status(404), 404), "5xx": (status(500), 500), "429": (status(429), 429),
    "refusal": (reset(), 429), "timeout": (silent(), 429),
})
def _(lab, case):
    step, code = case
    u = lab.provider(step, then=ok())
    t = lab.turnpike(u, turnpike.merge(capacity(1), {"providers": {"p": {"timeouts": {"first_byte": "500ms"}}}}))

    def end():
        assert lab.post(t, headers=ONCE).status == code
    one_ends(lab, t, u, end)


@rows("SZ-6-retried")
def _(lab):
    """Between the sends of a turn the permit is free."""
    u = lab.provider(status(429, {"Retry-After": "2"}), then=ok())
    t = lab.turnpike(u, turnpike.merge(capacity(1), {"retry": {"share_waits": False}}))
    crowd = Crowd(lab, t)
    crowd.add(0)
    u.wait_sends(1)
    turnpike.until(lambda: t.stats()["waiting"] == 1, 2, "the retry waits")
    answer = lab.post(t)
    served(answer, sends=1)
    assert answer.took < 0.3 + SLACK
    served(crowd.results()[0], sends=2)


@rows("SZ-6-refused-goes-first")
def _(lab):
    """A refused turn keeps its ticket: it does not go to the end."""
    release = threading.Event()
    u = lab.provider(status(503, {"Retry-After": "1"}), then=Busy(release=release))
    t = lab.turnpike(u, capacity(1))
    crowd = Crowd(lab, t)
    crowd.add(0)
    u.wait_sends(1)
    turnpike.until(lambda: t.stats()["waiting"] == 1, 2, "the retry waits")
    crowd.add(1)
    u.wait_sends(2)
    crowd.add(2)
    wait_queued(t, 1)
    wait_queued(t, 2)  # the retry, 1.5 s after its refusal
    release.set()
    for answer in crowd.results():
        served(answer)
    assert order(u) == [0, 1, 0, 2]


@rows.table("SZ-6-gone", ["in-the-stream", "before-the-first-byte"])
def _(lab, when):
    prelude, outputs, ending = good_events("chat")
    step = stream(prelude + outputs, end="hold") if when == "in-the-stream" else silent()
    u = lab.provider(step, then=ok())
    t = lab.turnpike(u, capacity(1))

    def end():
        client = lab.client(t)
        client.request("POST", CHAT, {}, body_for(CHAT, stream=True))
        u.wait_sends(1)
        if when == "in-the-stream":
            client.until(client.head(), b"one ")
        client.reset()
        turnpike.until(lambda: not t.stats().gauges["sends"], 3, "the send is cancelled")
    one_ends(lab, t, u, end)


@rows("SZ-6-stops-reading")
def _(lab):
    """The provider is done; how long the client takes over the rest is no matter of its."""
    prelude, outputs, ending = good_events("chat", ["x" * 8000] * 400)
    u = lab.provider(stream(prelude + outputs + ending), then=ok())
    t = lab.turnpike(u, turnpike.merge(capacity(1), {"limits": {"slow_reader": "1s"}}))
    client = lab.client(t, receive_buffer=4096)
    client.request("POST", CHAT, {}, body_for(CHAT, stream=True))
    u.wait_sends(1)
    answer = lab.post(t, timeout=20)
    served(answer, sends=1)
    assert answer.took < 3 + SLACK
    client.reset()


@rows("SZ-6-stops-reading-decoded")
def _(lab):
    """The same while the answer, which came compressed, waits decoded for its client."""
    prelude, outputs, ending = good_events("chat", [os.urandom(60).hex() * 60 for _ in range(400)])
    packed = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = packed.compress(b"".join(prelude + outputs + ending)) + packed.flush()
    assert len(data) < 60000  # it has all been read when the client is found to be slow
    u = lab.provider(status(200, {"Content-Type": "text/event-stream", "Content-Encoding": "gzip"}, data), then=ok())
    t = lab.turnpike(u, turnpike.merge(capacity(1), {"limits": {"slow_reader": "20s"}}))
    client = lab.client(t, receive_buffer=4096)
    client.request("POST", CHAT, {}, body_for(CHAT, stream=True))
    u.wait_sends(1)
    answer = lab.post(t, timeout=10)
    served(answer, sends=1)
    assert answer.took < 3 + SLACK and t.stats().gauges["turns"] == 1
    client.reset()


@rows("AC-4-gate")
def _(lab):
    """A stream that stalls is ended after timeouts.idle, and the next request is let in."""
    prelude, outputs, _ = good_events("chat", ["t%d " % n for n in range(10)])
    u = lab.provider(stream(prelude + outputs, end="hold"), then=ok())
    t = lab.turnpike(u, turnpike.merge(capacity(1), {"providers": {"p": {"timeouts": {"idle": "3s"}}}}))
    crowd = Crowd(lab, t)
    crowd.add(0, stream=True)
    u.wait_sends(1)
    begun = time.monotonic()
    served(lab.post(t), sends=1)
    between(time.monotonic() - begun, 2.5, 3.5)
    assert b"error" in crowd.results()[0].body


# ---- auto

@rows("auto-told")
def _(lab):
    """The provider names its limit: from then on nobody is refused."""
    busy = Busy(0.1, limit=3)
    u = lab.provider(then=busy)
    t = lab.turnpike(u, capacity("auto"))
    crowd = Crowd(lab, t)
    for number in range(12):
        crowd.add(number)
    for answer in crowd.results():
        served(answer)
    learned = len(busy.refused_at)
    assert 0 < learned <= 9
    crowd = Crowd(lab, t)
    for number in range(24):
        crowd.add(number)
    for answer in crowd.results():
        served(answer, sends=1)
    assert len(busy.refused_at) == learned and busy.most == 3


@rows("auto-untold")
def _(lab):
    """Without a number: as many as were accepted."""
    release = threading.Event()
    busy = Busy(release=release)
    u = lab.provider(then=busy)
    t = lab.turnpike(u, capacity("auto"))
    crowd = Crowd(lab, t)
    for number in range(3):
        crowd.add(number)
    u.wait_sends(3)
    u.set(status(503, {}, b'{"error":{"message":"at capacity"}}'), then=busy)
    crowd.add(3)
    u.wait_sends(4)
    turnpike.until(lambda: t.stats()["waiting"] == 1, 2, "the retry waits")
    crowd.add(4)
    wait_queued(t, 1)
    wait_queued(t, 2)  # the refused one comes back, to wait
    assert u.count == 4
    release.set()
    for answer in crowd.results():
        served(answer)
    assert sorted(order(u)[-2:]) == [3, 4]


@rows("auto-rate-limit")
def _(lab):
    """A told rate limit says nothing about how many at once."""
    release = threading.Event()
    busy = Busy(release=release)
    u = lab.provider(then=busy)
    t = lab.turnpike(u, turnpike.merge(capacity("auto"), {"retry": {"share_waits": False}}))
    crowd = Crowd(lab, t)
    for number in range(2):
        crowd.add(number)
    u.wait_sends(2)
    u.set(status(429, {"Retry-After": "1"}), then=busy)
    relayed(lab.post(t, headers=ONCE), 429)
    for number in range(2, 5):
        crowd.add(number)
    u.wait_sends(6)
    release.set()
    for answer in crowd.results():
        served(answer, sends=1)


# ---- combos

@rows.table("combo", {"queue-full": {"queue": 0}, "wait-expired": {"wait": "300ms"}})
def _(lab, limits):
    """A target that takes no more is passed over; the last one is told."""
    release = threading.Event()
    one, two = lab.provider(then=Busy(release=release)), lab.provider(then=Busy(release=release))
    t = lab.turnpike({name: {"url": p.url(), "keys": ["k"], "capacity": {"limit": 1, **limits}}
                      for name, p in (("one", one), ("two", two))},
                     {"combos": {"c": {"targets": [{"provider": "one", "model": "m1"},
                                                   {"provider": "two", "model": "m2"}]}},
                      "routes": [{"path": "/v1", "provider": "one"}], "workers": 4})
    crowd = Crowd(lab, t)
    crowd.add(0, body=body_for(CHAT, model="c"))
    one.wait_sends(1)
    crowd.add(1, body=body_for(CHAT, model="c"))
    two.wait_sends(1)
    answer = lab.post(t, body=body_for(CHAT, model="c"))
    local_error(answer, 503, code="capacity_" + {"queue": "queue_full", "wait": "wait_expired"}[list(limits)[0]])
    release.set()
    for answer in crowd.results():
        served(answer, sends=1)
    assert one.count == 1 and two.count == 1
    assert turnpike.run("cooldown", "list", "--json", "--name", t.name).stdout.strip() == "[]"


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
