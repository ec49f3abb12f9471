"""Everything at once, for a long time: four workers, providers that fail in all ways, clients that are slow or
vanish, reloads, killed workers.  At its end: no send beyond a budget, no credential at the wrong provider, memory
and descriptors as in the middle, and counters that agree with what the providers have noted.

    soak.py SECONDS [SEED]
"""

import collections
import contextlib
import json
import os
import random
import signal
import statistics
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from harness import turnpike
from harness.client import Client, body_for, request_bytes
from harness.lab import Lab
from harness.provider import error_body, good_body, good_events
from harness.turnpike import descriptors, resident, until

PATH = "/v1/chat/completions"
# A combo has one send more for its second target.
MODELS = {"m": 4, "fast": 5}
CLIENTS, MIB = 24, 1024 * 1024
RELOAD_S, KILL_S, SAMPLE_S = 7, 19, 2
KEYS = {"a": ["key-of-a-1-0123456789", "key-of-a-2-0123456789"], "b": ["key-of-b-0123456789"]}
OUTCOMES = ("ok", "error", "refused", "cut", "gone", "bad")


class Seen:
    """What the providers noted."""

    def __init__(self):
        self.lock = threading.Lock()
        self.by_id, self.by_fault, self.strangers, self.sends = collections.Counter(), collections.Counter(), [], 0
        self.history = collections.defaultdict(list)

    def note(self, name, send, fault):
        key = (send.header("authorization") or "")[len("Bearer "):]
        with self.lock:
            self.sends += 1
            self.by_id[send.header("idempotency-key")] += 1
            self.by_fault[fault] += 1
            self.history[send.header("idempotency-key")].append("%s: %s" % (name, fault))
            if key not in KEYS[name]:
                self.strangers.append((name, key))


# ---- providers

def cut(x):
    x.answer(200, (), good_body(x.send), cut=random.randrange(1, 150))
    x.close()


def stream(x, pause=0.0, whole=True):
    pre, out, end = good_events("chat", ["w%d " % n for n in range(random.randrange(2, 30))])
    x.stream_head()
    for piece in pre + out + (end if whole else []):
        x.piece(piece)
        if pause:
            x.sleep(pause)
    if whole:
        x.stream_end()
    else:
        x.reset()


def large(x):
    body = json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": {
        "role": "assistant", "content": "l" * random.randrange(100_000, 1_000_000)}}]})
    x.answer(200, (), body.encode(), framing=random.choice(("length", "chunked", "close")))


def error(status, headers=()):
    return lambda x: x.answer(status, headers, error_body(status))


def fine(x):
    x.answer(200, (), good_body(x.send), framing=random.choice(("length", "chunked", "close")))


FAULTS = {"ok": (30, fine), "stream": (25, stream), "slow stream": (6, lambda x: stream(x, 0.02)), "large": (4, large),
          "503": (8, error(503)), "500": (4, error(500)), "529": (3, error(529)), "429": (4, error(429)),
          "429 told": (3, error(429, {"Retry-After": "0"})), "400": (2, error(400)), "401": (1, error(401)),
          "reset": (4, lambda x: x.reset()), "fin": (3, lambda x: x.close()), "cut": (4, cut),
          "cut stream": (4, lambda x: stream(x, whole=False)), "slow": (5, lambda x: (x.sleep(random.random()), fine(x))),
          "garbage": (2, lambda x: (x.write(random.randbytes(60) + b"\r\n\r\n"), x.close())),
          "silent": (1, lambda x: (x.await_peer_close(3), x.close()))}


def provider_step(seen, name):
    names, weights = list(FAULTS), [weight for weight, _ in FAULTS.values()]

    def step(x):
        fault = random.choices(names, weights)[0]
        seen.note(name, x.send, fault)
        FAULTS[fault][1](x)
    return step


# ---- clients

def read_slowly(c):
    answer = c.head(timeout=60)
    for _ in c.pieces(answer, 60):
        time.sleep(0.01)
    return answer


