"""Drain, crash and restart as clients see them: cases RL."""

import os
import signal
import threading
import time

import pytest

from harness.checks import MODELS, FAMILIES, served
from harness.client import body_for, refused
from harness.lab import Rows, between
from harness.provider import event, good_events, ok, status, stream
from harness.turnpike import alive, until

rows = Rows()
PATH = "/v1/chat/completions"


def paced(count, pause):
    return stream([event({"choices": [{"index": 0, "delta": {"content": "%d " % i}}]}) for i in range(count)] +
                  [event("[DONE]")], pause=pause)


def open_streams(lab, t, count):
    """Streams that have their first output; one thread each reads to the end; (clients, answers, threads)."""
    clients, answers, threads = [], [], []
    for _ in range(count):
        c = lab.client(t)
        c.request("POST", PATH, body=body_for(PATH, stream=True))
        clients.append(c)
    for c in clients:
        answers.append(c.until(c.head(), b"content"))
        threads.append(threading.Thread(target=read_and_leave, args=(c, answers[-1]), daemon=True))
        threads[-1].start()
    return clients, answers, threads


def read_and_leave(c, answer):
    """As clients do: to the end of the answer; a connection that is closed is closed on this side too."""
    c.rest(answer)
    if c.closed(5):
        c.close()


@rows("RL-2")
def _(lab):
    u = lab.provider(then=paced(10, 0.4))
    t = lab.turnpike(u, {"shutdown": {"drain": "30s"}}, probe=False)
    _, answers, threads = open_streams(lab, t, 20)
    idle = lab.client(t)
    served(idle.ask("POST", PATH, {"x-row": "probe"}, body_for(PATH)))
    t.signal(signal.SIGTERM)
    assert idle.closed(2) == "fin", "idle connections are closed at once"
    until(lambda: refused(t.address), 4, "new connections are refused")
    assert t.process.poll() is None
    for thread in threads:
        thread.join(15)
    done = time.monotonic()
    for answer in answers:
        served(answer, sends=1)
        assert answer.body.endswith(event("[DONE]"))
    assert t.wait_exit(5) == 0
    assert time.monotonic() - done < 1.5
    assert u.count == 20


@rows("RL-2-waiting-turns")
def _(lab):
    """A turn that waits for its next send is not given up by a drain."""
    u = lab.provider(status(503, {"Retry-After": "2"}), ok())
    t = lab.turnpike(u, {"shutdown": {"drain": "30s"}}, probe=False)
    c = lab.client(t)
    c.request("POST", PATH, body=body_for(PATH))
    u.wait_sends(1)
    time.sleep(0.3)
    t.signal(signal.SIGTERM)
    answer = c.response()
    served(answer, sends=2)
    assert answer.header("connection") == "close"
    assert t.wait_exit(5) == 0


def endless(family):
    prelude, outputs, _ = good_events(family)
    return stream(prelude + outputs, end="hold")


@rows.table("RL-3", MODELS)
def _(lab, family):
    u = lab.provider(endless(family))
    t = lab.turnpike(u, {"shutdown": {"drain": "5s"}}, probe=False)
    c = lab.client(t)
    c.request("POST", FAMILIES[family], body=body_for(FAMILIES[family], stream=True))
    answer = c.until(c.head(), b"three")
    asked = time.monotonic()
    t.signal(signal.SIGTERM)
    c.rest(answer)
    between(time.monotonic() - asked, 5.0, 5.5, "end")
    assert answer.end in ("cut", "reset") and b'"error"' in answer.body, answer
    assert t.wait_exit(3) == 0


@rows("RL-3-second-term")
def _(lab):
    u = lab.provider(endless("chat"))
    t = lab.turnpike(u, {"shutdown": {"drain": "5s"}}, probe=False)
    c = lab.client(t)
    c.request("POST", PATH, body=body_for(PATH, stream=True))
    c.until(c.head(), b"three")
    workers = t.workers()
    t.signal(signal.SIGTERM)
    time.sleep(1)
    t.signal(signal.SIGTERM)
    asked = time.monotonic()
    assert t.wait_exit(3) == 0
    assert time.monotonic() - asked < 0.5 + 0.3
    assert not any(alive(pid) for pid in workers)


