"""Combos under random faults and outages.

TP_SEED repeats a run's dice, TP_LONG=1 makes the outage 30 s long, as case BR-6 has it, and the faults ten times as many.
"""

import os
import random
import threading
import time

import pytest

from harness.checks import served
from harness.combos import ask, combo
from harness.lab import Rows
from harness.provider import ok, reset, silent, status
from harness.turnpike import refusing_port

rows = Rows()
LONG = os.environ.get("TP_LONG") == "1"
SEED = int(os.environ.get("TP_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
T = 3
STRATEGIES = ("failover", "round_robin", "random", "least_busy")
FAULTS = (429, 503, 500, 502, 529, 404, 401, 501)


def fault(dice):
    code = dice.choice(FAULTS)
    headers = {"Retry-After": dice.choice(("0", "1", "2", "70"))} if code in (429, 503) and dice.random() < 0.3 else {}
    return status(code, headers)


@rows.table("all-fail", range(4))
def _(lab, group):
    """Never more sends than T + 3; each declared target is reached; none again once another was asked."""
    dice = random.Random("%d-%d" % (SEED, group))
    for case in range(60 if LONG else 6):
        order, lock = [], threading.Lock()

        def noted(name, step):
            def run(x):
                with lock:
                    order.append(name)
                step(x)
            return run

        names, urls = "abc", []
        refused = set()
        for name in names:
            if dice.random() < 0.2:
                refused.add(name)
                urls.append("http://127.0.0.1:%d/v1" % refusing_port())
            else:
                u = lab.provider(*[noted(name, fault(dice)) for _ in range(8)], then=noted(name, status(503)))
                urls.append(u)
        strategy, most = dice.choice(STRATEGIES), dice.choice((1, 2, 5))
        t = combo(lab, *urls, strategy=strategy, sends_per_target=most,
                  config={"retry": {"transient": {"base": "20ms"}, "overload": {"base": "20ms"},
                                    "retry_after": {"floor": "20ms"}}})
        answer = ask(lab, t)
        about = "seed %d, group %d, case %d: %s, %d, refused %s: asked %s: %r" % (
            SEED, group, case, strategy, most, sorted(refused), "".join(order), answer)
        assert answer.status >= 400, about
        assert len(order) <= T + 3, about
        assert set(order) == set(names) - refused, about
        runs = [n for i, n in enumerate(order) if i == 0 or order[i - 1] != n]
        assert len(runs) == len(set(runs)), about
        stats = t.final_stats()
        assert sum(v for k, v in stats.items() if k.startswith("sends_")) - stats["given_back"] == len(order), about
        t.stop()


@rows.table("BR-6", {"refused": True, "503": False})
def _(lab, refused):
    """The first target is out for a while: at most one send per cooldown is tried, every turn is answered, and it
    serves again soon after it is back."""
    seconds, rate, cooldown = (30, 2, 5) if LONG else (6, 4, 1)
    a, b = lab.provider(then=ok() if refused else status(503)), lab.provider()
    port = refusing_port()
    t = combo(lab, "http://127.0.0.1:%d/v1" % port if refused else a, b, sends_per_target=1,
              cooldown="%ds" % cooldown)
    begun = time.monotonic()
    for turn in range(seconds * rate):
        time.sleep(max(0, begun + turn / rate - time.monotonic()))
        answer = ask(lab, t)
        served(answer)
        assert answer.header("x-turnpike-target") == "b/model-b"
    stats = t.final_stats()
    tried = stats["given_back"] if refused else a.count
    assert 1 <= tried <= seconds / cooldown + 1, (tried, stats)
    assert b.count == seconds * rate
    if refused:
        return  # nobody else's: nothing can begin to listen there
    assert all(y.at - x.at >= cooldown - 0.05 for x, y in zip(a.sends, a.sends[1:])), a.sends
    a.set(then=ok())
    back = time.monotonic()
    while ask(lab, t).header("x-turnpike-target") != "a/model-a":
        assert time.monotonic() < back + 2 * cooldown
        time.sleep(0.1)


@rows("outage-round-robin")
def _(lab):
    """The same where its turn comes again and again, and requests come in side by side."""
    a, b, c = lab.provider(then=status(503)), lab.provider(), lab.provider()
    t = combo(lab, a, b, c, strategy="round_robin", sends_per_target=1, cooldown="1s")
    begun = time.monotonic()
    while time.monotonic() < begun + 3:
        for answer in lab.side_by_side([lambda: ask(lab, t)] * 8):
            served(answer)
        time.sleep(0.05)
    # Those that were under way together when it failed have each asked it once.
    assert a.count <= 4 * 8 and b.count > 0 and c.count > 0, (a.count, b.count, c.count)


@rows.table("may-have-run", {"reset": reset(), "silent": silent()})
def _(lab, step):
    """Whatever the strategy: a send that may have run is not repeated at another target."""
    for strategy in STRATEGIES[1:]:
        both = [lab.provider(then=step), lab.provider(then=step)]
        t = combo(lab, *both, strategy=strategy, config={"providers": {n: {"timeouts": {"first_byte": "300ms"}}
                                                                       for n in "ab"}})
        assert ask(lab, t).status == 429 and sum(u.count for u in both) == 1
        t.stop()


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