def one_turn(t, number, dice, answers):
    """What became of it, in a word."""
    stream_, model = dice.random() < 0.5, dice.choice(("fast", "fast", "m"))
    body = body_for(PATH, "p" * dice.choice((10, 500, 20_000, 300_000)), stream=stream_, model=model)
    name = "soak-%s-%d" % (model, number)
    head = {"Idempotency-Key": name, "Authorization": "Bearer key-of-a-client"}
    what = dice.choices(("plain", "again", "vanish", "vanish early", "slow reader", "trickle"), (60, 12, 8, 6, 8, 6))[0]
    for attempt in range(3 if what == "again" else 1):
        with Client(t.address, timeout=60, receive_buffer=4096 if what == "slow reader" else None) as c:
            data = request_bytes("POST", PATH, head, body)
            if what == "vanish early":
                c.send(data[:dice.randrange(1, len(data))])
                return what
            if what == "trickle":
                step = len(data) // 7 + 1
                for at in range(0, len(data), step):
                    c.send(data[at:at + step])
                    time.sleep(0.05)
            else:
                c.send(data)
            if what == "vanish":
                time.sleep(dice.random() * 0.3)
                c.reset() if dice.random() < 0.5 else c.close()
                return what
            answer = read_slowly(c) if what == "slow reader" else c.response(timeout=60)
        if what == "again":
            answers[name].append("%s %s %s" % (answer.status, answer.end, answer.sends))
        if answer.end == "timeout":
            return "TIMEOUT"
        if answer.status == 200:
            break
    return "%s %s" % (answer.status, answer.end)


