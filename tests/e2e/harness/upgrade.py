"""What the rows of an upgrade (USR2) share: a binary that can be replaced, load meanwhile, who serves after it."""

import os
import re
import signal
import threading
import time

from .client import ask, post
from .turnpike import BINARY, children, merge, until

PATH = "/v1/chat/completions"
STAYS = r"this one goes on serving"
TOLD = "ready; the running server is told"  # of the new master, with DEBUG
DEBUG = {"log": {"level": "debug"}}


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


def until_told(t, new):
    """The new master has said that it is ready, to one that is stopped and does not hear of it: its workers."""
    until(lambda: TOLD in t.log, 20, lambda: t.log[-2000:])
    return children(new)


def serves_on(lab, t, pid):
    """The master of that pid, with its workers, its sockets, its table, and no trace of another one."""
    assert t.pid == pid and t.process.poll() is None and t.holder() == pid, t.log[-3000:]
    assert not os.path.exists("/dev/shm%s.next" % t.name)
    for _ in range(8):
        assert post(t.address, PATH).status == 200
    if t.admins:
        assert ask(t.admins[0], "GET", "/readyz").status == 200
