"""The URL blacklist: cases BR-1 to BR-4, BR-6 for a single provider, SH-1, SH-4, and what ends a listing early."""

import json
import os
import resource
import signal
import time

import pytest

from harness.checks import error_json, local_error, relayed, served
from harness.client import ask, body_for
from harness.exposition import Exposition
from harness.lab import SLACK, Rows, between, quiet
from harness.provider import fin, good_events, ok, reset, silent, status, stream
from harness.turnpike import run, until

rows = Rows(allow=[r"^alert url_listed: "])
PATH = "/v1/chat/completions"
ONCE = {"X-Turnpike-Max-Sends": "1"}
TCP = {"admin": {"listen": ["127.0.0.1:0"]}}
QUICK = {"retry": {"transient": {"base": "10ms", "cap": "10ms"}}}
NONE = 10 ** 6  # failures that nobody reaches


def listing(t, *more):
    done = run("blacklist", "list", "--json", "-c", t.file, *more)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def failing(t):
    done = run("stats", "--json", "-c", t.file)
    assert done.returncode == 0, done
    return json.loads(done.stdout)["failing"]


def blacklisted(t):
    return Exposition(ask(t.admins[0], "GET", "/metrics").body.decode()).of("turnpike_blacklisted")


def listed(answer, low, high, sends=0):
    """503, made here; Retry-After within the bounds."""
    local_error(answer, 503, code="upstream_blacklisted")
    assert answer.all("x-should-retry") == [], answer
    seconds = answer.header("retry-after")
    assert seconds.isdigit() and low <= int(seconds) <= high, answer
    assert answer.sends == sends, answer


def fail(lab, t, count, code=500, path=PATH, headers=ONCE):
    for _ in range(count):
        relayed(lab.post(t, path, headers=headers), code)


def told(t, words):
    """How often the log says it."""
    return sum(words in line for line in t.lines)


# ---- listing and probes

@rows("BR-1-listed")
def _(lab):
    u = lab.provider(then=status(500))
    t = lab.turnpike(u, TCP, probe=False)
    fail(lab, t, 11)
    assert u.count == 11
    answer = lab.post(t, headers=ONCE)
    listed(answer, 1, 15)
    assert answer.took < 0.2 + SLACK and u.count == 11
    listed(lab.post(t), 1, 15)
    row, = listing(t)
    assert row["url"] == u.url() + "/chat/completions" and row["provider"] == "p", row
    assert row["why"] == "status" and not row["whole_base"] and 0 < row["next_probe_in"] <= 15, row
    assert blacklisted(t) == {("p",): 1}
    assert told(t, "is blacklisted: too many failures in a row") == 1
    served_elsewhere = lab.post(t, "/v1/embeddings", headers=ONCE)
    relayed(served_elsewhere, 500)  # another URL of the same provider is asked
    text = run("blacklist", "list", "-c", t.file).stdout
    assert u.url() + "/chat/completions (p): listed for" in text and "error answers" in text, text
    assert u.count == 12


@rows("BR-1-healthy-again")
def _(lab):
    u = lab.provider(*[status(500)] * 11)
    t = lab.turnpike(u, dict(TCP, blacklist={"duration": "2s"}))
    fail(lab, t, 11)
    at = time.monotonic()
    listed(lab.post(t, headers=ONCE), 1, 2)
    time.sleep(at + 2.1 - time.monotonic())
    served(lab.post(t), sends=1)
    assert listing(t) == [] and blacklisted(t) == {("p",): 0} and u.count == 12
    until(lambda: told(t, "is not blacklisted any more: its probe was answered") == 1, 2, "the log says so")
    served(lab.post(t))


@rows("BR-1-families")
def _(lab):
    u = lab.provider(then=status(500))
    t = lab.turnpike(u, {"blacklist": {"failures": 0}}, probe=False)
    for family, path in (("chat", PATH), ("responses", "/v1/responses"), ("messages", "/v1/messages"),
                         ("plain", "/v1/embeddings")):
        fail(lab, t, 1, path=path)
        answer = lab.post(t, path + "?a=b")  # the query is no part of the URL
        assert answer.status == 503 and error_json(answer, family)["code"] == "upstream_blacklisted", answer
        assert int(answer.header("retry-after")) <= 15
    assert u.count == 4 and len(listing(t)) == 4


