"""Allocations that fail in the master: while it starts, while it reloads, while it is replaced; one or all from it on.

A start that cannot be says why and leaves nothing behind; a reload is taken whole or not at all; an upgrade that comes to
nothing leaves the running server as it was.
"""

import itertools
import os
import signal
import subprocess

import pytest

from harness import turnpike
from harness.client import ask, post
from harness.lab import Rows
from harness.provider import ok
from harness.turnpike import READY, FailingMalloc, children, merge, until, yaml
from harness.upgrade import STAYS
from test_memory import CHAT, FOR_EVER, LONG, places

rows = Rows(allow=[r"."])
MOST = 1000 if LONG else 14  # places of a sweep


def config(lab, number):
    """Much of what a master opens. Odd and even ones differ in workers, addresses and secrets."""
    path = lambda name: os.path.join(lab.folder, name)
    odd = number % 2
    return {"workers": 3 if odd else 2,
            "listen": ["127.0.0.1:0", "unix:" + path("client.sock")] + (["unix:" + path("odd.sock")] if odd else []),
            "admin": {"listen": ["unix:" + path("admin.sock")] + (["unix:" + path("odd-admin.sock")] if odd else [])},
            "clients": [{"name": "c%d" % n, "key": "client-key-%d-%08d" % (n, number)} for n in range(20)],
            "allow_anonymous": False,
            "access_log": {"output": path("access.log")}, "pid_file": path("pid"),
            "snapshots": {"directory": path("snapshots")}, "stats_file": path("retry_stats.json"),
            "shutdown": {"drain": "5s"}}


def turn(t, number):
    return post(t.addresses[1], CHAT, headers={"authorization": "Bearer client-key-0-%08d" % number}, timeout=15)


def server(lab, **how):
    os.mkdir(os.path.join(lab.folder, "snapshots"))
    memory = FailingMalloc(lab.folder)
    u = lab.provider(then=ok())
    return memory, lab.turnpike({"p": {"url": u.url(), "keys": ["provider-key-1"]}}, config(lab, 0), env=memory.env, **how)


def sweep(count, last=0):
    """(first, times) for a step that makes so many allocations, and each of the last ones."""
    assert count > 5, "nothing is counted"
    some = places(count)
    some = some if LONG else some[::max(1, len(some) // MOST)]
    return itertools.product(sorted(set(some) | set(range(count - last, count))), (1, FOR_EVER))


# ---- the start

def started(t):
    """Its process, once it is ready or has ended, and what it has said."""
    process = subprocess.Popen([turnpike.BINARY, "serve", "-c", t.file], env=t.env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    said = b""
    for line in process.stdout:
        said += line
        if READY.encode() in line:
            break
    return process, said.decode()


@rows("start")
def _(lab):
    memory, t = server(lab, start=False, probe=False)

    def once(first, times):
        memory.arm(FailingMalloc.NEXT, first, times)
        process, said = started(t)
        pids = children(process.pid)
        count = memory.disarm()[0]
        if READY in said:
            process.terminate()
        process.stdout.read()
        status = process.wait(15)
        assert "(null)" not in said, said
        if READY in said:
            assert status == 0, (first, times, status, said)
        else:
            assert status == 1 and said.strip(), (first, times, status, said)
        assert not any(turnpike.alive(pid) for pid in pids), (first, times)
        left = [name for name in ("client.sock", "admin.sock", "pid") if os.path.exists(os.path.join(lab.folder, name))]
        assert not left, (first, times, left, said)
        return count, READY in said

    total, good = once(FOR_EVER, 0)
    assert good
    ends = [once(first, times)[1] for first, times in sweep(total, last=40)]
    assert False in ends
    t.start()
    assert turn(t, 0).status == 200


# ---- a reload

@rows("reload")
def _(lab):
    memory, t = server(lab)
    number = 0

    def reload(first, times):
        """The next configuration; whether it was taken."""
        nonlocal number
        t.config = merge(t.config, config(lab, number + 1))
        with open(t.file, "w") as out:
            out.write(yaml(t.config))
        memory.arm(t.pid, first, times)
        answer = ask(t.admins[0], "POST", "/reload", timeout=15)
        count = memory.disarm()[0]
        assert answer.status in (200, 422), (first, times, answer)
        taken = answer.status == 200
        number += taken
        said = (first, times, answer, t.log[-3000:])
        until(lambda: turn(t, number).status == 200, 10, lambda: said)
        assert turn(t, number + 1 - 2 * taken).status == 401, said
        assert ask(t.admins[0], "GET", "/stats").json()["config_generation"] == number + 1, said
        until(lambda: len(t.workers()) == 2 + number % 2, 10, lambda: (said, t.workers()))
        for name in ("odd.sock", "odd-admin.sock"):
            until(lambda: os.path.exists(os.path.join(lab.folder, name)) == (number % 2 == 1), 10, lambda: (name, said))
        if not taken:
            assert answer.body.strip() and "(null)" not in t.log, said
        return count, taken

    total = max(reload(FOR_EVER, 0)[0], reload(FOR_EVER, 0)[0])
    ends = [reload(first, times)[1] for first, times in sweep(total, last=40)]
    assert False in ends
    if number % 2 == 1:
        reload(FOR_EVER, 0)
    t.base_descriptors = {}


# ---- an upgrade

def upgraded(lab, memory, t, pid, first, times):
    """USR2 while allocations fail in that process; whether another master serves. How many there were."""
    before, stayed = t.log.count(READY), t.log.count(STAYS)
    failed = t.log.count("upgrade: cannot start")
    memory.arm(pid, first, times)
    t.signal(signal.SIGUSR2)
    until(lambda: t.log.count(READY) > before or t.log.count(STAYS) > stayed or
          t.log.count("upgrade: cannot start") > failed, 30, lambda: (first, times, t.log[-3000:]))
    count = memory.disarm()[0]
    done = t.log.count(READY) > before
    if done:
        old = t.process
        t.adopt(t.holder())
        assert old.wait(20) == 0, t.log[-3000:]
    assert "(null)" not in t.log, t.log[-3000:]
    until(lambda: turn(t, 0).status == 200, 10, lambda: (first, times, t.log[-3000:]))
    until(lambda: len(t.workers()) == 2, 10, lambda: (first, times, t.workers(), t.log[-3000:]))
    assert t.holder() == t.pid
    return count, done


@rows.table("upgrade", ["old", "new"])
def _(lab, which):
    memory, t = server(lab, probe=False)
    turnpike.become_subreaper()
    pid = lambda: t.pid if which == "old" else FailingMalloc.NEXT
    total, done = upgraded(lab, memory, t, pid(), FOR_EVER, 0)
    assert done
    ends = [upgraded(lab, memory, t, pid(), first, times)[1] for first, times in sweep(total)]
    assert False in ends
    if not ends[-1]:
        assert upgraded(lab, memory, t, pid(), FOR_EVER, 0)[1]


@pytest.mark.skipif("san-" in turnpike.BINARY, reason="sanitizers have allocations of their own")
@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
