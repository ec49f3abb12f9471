"""Binary upgrade where the shared table has another layout, and somebody removes a file of /dev/shm meanwhile."""

import os
import signal

import pytest

from harness.client import post
from harness.lab import Rows
from harness.turnpike import READY, run, until
from harness.upgrade import DEBUG, PATH, STAYS, admin, held_back, start, successor, until_told

rows = Rows(allow=["is replaced by a fresh one", "does not get its name"])
TAKEN = "this is the master now"


def tables(t):
    """The numbers of the files that a command finds, or would after another exchange; None: there is none."""
    out = []
    for name in ("/dev/shm%s" % t.name, "/dev/shm%s.next" % t.name):
        out.append(os.stat(name).st_ino if os.path.exists(name) else None)
    return out


def no_table(t):
    done = run("stats", "--name", t.name)
    assert done.returncode == 1 and "there is no shared memory" in done.stderr, done


def gone(t):
    """It serves, and no command takes another table for its own."""
    for _ in range(8):
        assert post(t.address, PATH).status == 200
    no_table(t)


def end(t):
    """TERM; what lab looks at cannot be read without a table."""
    t.signal(signal.SIGTERM)
    assert t.wait_exit() == 0, t.log[-3000:]


@rows("taken-back-without-its-name")
def _(lab):
    """The new master has put its table in place, the old one's has lost its file, and the new one dies."""
    t = start(lab, lab.provider(), allow=[STAYS], probe=False)
    mine = tables(t)[0]
    t.other_layout()
    new = successor(t)
    until(lambda: TAKEN in t.log, 20, lambda: t.log[-2000:], step=0.001)
    assert tables(t)[1] == mine, tables(t)
    os.unlink("/dev/shm%s.next" % t.name)
    os.kill(new, signal.SIGKILL)
    until(lambda: STAYS in t.log, 10, lambda: t.log[-2000:])
    assert t.log.count("does not get its name %s back: No such file or directory" % t.name) == 1, t.log[-2000:]
    gone(t)
    assert tables(t) == [None, None]
    old = t.upgrade()  # the next one makes a table, which has the name
    assert old.wait(15) == 0
    assert post(t.address, PATH).status == 200
    t.counted(turns=1)


def with_a_fresh_table(lab, t):
    """The pid of a new master that has made one beside the old master's, which is stopped and does not hear of it."""
    go = held_back(lab, t)
    new = successor(t)
    t.signal(signal.SIGSTOP)
    t.other_layout()
    go()
    until_told(t, new)
    assert tables(t)[1], "none was made"
    return new


@rows("taken-over-without-its-name")
def _(lab):
    """The fresh table has lost its file before the new master could give it the name."""
    t = start(lab, lab.provider(), admin(lab, DEBUG), probe=False)
    with_a_fresh_table(lab, t)
    mine = tables(t)[0]
    os.unlink("/dev/shm%s.next" % t.name)
    t.signal(signal.SIGCONT)
    until(lambda: t.log.count(READY) == 2, 20, lambda: t.log[-2000:])
    assert t.log.count("does not get its name %s: No such file or directory" % t.name) == 1, t.log[-2000:]
    assert tables(t) == [mine, None], "the old one's, as long as it may go on with it"
    t.adopt(t.holder())
    assert t.replaced[0].wait(15) == 0
    gone(t)
    end(t)


@rows("taken-back-after-nothing-was-its-own")
def _(lab):
    """The same, and the new master dies at once: the old one has never lost its name."""
    t = start(lab, lab.provider(), admin(lab, DEBUG), allow=[STAYS])
    new = with_a_fresh_table(lab, t)
    mine = tables(t)[0]
    os.unlink("/dev/shm%s.next" % t.name)
    t.other_layout(-1)
    t.signal(signal.SIGCONT)
    until(lambda: TAKEN in t.log, 20, lambda: t.log[-2000:], step=0.001)
    os.kill(new, signal.SIGKILL)
    until(lambda: STAYS in t.log, 10, lambda: t.log[-2000:])
    assert tables(t) == [mine, None]
    assert "back: " not in t.log


@rows("the-running-one-is-gone")
def _(lab):
    """The running server's table has lost its file: the new master makes one that has the name, and says so."""
    t = start(lab, lab.provider(), admin(lab))
    os.unlink("/dev/shm" + t.name)
    old = t.upgrade()
    assert old.wait(15) == 0
    assert "is replaced by a fresh one: it is gone" in t.log
    assert post(t.address, PATH).status == 200
    assert tables(t)[1] is None


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
