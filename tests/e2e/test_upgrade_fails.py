"""Binary upgrade (USR2) to what does not come up, or dies early: the old master goes on (design 11)."""

import contextlib
import os
import re
import signal
import socket
import threading
import time

import pytest

from harness.checks import served
from harness.client import Client, ask, post
from harness.lab import Rows
from harness.provider import ok
from harness.streams import finish, gated, open_stream
from harness.turnpike import (BINARY, READY, ShiftedClock, alive, become_subreaper, children, free_port, merge, name_of,
                              until, yaml)
from harness.upgrade import (DEBUG, PATH, STAYS, Load, admin, held_back, replace_binary, serves_on, start, successor,
                             until_told)

rows = Rows()


BROKEN = {
    "exits": ("exit 1", r"exited with status 1 before it was ready"),
    "ends-well": ("exit 0", r"exited with status 0 before it was ready"),
    "gone": (False, r"exited with status 127 before it was ready"),
    "no-program": (b"exit 0\n", r"exited with status 127 before it was ready"),
    "killed": ("kill -9 $$", r"ended by signal 9 \(Killed\) before it was ready"),
    "without-what-it-was-given": ("exec env -u TURNPIKE_UPGRADE %s \"$@\"" % BINARY,
                                  r"exited with status 1 before it was ready"),
}


@rows.table("broken", sorted(BROKEN))
def _(lab, which):
    script, said = BROKEN[which]
    gate = threading.Event()
    u = lab.provider(gated(gate))
    t = start(lab, u, allow=[STAYS, r"cannot run", r"another turnpike"])
    c, answer = open_stream(lab, t)
    pid, workers = t.pid, t.workers()
    with Load(t) as load:
        replace_binary(t, script)
        t.signal(signal.SIGUSR2)
        until(lambda: re.search(said, t.log), 15, lambda: t.log[-3000:])
        load.more(20)
        serves_on(lab, t, pid)
    assert t.workers() == workers
    replace_binary(t)  # and the repaired one is taken
    old = t.upgrade()
    gate.set()
    finish(c, answer)
    assert old.wait(15) == 0


@rows("bad-configuration")
def _(lab):
    t = start(lab, lab.provider(), allow=[STAYS])
    good = open(t.file).read()
    pid, other = t.pid, socket.socket()
    other.bind(("127.0.0.1", 0))
    other.listen()
    for text, said in (("listen: [\n", r":\d+:\d+: "), (good.replace(t.name, t.name + "-x"), "needs a restart"),
                       (good.replace('listen: "127.0.0.1:0"', 'listen: "127.0.0.1:%d"' % other.getsockname()[1]),
                        "is in use by another program")):
        with open(t.file, "w") as out:
            out.write(text)
        before = t.log.count(STAYS)
        t.allowed += [said]
        t.signal(signal.SIGUSR2)
        until(lambda: t.log.count(STAYS) > before, 15, lambda: t.log[-3000:])
        assert re.search(said, t.log), t.log[-3000:]
        serves_on(lab, t, pid)
    with open(t.file, "w") as out:
        out.write(good)
    other.close()
    assert t.upgrade().wait(10) == 0


@rows("hangs")
def _(lab):
    clock = ShiftedClock(lab.folder)
    t = start(lab, lab.provider(), env=clock.env, allow=[STAYS, "ignored"])
    pid = t.pid
    replace_binary(t, "exec sleep 600")
    new = successor(t)
    t.signal(signal.SIGUSR2)
    until(lambda: "an upgrade is under way; this one is ignored" in t.log, 10, lambda: t.log[-2000:])
    clock.shift(58)
    serves_on(lab, t, pid)
    assert alive(new), t.log[-2000:]
    clock.shift(4)
    until(lambda: "was not ready within 60 s" in t.log, 10, lambda: t.log[-2000:])
    until(lambda: not os.path.exists("/proc/%d" % new), 10, "the end of the new one")
    serves_on(lab, t, pid)


