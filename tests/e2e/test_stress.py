"""Many at once: one budget over all workers, and thousands of turns with random faults.

These run one after the other, alone on the machine: they are about load, not about waiting.
"""

import collections
import concurrent.futures
import os
import random
import signal
import threading
import time

import pytest

from harness.client import Client, body_for
from harness.provider import good_body, good_events, ok, status

PATH = "/v1/chat/completions"
QUICK = {"overload": {"base": "50ms"}, "retry_after": {"floor": "10ms"}}


def one_by_one(t, body, headers, count):
    out = []
    for _ in range(count):
        with Client(t.address, timeout=60) as c:
            out.append(c.post(PATH, body, headers))
    return out


def at_once(t, body, headers, count):
    """All connections are open before the first request is written; (answers, failures)."""
    clients = [Client(t.address, timeout=60) for _ in range(count)]
    answers, failures = [], []
    try:
        for c in clients:
            try:
                c.request("POST", PATH, headers, body)
            except OSError as error:
                failures.append(error)
        for c in clients:
            answers.append(c.response(timeout=60))
    finally:
        for c in clients:
            c.close()
    return answers, failures


@pytest.mark.parametrize("code, most", [(503, 3), (429, 4)])
def test_one_key_500_connections(lab, code, most):
    u = lab.provider(then=status(code, after=0.05))
    t = lab.turnpike(u, {"workers": 4, "retry": QUICK})
    body, headers = body_for(PATH), {"Idempotency-Key": "one-logical-request"}
    answers, failures = at_once(t, body, headers, 500)
    answers += one_by_one(t, body, headers, 50)
    assert u.count == most, u.sends
    assert not failures and len(answers) == 550
    seen = collections.Counter((a.status, a.end) for a in answers)
    assert set(seen) <= {(code, "complete"), (429, "complete"), (409, "complete")}, seen
    for answer in answers:
        assert answer.sends is None or answer.sends <= most
    stats = t.final_stats()
    assert stats["turns"] == 550 and t.sends_counted(stats) == most, stats


@pytest.mark.parametrize("code, most", [(503, 3), (429, 4)])
def test_one_key_while_workers_are_killed(lab, code, most):
    u = lab.provider(then=status(code, after=0.3))
    t = lab.turnpike(u, {"workers": 4, "retry": QUICK, "blacklist": {"failures": 1000}, "log": {"level": "warn"}},
                     allow=[r"worker|signal"])
    body, headers = body_for(PATH), {"Idempotency-Key": "one-logical-request"}
    stop, statuses = threading.Event(), collections.Counter()
    lock = threading.Lock()

    def load():
        while not stop.is_set():
            try:
                with Client(t.address, timeout=20) as c:
                    answer = c.post(PATH, body, headers)
                    key = answer.status or answer.end
            except OSError as error:
                key = type(error).__name__
            with lock:
                statuses[key] += 1

    threads = [threading.Thread(target=load, daemon=True) for _ in range(50)]
    for thread in threads:
        thread.start()
    killed = 0
    for _ in range(6):
        time.sleep(1)
        workers = t.workers()
        if workers:
            os.kill(random.choice(workers), signal.SIGKILL)
            killed += 1
    time.sleep(1)
    stop.set()
    for thread in threads:
        thread.join(30)
    assert killed >= 5
    assert 1 <= u.count <= most, u.sends
    assert statuses[429] > 100, statuses
    assert set(statuses) <= {429, 409, code, "cut", "reset", "ConnectionResetError", "BrokenPipeError"}, statuses
    t.lost = len(threads) * killed


# ---- random faults

def cut_json(x):
    x.answer(200, (), good_body(x.send), cut=random.randrange(20, 150))
    x.close()


def cut_stream(x):
    prelude, outputs, _ = good_events("chat")
    x.stream_head()
    for piece in (prelude + outputs)[:random.randrange(0, 4)]:
        x.piece(piece)
    x.reset() if random.random() < 0.5 else x.close()


def good_stream(x):
    prelude, outputs, ending = good_events("chat")
    x.stream_head(framing=random.choice(("chunked", "close")))
    for piece in prelude + outputs + ending:
        x.piece(piece)
    x.stream_end()


