"""Reload when something is short - descriptors, memory, places for clients: all of it or nothing, and nobody is left unheard."""

import itertools
import os
import resource
import signal
import threading

import pytest

from harness.checks import served
from harness.client import ask, body_for
from harness.lab import Rows
from harness.provider import ok
from harness.streams import finish, gated, open_stream
from harness.turnpike import BINARY, FailingMalloc, until
from test_reload import PATH, REFUSED, generation, reload, write

rows = Rows()
FOR_EVER = 1 << 40
numbers = itertools.count(100)  # of one length, so that a file with one for another takes as much memory


def address(lab):
    return os.path.join(lab.folder, "%d.sock" % next(numbers))


def listen(t, *addresses):
    """The next file: these addresses, beside the first one."""
    write(t, {"listen": ["127.0.0.1:0"] + ["unix:" + a for a in addresses]})


def open_files(pid):
    return {int(fd) for fd in os.listdir("/proc/%d/fd" % pid)}


# ---- descriptors

@rows.table("sockets-that-a-worker-has-no-room-for", {"in-the-first-message": (2, 1), "in-a-later-one": (40, 34)})
def _(lab, case):
    """The kernel cuts what it hands over at the limit of the one who receives."""
    more, free = case
    t = lab.turnpike(lab.provider(then=ok()), lab.admin({"workers": 1}), allow=[REFUSED])
    worker = t.workers()[0]
    used = open_files(worker)
    unused = [n for n in range(max(used) + free + 2) if n not in used]
    new = [address(lab) for _ in range(more)]
    before = resource.prlimit(worker, resource.RLIMIT_NOFILE)
    resource.prlimit(worker, resource.RLIMIT_NOFILE, (unused[free], before[1]))
    listen(t, *new)
    assert "limit of open files" in "".join(reload(t, 422)["errors"])
    until(lambda: open_files(worker) == used, 5, lambda: "what came is closed: %r, %r" % (open_files(worker), used))
    resource.prlimit(worker, resource.RLIMIT_NOFILE, before)
    served(lab.post(t))
    reload(t)
    for one in new:
        served(lab.post(one, timeout=5))
    t.base_descriptors = {}


# ---- memory

def reload_with_failures(lab, t, memory, pid, numbers):
    """For each number: the allocation of that number in a reload that brings an address fails. How many were refused."""
    refused = 0
    for number in numbers:
        new = address(lab)
        listen(t, new)
        memory.arm(pid, number, 1)
        answer = ask(t.admins[0], "POST", "/reload", timeout=30)
        memory.disarm()
        assert answer.status in (200, 422), (number, answer)
        refused += answer.status == 422
        served(lab.post(new if answer.status == 200 else t, timeout=5))
    return refused


def prepared(lab):
    memory = FailingMalloc(lab.folder)
    t = lab.turnpike(lab.provider(then=ok()), lab.admin({"workers": 1}), env=memory.env, allow=[r"."])
    t.base_descriptors = {}
    return memory, t


def sockets_without_memory(lab):
    """What a worker needs first is room for the sockets that come."""
    memory, t = prepared(lab)
    assert reload_with_failures(lab, t, memory, t.workers()[0], range(1, 9)) >= 3


def master_without_memory(lab):
    """The last allocations of a reload: it may fail until all are told to switch, and not behind that."""
    memory, t = prepared(lab)
    listen(t, address(lab))
    memory.arm(t.pid, FOR_EVER, 0)
    reload(t)
    total = memory.disarm()[0]
    assert reload_with_failures(lab, t, memory, t.pid, range(total - 30, total + 1)) >= 3
    assert generation(t) > 2


if "san-" not in BINARY:  # sanitizers have allocations of their own
    rows("sockets-without-memory")(sockets_without_memory)
    rows("master-without-memory")(master_without_memory)


# ---- places for clients

def queued(lab):
    """One client at the limit, whose answer has begun, and three behind it in the queue that have sent their requests."""
    gate = threading.Event()
    u = lab.provider(gated(gate), then=ok())
    t = lab.turnpike(u, lab.admin({"workers": 1, "limits": {"connections": 1}}), allow=["limits.connections is reached"], probe=False)
    c, answer = open_stream(lab, t)
    waiting = [lab.client(t) for _ in range(3)]
    for w in waiting:
        w.request("POST", PATH, body=body_for(PATH))
    until(lambda: "limits.connections is reached" in t.log, 10, "it rests")

    def end():
        for w in waiting:
            served(w.response(timeout=10), sends=1)
            assert w.closed(5) == "fin"
        gate.set()
        finish(c, answer)
    return t, end


@rows("who-waits-at-a-stop")
def _(lab):
    t, end = queued(lab)
    t.signal(signal.SIGTERM)
    end()
    assert t.wait_exit(10) == 0


@rows("who-waits-at-an-address-that-goes")
def _(lab):
    t, end = queued(lab)
    new = address(lab)
    write(t, {"listen": "unix:" + new})
    reload(t)
    end()
    served(lab.post(new, timeout=5))
    t.base_descriptors = {}


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