@rows.table("dies-when-ready", ["same-table", "fresh-table"])
def _(lab, which):
    """kill -9 of the new master when its workers serve already, a moment before the old one hears of it."""
    t = start(lab, lab.provider(), admin(lab, DEBUG), allow=[STAYS, "is replaced by a fresh one"])
    become_subreaper()
    pid = t.pid
    go = held_back(lab, t)
    new = successor(t)
    t.signal(signal.SIGSTOP)
    if which == "fresh-table":
        t.other_layout()
    go()
    workers = until_told(t, new)
    if which == "fresh-table":
        assert os.path.exists("/dev/shm%s.next" % t.name)
        t.other_layout(-1)
    os.kill(new, signal.SIGKILL)
    until(lambda: not alive(new), 10, "its end")
    t.signal(signal.SIGCONT)
    until(lambda: STAYS in t.log, 10, lambda: t.log[-2000:])
    serves_on(lab, t, pid)
    until(lambda: not any(alive(worker) for worker in workers), 10, "the end of its workers")
    replace_binary(t)
    old = t.upgrade()
    assert old.wait(10) == 0


@rows.table("dies-when-it-has-taken-over", ["same-table", "fresh-table"])
def _(lab, which):
    """kill -9 of the new master as soon as all is its own: the old one, which has let nothing go yet, goes on."""
    pid_file, socket_path = os.path.join(lab.folder, "pid"), os.path.join(lab.folder, "client.sock")
    t = start(lab, lab.provider(then=ok()), admin(lab, {"pid_file": pid_file,
                                                        "listen": ["127.0.0.1:0", "unix:" + socket_path]}),
              allow=[STAYS, "is replaced by a fresh one"])
    pid, workers = t.pid, t.workers()
    turns = t.stats()["turns"]
    with Load(t) as load:
        load.more(20)
        if which == "fresh-table":
            t.other_layout()
        new = successor(t)
        until(lambda: "this is the master now" in t.log, 20, lambda: t.log[-2000:], step=0.001)
        os.kill(new, signal.SIGKILL)
        until(lambda: "in its first second; this one goes on serving" in t.log, 10, lambda: t.log[-2000:])
        load.more(50)
        if which == "fresh-table":
            t.other_layout(-1)
        serves_on(lab, t, pid)
    assert t.workers() == workers and int(open(pid_file).read()) == pid
    with Client(socket_path) as c:
        served(c.post(PATH))
    assert t.stats()["turns"] >= turns + load.served - 200, "the table is the one of before"
    old = t.upgrade()  # and the repaired one is taken
    assert old.wait(15) == 0
    with Client(socket_path) as c:
        served(c.post(PATH))


@rows("dies-when-it-has-taken-over-with-fewer-listeners")
def _(lab):
    """kill -9 of a new master that wants fewer workers and addresses: those that it did not want are as they were."""
    stays, goes = ("127.0.0.1:%d" % free_port() for _ in range(2))
    path = os.path.join(lab.folder, "goes.sock")
    t = start(lab, lab.provider(then=ok()), admin(lab, {"workers": 4, "listen": [stays, goes, "unix:" + path]}),
              allow=[STAYS])
    text, pid = open(t.file).read(), t.pid
    with open(t.file, "w") as out:
        out.write(yaml(merge(t.config, {"workers": 1, "listen": [stays]})))
    new = successor(t)
    until(lambda: "this is the master now" in t.log, 20, lambda: t.log[-2000:], step=0.001)
    time.sleep(0.3)
    os.kill(new, signal.SIGKILL)
    until(lambda: "in its first second; this one goes on serving" in t.log, 10, lambda: t.log[-2000:])
    serves_on(lab, t, pid)
    for address in [path] + [("127.0.0.1", int(a.rsplit(":", 1)[1])) for a in (stays, goes)]:
        for _ in range(16):
            assert post(address, PATH, timeout=10).status == 200
    with open(t.file, "w") as out:
        out.write(text)
    assert t.upgrade().wait(15) == 0
    assert post(path, PATH).status == 200


def give_up(t, new):
    """Kills its workers until it has enough of them."""
    def tired():
        if "giving up" in t.log:
            return True
        for child in children(new):
            if name_of(child) == "turnpike":
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        return False

    until(tired, 10, lambda: t.log[-2000:])


