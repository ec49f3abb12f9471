"""What logs, snapshots and alerts lose when a disk is full or gone, a reader stands still, a daemon is away, or more
turns fail than can be written: no turn is delayed or fails, losses are counted and told, and all goes on when it can
(design 10, 11).  TP_LONG=1 makes the failing turns go on for a minute."""

import collections
import contextlib
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import threading
import time

import pytest

from harness import turnpike
from harness.client import Client, ask, body_for, request_bytes
from harness.exposition import Exposition
from harness.lab import Rows
from harness.namespace import inside, own_dev, small_disk, start_with
from harness.provider import ok, status
from harness.turnpike import until

rows = Rows()
LONG = os.environ.get("TP_LONG") == "1"
PATH = "/v1/chat/completions"
TURNS = 400
ROOM = 60  # lines that the last pages of two files take on a full disk
PROMPT = 2.0  # seconds: slower than any machine's hiccup, faster than any wait for a disk or reader that does not come


def numbers(t):
    done = subprocess.run([*t.prefix, turnpike.BINARY, "stats", "--json", "--name", t.name], capture_output=True, text=True)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def number(t, name):
    return numbers(t)[name]


def turns(t, count=TURNS, wanted=200, threads=4):
    """So many turns from several clients; each is answered as wanted, promptly."""
    slow, wrong = [], []

    def run(n):
        with Client(t.address) as c:
            for i in range(count // threads):
                answer = c.ask("POST", PATH, body=body_for(PATH), headers={"Content-Type": "application/json"})
                if answer.status != wanted:
                    wrong.append(answer)
                    return
                if answer.took > PROMPT:
                    slow.append(answer.took)

    running = [threading.Thread(target=run, args=(n,)) for n in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(60)
        assert not thread.is_alive(), "a turn is not answered"
    assert not wrong and not slow, (wrong[:3], slow[:10])


def text_of(path):
    with contextlib.suppress(FileNotFoundError), open(path, errors="replace") as file:
        return file.read()
    return ""


def lost_told(text):
    """Lines of the log that were lost, by what the log says."""
    return sum(int(n) for n in re.findall(r"\b(\d+) log lines were lost", text))


# ---- a disk that is full


def fill(path):
    with open(path, "wb", buffering=0) as out:
        for size in (4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    out.write(b"x" * size)


@rows("disk-full")
def _(lab):
    """Log, access log and snapshots on one disk, which fills up, and has room again."""
    disk = os.path.join(lab.folder, "disk")
    os.mkdir(disk)
    u = lab.provider(then=ok())
    u.row("bad", then=status(400))
    log, access = disk + "/log", disk + "/access"
    t = lab.turnpike(u, {"log": {"output": log}, "access_log": {"output": access}, "snapshots": {"directory": disk},
                         "admin": {"listen": "127.0.0.1:0"}}, start=False)
    start_with(t, small_disk(disk, "512k"))
    log, access, disk = inside(t, log), inside(t, access), inside(t, disk)
    turns(t, 20)
    until(lambda: len(text_of(access).splitlines()) == 20 and text_of(log).count(": turn id=") == 20, 5, "lines")
    before = numbers(t)
    assert before["log_lost"] == before["snapshots_lost"] == 0

    fill(disk + "/fill")
    turns(t)
    for _ in range(5):
        assert lab.post(t, headers={"x-row": "bad"}).status == 400
    until(lambda: number(t, "log_lost") >= 2 * TURNS - ROOM, 5, lambda: "losses: %d" % number(t, "log_lost"))
    until(lambda: number(t, "snapshots_lost") == 5, 5, "five snapshots")
    metrics = Exposition(ask(t.admins[0], "GET", "/metrics").body.decode()).values
    assert metrics["turnpike_log_lost_total", ()] >= 2 * TURNS - ROOM
    assert metrics["turnpike_snapshots_lost_total", ()] == 5
    assert not [name for name in os.listdir(disk) if name.endswith((".json", ".new"))]

    os.unlink(disk + "/fill")
    # told without a further turn, once by each process that has lost lines
    until(lambda: lost_told(text_of(log)) >= TURNS - ROOM and text_of(log).count("lines of the access log") >= 1, 5,
          lambda: text_of(log)[-3000:])
    turns(t, 20)
    assert lab.post(t, headers={"x-row": "bad"}).status == 400
    until(lambda: len([n for n in os.listdir(disk) if n.endswith(".json")]) == 1, 5, "a snapshot")
    stats = t.final_stats()
    until(lambda: len(text_of(access).splitlines()) >= 41, 5, "lines")
    text = text_of(log)
    roles = collections.Counter(re.findall(r"Z warn ([^\[]+)\[\d+\]: \d+ log lines were lost", text))
    assert roles and max(roles.values()) == 1, roles
    told = [int(n) for n in re.findall(r": (\d+) lines of the access log \S+ were lost: No space left on device", text)]
    assert 1 <= len(told) <= 2, text[-3000:]
    whole = [line for line in text_of(access).splitlines() if line.startswith("{") and line.endswith("}")]
    assert len(whole) + sum(told) >= stats["turns"] - 4  # (a piece of a line is on the disk, its rest is not)
    until(lambda: number(t, "log_lost") == lost_told(text) + sum(told), 5, lambda: (number(t, "log_lost"), text[-3000:]))


@rows("snapshot-disk-full")
def _(lab):
    """Only the disk of the snapshots: told once, and those that are there stay."""
    disk = os.path.join(lab.folder, "disk")
    os.mkdir(disk)
    u = lab.provider(then=status(400))
    t = lab.turnpike(u, {"snapshots": {"directory": disk, "keep": 4}}, start=False, probe=False,
                     allow=[r"a snapshot could not be written to \S+: No space left on device"])
    start_with(t, small_disk(disk, "256k"))
    disk = inside(t, disk)

    def files():
        return sorted(name for name in os.listdir(disk) if name.endswith(".json"))

    turns(t, 8, 400)
    until(lambda: number(t, "snapshots") == 8 and len(files()) == 4, 5, "four files")
    kept = files()
    fill(disk + "/fill")
    turns(t, 100, 400)
    until(lambda: number(t, "snapshots_lost") == 100, 5, lambda: number(t, "snapshots_lost"))
    assert files() == kept and t.log.count("a snapshot could not be written") == 1
    os.unlink(disk + "/fill")
    turns(t, 8, 400)
    until(lambda: number(t, "snapshots") == 16, 5, "written")
    assert len(files()) == 4 and not set(files()) & set(kept)


# ---- a folder that must not be written


@rows("folder-not-writable")
def _(lab):
    """Of a user of its own, as a service has: renamed, but no new file can be made. Later it can."""
    folder = os.path.join(lab.folder, "logs")
    os.mkdir(folder)
    os.chown(folder, 65534, 65534)
    os.chmod(lab.folder, 0o755)
    log, access = folder + "/log", folder + "/access"
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"log": {"output": log}, "access_log": {"output": access}}, start=False)
    t.prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    start_with(t, exec_by=" ".join(t.prefix))
    turns(t, 20)
    for path in (log, access):
        os.rename(path, path + ".1")
    os.chmod(folder, 0o555)
    t.signal(signal.SIGUSR1)
    until(lambda: text_of(log + ".1").count("cannot reopen the access log") == 2, 5, lambda: text_of(log + ".1"))
    assert "cannot reopen the log %s: Permission denied; the old file is used on" % log in text_of(log + ".1")
    turns(t, 20)
    until(lambda: len(text_of(access + ".1").splitlines()) == 40, 5, "the old file is used on")
    assert number(t, "log_lost") == 0
    # a worker that is forked now has no old file: it counts, and finds the new one as soon as it can be made
    victim = t.workers()[0]
    os.kill(victim, signal.SIGKILL)
    until(lambda: "is back" in text_of(log + ".1"), 5, "another worker")
    until(lambda: "cannot open the access log %s: Permission denied" % access in text_of(log + ".1"), 5, "it is told")
    until(lambda: (turns(t, 20), number(t, "log_lost"))[1], 10, "losses", step=0.2)
    os.chmod(folder, 0o755)
    until(lambda: (turns(t, 20), text_of(access))[1], 10, "a new file without a signal", step=0.2)
    t.signal(signal.SIGUSR1)
    until(lambda: "the logs are opened anew" in text_of(log), 5, "a new log")
    lost = number(t, "log_lost")
    turns(t, 20)
    until(lambda: text_of(log).count(": turn id=") == 20, 5, "lines")
    assert number(t, "log_lost") == lost


# ---- readers


class Fifo:
    def __init__(self, path):
        self.path, self.data = path, b""
        os.mkfifo(path)
        self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def lines(self):
        """All that has come."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self.fd, 65536):
                self.data += data
        return self.data.decode().splitlines()

    def away(self):
        os.close(self.fd)

    def back(self):
        self.fd, self.data = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK), b""


@rows("fifo")
def _(lab):
    """Its reader stands still, goes on, leaves, and comes back."""
    log, access = Fifo(os.path.join(lab.folder, "log")), Fifo(os.path.join(lab.folder, "access"))
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"workers": 1, "log": {"output": log.path, "level": "debug"},
                         "access_log": {"output": access.path}})
    log.lines()
    turns(t, 2000)
    until(lambda: number(t, "log_lost"), 5, "losses")
    assert t.final_stats()["turns"] == 2000

    def told():
        return any("log lines were lost" in x for x in log.lines()) and \
            any("lines of the access log %s were lost: its reader is too slow" % access.path in x for x in log.lines())

    until(lambda: access.lines() and told(), 5, lambda: "losses are told: %r" % log.lines()[-5:])
    # each line is whole, and read or counted
    assert all(re.match(r"^\d{4}-\S+Z \w+ ", x) for x in log.lines()), log.lines()[:3]
    found = [json.loads(x) for x in access.lines()]
    lost = [int(re.search(r": (\d+) lines of the access log", x)[1]) for x in log.lines() if "of the access log" in x]
    assert len(found) + sum(lost) == 2000, (len(found), lost)
    log.away(), access.away()
    before = number(t, "log_lost")
    turns(t, 100)
    until(lambda: number(t, "log_lost") >= before + 200, 5, "losses")
    log.back(), access.back()
    turns(t, 100)
    until(lambda: len(access.lines()) == 100 and lost_told("\n".join(log.lines())) >= 100, 5, "both are read again")
    log.away(), access.away()


@rows("fifo-that-nobody-reads")
def _(lab):
    path = os.path.join(lab.folder, "log")
    os.mkfifo(path)
    made = lab.turnpike("http://127.0.0.1:1/v1", {"log": {"output": path}}, start=False)
    done = turnpike.run("serve", "-c", made.file)
    assert done.returncode == 1 and re.search(r"%s.*: nobody reads it" % path, done.stderr), done


# ---- the system's log


class Daemon:
    """What listens behind /dev/log."""

    def __init__(self, path):
        self.path, self.seen = path, []
        self.start()

    def start(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.setblocking(False)
        self.sock.bind(self.path)
        os.chmod(self.path, 0o666)

    def lines(self):
        with contextlib.suppress(BlockingIOError):
            while True:
                self.seen.append(self.sock.recv(65536).decode())
        return self.seen

    def stop(self):
        self.lines()
        self.sock.close()
        os.unlink(self.path)


SYSLOG = re.compile(r"^<(\d+)>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d turnpike\[(\d+)\]: \S+Z (\w+) ([^\[]+)\[\d+\]: (.*)$")


@rows("syslog")
def _(lab):
    """The daemon reads, stands still, is restarted, and is away for a while."""
    daemon = Daemon(os.path.join(lab.folder, "daemon"))
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"log": {"output": "syslog"}}, start=False)
    start_with(t, *own_dev(os.path.join(lab.folder, "dev"), ("log", daemon.path)))

    def told():
        return [m for m in map(SYSLOG.match, daemon.lines()) if m]

    def turns_told():
        return sum(m[5].startswith("turn id=") for m in told())

    for i in range(5):
        assert lab.post(t).status == 200
        until(lambda: turns_told() == i + 1, 5, lambda: daemon.lines())
    assert len(told()) == len(daemon.lines()), daemon.lines()
    assert {(m[1], m[3]) for m in told()} <= {("30", "info"), ("28", "warn")}
    assert {int(m[2]) for m in told()} <= {t.pid, *t.workers()}

    turns(t, 2000)  # nobody reads: the system keeps a few datagrams
    until(lambda: number(t, "log_lost"), 5, "losses")
    until(lambda: (daemon.lines(), lost_told("\n".join(daemon.lines())))[1], 5, "losses are told")
    t.final_stats()
    until(lambda: (time.sleep(0.1), turns_told() + lost_told("\n".join(daemon.lines())))[1] == 2005, 10,
          lambda: "each line is there or counted: %d, %d" % (turns_told(), lost_told("\n".join(daemon.lines()))))

    daemon.stop()
    daemon.start()  # it was restarted: no line is lost
    before = number(t, "log_lost")
    for i in range(5):
        assert lab.post(t).status == 200
        until(lambda: turns_told() == 2005 - lost_told("\n".join(daemon.lines())) + i + 1, 5, "lines")
    assert number(t, "log_lost") == before

    daemon.stop()
    turns(t, 100)
    until(lambda: number(t, "log_lost") == before + 100, 5, "losses")
    daemon.start()
    until(lambda: number(t, "log_lost") == lost_told("\n".join(daemon.lines())), 5, "it is found, and told")
    u.stop()
    t.check_idle()
    t.stop()
    daemon.stop()


JOURNAL = """#!/usr/bin/python3
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
s.connect(%r)
os.dup2(s.fileno(), 2)
st = os.fstat(2)
os.environ["JOURNAL_STREAM"] = "%%d:%%d" %% (st.st_dev, st.st_ino)
os.execv(%r, [%r, *sys.argv[1:]])
"""


@rows("journal")
def _(lab):
    """Lines on standard error begin with their level where that is journald's, and do not wait for it."""
    path, script = os.path.join(lab.folder, "journal"), os.path.join(lab.folder, "start")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen()
    with open(script, "w") as out:
        out.write(JOURNAL % (path, turnpike.BINARY, turnpike.BINARY))
    os.chmod(script, 0o755)
    t = lab.turnpike(lab.provider(then=ok()), {"workers": 1, "access_log": {"output": "stderr"}}, start=False)
    t.binary = script
    t.start()
    journal, _ = listener.accept()
    journal.setblocking(False)
    data = bytearray()

    def lines():
        with contextlib.suppress(BlockingIOError):
            while more := journal.recv(65536):
                data.extend(more)
        return data.decode().splitlines()

    turns(t, 4)
    os.kill(t.workers()[0], signal.SIGKILL)
    until(lambda: any("is back" in x for x in lines()), 5, "a line of an error")
    levels = {m[2]: m[1] for m in (re.match(r"^<(\d)>\d{4}-\S+Z (\w+) ", x) for x in lines()) if m}
    assert levels["info"] == "6" and levels["error"] == "3" and set(levels) <= {"info", "error", "warn"}, levels
    assert sum(x.startswith("{") for x in lines()) == 4  # of the access log: no level
    assert all(re.match(r"^(<\d>\d{4}-|\{)", x) for x in lines()), lines()

    turns(t, 2000)
    until(lambda: number(t, "log_lost"), 5, "losses")
    until(lambda: lost_told("\n".join(lines())) and any("lines of the access log were lost" in x for x in lines()), 5,
          "losses are told")
    assert all(re.match(r"^(<\d>\d{4}-|\{.*\}$)", x) for x in lines()), "a torn line"
    t.lost += 1
    t.stop()
    journal.close()
    listener.close()


# ---- many failing turns


def pace(address, stop_at, due, step, taken, failed):
    """Failing turns on one kept connection, each at its time."""
    with Client(address) as c:
        while due < stop_at:
            time.sleep(max(0, due - time.monotonic()))
            due += step
            began = time.monotonic()
            c.sock.sendall(request_bytes("POST", PATH, body=body_for(PATH), headers={"Content-Type": "application/json"}))
            answer = c.response()
            taken.append(time.monotonic() - began)
            if answer.status != 400:
                failed.append(answer)


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def test_10000_failing_turns_a_minute(lab):
    """With snapshots on, none takes longer than without; there are never more files than asked for, and each failure is a
    file that was written or counted as lost. Both servers are asked at the same time, so that the machine is as busy for
    one as for the other."""
    seconds, rate, clients, keep = (60, 170, 2, 100) if LONG else (15, 170, 2, 100)
    folder = os.path.join(lab.folder, "snapshots")
    os.mkdir(folder)
    u = lab.provider(then=status(400))
    quiet = {"log": {"level": "warn"}}
    on = lab.turnpike(u, dict(quiet, snapshots={"directory": folder, "keep": keep}), probe=False,
                      allow=["a snapshot is lost"])
    off = lab.turnpike(u, quiet, probe=False)
    taken, failed, most = {on: [], off: []}, [], [0]
    begin = time.monotonic() + 0.2
    over = threading.Event()

    def watch():
        while not over.wait(0.05):
            most[0] = max(most[0], sum(name.endswith(".json") for name in os.listdir(folder)))

    threads = [threading.Thread(target=pace, args=(t.address, begin + seconds, begin + i * clients / rate / 4, clients / rate,
                                                   taken[t], failed))
               for t in (on, off) for i in range(clients)]
    watcher = threading.Thread(target=watch)
    for thread in [*threads, watcher]:
        thread.start()
    for thread in threads:
        thread.join(seconds * 4 + 30)
        assert not thread.is_alive(), "a turn is not answered"
    took = time.monotonic() - begin
    over.set()
    watcher.join()
    assert not failed, failed[:3]
    count = on.final_stats()["turns_error"]
    assert count == len(taken[on]) >= seconds * rate * 0.98
    until(lambda: number(on, "snapshots") + number(on, "snapshots_lost") == count, 20, "each is written or counted")
    assert most[0] <= keep and len([n for n in os.listdir(folder) if n.endswith(".json")]) == keep
    for t in (off, on):
        print("snapshots %s: %.0f a second, median %.2f ms, 99%% %.2f ms, slowest %.1f ms; lost %d" % (
            "on" if t is on else "off", len(taken[t]) / took, 1e3 * statistics.median(taken[t]),
            1e3 * quantile(taken[t], 0.99), 1e3 * max(taken[t]), number(t, "snapshots_lost")))
    assert statistics.median(taken[on]) <= statistics.median(taken[off]) * 1.5 + 0.001
    assert quantile(taken[on], 0.99) <= quantile(taken[off], 0.99) * 2 + 0.02
    assert max(taken[on]) <= max(taken[off]) * 2 + 0.5


@pytest.mark.parametrize("row", rows.names())
def test_losses(row, row_result):
    row_result(row)