@rows("BR-2")
def _(lab):
    u = lab.provider(*[status(500)] * 3)
    t = lab.turnpike(u, {"workers": 4, "blacklist": {"failures": 2, "duration": "2s"}})
    fail(lab, t, 3)
    at = time.monotonic()
    u.set(ok(after=1.0), then=ok())
    clients = [lab.client(t) for _ in range(40)]
    time.sleep(at + 2.1 - time.monotonic())
    for c in clients:
        c.request("POST", PATH, body=body_for(PATH))
    answers = [c.response() for c in clients]
    assert u.count == 4, u.count
    good = [a for a in answers if a.status == 200]
    assert len(good) == 1
    for answer in answers:
        if answer.status != 200:
            listed(answer, 1, 1)
    for c in clients:
        served(c.post(PATH))


@rows("BR-3-doubled")
def _(lab):
    u = lab.provider(then=status(500))
    t = lab.turnpike(u, {"workers": 4, "blacklist": {"failures": 2, "duration": "2s"}}, probe=False)
    fail(lab, t, 3)
    at = time.monotonic()
    time.sleep(at + 2.1 - time.monotonic())
    relayed(lab.post(t, headers=ONCE), 500)
    at = time.monotonic()
    listed(lab.post(t, headers=ONCE), 4, 4)
    time.sleep(at + 3 - time.monotonic())
    listed(lab.post(t, headers=ONCE), 1, 1)
    assert u.count == 4
    until(lambda: told(t, "stays blacklisted: its probe failed") == 1, 2, "the log says so")
    time.sleep(at + 5 - time.monotonic())
    u.set(then=ok())
    served(lab.post(t), sends=1)
    assert listing(t) == []


@rows("BR-3-a-success-ends-the-run")
def _(lab):
    u = lab.provider(*[status(500)] * 10, ok(), *[status(500)] * 10)
    t = lab.turnpike(u, TCP)
    fail(lab, t, 10)
    served(lab.post(t))
    fail(lab, t, 10)
    assert listing(t) == [] and [row["failures"] for row in failing(t)] == [10]


@rows("window")
def _(lab):
    u = lab.provider(*[status(500)] * 4)
    t = lab.turnpike(u, {"blacklist": {"failures": 2, "window": "1s"}})
    fail(lab, t, 2)
    time.sleep(1.2)
    fail(lab, t, 2)  # four in a row, but not three within a second
    assert listing(t) == []


@rows("a-neutral-probe-is-free-again")
def _(lab):
    u = lab.provider(*[status(500)] * 3, status(400), status(429))
    t = lab.turnpike(u, {"workers": 4, "blacklist": {"failures": 2, "duration": "1s"}})
    fail(lab, t, 3)
    time.sleep(1.1)
    relayed(lab.post(t), 400)
    relayed(lab.post(t, headers=ONCE), 429)
    u.set(silent(), then=ok())
    c = lab.client(t)
    c.request("POST", PATH, body=body_for(PATH))
    u.wait_sends(6)
    listed(lab.post(t), 1, 1)
    c.close()  # the probe is abandoned
    until(lambda: not listing(t)[0]["probing"], 2, "the probe is free")
    assert len(listing(t)) == 1
    served(lab.post(t))


@rows("probe-is-a-long-stream")
def _(lab):
    prelude, outputs, ending = good_events("chat")
    u = lab.provider(*[status(500)] * 3, stream(prelude + outputs, end="hold"))
    t = lab.turnpike(u, {"workers": 4, "blacklist": {"failures": 2, "duration": "1s"}})
    fail(lab, t, 3)
    time.sleep(1.1)
    c = lab.client(t)
    c.request("POST", PATH, body=body_for(PATH, stream=True))
    c.until(c.head(), b"three")
    served(lab.post(t))  # nobody waits for its end
    assert listing(t) == []


@rows("worker-with-the-probe-dies")
def _(lab):
    u = lab.provider(*[status(500)] * 3, silent())
    t = lab.turnpike(u, {"workers": 4, "blacklist": {"failures": 2, "duration": "1s"}}, allow=["signal 9|worker"])
    fail(lab, t, 3)
    time.sleep(1.1)
    c = lab.client(t)
    c.request("POST", PATH, body=body_for(PATH))
    send = u.wait_sends(4)[3]
    listed(lab.post(t), 1, 1)
    os.kill(holder_of(t, u.connections[send.connection].peer), signal.SIGKILL)
    t.lost = 1
    assert c.closed(3) is not None
    until(lambda: not listing(t)[0]["probing"], 3, "the probe is free")
    served(lab.post(t), sends=1)
    assert listing(t) == [] and u.count == 5


