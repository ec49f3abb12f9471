"""The numbers and who may see them: admin endpoints, statistics; cases MT, RL-2 (/readyz)."""

import base64
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import threading
import time

import pytest

from harness.checks import FAMILIES, MODELS, refusal, served
from harness.client import Client, ask, body_for, refused
from harness.exposition import Exposition, check_grows
from harness.lab import Rows, between
from harness.provider import event, ok, reset, status, stream
from harness.turnpike import alive, run, until

rows = Rows()
PATH = "/v1/chat/completions"
TCP = {"admin": {"listen": ["127.0.0.1:0"]}}
CONTRACT = """turnpike_turns_total turnpike_sends_total turnpike_retry_attempts_total turnpike_retry_success_ratio
turnpike_refusals_total turnpike_possibly_billed_total turnpike_hops_total turnpike_blacklisted turnpike_cooling
turnpike_inflight turnpike_queued turnpike_wait_seconds turnpike_first_byte_seconds turnpike_turn_seconds
turnpike_overhead_seconds turnpike_ledger_entries turnpike_worker_restarts_total turnpike_config_generation
turnpike_alerts_total codex_retry_attempts_total codex_retry_success_rate""".split()


def get(t, path, headers=(), method="GET", door=0, **how):
    return ask(t.admins[door], method, path, headers, timeout=10, **how)


def scrape(t):
    answer = get(t, "/metrics")
    assert answer.status == 200 and answer.header("content-type").startswith("text/plain; version=0.0.4"), answer
    return Exposition(answer.body.decode())


def numbers(t):
    answer = get(t, "/stats")
    assert answer.status == 200 and answer.header("content-type") == "application/json", answer
    return json.loads(answer.body)


# ---- endpoints

@rows("endpoints")
def _(lab):
    t = lab.turnpike(lab.provider(), dict(admin={"listen": [lab.admin()["admin"]["listen"][0], "127.0.0.1:0"]}))
    for door in (0, 1):
        with Client(t.admins[door]) as c:
            for path, code in (("/healthz", 200), ("/readyz", 200), ("/stats", 200), ("/metrics", 200), ("/", 200), ("/x", 404),
                               ("/blacklist/clear", 405), ("/metrics?x=1", 200)):
                answer = c.ask("GET", path)  # all on one connection
                assert (answer.status, answer.end) == (code, "complete"), (path, answer)
                assert answer.header("cache-control") == ("no-cache" if path == "/" else "no-store")
            assert c.ask("GET", "/cooldown/clear").header("allow") == "POST"
            head = c.ask("HEAD", "/stats")
            assert head.status == 200 and int(head.header("content-length")) > 100 and head.body == b""
            c.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3)
            assert [c.response("GET").status for _ in range(3)] == [200] * 3
    assert json.loads(get(t, "/blacklist/clear", method="POST").body) == {"cleared": 0}
    assert json.loads(get(t, "/cooldown/clear", method="POST").body) == {"cleared": 0}
    assert get(t, "/blacklist/clear", method="POST", door=1).status == 403


@rows("format")
def _(lab):
    t = lab.turnpike(lab.provider(), TCP)
    served(lab.post(t))
    seen = scrape(t)
    assert set(CONTRACT) <= set(seen.types), set(CONTRACT) - set(seen.types)
    assert seen.of("turnpike_blacklisted") == {("p",): 0} and seen.of("turnpike_cooling") == {("p",): 0}
    assert seen.of("turnpike_workers_ready") == {(): 2} and seen.of("turnpike_config_generation") == {(): 1}
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"], input=get(t, "/metrics").body, capture_output=True)
        assert done.returncode == 0 and not done.stderr, done


