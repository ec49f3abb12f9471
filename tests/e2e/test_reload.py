"""Reload: another configuration under the same workers, sockets and turns; case RL-1 and what design 11 promises."""

import json
import os
import re
import shutil
import signal
import socket
import threading

import pytest

from harness.checks import served
from harness.client import Client, ask, body_for
from harness.lab import Rows
from harness.provider import ok
from harness.tls import authority
from harness.streams import finish, gated, open_stream
from harness.turnpike import BINARY, free_port, merge, resident, run, until, yaml

rows = Rows()
PATH = "/v1/chat/completions"
LONG = bool(os.environ.get("TP_LONG"))
REFUSED = r"reload refused"


def write(t, config=None, text=None):
    """Another file; the server is not told yet."""
    if config is not None:
        t.config = merge(t.config, config)
    with open(t.file + ".new", "w") as out:
        out.write(text if text is not None else yaml(t.config))
    os.rename(t.file + ".new", t.file)


def reload(t, status=200, timeout=30):
    answer = ask(t.admins[0], "POST", "/reload", timeout=timeout)
    assert answer.status == status, (answer, answer.body, t.log[-2000:])
    return answer.json()


def numbers(t):
    return json.loads(ask(t.admins[0], "GET", "/stats", timeout=10).body)


def generation(t):
    return numbers(t)["config_generation"]


def hup(t, expected):
    """Tells it by the signal; waits for the log."""
    before = t.log.count(expected)
    t.signal(signal.SIGHUP)
    until(lambda: t.log.count(expected) > before, 15, lambda: "%r in the log:\n%s" % (expected, t.log[-3000:]))


def bound():
    """A port that somebody else listens on."""
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen()
    return s


# ---- refused

BAD = {
    "a-broken": (lambda t: "listen: [ \n  - x\nproviders: {", r":\d+:\d+: "),
    "b-unknown-key": (lambda t: yaml(t.config) + "worker: 3\n", r":\d+:\d+: unknown key `worker` \(did you mean `workers`\?\)"),
    "c-combo": (lambda t: yaml(t.config) + "combos: {x: {targets: [{provider: nobody, model: m}]}}\n", r":\d+:\d+: .*nobody"),
    "d-gone": (None, "cannot be read: No such file"),
    "e-file-of-a-value": (lambda t: yaml(t.config) + 'clients: [{name: a, key: "${file:/nowhere/x}"}]\n', r":\d+:\d+: .*/nowhere/x"),
    "f-certificate": (lambda t: yaml(merge(t.config, {"listen": [{"address": "127.0.0.1:0", "tls": {
        "certificate": "/nowhere/cert.pem", "key": "/nowhere/key.pem"}}]})), r":\d+:\d+: .*no such file"),
}


@rows.table("RL-1", sorted(BAD))
def _(lab, which):
    make, said = BAD[which]
    gate = threading.Event()
    u = lab.provider(gated(gate))
    t = lab.turnpike(u, lab.admin(), allow=[REFUSED])
    c, answer = open_stream(lab, t)
    if make is None:
        os.rename(t.file, t.file + ".away")
    else:
        write(t, text=make(t))
    hup(t, "reload refused")
    assert re.search("reload refused: .*" + said, t.log), t.log
    lines = reload(t, 422)["errors"]
    assert re.search(said, "\n".join(lines)), lines
    stats = numbers(t)
    assert stats["config_generation"] == 1 and re.search(said, stats["reload_error"])
    assert b"refused" in ask(t.admins[0], "GET", "/healthz").body
    u.set(ok(), then=ok())
    served(lab.post(t), sends=1)
    write(t)
    assert reload(t)["generation"] == 2
    assert generation(t) == 2 and numbers(t)["reload_error"] is None
    gate.set()
    finish(c, answer)


@rows("RL-1-key-does-not-fit")
def _(lab):
    ca = authority()
    _, other = ca.issue("other-%d" % os.getpid(), "DNS:localhost")
    t = lab.turnpike(lab.provider(), lab.admin(), allow=[REFUSED])
    write(t, {"listen": [{"address": "127.0.0.1:0", "tls": {"certificate": ca.certificate, "key": other}}]})
    assert "key values mismatch" in "".join(reload(t, 422)["errors"])