class Soak:
    def __init__(self, lab, seconds, seed):
        self.lab, self.seconds, self.dice = lab, seconds, random.Random(seed)
        self.seen, self.ends, self.lock = Seen(), collections.Counter(), threading.Lock()
        self.stop, self.numbers = threading.Event(), iter(range(1 << 40))
        self.samples, self.kills, self.reloads, self.answers = [], 0, 0, collections.defaultdict(list)
        self.providers = {name: lab.provider(then=provider_step(self.seen, name)) for name in KEYS}
        self.t = lab.turnpike({name: {"url": u.url(), "keys": KEYS[name], "capacity": {"limit": 12, "wait": "20s"}}
                               for name, u in self.providers.items()}, self.config(), probe=False,
                              allow=[r"worker|signal|blacklist|listed|key|refused|cool|certificate|tables?"])

    def config(self):
        # One credential reaches an eighth of the ledger: ten minutes of ids are to fit.
        return {"workers": 4, "log": {"level": "warn"}, "state": {"logical_requests": 1 << 20}, "budget": {"sends": MODELS["m"], "reserve": 1},
                "clients": [{"name": "soak", "key": "key-of-a-client"}],
                "routes": [{"path": "/v1", "provider": "a"}],
                "combos": {"fast": {"strategy": "failover", "cooldown": "1s",
                                    "targets": [{"provider": "a", "model": "m"}, {"provider": "b", "model": "m"}]}},
                "blacklist": {"failures": 1000000}, "limits": {"slow_reader": "5s", "client_body": "10s"},
                "retry": {"transient": {"base": "50ms"}, "overload": {"base": "100ms"}, "retry_after": {"floor": "50ms"}}}

    # -- what goes on meanwhile
    def client(self, seed):
        dice = random.Random(seed)
        while not self.stop.is_set():
            with self.lock:
                number = next(self.numbers)
            try:
                end = one_turn(self.t, number, dice, self.answers)
            except OSError as error:
                end = type(error).__name__
            with self.lock:
                self.ends[end] += 1

    def disturb(self):
        began, next_reload, next_kill, next_sample = time.monotonic(), RELOAD_S, KILL_S, 0.0
        while (now := time.monotonic() - began) < self.seconds:
            if now >= next_reload:
                self.t.signal(signal.SIGHUP)
                self.reloads, next_reload = self.reloads + 1, now + RELOAD_S
            if now >= next_kill:
                workers = self.t.workers()
                if workers:
                    os.kill(self.dice.choice(workers), signal.SIGKILL)
                    self.kills += 1
                next_kill = now + KILL_S
            if now >= next_sample:
                self.sample(now)
                next_sample = now + SAMPLE_S
            time.sleep(0.1)

    def sample(self, now):
        with contextlib.suppress(OSError, ValueError):
            pids = [self.t.pid, *self.t.workers()]
            memory = [resident(pid) for pid in pids]
            files = [sum(descriptors(pid).values()) for pid in pids]
            self.samples.append((now, memory[0], max(memory[1:]), files[0], max(files[1:])))
        for u in self.providers.values():  # the harness keeps all; here it would be much
            del u.main.sends[:]
            u.connections[:] = [c for c in u.connections if c.closed_at is None]
            for c in list(u.connections):
                del c.sends[:-1]

    def run(self):
        threads = [threading.Thread(target=self.client, args=(self.dice.random(),), daemon=True) for _ in range(CLIENTS)]
        for one in threads:
            one.start()
        self.disturb()
        self.stop.set()
        for one in threads:
            one.join(90)
        assert not any(one.is_alive() for one in threads), "clients that hang"

    # -- what has to hold
    def flat(self, column, allowance):
        values = [sample[column] for sample in self.samples]
        third = max(1, len(values) // 3)
        middle, last = statistics.median(values[third:2 * third] or values), statistics.median(values[-third:])
        return middle, last, last <= middle * 1.25 + allowance

    def judge(self):
        stats = until(lambda: (lambda s: not any(s.gauges[g] for g in ("clients", "turns", "sends", "waiting")) and s)(
            self.t.stats()), 30, lambda: "gauges at zero: %r" % self.t.stats().gauges, step=0.2)
        lost = stats["turns"] - sum(stats["turns_" + end] for end in OUTCOMES)
        counted = self.t.sends_counted(stats)
        faults, beyond = [], [name for name, n in self.seen.by_id.items() if n > MODELS[name.split("-")[1]]]

        def check(good, text):
            print("  %-4s %s" % ("ok" if good else "BAD", text))
            if not good:
                faults.append(text)

        print("soak of %d s: %d turns, %d sends at providers, %d reloads, %d kills" % (
            self.seconds, stats["turns"], self.seen.sends, self.reloads, self.kills))
        print("  clients: %s" % ", ".join("%s %d" % item for item in self.ends.most_common()))
        print("  faults:  %s" % ", ".join("%s %d" % item for item in self.seen.by_fault.most_common()))
        check(not beyond, "ids beyond their budget: %d of %d" % (len(beyond), len(self.seen.by_id)))
        for name in beyond[:5]:
            print("       %s: %s; clients: %s" % (name, ", ".join(self.seen.history[name]), self.answers.get(name)))
        check(not self.seen.strangers, "credentials at the wrong provider: %r" % self.seen.strangers[:3])
        # A killed worker leaves turns without an outcome, and sends that were charged and not made.
        slack = self.kills * CLIENTS
        check(0 <= lost <= slack, "turns without an outcome: %d, %d killed workers" % (lost, self.kills))
        unseen = counted - self.seen.sends
        check(0 <= unseen <= slack + stats["given_back"] + stats["turns_gone"],
              "sends counted, and not seen by a provider: %d (%d given back, %d clients gone)" % (
                  unseen, stats["given_back"], stats["turns_gone"]))
        check(self.ends["TIMEOUT"] == 0, "clients that got no end: %d" % self.ends["TIMEOUT"])
        good = sum(n for end, n in self.ends.items() if end.startswith("200"))
        check(good > 0.3 * sum(self.ends.values()), "clients that were served: %d" % good)
        for name, column, allowance, unit in (("memory of the master", 1, MIB, MIB), ("memory of workers", 2, 4 * MIB, MIB),
                                              ("descriptors of the master", 3, 8, 1),
                                              ("descriptors of workers", 4, 24, 1)):
            middle, last, is_flat = self.flat(column, allowance)
            check(is_flat, "%s: %.1f in the middle, %.1f at the end" % (name, middle / unit, last / unit))
        for line in self.t.bad_lines()[:10]:
            check(False, "log: " + line)
        return faults


def main():
    seconds, seed = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    print("seed %d, %s" % (seed, turnpike.BINARY), flush=True)
    lab = Lab("soak")
    try:
        soak = Soak(lab, seconds, seed)
        soak.run()
        faults = soak.judge()
        soak.t.stop()
    finally:
        lab.close()
    return len(faults)


if __name__ == "__main__":
    sys.exit(main())