@rows("page")
def _(lab):
    """Itself alone: what it may load and run is named by its hash, and it is asked for again by its tag."""
    t = lab.turnpike(lab.provider(), {"admin": {"listen": ["127.0.0.1:0", "0.0.0.0:0"], "token": "s3cret"}})
    t.admins[1] = ("127.0.0.1", t.admins[1][1])
    for door in (0, 1):
        page = get(t, "/", door=door)  # without the token: nothing of this server is in it
        assert page.status == 200 and len(page.body) < 40 * 1024 and page.header("content-type").startswith("text/html")
        policy = page.header("content-security-policy").split("; ")
        assert policy[0] == "default-src 'none'" and "connect-src 'self'" in policy and "frame-ancestors 'none'" in policy
        for element, directive in ((b"style", "style-src"), (b"script", "script-src")):
            text, = re.findall(b"<%s>(.*?)</%s>" % (element, element), page.body, re.S)
            digest = base64.b64encode(hashlib.sha256(text).digest()).decode()
            assert "%s 'sha256-%s'" % (directive, digest) in policy
        assert not re.search(rb"https?://(?!www\.w3\.org/2000/svg)| on[a-z]+=| style=", page.body)
        again = get(t, "/", {"If-None-Match": page.header("etag")}, door=door)
        assert again.status == 304 and again.body == b"" and again.header("content-length") is None
        assert again.header("etag") == page.header("etag")
        assert get(t, "/", {"If-None-Match": '"x"'}, door=door).status == 200
    assert get(t, "/?a=b", door=1).status == 401 and get(t, "/", {"Host": "evil.example.net"}, door=1).status == 403
    assert get(t, "/stats?history=1", door=1).status == 401


@rows("recent-failures")
def _(lab):
    u = lab.provider(then=status(500, body=b'{"error":{"message":"the secret of the provider"}}'))
    t = lab.turnpike(u, dict(TCP, blacklist={"failures": 1000}), probe=False)
    for i in range(60):
        lab.post(t, body=body_for(PATH, model="my-model", text="my prompt %d" % i), headers={"X-Turnpike-Max-Sends": "1", "Authorization": "Bearer my-key"})
    last = lab.post(t, "/v1/../my-path")
    until(lambda: t.stats().gauges["turns"] == 0, 3, "all turns are over")
    answer = get(t, "/stats?history=1")
    tree = answer.json()
    rows_ = tree["failures"]
    assert len(rows_) == 50 and rows_[0]["outcome"] == "bad" and rows_[0]["status"] == 400 and rows_[0]["sends"] == 0
    assert rows_[0]["id"] == last.header("x-turnpike-request-id")
    assert all((row["provider"], row["status"], row["outcome"], row["sends"]) == ("p", 500, "error", 1)
               for row in rows_[1:])
    assert abs(rows_[0]["at"] - time.time()) < 30
    assert tree["setup"]["providers"] == [{"name": "p", "url": u.url()}] and tree["clearing"] == "no"
    history = tree["history"]
    assert history["samples"][-1][history["values"].index("turns")] == tree["counters"]["turns"] == 61
    for word in (b"secret", b"my-", b"prompt"):
        assert word not in answer.body
    assert "failures" not in numbers(t)  # these are for those who ask


@rows("same-numbers-everywhere")
def _(lab):
    t = lab.turnpike(lab.provider(), TCP)
    served(lab.post(t))
    until(lambda: t.stats()["turns_ok"] == 1 and t.stats().gauges["clients"] == 0, 3, "turn and client are gone")
    shown, told = numbers(t), json.loads(run("stats", "--json", "-c", t.file).stdout)
    for tree in (shown, told):
        for worker in tree["workers"]:
            del worker["heartbeat_age_ms"], worker["age"]
        del tree["uptime"]
    assert shown.pop("reload_error") is None and shown == told
    assert sorted(w["pid"] for w in shown["workers"]) == t.workers() and all(w["ready"] for w in shown["workers"])
    text = run("stats", "-c", t.file).stdout
    assert "turns_ok " in text and "histograms.turnpike_turn_seconds.count" in text


