"""Binary upgrade (USR2): another master takes over under load; case RL-4, design 11."""

import os
import re
import signal
import socket
import subprocess
import threading
import time

import pytest

from harness.client import ask, post
from harness.lab import Rows
from harness.provider import ok
from harness.streams import finish, gated, open_stream
from harness.turnpike import BINARY, READY, become_subreaper, children, descriptors, free_port, until, yaml
from harness.upgrade import PATH, Load, admin, held_back, start, successor

rows = Rows()


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