@rows("RL-1-address-in-use")
def _(lab):
    t = lab.turnpike(lab.provider(), lab.admin(), allow=[REFUSED])
    with bound() as holder:
        free = free_port()
        write(t, {"listen": ["127.0.0.1:0", "127.0.0.1:%d" % free, "127.0.0.1:%d" % holder.getsockname()[1]]})
        assert "in use by another program" in "".join(reload(t, 422)["errors"])
        with pytest.raises(ConnectionRefusedError):
            Client(("127.0.0.1", free))
    assert generation(t) == 1


@rows("stopped-worker")
def _(lab):
    """One that does not answer: nothing changes for the others."""
    t = lab.turnpike(lab.provider(), lab.admin(), allow=[REFUSED, "worker"])
    victim = t.workers()[0]
    os.kill(victim, signal.SIGSTOP)
    try:
        write(t, {"limits": {"connections": 77}})
        lines = reload(t, 422, timeout=40)["errors"]
        assert "gave no answer in time" in lines[0] or "in time" in lines[0], lines
        assert generation(t) == 1
    finally:
        os.kill(victim, signal.SIGCONT)
    until(lambda: len(t.workers()) == 2, 10, "two workers")
    assert reload(t)["generation"] == 2


@rows("killed-worker")
def _(lab):
    """It dies before it has answered: its successor is asked."""
    t = lab.turnpike(lab.provider(), lab.admin(), allow=["worker"])
    victim = t.workers()[0]
    os.kill(victim, signal.SIGSTOP)
    write(t, {"limits": {"body": "1KiB"}})
    answers = []
    thread = threading.Thread(target=lambda: answers.append(ask(t.admins[0], "POST", "/reload", timeout=30)))
    thread.start()
    until(lambda: "reloading" in t.log, 5, "the reload begins")
    os.kill(victim, signal.SIGKILL)
    thread.join(30)
    assert answers[0].status == 200, answers[0].body
    until(lambda: len(t.workers()) == 2, 5, "two workers")
    for _ in range(12):
        assert lab.post(t, body=b"x" * 5000).status == 413


# ---- taken over

@rows("routes-keys-limits")
def _(lab):
    gate = threading.Event()
    old = lab.provider(gated(gate), then=ok())
    new = lab.provider(then=ok())
    t = lab.turnpike(old, lab.admin(), probe=False)
    c, answer = open_stream(lab, t)
    kept = lab.client(t)
    served(kept.ask("GET", "/v1/models"))
    key = "k" * 40
    t.config["providers"] = {"q": {"url": new.url()}}
    write(t, {"clients": [{"name": "a", "key": key}], "limits": {"body": "2KiB"}})
    assert reload(t) == {"generation": 2, "warnings": []}
    assert lab.post(t).status == 401
    head = {"authorization": "Bearer " + key}
    assert lab.post(t, headers=head, body=b"x" * 5000).status == 413
    served(lab.post(t, headers=head), sends=1)
    assert kept.ask("GET", "/v1/models").status == 401, "a kept connection goes on under the new one"
    assert new.count == 1 and old.count == 2
    gate.set()
    finish(c, answer)
    u_sends = numbers(t)["providers"]
    assert set(u_sends) >= {"p", "q"}


@rows("retries-of-the-old-one")
def _(lab):
    """A turn that waits ends on what it began with."""
    from harness.provider import status
    old = lab.provider(status(503, {"Retry-After": "2"}), ok())
    new = lab.provider(then=ok())
    t = lab.turnpike(old, lab.admin(), probe=False)
    c = lab.client(t)
    c.request("POST", PATH, body=body_for(PATH))
    old.wait_sends(1)
    t.config["providers"] = {"p": {"url": new.url()}}
    write(t)
    reload(t)
    served(c.response(), sends=2)
    assert old.count == 2 and new.count == 0
    served(lab.post(t))
    assert new.count == 1


@rows("combos")
def _(lab):
    u = lab.provider(then=ok())
    t = lab.turnpike(u, lab.admin())
    write(t, {"combos": {"coder": {"targets": [{"provider": "p", "model": "m-1"}]}}})
    reload(t)
    served(lab.post(t, body=body_for(PATH, model="combo/coder")))
    assert u.sends[-1].json()["model"] == "m-1"