# ---- access

@rows("tcp-only-reads")
def _(lab):
    t = lab.turnpike(lab.provider(), TCP)
    assert get(t, "/stats", {"Host": "localhost"}).status == 200
    assert get(t, "/stats", {"Host": "evil.example.net"}).status == 403
    refused = get(t, "/blacklist/clear", method="POST")
    assert refused.status == 403 and "unix" in refused.json()["error"]


@rows("token")
def _(lab):
    t = lab.turnpike(lab.provider(), {"admin": {"listen": ["127.0.0.1:0", "0.0.0.0:0"], "token": "s3cret"}})
    t.admins[1] = ("127.0.0.1", t.admins[1][1])
    good, bad = {"Authorization": "Bearer s3cret"}, {"Authorization": "Bearer s3cre7"}
    assert get(t, "/stats").status == 200
    for door in (0, 1):
        assert get(t, "/blacklist/clear", method="POST", door=door).header("www-authenticate") == "Bearer"
        assert get(t, "/blacklist/clear", bad, "POST", door).status == 401
        assert get(t, "/blacklist/clear", good, "POST", door).status == 200
        foreign = dict(good, Origin="http://evil.example.net")
        assert get(t, "/blacklist/clear", foreign, "POST", door).status == 403
    for path in ("/stats", "/metrics", "/healthz"):
        assert get(t, path, door=1).status == 401 and get(t, path, good, door=1).status == 200
    assert "s3cret" not in t.log + run("config", "--effective", "-c", t.file).stdout


@rows("unix-socket")
def _(lab):
    path = os.path.join(lab.folder, "admin.sock")
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(path)
    t = lab.turnpike(lab.provider(), lab.admin())
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o660
    assert get(t, "/healthz").status == 200
    t.stop()
    assert not os.path.exists(path)
    with open(path, "w") as file:
        file.write("mine")
    second = lab.turnpike(lab.provider(), lab.admin(), start=False)
    with pytest.raises(AssertionError, match="exists and is not a socket"):
        second.start()
    second.allowed.append("not a socket")
    assert open(path).read() == "mine"


@rows("not-through-public-listeners")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u, lab.admin())
    for path in ("/metrics", "/stats", "/healthz", "/blacklist/clear"):
        assert b"turnpike_" not in lab.get(t, path).body
    assert u.count == 4  # they are paths of the provider, like any other
    assert get(t, "/v1/models").status == 404


CONFIGS = {
    "remote-needs-token": ('admin: { listen: "0.0.0.0:9090" }', "needs? admin.token"),
    "same-as-listen": ('listen: 127.0.0.1:81\nadmin: { listen: "127.0.0.1:81" }', "address of listen"),
    "twice": ('admin: { listen: [ "unix:/tmp/a", "unix:/tmp/a" ] }', "admin.listen.0. too"),
    "relative-file": ("stats_file: stats.json", "absolute path"),
    "tls": ("admin: { listen: [ { address: 127.0.0.1:1, tls: {} } ] }", "tls"),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_configuration_errors(name, tmp_path):
    text, said = CONFIGS[name]
    file = tmp_path / "t.yaml"
    file.write_text(text + "\nproviders: { p: { url: http://127.0.0.1:1/v1 } }\n")
    done = run("check", "-c", str(file))
    assert done.returncode == 1
    assert any(re.search(said, line) for line in done.stderr.splitlines()), done.stderr


# ---- a process of its own

@rows("neither-delays-the-other")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u, TCP)
    workers, admin = t.workers(), t.admin_process()
    assert len(workers) == 2 and admin is not None
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)
    asked = time.monotonic()
    for path in ("/healthz", "/readyz", "/metrics", "/stats"):
        assert get(t, path).status == 200
    between(time.monotonic() - asked, 0, 0.5, "answers beside stopped workers")
    for pid in workers:
        os.kill(pid, signal.SIGCONT)
    os.kill(admin, signal.SIGSTOP)
    served(lab.post(t))
    os.kill(admin, signal.SIGCONT)