def holder_of(t, peer):
    """The worker whose socket is `peer` of a connection."""
    with open("/proc/net/tcp") as file:
        inodes = {f[9] for f in (line.split() for line in file) if f[1].endswith(":%04X" % peer[1])}
    for pid in t.workers():
        for name in os.listdir("/proc/%d/fd" % pid):
            try:
                link = os.readlink("/proc/%d/fd/%s" % (pid, name))
            except OSError:
                continue
            if link[len("socket:["):-1] in inodes:
                return pid
    raise AssertionError("no worker has it")


# ---- what counts

@rows("BR-4")
def _(lab):
    prelude, outputs, _ = good_events("chat", ["%d " % i for i in range(50)])
    u = lab.provider(then=stream(prelude + outputs, pause=0.2, end="hold"))
    t = lab.turnpike(u, dict(TCP, workers=4))
    clients = [lab.client(t) for _ in range(50)]
    for c in clients:
        c.request("POST", PATH, body=body_for(PATH, stream=True))
    for c in clients:
        c.until(c.head(), b'"2 "')
    for c in clients:
        c.close()
    u.set(then=ok())
    answer = lab.post(t)
    served(answer, sends=1)
    assert answer.took < 0.5 + SLACK
    assert listing(t) == [] and failing(t) == []
    t.counted(turns_gone=50)
    assert listing(t) == [] and failing(t) == []


COUNTS = {
    "connection": (None, True), "reset": (reset(), True), "fin": (fin(), True),
    "first-byte": (silent(), True), "500": (status(500), True), "503": (status(503), True),
    "501": (status(501), True), "529": (status(529), True), "524": (status(524), True),
    "400": (status(400), False), "401": (status(401), False), "404": (status(404), False), "408": (status(408), False),
    "429": (status(429), False), "html": (ok(b"<html>", {"Content-Type": "text/html"}), False),
    "error-in-200": (ok(b'{"error": {"message": "busy", "type": "server_error", "code": "server_error"}}'), True),
    "cut-body": (lambda x: (x.answer(200, (), b'{"choices": [' + b" " * 100 + b"]}", cut=110), x.close()), True),
    "cut-stream": (stream(good_events("chat")[0] + good_events("chat")[1], end="close"), True),
}


@rows.table("counts", COUNTS)
def _(lab, case):
    step, does = case
    u = lab.provider(then=step)
    t = lab.turnpike(u, {"blacklist": {"failures": 2}, "providers": {"p": {"timeouts": {"first_byte": "300ms"}}}},
                     probe=False)
    if step is None:
        u.stop_listening()
    for _ in range(3):
        lab.post(t, headers=ONCE, stream=True)
    t.final_stats()
    found = listing(t)
    assert len(found) == does, found
    if does:
        base = step is None or case in (COUNTS["reset"], COUNTS["fin"])
        assert found[0]["whole_base"] == base == (found[0]["why"] == "connection"), found
        listed(lab.post(t), 1, 15)
        assert (lab.post(t, "/v1/embeddings").status == 503) == (base or case == COUNTS["503"])


@rows("once-per-logical-request")
def _(lab):
    u = lab.provider(then=status(503))
    t = lab.turnpike(u, dict(QUICK, blacklist={"failures": 2}), probe=False)
    body, key = body_for(PATH), {"Idempotency-Key": "one"}
    relayed(lab.post(t, body=body, headers=dict(key, **ONCE)), 503)
    relayed(lab.post(t, body=body, headers=key), 503)  # a re-send with two sends more
    assert u.count == 3
    relayed(lab.post(t), 503)
    assert u.count == 6 and [row["failures"] for row in failing(t)] == [2] and listing(t) == []
    relayed(lab.post(t, headers=ONCE), 503)
    assert len(listing(t)) == 1


@rows("a-retry-that-succeeds")
def _(lab):
    u = lab.provider(*[status(503), ok()] * 5)
    t = lab.turnpike(u, dict(QUICK, blacklist={"failures": 0}))
    for _ in range(5):
        served(lab.post(t), sends=2)
    assert listing(t) == [] and failing(t) == []