def slow(x):
    x.sleep(random.random() * 0.2)
    x.answer(200, (), good_body(x.send))


def garbage(x):
    x.write(random.randbytes(50) + b"\r\n\r\n", answered=True)
    x.close()


AGAIN = {"500": status(500), "503": status(503), "429": status(429), "429-told": status(429, {"Retry-After": "0"}),
         "529": status(529), "503-chunked": status(503, framing="chunked"), "502-close": status(502, framing="close")}
LAST = {"ok": ok(), "ok-chunked": ok(framing="chunked"), "ok-close": ok(framing="close"), "slow": slow,
        "stream": good_stream, "400": status(400), "404": status(404), "408": status(408), "524": status(524),
        "reset": lambda x: x.reset(), "fin": lambda x: x.close(), "garbage": garbage, "cut-json": cut_json,
        "cut-stream": cut_stream, "long-wait": status(429, {"Retry-After": "100"}),
        "silent": lambda x: x.await_peer_close(5)}


def random_turn(t, u, number, seed):
    """One turn with a fault; what is wrong with its end, or None."""
    dice = random.Random(seed * 1_000_003 + number)
    name, kinds = "turn-%d" % number, []

    def step(x):
        kind = dice.choice(list(AGAIN)) if dice.random() < 0.35 else dice.choice(list(LAST))
        kinds.append(kind)
        (AGAIN.get(kind) or LAST[kind])(x)

    row = u.row(name, then=step)
    leave = dice.random() < 0.1
    size = dice.choice((10, 10, 1000, 100_000))
    with Client(t.address, timeout=20) as c:
        body = body_for(PATH, "turn %d %d " % (seed, number) + "x" * size, stream=dice.random() < 0.5,
                        model=name)  # what one is told to wait holds all of its model
        c.request("POST", PATH, {"x-row": name}, body, chunked=dice.choice((None, None, 4096)))
        if leave:
            time.sleep(dice.random() * 0.1)
            c.reset() if dice.random() < 0.5 else c.close()
            answer = None
        else:
            answer = c.response()
    sent = list(kinds)
    if len(row.sends) > 4:
        return "%d sends" % len(row.sends)
    if any(kind in LAST for kind in sent[:-1]):
        return "sent again after %r" % sent
    if leave:
        return None
    if answer.status is None:
        return "no answer after %r: %r" % (sent, answer)
    if answer.end != "complete" and sent[-1] not in ("cut-stream", "cut-json"):
        return "%r after %r" % (answer, sent)
    if sent[-1] in ("ok", "ok-chunked", "ok-close", "slow", "stream") and answer.status != 200:
        return "%r after %r" % (answer, sent)
    if sent[-1] in ("reset", "fin", "garbage", "silent") and not (answer.status == 429 and answer.stop):
        return "%r after %r" % (answer, sent)
    return None


def test_random_faults(lab):
    turns = 10_000 if os.environ.get("TP_LONG") == "1" else 2_000
    seed = int(os.environ.get("TP_SEED") or random.randrange(1 << 30))
    print("TP_SEED=%d" % seed)
    u = lab.provider()
    t = lab.turnpike({"p": {"url": u.url(), "timeouts": {"first_byte": "1s", "idle": "1s"}}}, {"retry": {
        "overload": {"base": "5ms"}, "transient": {"base": "5ms"}, "reset": {"base": "5ms"},
        "retry_after": {"floor": "5ms"}}, "blacklist": {"failures": 1000}})
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        wrong = [x for x in pool.map(lambda n: random_turn(t, u, n, seed), range(turns)) if x]
    assert not wrong, "%d of %d turns: %s" % (len(wrong), turns, wrong[:10])
    for row in u.rows.values():
        row.wait_sends(0)
    u.stop()
    t.check_idle(10)
    stats = t.stats()
    assert stats["turns"] == turns, stats
    made = sum(row.count for row in u.rows.values())
    # a send is charged before its first byte; a client that leaves in between makes one without a request
    assert made <= t.sends_counted(stats) <= made + stats["turns_gone"], (made, stats)