@rows("replaced-when-it-dies")
def _(lab):
    t = lab.turnpike(lab.provider(), TCP, allow=["admin process .* was ended by signal 9"])
    first = t.admin_process()
    os.kill(first, signal.SIGKILL)
    until(lambda: t.admin_process() not in (None, first), 3, "a successor")
    assert until(lambda: get(t, "/readyz"), 3, "it answers").status == 200
    assert scrape(t).of("turnpike_worker_restarts_total") == {(): 0}
    assert len(t.workers()) == 2


@rows("leaves-with-a-killed-master")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u, lab.admin(), probe=False)
    admin = t.admin_process()
    os.kill(t.pid, signal.SIGKILL)
    t.process.wait(5)
    until(lambda: not alive(admin), 3, "it leaves")
    again = lab.turnpike(u, lab.admin(), name=t.name)
    assert get(again, "/readyz").status == 200


@rows("RL-2-readyz")
def _(lab):
    u = lab.provider(then=stream([event({"choices": [{"index": 0, "delta": {"content": "%d " % i}}]})
                                  for i in range(8)] + [event("[DONE]")], pause=0.4))
    t = lab.turnpike(u, dict(TCP, shutdown={"drain": "30s"}), probe=False)
    c = lab.client(t)
    c.request("POST", PATH, body=body_for(PATH, stream=True))
    answer = c.until(c.head(), b"content")
    assert get(t, "/readyz").status == 200
    t.signal(signal.SIGTERM)
    until(lambda: get(t, "/readyz").status == 503, 1, "/readyz says so")
    until(lambda: refused(t.address), 4, "new connections are refused")
    assert get(t, "/readyz").status == 503 and get(t, "/healthz").status == 200
    os.kill(t.admin_process(), signal.SIGKILL)
    t.allowed.append("admin process .* was ended by signal 9")
    time.sleep(0.3)
    assert until(lambda: get(t, "/readyz"), 2, "a successor").status == 503, "it knows of the drain"
    c.rest(answer)
    served(answer, sends=1)
    c.close()
    assert t.wait_exit(5) == 0
    with pytest.raises(OSError):
        get(t, "/healthz")


# ---- bounds

@rows("bounds")
def _(lab):
    t = lab.turnpike(lab.provider(), lab.admin())
    assert get(t, "/stats", {"X": "a" * 9000}).status == 431
    with Client(t.admins[0]) as c:
        c.send(b"GET /" + b"a" * 9000)
        assert c.response("GET").status == 414
    assert get(t, "/blacklist/clear", method="POST", body=b"a" * 9000).status == 413
    assert get(t, "/blacklist/clear", method="POST", body=b"{}", chunked=2).status == 411
    assert get(t, "/blacklist/clear", method="POST", body=b"{}").status == 200
    with Client(t.admins[0]) as c:
        c.send(b"nonsense\r\n\r\n")
        assert c.response("GET").status == 400 and c.closed(3)
    with Client(t.admins[0]) as c:
        c.send(b"POST /blacklist/clear HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        until(lambda: c.poll() or c.buffer, 3, "leave to send the body")
        c.send(b"{}")
        assert c.response("POST").status == 200


@rows("idlers-lock-nobody-out")
def _(lab):
    t = lab.turnpike(lab.provider(), TCP)
    idle = [lab.client(t.admins[0]) for _ in range(150)]
    for c in idle[100:]:
        c.send(b"GET /st")
    for _ in range(20):
        assert get(t, "/healthz").status == 200
    started = time.monotonic()
    assert idle[-1].closed(13), "half a request is not waited for"
    between(time.monotonic() - started, 7, 11.5, "patience")


# ---- MT: the sums

@rows("MT-1")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u, dict(TCP, workers=4), probe=False,
                     allow=["worker \\d .* was ended by signal 9"])
    seen, done = [], threading.Event()

    def scraper():
        while len(seen) < 200 or not done.is_set():
            seen.append(scrape(t))
            time.sleep(0.01)

    thread = threading.Thread(target=scraper)
    thread.start()
    lab.side_by_side([lambda: served(lab.post(t)) for _ in range(500)], 8)
    time.sleep(0.2)
    os.kill(t.workers()[0], signal.SIGKILL)
    until(lambda: scrape(t).sum("turnpike_worker_restarts_total") == 1, 5, "the worker is replaced")
    lab.side_by_side([lambda: served(lab.post(t)) for _ in range(500)], 8)
    done.set()
    thread.join(60)
    for before, after in zip(seen, seen[1:]):
        check_grows(before, after)
    until(lambda: t.stats()["turns_ok"] == 1000, 3, "all turns are counted")
    last = scrape(t)
    assert last.sum("turnpike_turns_total") == 1000 == last.sum("turnpike_turns_total", outcome="ok")
    assert last.sum("turnpike_sends_total") == 1000 == u.count
    assert last.sum("turnpike_turn_seconds_count") == 1000


