"""Deaths under load: what the shared table promises when processes are killed at any moment (docs/shared-memory.md).

The stress runs for half a minute; TP_LONG=1 makes it a thousand kills (about ten minutes), TP_SEED repeats its dice.
"""

import collections
import itertools
import os
import random
import signal
import subprocess
import threading
import time

import pytest

from harness.client import Client, ask, body_for
from harness.exposition import Exposition, check_grows
from harness.lab import Rows
from harness.provider import good_body, good_events, ok, status
from harness.turnpike import BINARY, alive, until

rows = Rows()
PATH = "/v1/chat/completions"
LONG = os.environ.get("TP_LONG") == "1"
WORKERS, CLIENTS, BUDGET = 4, 32, 4
KILLED = [r"worker|signal"]


def scrape(t):
    answer = ask(t.admins[0], "GET", "/metrics", timeout=10)
    assert answer.status == 200, answer
    return Exposition(answer.body.decode())


# ---- stress

def slow(x):
    x.sleep(random.random() * 0.3)
    x.answer(200, (), good_body(x.send))


def streamed(x):
    prelude, outputs, ending = good_events("chat")
    x.stream_head()
    for piece in prelude + outputs + ending:
        x.piece(piece)
        x.sleep(0.02)
    x.stream_end()


ENDS = {"503": status(503), "429": status(429), "429-told": status(429, {"Retry-After": "0"}), "404": status(404),
        "ok": ok(), "slow": slow, "stream": streamed, "reset": lambda x: x.reset(), "fin": lambda x: x.close()}
WEIGHTS = {"503": 6, "429": 4, "429-told": 2, "404": 1, "ok": 3, "slow": 4, "stream": 2, "reset": 1, "fin": 1}