@rows("certificates")
def _(lab):
    ca = authority()
    first = ca.issue("first-%d" % os.getpid(), "DNS:localhost,IP:127.0.0.1")
    second = ca.issue("second-%d" % os.getpid(), "DNS:localhost,IP:127.0.0.1")
    here = [os.path.join(lab.folder, name) for name in ("c.pem", "k.pem")]

    def put(pair):
        for source, to in zip(pair, here):
            with open(source) as a, open(to, "w") as b:
                b.write(a.read())

    def name():
        c = lab.client(t, tls=ca.client())
        return c, dict(x[0] for x in c.sock.getpeercert()["subject"])["commonName"]

    put(first)
    t = lab.turnpike(lab.provider(then=ok()), lab.admin({"listen": [
        {"address": "127.0.0.1:0", "tls": {"certificate": here[0], "key": here[1]}}]}), probe=False)
    assert name()[1].startswith("first")
    with open(here[0], "w") as out:
        out.write("not a certificate\n")
    os.kill(t.workers()[0], signal.SIGKILL)
    t.allowed += ["worker", REFUSED]
    until(lambda: len(t.workers()) == 2 and "is back" in t.log, 5, "a new worker")
    assert name()[1].startswith("first"), "a worker that is forked later has what the others have"
    kept, _ = name()
    reload(t, 422)
    put(second)
    reload(t)
    assert [name()[1].split("-")[0] for _ in range(6)] == ["second"] * 6
    served(kept.ask("GET", "/v1/models"))


@rows("listeners")
def _(lab):
    gate = threading.Event()
    u = lab.provider(gated(gate), then=ok())
    port, sock = free_port(), os.path.join(lab.folder, "x.sock")
    t = lab.turnpike(u, lab.admin(), probe=False)
    c, answer = open_stream(lab, t)
    idle = lab.client(t)
    served(idle.ask("GET", "/v1/models"))
    write(t, {"listen": ["127.0.0.1:0", "127.0.0.1:%d" % port, "unix:" + sock]})
    reload(t)
    for address in (t.address, ("127.0.0.1", port), sock):
        served(lab.post(address))
    write(t, {"listen": ["127.0.0.1:%d" % port]})
    reload(t)
    until(lambda: not os.path.exists(sock), 5, "the unix socket goes")
    assert idle.closed(5) == "fin", "idle connections of a listener that goes are closed"

    def refused():
        try:
            Client(t.address, timeout=2).close()
        except (ConnectionRefusedError, TimeoutError):
            return True

    until(refused, 5, "the old address is refused")
    served(lab.post(("127.0.0.1", port)))
    gate.set()
    finish(c, answer)
    assert c.closed(5) == "fin"
    t.base_descriptors = {}


@rows("workers")
def _(lab):
    gate = threading.Event()
    u = lab.provider(*[gated(gate)] * 8, then=ok())
    t = lab.turnpike(u, lab.admin(), probe=False)
    streams = [open_stream(lab, t) for _ in range(8)]
    before = set(t.workers())
    write(t, {"workers": 4})
    reload(t)
    until(lambda: len(t.workers()) == 4, 5, "four workers")
    until(lambda: sum(w["ready"] for w in numbers(t)["workers"]) == 4, 5, "all ready")
    assert before < set(t.workers()), "none is replaced"
    for _ in range(40):
        served(lab.post(t))
    write(t, {"workers": 1})
    reload(t)
    until(lambda: len(t.workers()) == 2 if before - set(t.workers()) == set() else True, 5, "some retire")
    for _ in range(40):
        served(lab.post(t))
    gate.set()
    for c, answer in streams:
        finish(c, answer)
        c.close()
    until(lambda: len(t.workers()) == 1, 10, "one worker")
    assert set(t.workers()) < before
    for _ in range(20):
        served(lab.post(t))
    t.base_descriptors = {}


@rows("state-needs-a-restart")
def _(lab):
    t = lab.turnpike(lab.provider(), lab.admin(), allow=["needs a restart"])
    write(t, {"state": {"logical_requests": 1000, "name": t.name}, "limits": {"connections": 99}})
    said = reload(t)
    assert said["generation"] == 2 and "state.logical_requests" in said["warnings"][0]
    until(lambda: "state.logical_requests needs a restart" in t.log, 5, "the log line")