@rows("listed-between-two-sends")
def _(lab):
    u = lab.provider(status(503), then=status(500))
    t = lab.turnpike(u, {"blacklist": {"failures": 2}}, probe=False)
    c = lab.client(t)
    c.request("POST", PATH, body=body_for(PATH))
    u.wait_sends(1)
    fail(lab, t, 3)
    answer = c.response()  # after its wait: the provider's own answer says more than ours
    relayed(answer, 503)
    assert answer.sends == 1 and answer.code is None and u.count == 4
    c.close()


# ---- the base, early ends

@rows("BR-6-connections-refused")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u, {"workers": 4, "blacklist": {"failures": 3}}, probe=False)
    port = u.port
    u.stop_listening()
    for _ in range(4):
        local_error(lab.post(t), 502, code="upstream_unreachable")
    listed(lab.post(t), 1, 15)
    listed(lab.post(t, "/v1/responses"), 1, 15)  # nothing below that base can be reached
    row, = listing(t)
    assert row["url"] == u.url() and row["whole_base"] and row["why"] == "connection"
    time.sleep(1)
    again = lab.provider(port=port)
    at = time.monotonic()
    until(lambda: not listing(t), 7, "the connect check")
    between(time.monotonic() - at, 0, 6, "until the connect check")
    assert again.count == 0 and told(t, "is not blacklisted any more: it can be reached again") == 1
    served(lab.post(t), sends=1)


def by_path(health, rest):
    return lambda x: (health if x.send.target.startswith("/health") else rest)(x)


@rows("health-path")
def _(lab):
    u = lab.provider(then=by_path(status(200), status(500)))
    t = lab.turnpike({"p": {"url": u.url(), "keys": ["sk-own"], "health": {"path": "/health"}}},
                     {"workers": 4, "blacklist": {"failures": 2}})
    first, = u.wait_sends(1)
    assert (first.method, first.target) == ("GET", "/health")
    assert first.header("authorization") == "Bearer sk-own"
    time.sleep(0.5)
    assert u.count == 1  # one worker asks
    u.set(then=by_path(status(503), status(500)))
    fail(lab, t, 3)
    time.sleep(7)
    assert len(listing(t)) == 1
    asked = [send.at for send in u.sends[1:] if send.target == "/health"]
    assert 1 <= len(asked) <= 2 and all(b - a >= 5 for a, b in zip(asked, asked[1:])), asked  # one worker, each 5 s
    u.set(then=by_path(status(200), ok()))
    until(lambda: not listing(t), 7, "the health path")
    assert told(t, "its health path answers 200") == 1
    answer = lab.post(t)
    served(answer, sends=1)
    stats = t.final_stats()
    assert t.sends_counted(stats) == 4 and stats.gauges["sends"] == 0  # health checks are no sends


HEALTH = {"status": (status(503), "it answered 503"), "no-http": (lambda x: (x.write(b"hello, what is this?"), x.close()),
                                                                 "no HTTP answer"),
          "closed": (fin(), "ended before its answer"), "refused": (None, "Connection refused")}


@rows.table("health-at-start", HEALTH)
def _(lab, case):
    step, words = case
    u = lab.provider(then=step)
    if step is None:
        u.stop_listening()
    t = lab.turnpike({"p": {"url": u.url(), "health": {"path": "/health"}}}, {"workers": 4}, allow=["health path"])
    until(lambda: told(t, "health path /health does not answer 200"), 3, "a warning")
    time.sleep(0.3)
    assert told(t, "health path") == 1 and told(t, words) == 1, t.log


# ---- the command

@rows("clear")
def _(lab):
    u = lab.provider(then=status(500))
    t = lab.turnpike(u, {"blacklist": {"failures": 1}})
    fail(lab, t, 2)
    fail(lab, t, 2, path="/v1/responses")
    assert len(listing(t)) == 2
    done = run("blacklist", "clear", u.url() + "/responses", "-c", t.file)
    assert (done.returncode, done.stdout) == (0, "1 cleared\n"), done
    u.set(then=ok())
    served(lab.post(t, "/v1/responses"))
    listed(lab.post(t), 1, 15)
    assert run("blacklist", "clear", "-c", t.file).stdout == "1 cleared\n"
    served(lab.post(t))
    assert run("blacklist", "-c", t.file).stdout == "nothing is blacklisted\n"


# ---- over all workers