class Load:
    """Clients that send each logical request again, under its key, until it is served or they lose patience."""

    def __init__(self, t, u, seed):
        self.t, self.u, self.seed = t, u, seed
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.seen = collections.Counter()  # ends of turns as clients see them
        self.hung, self.wrong = [], []
        self.threads = [threading.Thread(target=self._client, args=(n,), daemon=True) for n in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def _client(self, n):
        for number in itertools.count():
            if self.stop.is_set():
                return
            try:
                self._logical_request("key-%d-%d" % (n, number), random.Random("%d %d %d" % (self.seed, n, number)))
            except Exception as error:  # of the test itself
                self.wrong.append(repr(error))
                return

    def _logical_request(self, key, dice):
        kinds = random.Random(dice.random())

        def step(x):
            ENDS[kinds.choices(list(WEIGHTS), WEIGHTS.values())[0]](x)

        self.u.row(key, then=step)
        body = body_for(PATH, key, stream=dice.random() < 0.3)
        for _ in range(6):
            end = self._turn(key, body)
            with self.lock:
                self.seen[end] += 1
            if end == 200 or self.stop.is_set():
                break
            time.sleep(dice.random() * 0.3)

    def _turn(self, key, body):
        try:
            with Client(self.t.address, timeout=20) as c:
                answer = c.post(PATH, body, {"Idempotency-Key": key, "x-row": key})
        except TimeoutError:
            self.hung.append(key)
            return "lost"
        except ConnectionError:
            return "lost"
        if answer.end == "timeout":
            self.hung.append(key)
        return answer.status if answer.end == "complete" else "lost"

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive(), "a client hangs"
        assert not self.hung and not self.wrong, (self.hung[:5], self.wrong[:5])


class Scrapes:
    """Reads /metrics all the time; no counter may run backwards."""

    def __init__(self, t):
        self.t, self.count, self.wrong = t, 0, []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        before = scrape(self.t)
        while not self.stop.is_set() and not self.wrong:
            try:
                now = scrape(self.t)
                check_grows(before, now)
                before = now
                self.count += 1
            except (AssertionError, OSError) as error:
                self.wrong.append(error)
            time.sleep(0.05)

    def end(self):
        self.stop.set()
        self.thread.join(20)
        assert not self.wrong, self.wrong


def kill_at_random(t, dice, seconds, most):
    """Kills workers while two more of them live.  Not four within half a second: three such rounds would rightly
    begin a fresh table, and budgets with it (server/deaths.h)."""
    killed, end = 0, time.monotonic() + seconds
    while killed < most and time.monotonic() < end:
        workers = t.workers()
        if len(workers) >= 3:
            os.kill(dice.choice(workers), signal.SIGKILL)
            killed += 1
        time.sleep(0.2 + dice.random() * 0.15)
    return killed


def test_random_kills(lab):
    seed = int(os.environ.get("TP_SEED") or random.randrange(1 << 30))
    print("TP_SEED=%d" % seed)
    u = lab.provider()
    quick = {"overload": {"base": "20ms"}, "transient": {"base": "20ms"}, "retry_after": {"floor": "10ms"}}
    # One credential reaches an eighth of the ledger. With no room each turn of a client would get its first send.
    room = {"logical_requests": 1 << 20 if LONG else 1 << 16}
    t = lab.turnpike({"p": u.url()}, dict(lab.admin(), workers=WORKERS, retry=quick, state=room), allow=KILLED)
    table = os.stat("/dev/shm" + t.name).st_ino
    load, scrapes = Load(t, u, seed), Scrapes(t)
    time.sleep(0.5)
    killed = kill_at_random(t, random.Random(seed), 3000 if LONG else 20, 1000)
    time.sleep(0.5)
    load.end()
    scrapes.end()
    print(killed, "kills,", scrapes.count, "scrapes,", load.seen)
    assert killed >= (1000 if LONG else 15) and scrapes.count >= 20 and load.seen[200] >= 50
    assert os.stat("/dev/shm" + t.name).st_ino == table, "the table was replaced"

    assert scrape(t).sum("turnpike_ledger_full_total") == 0, "the ledger is too small for this run"

    # no budget is overrun
    made = {key: row.count for key, row in u.rows.items()}
    over = {key: count for key, count in made.items() if count > BUDGET}
    assert not over, over

    # no slot is lost, and none hangs
    until(lambda: len(t.workers()) == WORKERS, 10, "all workers are back")
    until(lambda: scrape(t).sum("turnpike_workers_ready") == WORKERS, 10, "all workers are ready")

    # gauges are zero; of the turns that clients lost, and of none else, the outcome is not known
    lost = t.lost = load.seen["lost"]
    u.close_idle()
    t.check_idle(10)
    stats = t.stats()
    turns = sum(load.seen.values())
    assert turns - lost <= stats["turns"] <= turns, (stats["turns"], turns, lost)
    # A send is counted where it is written, by a process with one thread: a kill loses at most the one it was about
    # to count. The other way round, a send that was counted and died unwritten had a client who lost its answer.
    sends, seen = t.sends_counted(stats), sum(made.values())
    print(sends, "sends counted,", seen, "seen by the provider,", stats["turns"], "turns counted,", turns, "made")
    assert seen - killed <= sends <= seen + lost, (sends, seen, killed, lost)


# ---- the master and its workers, in every order

ORDERS = {" ".join(order): order for order in itertools.permutations(("master", "first", "second"))}


@rows.table("killed", ORDERS)
def _(lab, order):
    """Budgets, counters and what an open send means outlive all of them."""
    u = lab.provider(then=status(503))
    t = lab.turnpike(u, dict(lab.admin(), workers=2), allow=KILLED, probe=False)
    spent, headers = body_for(PATH, "spent"), {"Idempotency-Key": "spent"}
    assert lab.post(t, body=spent, headers=headers).status == 503 and u.count == 3
    held = u.row("held", then=lambda x: x.await_peer_close(20))
    open_body, open_headers = body_for(PATH, "open"), {"Idempotency-Key": "open", "x-row": "held"}
    c = lab.client(t)
    c.request("POST", PATH, open_headers, open_body)
    held.wait_sends(1)
    counted = t.sends_counted()
    first, second = t.workers()
    victims = {"master": t.pid, "first": first, "second": second}
    for name in order:
        os.kill(victims[name], signal.SIGKILL)
        if name != "master":
            # reaped, by the master or by init: what it left is stale before the next one goes
            until(lambda: not alive(victims[name]), 5, "the worker is gone")
    t.process.wait(5)
    assert c.closed(5) is not None
    again = lab.turnpike(u, dict(lab.admin(), workers=2), name=t.name, allow=KILLED, probe=False)
    assert "goes on from an earlier start" in again.log
    assert again.sends_counted() == counted == 4
    answer = lab.post(again, body=spent, headers=headers)
    assert answer.status == 429 and answer.stop and u.count == 3, answer
    answer = lab.post(again, body=open_body, headers=open_headers)
    assert answer.status == 429 and answer.code == "upstream_closed_before_response" and answer.stop, answer
    assert held.count == 1
    again.lost = 1  # the turn that was open


@rows("two-instances-with-one-name")
def _(lab):
    """Of many that start at once over the table of a dead one, one takes it; the others say why they do not."""
    u = lab.provider()
    t = lab.turnpike(u, {"workers": 1}, probe=False)
    t.kill()
    many = [lab.turnpike(u, {"workers": 1}, start=False, name=t.name, probe=False) for _ in range(4)]
    processes = [subprocess.Popen([BINARY, "serve", "-c", many[0].file], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, start_new_session=True) for _ in many]
    try:
        until(lambda: sum(p.poll() is not None for p in processes) >= 3, 10, "three of four give up")
        time.sleep(0.5)
        winners = [p for p in processes if p.poll() is None]
        assert len(winners) == 1
        for p in processes:
            if p is not winners[0]:
                said = p.stderr.read()
                assert p.returncode != 0 and t.name in said and str(winners[0].pid) in said, said
        winners[0].terminate()
        assert winners[0].wait(10) == 0
    finally:
        for p in processes:
            if p.poll() is None:
                p.kill()
            p.wait(5)
            p.stderr.close()


# ---- what is found in the place of the table

def write_at(path, offset, data):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def cut(path):
    os.truncate(path, os.path.getsize(path) // 2)


DAMAGES = {"magic": lambda path: write_at(path, 0, b"\0" * 8), "layout": lambda path: write_at(path, 8, b"\xff" * 4),
           "header": lambda path: write_at(path, 80, b"\xff" * 16), "cut": cut,
           "empty": lambda path: os.truncate(path, 0), "noise": lambda path: write_at(path, 0, os.urandom(65536))}


@rows.table("replaced", DAMAGES)
def _(lab, damage):
    u = lab.provider(then=status(503))
    t = lab.turnpike(u, probe=False)
    body, headers = body_for(PATH), {"Idempotency-Key": "k"}
    assert lab.post(t, body=body, headers=headers).status == 503
    u.close_idle()
    t.check_idle()
    t.stop()
    path = "/dev/shm" + t.name
    damage(path)
    inode = os.stat(path).st_ino
    again = lab.turnpike(u, name=t.name, probe=False, allow=[r"was replaced by a fresh one: "])
    assert os.stat(path).st_ino != inode and "was replaced by a fresh one: " in again.log
    assert again.sends_counted() == 0
    assert lab.post(again, body=body, headers=headers).status == 503 and u.count == 6


FOREIGN = {"mode": (lambda path: os.chmod(path, 0o644), "mode is not 0600"),
           "owner": (lambda path: os.chown(path, 65534, -1), "belongs to another user")}


@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_table_is_refused(lab, kind):
    make, said = FOREIGN[kind]
    if kind == "owner" and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    t = lab.turnpike(lab.provider(), start=False, allow=["cannot be used"])
    path = "/dev/shm" + t.name
    with open(path, "wb") as file:
        file.write(b"somebody's")
    make(path)
    with pytest.raises(AssertionError, match="serve ended with"):
        t.start()
    assert t.process.returncode > 0 and said in t.log, t.log
    with open(path, "rb") as file:
        assert file.read() == b"somebody's", "what is not ours is left alone"


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