@rows("admin-token-and-address")
def _(lab):
    port = free_port()
    t = lab.turnpike(lab.provider(), lab.admin())
    write(t, {"admin": {"listen": t.config["admin"]["listen"] + ["127.0.0.1:%d" % port], "token": "s" * 32}})
    reload(t)
    door = ("127.0.0.1", port)
    until(lambda: ask(door, "GET", "/healthz").status == 200, 5, "the new address")
    assert ask(door, "POST", "/reload").status == 401
    answer = ask(door, "POST", "/reload", {"authorization": "Bearer " + "s" * 32})
    assert answer.status == 200 and answer.json()["generation"] == 3
    assert ask(door, "GET", "/reload").status == 405


@rows("log-takes-effect")
def _(lab):
    t = lab.turnpike(lab.provider(), lab.admin(), allow=[REFUSED])
    path = os.path.join(lab.folder, "log.json")
    write(t, {"log": {"level": "debug", "format": "json", "output": path}})
    reload(t)
    served(lab.get(t))
    until(lambda: '"worker' in open(path).read(), 5, "workers log there")
    write(t, {"log": {"output": "/nowhere/x.log"}})
    assert "/nowhere/x.log" in reload(t, 422)["errors"][0]
    t.base_descriptors = {}


@rows("hups-coalesce")
def _(lab):
    t = lab.turnpike(lab.provider(), lab.admin())
    for _ in range(50):
        t.signal(signal.SIGHUP)
    answers = lab.side_by_side([lambda: ask(t.admins[0], "POST", "/reload", timeout=20) for _ in range(8)])
    assert all(a.status == 200 for a in answers), answers
    last = max(a.json()["generation"] for a in answers)
    assert 2 <= last <= 30
    until(lambda: generation(t) >= last, 5, "the number")


@rows("while-it-stops")
def _(lab):
    gate = threading.Event()
    u = lab.provider(gated(gate))
    t = lab.turnpike(u, lab.admin(), allow=["reload is ignored"], probe=False)
    c, answer = open_stream(lab, t)
    t.signal(signal.SIGTERM)
    until(lambda: "stopping" in t.log, 5, "it stops")
    hup(t, "the reload is ignored")
    gate.set()
    finish(c, answer)
    assert t.wait_exit(10) == 0


@rows("service-manager")
def _(lab):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        path = os.path.join(lab.folder, "notify")
        manager.bind(path)
        manager.settimeout(10)
        t = lab.turnpike(lab.provider(), lab.admin(), env={"NOTIFY_SOCKET": path}, allow=[REFUSED])
        manager.recv(4096)
        for status in (200, 422):
            reload(t, status)
            first, second = (manager.recv(4096).decode().split() for _ in range(2))
            assert first[0] == "RELOADING=1" and re.fullmatch(r"MONOTONIC_USEC=\d+", first[1])
            assert second == ["READY=1"]
            write(t, text="x")


@rows("secrets-of-both-are-masked")
def _(lab):
    """The log shows neither the new key nor the old one."""
    t = lab.turnpike(lab.provider(then=ok()), lab.admin({"clients": [{"name": "a", "key": "old-secret-0123456789"}]}), probe=False)
    write(t, {"clients": [{"name": "a", "key": "new-secret-0123456789"}], "log": {"level": "debug"}})
    reload(t)
    served(lab.post(t, headers={"authorization": "Bearer new-secret-0123456789"}))
    assert "new-secret-0123456789" not in t.log and "old-secret-0123456789" not in t.log


@rows("command")
def _(lab):
    t = lab.turnpike(lab.provider(), lab.admin(), allow=[REFUSED])
    done = run("reload", "-c", t.file)
    assert done.returncode == 0 and "generation 2" in done.stdout, done
    with bound() as holder:
        write(t, {"listen": ["127.0.0.1:%d" % holder.getsockname()[1]]})
        done = run("reload", "-c", t.file)
        assert done.returncode == 1 and "in use" in done.stderr, done
    write(t, text="listen: [")
    done = run("reload", "-c", t.file)
    assert done.returncode == 1 and re.search(r":\d+:\d+:", done.stderr), done
    assert generation(t) == 2