@rows("MT-2")
def _(lab):
    fast = {"base": "10ms", "cap": "10ms"}
    u = lab.provider(*[step for _ in range(100) for step in (status(503), ok())], then=status(503))
    t = lab.turnpike(u, dict(TCP, retry={"transient": fast}, blacklist={"failures": 1000}), probe=False)
    for _ in range(100):
        served(lab.post(t), sends=2)
    for _ in range(10):
        assert lab.post(t).status == 503
    until(lambda: t.stats().gauges["turns"] == 0, 3, "all turns are over")
    seen = scrape(t)
    attempts = seen.of("turnpike_retry_attempts_total")
    assert attempts == seen.of("codex_retry_attempts_total") and sum(attempts.values()) == 120
    assert seen.sum("turnpike_sends_total") == 230 == u.count
    assert seen.sum("turnpike_sends_total", **{"class": "initial"}) == 110
    ratio = seen.of("turnpike_retry_success_ratio")[()]
    assert ratio == seen.of("codex_retry_success_rate")[()] and abs(ratio - 100 / 110) < 1e-6
    assert seen.sum("turnpike_turns_total") == 110
    assert seen.sum("turnpike_wait_seconds_count") == 120
    check_reconciles(t)


def check_reconciles(t):
    """sends = first sends + retries + hops; outcomes = turns; /stats and /metrics agree."""
    seen, tree = scrape(t), numbers(t)
    sends = seen.of("turnpike_sends_total")
    first = sum(n for (_, kind), n in sends.items() if kind == "initial")
    hops = sum(n for (_, kind), n in sends.items() if kind == "hop")
    assert sum(sends.values()) == first + hops + seen.sum("turnpike_retry_attempts_total")
    assert seen.sum("turnpike_turns_total") == sum(row["turns"] for row in tree["outcomes"])
    assert seen.sum("turnpike_turns_total") == tree["counters"]["turns"]
    assert sum(sends.values()) == sum(n for p in tree["providers"].values() for n in p["sends"].values())


@rows("MT-3")
def _(lab):
    u = lab.provider(then=reset())
    t = lab.turnpike(u, TCP, probe=False)
    for family in MODELS:
        refusal(lab.post(t, FAMILIES[family]), "upstream_reset_replay_refused", family)
    until(lambda: t.stats().gauges["turns"] == 0, 3, "all turns are over")
    closed = lab.turnpike({"p": "http://127.0.0.1:1/v1"}, TCP, probe=False)
    assert lab.post(closed).status == 502
    seen = scrape(t)
    assert seen.sum("turnpike_refusals_total", code="upstream_reset_replay_refused") == 3
    assert seen.of("turnpike_possibly_billed_total") == {("p",): 3}
    assert scrape(closed).sum("turnpike_possibly_billed_total") == 0