@rows("RL-5")
def _(lab):
    u = lab.provider(then=paced(10, 0.4))
    t = lab.turnpike(u, probe=False)
    _, answers, threads = open_streams(lab, t, 10)
    workers = t.workers()
    os.kill(t.pid, signal.SIGKILL)
    t.process.wait(5)
    for thread in threads:
        thread.join(15)
    for answer in answers:
        served(answer, sends=1)
    until(lambda: not any(alive(pid) for pid in workers), 5, "the workers leave by themselves")
    again = lab.turnpike(u, {"listen": "127.0.0.1:%d" % t.address[1]}, name=t.name)
    assert again.address == t.address
    served(lab.post(again), sends=1)


@rows("budget-survives-a-restart")
def _(lab):
    """The table outlives the master: what was spent stays spent."""
    u = lab.provider(then=status(503))
    t = lab.turnpike(u, probe=False)
    body, headers = body_for(PATH), {"Idempotency-Key": "one"}
    assert lab.post(t, body=body, headers=headers).status == 503 and u.count == 3
    u.close_idle()
    t.check_idle()
    t.stop()
    again = lab.turnpike(u, name=t.name)
    assert lab.post(again, body=body, headers=headers).status == 429
    assert u.count == 3


@rows("RL-6")
def _(lab):
    """The sums go on from where they were; a table of another layout is replaced by a fresh one, and that is logged."""
    u = lab.provider(status(503), then=ok())
    t = lab.turnpike(u, lab.admin(), probe=False)
    served(lab.post(t), sends=2)
    u.close_idle()
    t.check_idle()
    t.stop()
    again = lab.turnpike(u, lab.admin(), name=t.name, probe=False)
    assert again.final_stats()["turns"] == 1 and again.sends_counted() == 2
    served(lab.post(again), sends=1)
    assert again.final_stats()["turns"] == 2 and again.sends_counted() == 3
    assert "fresh" not in again.log
    again.stop()
    again.other_layout()
    fresh = lab.turnpike(u, lab.admin(), name=t.name, probe=False, allow=[r"was replaced by a fresh one: "])
    assert "was replaced by a fresh one: it has another layout version" in fresh.log
    assert fresh.final_stats()["turns"] == 0 and fresh.sends_counted() == 0


@rows("worker-killed-under-load")
def _(lab):
    """Others serve on; it is back within a second."""
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"workers": 2}, allow=[r"worker|signal"])
    before = t.workers()
    victim = before[0]
    stop, failures, good = threading.Event(), [], []

    def load():
        while not stop.is_set():
            try:
                good.append(lab.post(t, timeout=5).status)
            except OSError as error:
                failures.append(error)
            time.sleep(0.01)

    threads = [threading.Thread(target=load, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    os.kill(victim, signal.SIGKILL)
    killed = time.monotonic()
    until(lambda: len(t.workers()) == 2 and victim not in t.workers(), 2, "the worker is back", step=0.005)
    assert time.monotonic() - killed < 1.0
    time.sleep(1)
    stop.set()
    for thread in threads:
        thread.join(10)
    # what the victim held is lost; nothing else is
    assert len(failures) + good.count(None) <= 8, failures
    assert len(good) > 50 and set(good) <= {200, None}
    t.lost = len(threads)
    stats = t.final_stats()
    assert stats["turns"] - stats["turns_ok"] <= t.lost, stats


@rows("open-send-of-a-killed-worker-ended-unknown")
def _(lab):
    """A re-send of a request whose worker died is not sent again: it may have run."""
    u = lab.provider(ok(after=5), then=ok())
    t = lab.turnpike(u, {"workers": 1}, allow=[r"worker|signal"])
    body, headers = body_for(PATH), {"Idempotency-Key": "k"}
    c = lab.client(t)
    c.request("POST", PATH, headers, body)
    u.wait_sends(1)
    os.kill(t.workers()[0], signal.SIGKILL)
    assert c.closed(3) is not None
    until(lambda: len(t.workers()) == 1, 3, "a new worker")
    answer = lab.post(t, body=body, headers=headers)
    assert answer.status == 429 and answer.code == "upstream_closed_before_response" and answer.stop, answer
    assert u.count == 1
    t.lost = 1


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