@rows("SH-1-one-at-a-time")
def _(lab):
    u = lab.provider(then=status(503))
    t = lab.turnpike(u, {"workers": 4, "blacklist": {"failures": 3}}, probe=False)
    statuses = []
    for _ in range(200):
        answer = lab.post(t, headers=ONCE)
        statuses.append(answer.code if answer.status == 503 else answer)
    assert u.count == 4
    assert statuses == [None] * 4 + ["upstream_blacklisted"] * 196
    assert json.loads(run("stats", "--json", "-c", t.file).stdout)["ledger_entries"] == 4
    assert told(t, "is blacklisted: too many failures in a row") == 1


@rows("SH-1-many-at-a-time")
def _(lab):
    u = lab.provider(then=status(503, after=0.02))
    t = lab.turnpike(u, {"workers": 4, "blacklist": {"failures": 3}}, probe=False)
    answers = lab.side_by_side([lambda: lab.post(t, headers=ONCE)] * 200, limit=32)
    assert all(a.status == 503 for a in answers)
    assert 4 <= u.count <= 4 + 31, u.count
    assert sum(a.code == "upstream_blacklisted" for a in answers) == 200 - u.count
    assert told(t, "is blacklisted: too many failures in a row") == 1


@rows("SH-4")
def _(lab):
    n = 128  # 16 is the least that is taken; it is rounded up to a group of buckets
    u = lab.provider(then=status(503))
    t = lab.turnpike(u, dict(QUICK, workers=4, state={"logical_requests": 16}, blacklist={"failures": 6 * n + 1}),
                     allow=["the ledger is full"], probe=False)
    answers = lab.side_by_side([lambda i=i: lab.post(t, headers={"Idempotency-Key": "key-%d" % i})
                                for i in range(2 * n)], limit=16)
    assert {a.status for a in answers} == {503}
    assert min(a.sends for a in answers) >= 1
    stats = t.final_stats()
    full = stats["ledger_full"]
    assert 0 < full < 2 * n and sum(a.sends == 1 for a in answers) == full
    assert stats["sends_initial"] == 2 * n and u.count == t.sends_counted(stats) == sum(a.sends for a in answers)
    assert told(t, "the ledger is full") == 1


@rows("a-full-url-table")
def _(lab):
    u = lab.provider(then=status(500))
    t = lab.turnpike(u, {"state": {"urls": 16}, "blacklist": {"failures": NONE}}, probe=False)
    for i in range(40):
        fail(lab, t, 1, path="/v1/some/%d" % i)
    left = {row["url"] for row in failing(t)}
    assert 0 < len(left) <= 16 and u.url() + "/some/39" in left
    t.stop()
    again = lab.turnpike(u, {"blacklist": {"failures": NONE}}, name=t.name, probe=False, allow=["replaced|sizes|size"])
    assert failing(again) == []  # another size is a fresh table


@rows("goes-on-over-a-restart")
def _(lab):
    u = lab.provider(then=status(500))
    t = lab.turnpike(u, {"blacklist": {"failures": 2}}, probe=False)
    fail(lab, t, 3)
    t.stop()
    again = lab.turnpike(u, {"blacklist": {"failures": 2}}, name=t.name, probe=False)
    listed(lab.post(again), 1, 15)
    assert u.count == 3
    quiet(u, 0.2, 3)


@rows("no-descriptor-left")
def _(lab):
    """That Turnpike cannot open a socket says nothing about the provider, and reads so in the log."""
    u = lab.provider()
    t = lab.turnpike(u, {"workers": 1, "blacklist": {"failures": 0}})
    worker, = t.workers()
    c = lab.client(t)
    served(c.post(), sends=1)
    until(lambda: t.stats().gauges["pooled"] == 1, 2, "the provider's connection is kept")
    u.connections[0].close()
    until(lambda: t.stats().gauges["pooled"] == 0, 2, "it is not kept any more")
    before = resource.prlimit(worker, resource.RLIMIT_NOFILE)
    used = {int(name) for name in os.listdir("/proc/%d/fd" % worker)}
    lowest = next(n for n in range(10 ** 6) if n not in used)
    resource.prlimit(worker, resource.RLIMIT_NOFILE, (lowest, before[1]))
    for n in range(3):
        local_error(c.post(body=body_for(PATH, "request %d" % n)), 502, code="upstream_unreachable")
    until(lambda: told(t, "out of descriptors") == 3, 2, "the log says so")
    assert listing(t) == [] and failing(t) == []
    resource.prlimit(worker, resource.RLIMIT_NOFILE, before)
    served(c.post(), sends=1)


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