@rows("MT-4-file")
def _(lab):
    path = os.path.join(lab.folder, "retry_stats.json")
    t = lab.turnpike(lab.provider(), dict(TCP, stats_file=path))
    until(lambda: os.path.exists(path), 10, "the admin process has begun")
    written, end, turns = set(), time.monotonic() + 25, 0
    while time.monotonic() < end:
        served(lab.post(t))
        turns += 1
        with open(path) as file:
            json.load(file)
            written.add(os.fstat(file.fileno()).st_ino)
        time.sleep(0.05)
    assert len(written) >= 2, "renewed every 10 s"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o644
    until(lambda: numbers(t)["counters"]["turns_ok"] == turns, 3, "all turns are over")
    served(lab.post(t))
    t.stop()
    with open(path) as file:
        assert json.load(file)["counters"]["turns_ok"] == turns + 1, "the last sums, of the drained workers"
    assert os.listdir(lab.folder).count("retry_stats.json") == 1
    assert not [name for name in os.listdir(lab.folder) if name.startswith("retry_stats.json.")]


@rows("stats-file-alone")
def _(lab):
    path = os.path.join(lab.folder, "stats.json")
    t = lab.turnpike(lab.provider(), {"stats_file": path})
    assert t.admin_process() and t.admins == []
    assert until(lambda: os.path.exists(path), 2, "the first one comes at once")


@rows("stats-file-impossible")
def _(lab):
    t = lab.turnpike(lab.provider(), dict(TCP, stats_file="/nonexistent/stats.json"), allow=["cannot write stats_file"])
    until(lambda: "cannot write stats_file" in t.log, 3, "it is told")
    assert get(t, "/healthz").status == 200


@rows("MT-4-series")
def _(lab):
    t = lab.turnpike(lab.provider(), TCP, probe=False)

    def one(i):
        served(lab.post(t, "/v1/unknown/%d" % i, b"{}", {"x-some": "v%d" % i, "x-tenant": "t%d" % i}))

    one(0)
    until(lambda: t.stats().gauges["turns"] == 0, 3, "the turn is over")
    before = scrape(t).series()
    lab.side_by_side([lambda i=i: one(i) for i in range(500)], 8)
    until(lambda: t.stats().gauges["turns"] == 0, 3, "all turns are over")
    assert scrape(t).series() == before


# ---- the command line

@pytest.mark.parametrize("arguments, code, said", [
    (["blacklist", "--help"], 0, "Usage: turnpike blacklist"),
    (["cooldown", "--help"], 0, "Usage: turnpike cooldown"),
    (["blacklist", "lost"], 2, 'what is "lost"?'),
    (["blacklist", "list", "x"], 2, 'what is "x"?'),
    (["cooldown", "clear", "x"], 2, 'what is "x"?'),
    (["blacklist", "--name", "/turnpike-test-none"], 1, "/turnpike-test-none"),
    (["cooldown", "clear", "--name", "/turnpike-test-none"], 1, "/turnpike-test-none"),
    (["blacklist", "-c", "a", "--name", "b"], 2, "exclude each other"),
])
def test_command_line(arguments, code, said):
    done = run(*arguments)
    assert done.returncode == code and said in done.stdout + done.stderr, done


@rows("lists-of-nothing")
def _(lab):
    t = lab.turnpike(lab.provider(), TCP)
    assert run("blacklist", "--name", t.name).stdout == "nothing is blacklisted\n"
    assert run("blacklist", "list", "-c", t.file, "--json").stdout == "[]\n"
    assert run("cooldown", "list", "--name", t.name).stdout == "nothing cools\n"
    assert run("blacklist", "clear", "--name", t.name).stdout == "0 cleared\n"
    assert run("cooldown", "clear", "--json", "--name", t.name).stdout == '{"cleared":0}\n'


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