@rows("gives-up-and-takes-its-time")
def _(lab):
    """It has let its sockets go, and waits for a command that was started: its second is over before it ends."""
    t = start(lab, lab.provider(then=ok()), admin(lab, {"workers": 1, "alerts": {"command": ["sleep", "30"]}}),
              allow=[STAYS, "ended by signal 9", "giving up", "alert"])
    pid = t.pid
    new = successor(t)
    until(lambda: "this is the master now" in t.log, 20, lambda: t.log[-2000:], step=0.001)
    t.signal(signal.SIGSTOP)
    give_up(t, new)
    until(lambda: not [c for c in children(new) if name_of(c).startswith("turnpike-")], 10, "its admin process has left")
    t.signal(signal.SIGCONT)
    until(lambda: "exited with status 1 in its first second; this one goes on" in t.log, 10, lambda: t.log[-2000:])
    serves_on(lab, t, pid)


@rows("gives-up-when-it-has-taken-over")
def _(lab):
    """All workers of the new master die again and again: it exits, and what it had taken over is the old one's."""
    pid_file, path = os.path.join(lab.folder, "pid"), os.path.join(lab.folder, "client.sock")
    t = start(lab, lab.provider(then=ok()), admin(lab, {"pid_file": pid_file, "workers": 1, "listen": [
        "127.0.0.1:0", "unix:" + path]}), allow=[STAYS, "ended by signal 9", "giving up", "alert"])
    pid, workers, turns = t.pid, t.workers(), t.stats()["turns"]
    new = successor(t)
    until(lambda: "this is the master now" in t.log, 20, lambda: t.log[-2000:], step=0.001)
    t.signal(signal.SIGSTOP)  # so that its second does not end meanwhile

    give_up(t, new)
    until(lambda: not alive(new), 10, lambda: t.log[-2000:])
    t.signal(signal.SIGCONT)
    until(lambda: "exited with status 1 in its first second; this one goes on" in t.log, 10, lambda: t.log[-2000:])
    serves_on(lab, t, pid)
    assert t.workers() == workers and int(open(pid_file).read()) == pid
    assert post(path, PATH).status == 200
    assert t.stats()["turns"] >= turns + 8, "the table is the one of before"
    assert t.upgrade().wait(15) == 0
    assert post(path, PATH).status == 200


@rows("dies-when-it-has-taken-over-and-was-to-be-replaced")
def _(lab):
    """USR2 to a new master in its first second waits: a third one would have what the first may take back."""
    t = start(lab, lab.provider(then=ok()), allow=[STAYS])
    pid = t.pid
    new = successor(t)
    until(lambda: "this is the master now" in t.log, 20, lambda: t.log[-2000:], step=0.001)
    os.kill(new, signal.SIGUSR2)
    time.sleep(0.5)
    os.kill(new, signal.SIGKILL)
    until(lambda: "in its first second; this one goes on serving" in t.log, 10, lambda: t.log[-2000:])
    serves_on(lab, t, pid)
    assert t.log.count(READY) == 2, t.log[-3000:]
    second = t.upgrade()
    third = t.upgrade()  # and it begins when the second is settled
    assert second.wait(15) == 0
    third.wait(15)


@rows("snapshots-of-one-that-died")
def _(lab):
    """A new master that dies at once leaves nobody behind who would write beside the old one's process."""
    directory = os.path.join(lab.folder, "snapshots")
    os.mkdir(directory)
    bad = lab.provider(then=lambda x: x.write(b"HTTP/1.1 400 no\r\ncontent-length: 0\r\n\r\n"))
    t = start(lab, bad, admin(lab, {"snapshots": {"directory": directory, "keep": 2}}), allow=[STAYS])

    def writers(pid):
        return [child for child in children(pid) if name_of(child) == "turnpike-snaps"]

    new = successor(t)
    left = until(lambda: writers(new), 20, lambda: t.log[-2000:], step=0.001)
    os.kill(new, signal.SIGKILL)
    until(lambda: STAYS in t.log, 10, lambda: t.log[-2000:])
    until(lambda: not alive(left[0]), 5, "the end of its writer")
    until(lambda: len(writers(t.pid)) == 1, 10, "one writer")
    for _ in range(6):
        assert post(t.address, PATH).status == 400
    until(lambda: ask(t.admins[0], "GET", "/stats").json()["snapshots"] == 6, 10, "all are written")
    assert len(os.listdir(directory)) == 2


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