@rows("command-with-another-file")
def _(lab):
    t = lab.turnpike(lab.provider(), lab.admin())
    other, link = t.file + ".other", t.file + ".link"
    shutil.copy(t.file, other)
    done = run("reload", "-c", other)
    assert done.returncode == 1 and f"does not read {os.path.realpath(other)}, but {os.path.realpath(t.file)}" in done.stderr, done
    os.symlink(t.file, link)
    done = run("reload", "-c", link)
    assert done.returncode == 0 and "generation 2" in done.stdout, done


@rows("command-without-admin")
def _(lab):
    t = lab.turnpike(lab.provider())
    done = run("reload", "-c", t.file)
    assert done.returncode == 0 and "generation 2" in done.stdout, done
    t.stop()
    done = run("reload", "-c", t.file)
    assert done.returncode == 1 and "no turnpike" in done.stderr, done


# ---- under load

@rows("under-load")
def _(lab):
    """No failed turn, no dropped connection; memory and descriptors stand still."""
    rounds, gate, over = 200 if LONG else 60, threading.Event(), threading.Event()
    u = lab.provider(*[gated(gate)] * 6, then=ok())
    t = lab.turnpike(u, lab.admin())
    streams = [open_stream(lab, t) for _ in range(6)]
    counts, failures = [0], []

    def load(keep):
        c = None
        while not over.is_set():
            try:
                c = c or Client(t.address)
                answer = c.post()
                if answer.status != 200:
                    failures.append(answer)
                counts[0] += 1
                if not keep or answer.header("connection") == "close":
                    c.close()
                    c = None
            except OSError as error:
                failures.append(error)
                c = None
        if c is not None:
            c.close()

    threads = [threading.Thread(target=load, args=(i % 2 == 0,)) for i in range(4)]
    for thread in threads:
        thread.start()
    workers = t.workers()
    sizes = []
    for i in range(rounds):
        write(t, {"limits": {"connections": 1000 + i % 7}})
        assert reload(t)["generation"] == i + 2
        if i in (20, rounds - 1):
            sizes.append([resident(pid) for pid in [t.pid, *workers]])
    over.set()
    for thread in threads:
        thread.join(30)
    gate.set()
    for c, answer in streams:
        finish(c, answer)
    assert not failures, failures[:5]
    assert counts[0] > rounds
    until(lambda: t.workers() == workers, 10, "no process but the workers of the beginning")
    print("private bytes of master and workers at round 20 and at the end: %r; %d turns" % (sizes, counts[0]))
    for before, after in zip(*sizes) if "san-" not in os.path.realpath(BINARY) else ():  # ASan keeps what was freed
        assert after - before < 1.5 * 1024 * 1024, "memory grows: %r" % sizes


@rows("workers-up-and-down-under-load")
def _(lab):
    over, failures, counts = threading.Event(), [], [0]
    u = lab.provider(then=ok())
    t = lab.turnpike(u, lab.admin(), probe=False)

    def load():
        while not over.is_set():
            try:
                with Client(t.address) as c:
                    answer = c.post()
                if answer.status != 200:
                    failures.append(answer)
                counts[0] += 1
            except OSError as error:
                failures.append(error)

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(40):
        write(t, {"workers": (4, 1, 3, 2)[i % 4]})
        reload(t)
        until(lambda: len(t.workers()) == t.config["workers"], 10, "workers")
        served = counts[0]
        until(lambda: counts[0] > served or failures, 10, "an answer between two reloads")
    over.set()
    for thread in threads:
        thread.join(30)
    assert not failures, failures[:5]
    t.base_descriptors = {}


@rows("a-pipe-in-its-place")
def _(lab):
    """`serve -c <(...)`: a pipe that nobody writes to any more is no reason to stand still; one with a writer is read."""
    t = lab.turnpike(lab.provider(then=ok()), lab.admin(), allow=[REFUSED])
    text = open(t.file).read()
    os.unlink(t.file)
    os.mkfifo(t.file)
    lines = reload(t, 422)
    assert "timed out" in json.dumps(lines), lines
    killed = t.workers()[0]
    t.allowed.append("ended by signal 9")
    os.kill(killed, signal.SIGKILL)
    until(lambda: "is back" in t.log, 10, lambda: t.log[-2000:])
    writer = threading.Thread(target=lambda: open(t.file, "w").write(text), daemon=True)
    writer.start()
    assert reload(t)["generation"] == 2
    writer.join(10)
    write(t)  # the file is read once more when the row is looked after


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
