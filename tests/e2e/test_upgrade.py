"""Binary upgrade (USR2): another master takes over under load, or the old one goes on; case RL-4, design 11."""

import os
import re
import signal
import socket
import subprocess
import threading
import time

import pytest

from harness.checks import served
from harness.client import Client, ask, post
from harness.lab import Rows
from harness.provider import ok
from harness.streams import finish, gated, open_stream
from harness.turnpike import (BINARY, READY, ShiftedClock, alive, become_subreaper, children, descriptors, free_port,
                              merge, name_of, until, yaml)

rows = Rows()
PATH = "/v1/chat/completions"
STAYS = r"this one goes on serving"


def admin(lab, more=None):
    return lab.admin(merge({"shutdown": {"drain": "60s"}}, more or {}))


class Load:
    """Requests at a rate, each on a connection of its own or all of a thread on one; every failure is kept."""

    def __init__(self, t, rate=50, threads=4):
        self.address, self.pause, self.failed, self.served = t.address, threads / rate, [], 0
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.threads = [threading.Thread(target=self._run, daemon=True) for _ in range(threads)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def _run(self):
        due = time.monotonic()
        while not self._stop.is_set():
            try:
                answer = post(self.address, PATH, timeout=20)
                with self._lock:
                    self.served += answer.status == 200
                    if answer.status != 200:
                        self.failed.append(answer)
            except Exception as error:  # noqa: BLE001: whatever it is, it is one
                self.failed.append(error)
            due += self.pause
            self._stop.wait(max(0, due - time.monotonic()))

    def more(self, n, timeout=30):
        """Waits until so many more have been served."""
        before = self.served
        until(lambda: self.served >= before + n or self.failed, timeout, "%d more requests" % n)
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self.threads:
            thread.join(30)
        assert not self.failed, "%d of %d failed: %r" % (len(self.failed), self.served, self.failed[:3])


@rows("RL-4")
def _(lab):
    gate = threading.Event()
    u = lab.provider(gated(gate))
    t = lab.turnpike(u, admin(lab))
    c, answer = open_stream(lab, t)
    first = t.pid
    with Load(t) as load:
        load.more(20)
        old = t.upgrade()
        assert t.pid != first and t.holder() == t.pid
        load.more(50)
        assert old.poll() is None, "the old master left its stream"
        assert ask(t.admins[0], "GET", "/readyz").status == 200
    gate.set()
    finish(c, answer)
    assert old.wait(15) == 0, t.log[-3000:]
    stats = t.final_stats()
    assert stats["turns"] == stats["turns_ok"] == load.served + 1, (stats, load.served)


# ---- what does not come up

def replace_binary(t, script=None):
    """What is where the server was started from: a shell script, bytes, or the binary itself again; False: nothing."""
    new = t.binary + ".new"
    if script is False:
        os.unlink(t.binary)
        return
    if script is None:
        os.symlink(BINARY, new)
    else:
        with open(new, "wb") as out:
            out.write(script if isinstance(script, bytes) else ("#!/bin/sh\n" + script + "\n").encode())
        os.chmod(new, 0o755)
    os.replace(new, t.binary)


def start(lab, u, config=None, **how):
    """A server whose binary the test can replace."""
    t = lab.turnpike(u, config or admin(lab), start=False, **how)
    t.binary = os.path.join(lab.folder, "turnpike")
    replace_binary(t)
    return t.start()


def held_back(lab, t):
    """The next binary waits before it begins; the call lets it."""
    go = os.path.join(lab.folder, "go")
    replace_binary(t, 'while [ ! -e %s ]; do sleep 0.02; done\nexec %s "$@"' % (go, BINARY))
    return lambda: open(go, "w").close()


def successor(t):
    """The pid of the process that the next upgrade starts."""
    t.signal(signal.SIGUSR2)
    match = until(lambda: re.search(r"upgrade: \S+ is started, pid (\d+)", t.log), 10, lambda: t.log[-2000:])
    return int(match[1])


def serves_on(lab, t, pid):
    """The master of that pid, with its workers, its sockets, its table, and no trace of another one."""
    assert t.pid == pid and t.process.poll() is None and t.holder() == pid, t.log[-3000:]
    assert not os.path.exists("/dev/shm%s.next" % t.name)
    for _ in range(8):
        assert post(t.address, PATH).status == 200
    if t.admins:
        assert ask(t.admins[0], "GET", "/readyz").status == 200


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
    t = start(lab, lab.provider(), allow=[STAYS, "is replaced by a fresh one"])
    become_subreaper()
    pid = t.pid
    go = held_back(lab, t)
    new = successor(t)
    t.signal(signal.SIGSTOP)
    if which == "fresh-table":
        t.other_layout()
    go()
    workers = until(lambda: len(children(new)) == 2 and children(new), 20, "workers of the new master")
    time.sleep(0.5)  # their sockets are open, and it has said so
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


# ---- what happens meanwhile

@rows("TERM-meanwhile")
def _(lab):
    gate = threading.Event()
    t = start(lab, lab.provider(gated(gate)), allow=["the server stops: the new binary"])
    c, answer = open_stream(lab, t)
    held_back(lab, t)
    new = successor(t)
    t.signal(signal.SIGTERM)
    until(lambda: not os.path.exists("/proc/%d" % new), 10, "the end of the new one")
    gate.set()
    finish(c, answer)
    assert t.wait_exit() == 0


@rows("HUP-meanwhile")
def _(lab):
    t = start(lab, lab.provider())
    go = held_back(lab, t)
    successor(t)
    t.signal(signal.SIGHUP)
    time.sleep(0.3)
    assert "reloading" not in t.log
    go()
    until(lambda: t.log.count(READY) == 2, 20, lambda: t.log[-2000:])
    t.adopt(t.holder())
    until(lambda: "generation 3 of the configuration serves" in t.log, 10, lambda: t.log[-2000:])
    assert ask(t.admins[0], "GET", "/stats").json()["config_generation"] == 3


@rows("HUP-to-the-old-one")
def _(lab):
    """Whoever has read the pid a moment before means the one that serves."""
    gate = threading.Event()
    t = start(lab, lab.provider(gated(gate)))
    c, answer = open_stream(lab, t)
    old = t.upgrade()
    until(lambda: ask(t.admins[0], "GET", "/stats").json()["config_generation"] == 2, 10, "the new one")
    os.kill(old.pid, signal.SIGHUP)
    until(lambda: "generation 3 of the configuration serves" in t.log, 10, lambda: t.log[-2000:])
    gate.set()
    finish(c, answer)
    assert old.wait(15) == 0


@rows("USR1-meanwhile")
def _(lab):
    """Logs that are renamed when the new one has opened them already, and the signal goes to the old one."""
    log = os.path.join(lab.folder, "access.log")
    t = start(lab, lab.provider(then=ok()), admin(lab, {"access_log": {"output": log}}))
    go = held_back(lab, t)
    new = successor(t)
    t.signal(signal.SIGSTOP)
    go()
    until(lambda: len(children(new)) == 2, 20, "workers of the new master")
    time.sleep(0.5)  # their logs are open
    os.rename(log, log + ".1")
    t.signal(signal.SIGUSR1)
    t.signal(signal.SIGCONT)
    until(lambda: t.log.count(READY) == 2, 20, lambda: t.log[-2000:])
    t.adopt(t.holder())
    assert t.replaced[0].wait(15) == 0
    for _ in range(20):
        assert post(t.address, PATH).status == 200
    until(lambda: len(open(log).readlines()) == 20, 5, lambda: "lines: %r" % open(log + ".1").readlines()[-3:])


@rows("worker-dies-meanwhile")
def _(lab):
    t = start(lab, lab.provider(), allow=["ended by signal 9"])
    go = held_back(lab, t)
    new = successor(t)
    os.kill(next(pid for pid in t.workers() if pid != new), signal.SIGKILL)
    until(lambda: "is back" in t.log, 10, lambda: t.log[-2000:])
    go()
    until(lambda: len(children(new)) >= 2, 20, "workers of the new master")
    os.kill(children(new)[0], signal.SIGKILL)
    until(lambda: t.log.count(READY) == 2, 20, lambda: t.log[-3000:])
    t.adopt(t.holder())
    assert t.replaced[0].wait(10) == 0
    for _ in range(20):
        assert post(t.address, PATH).status == 200


@rows("slots-are-not-shared")
def _(lab):
    """All workers of the old master are dead, and it has not seen that yet: their slots are its own all the same."""
    t = start(lab, lab.provider(), allow=["ended by signal 9"])
    go = held_back(lab, t)
    new = successor(t)
    t.signal(signal.SIGSTOP)
    for pid in t.workers():
        if pid != new:
            os.kill(pid, signal.SIGKILL)
    go()
    until(lambda: len(children(new)) >= 2, 20, "workers of the new master")
    t.signal(signal.SIGCONT)
    until(lambda: t.log.count(READY) == 2, 20, lambda: t.log[-3000:])
    t.adopt(new)
    assert t.replaced[0].wait(10) == 0
    victim = t.workers()[0]
    os.kill(victim, signal.SIGKILL)
    match = until(lambda: re.search(r"worker (\d+) \(pid %d\) was ended" % victim, t.log), 10, lambda: t.log[-3000:])
    assert int(match[1]) >= 2, t.log[-3000:]
    until(lambda: "worker %s is back" % match[1] in t.log, 10, lambda: t.log[-3000:])


@rows("old-master-dies-meanwhile")
def _(lab):
    gate = threading.Event()
    t = start(lab, lab.provider(gated(gate)), allow=["it goes on"])
    become_subreaper()
    c, answer = open_stream(lab, t)
    go = held_back(lab, t)
    new = successor(t)
    t.signal(signal.SIGSTOP)
    go()
    until(lambda: len(children(new)) == 2, 20, "workers of the new master")
    os.kill(t.pid, signal.SIGKILL)
    t.process.wait(5)
    until(lambda: t.log.count(READY) == 2, 20, lambda: t.log[-3000:])
    t.adopt(t.holder())
    assert t.pid == new
    for _ in range(20):
        assert post(t.address, PATH).status == 200
    gate.set()
    finish(c, answer)


@rows("old-master-dies-before-it-is-heard-of")
def _(lab):
    """kill -9 of the old master before the new binary has read what it was given: nobody else could serve."""
    t = start(lab, lab.provider(then=ok()), allow=["it goes on"])
    become_subreaper()
    go = held_back(lab, t)
    new = successor(t)
    os.kill(t.pid, signal.SIGKILL)  # and it stays a zombie for a while
    go()
    until(lambda: t.log.count(READY) == 2, 20, lambda: t.log[-3000:])
    t.process.wait(5)
    t.adopt(t.holder())
    assert t.pid == new
    for _ in range(20):
        assert post(t.address, PATH).status == 200


@rows("one-instance")
def _(lab):
    gate = threading.Event()
    t = start(lab, lab.provider(gated(gate)))
    c, answer = open_stream(lab, t)

    def refused():
        done = subprocess.run([BINARY, "serve", "-c", t.file], capture_output=True, text=True, timeout=20)
        assert done.returncode == 1 and "another turnpike (pid" in done.stderr, done

    go = held_back(lab, t)
    successor(t)
    refused()
    go()
    until(lambda: t.log.count(READY) == 2, 20, lambda: t.log[-2000:])
    t.adopt(t.holder())
    refused()
    gate.set()
    finish(c, answer)
    assert t.replaced[0].wait(10) == 0
    refused()


# ---- what goes on

@rows("state")
def _(lab):
    u = lab.provider(then=ok())
    bad = lab.provider(then=lambda x: x.write(b"HTTP/1.1 503 no\r\ncontent-length: 0\r\n\r\n"))
    pid_file, stats_file = os.path.join(lab.folder, "pid"), os.path.join(lab.folder, "stats.json")
    snapshots = os.path.join(lab.folder, "snapshots")
    os.mkdir(snapshots)
    t = start(lab, {"p": u, "bad": bad}, admin(lab, {
        "blacklist": {"failures": 1}, "pid_file": pid_file, "stats_file": stats_file,
        "snapshots": {"directory": snapshots, "keep": 4}, "routes": [{"path": "/bad", "provider": "bad"}]}),
        allow=["alert url_listed"])
    for _ in range(2):
        assert post(t.address, "/bad" + PATH, headers={"X-Turnpike-Max-Sends": "1"}).status == 503
    until(lambda: len(os.listdir(snapshots)) == 2, 10, "snapshots")
    listed = ask(t.admins[0], "GET", "/stats").json()
    old = t.upgrade()
    assert old.wait(10) == 0
    assert int(open(pid_file).read()) == t.pid
    answer = post(t.address, "/bad" + PATH, headers={"X-Turnpike-Max-Sends": "1"})
    assert answer.status == 503 and b"upstream_blacklisted" in answer.body, answer
    assert bad.count == 2
    until(lambda: len(os.listdir(snapshots)) == 3, 10, "a snapshot by the new one")
    assert os.path.exists(stats_file)
    assert ask(t.admins[0], "GET", "/stats").json()["counters"]["turns"] == listed["counters"]["turns"] + 1


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


@rows("fresh-table")
def _(lab):
    gate = threading.Event()
    t = start(lab, lab.provider(gated(gate)), allow=["is replaced by a fresh one"])
    c, answer = open_stream(lab, t)
    t.other_layout()
    with Load(t) as load:
        load.more(10)
        old = t.upgrade()
        until(lambda: t.stats()["turns"] >= 5, 20, "turns in the fresh table")
    assert "it has another layout version" in t.log
    until(lambda: not os.path.exists("/dev/shm%s.next" % t.name), 5, "the old table has no name any more")
    assert t.stats()["turns"] < load.served
    gate.set()
    finish(c, answer)
    assert old.wait(10) == 0


@rows("twice")
def _(lab):
    gate = threading.Event()
    t = start(lab, lab.provider(gated(gate)))
    c, answer = open_stream(lab, t)
    first = descriptors(t.pid)
    with Load(t) as load:
        old = [t.upgrade()]
        load.more(10)
        second = t.pid
        old.append(t.upgrade())
        load.more(30)
    assert second != t.pid
    gate.set()
    finish(c, answer)
    assert old[0].wait(15) == 0
    old[1].wait(15)  # a child of the first: its status is not ours
    until(lambda: t.log.count(": stopped") == 2, 5, lambda: t.log[-3000:])
    until(lambda: descriptors(t.pid) == first, 10, lambda: "descriptors of the master: %r more, %r fewer" % (
        descriptors(t.pid) - first, first - descriptors(t.pid)))
    # whoever lives in a slot is looked after by the third: one of its workers dies and is back
    t.allowed += ["ended by signal 9"]
    os.kill(t.workers()[0], signal.SIGKILL)
    until(lambda: "is back" in t.log, 10, lambda: t.log[-2000:])


@rows("service-manager")
def _(lab):
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(os.path.join(lab.folder, "notify"))
    manager.settimeout(20)
    t = start(lab, lab.provider(), env={"NOTIFY_SOCKET": os.path.join(lab.folder, "notify")})
    first = t.pid
    assert manager.recv(999).decode() == "READY=1\nMAINPID=%d\n" % first
    old = t.upgrade()
    assert manager.recv(999).decode() == "MAINPID=%d\n" % t.pid
    assert manager.recv(999).decode() == "READY=1\nMAINPID=%d\n" % t.pid
    assert old.wait(10) == 0
    manager.settimeout(0.2)
    with pytest.raises(TimeoutError):
        manager.recv(999)
    manager.settimeout(20)
    t.signal(signal.SIGTERM)
    assert manager.recv(999).decode() == "STOPPING=1\n"
    assert t.wait_exit() == 0
    manager.close()


@rows.table("listeners", {"more-workers": 5, "fewer-workers": 1})
def _(lab, workers):
    """Another number of workers, an address more and one less: nobody notices on those that stay."""
    stays, goes, comes = ("127.0.0.1:%d" % free_port() for _ in range(3))
    path, path_goes = os.path.join(lab.folder, "a.sock"), os.path.join(lab.folder, "b.sock")
    t = start(lab, lab.provider(), admin(lab, {"workers": 3, "listen": [stays, goes, "unix:" + path, "unix:" + path_goes]}))
    t.config["workers"], t.config["listen"] = workers, [stays, "unix:" + path, comes]
    with open(t.file, "w") as out:
        out.write(yaml(t.config))
    with Load(t) as load:
        load.more(10)
        old = t.upgrade()
        load.more(60)
        assert old.wait(15) == 0
        assert len(t.workers()) == workers
    assert post(path, PATH).status == 200
    assert post(("127.0.0.1", int(comes.split(":")[1])), PATH).status == 200
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(goes.split(":")[1])), 5)
    assert not os.path.exists(path_goes) and os.path.exists(path)
    t.stop()
    assert not os.path.exists(path)


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
