"""Access tokens that are renewed: cases KR-5, KR-6, KR-7, and what may go wrong with the endpoint."""

import base64
import json
import os
import signal
import threading
import time
import urllib.parse

import pytest

from harness.checks import local_error, served, stopped
from harness.client import ask, body_for
from harness.exposition import Exposition
from harness.lab import SLACK, Rows, between
from harness.provider import ok, silent, status
from harness.turnpike import alive, children, run, until

rows = Rows()
PATH = "/v1/chat/completions"
FIRST = "first-refresh-token-0001"
CANNOT = r"access token could not be renewed"


def refreshing(lab, u, endpoint, path="/oauth/token", **more):
    """Configuration of a provider with `refresh`, 4 workers."""
    section = dict({"url": endpoint.url(path) if hasattr(endpoint, "url") else endpoint, "refresh_token": FIRST,
                    "state_file": os.path.join(lab.folder, "token.json")}, **more.pop("refresh", {}))
    provider = dict({"url": u.url(), "refresh": section}, **more.pop("provider", {}))
    return {"p": provider}, dict({"workers": 4, "log": {"level": "debug"}}, **more)


def start(lab, u, endpoint, **more):
    allow, probe = more.pop("allow", ()), more.pop("probe", False)
    providers, config = refreshing(lab, u, endpoint, **more)
    return lab.turnpike(providers, config, allow=allow, probe=probe)


def pair(number, refresh=True, **more):
    """The endpoint's answer number `number`."""
    answer = dict({"access_token": "access-token-%04d" % number}, **more)
    if refresh:
        answer["refresh_token"] = "next-refresh-token-%04d" % number
    return ok(json.dumps(answer).encode())


def bearer(number):
    return "Bearer access-token-%04d" % number


def wants(*numbers):
    """Serves those who carry one of these access tokens; 401 for all others."""
    def step(x):
        good = x.send.header("authorization") in [bearer(n) for n in numbers]
        (ok() if good else status(401))(x)
    return step


def kept(lab):
    with open(os.path.join(lab.folder, "token.json")) as file:
        return json.load(file)["refresh_token"]


def no_secrets(t):
    for secret in ("access-token-", "next-refresh-token-", FIRST):
        assert secret not in t.log, [line for line in t.lines if secret in line]


def asked_with(send):
    """The refresh token of a question to the endpoint, in either form."""
    if send.header("content-type") == "application/json":
        return json.loads(send.body)["refresh_token"]
    return urllib.parse.parse_qs(send.body.decode(), strict_parsing=True)["refresh_token"][0]


# ---- KR-5: many are rejected, one renews

@rows("KR-5")
def _(lab):
    count, lock, all_here, seen = 50, threading.Lock(), threading.Event(), [0]

    def old_or_new(x):
        if x.send.header("authorization") == bearer(1):
            ok()(x)
            return
        assert x.send.header("authorization") == "Bearer old-key-0001", x.send.headers
        with lock:
            number, seen[0] = seen[0], seen[0] + 1
            if seen[0] == count:
                all_here.set()
        x.await_event(all_here)
        x.sleep(number / count)  # one after the other over 1 s
        status(401)(x)

    u = lab.provider(then=old_or_new)
    e = lab.provider(then=pair(1))
    t = start(lab, u, e, provider={"keys": ["old-key-0001"]})
    answers = lab.side_by_side([lambda i=i: lab.post(t, body=body_for(PATH, model="m%d" % i)) for i in range(count)])
    for answer in answers:
        served(answer, sends=2)
    assert e.count == 1 and u.count == 2 * count, (e.count, u.count)
    assert sum(s.header("authorization") == bearer(1) for s in u.sends) == count
    assert t.counted(sends_refresh=count) is None
    no_secrets(t)


@rows("KR-5-generations")
def _(lab):
    """Two tokens: those who were rejected with the older one take the newer, and renew nothing."""
    u = lab.provider(then=wants(1))
    e = lab.provider(pair(1), pair(2))
    t = start(lab, u, e)
    served(lab.post(t), sends=1)
    hold, arrived = threading.Event(), threading.Semaphore(0)

    def late(x):
        if x.send.header("authorization") == bearer(1):
            arrived.release()
            x.await_event(hold)
        wants(2)(x)

    u.set(then=late)
    calls = [threading.Thread(target=lambda i=i: answers.append(
        lab.post(t, body=body_for(PATH, model="m%d" % i)))) for i in range(8)]
    answers = []
    for call in calls:
        call.start()
    for _ in calls:
        assert arrived.acquire(timeout=20)
    hold.set()
    for call in calls:
        call.join(30)
    for answer in answers:
        served(answer, sends=2)
    assert len(answers) == 8 and e.count == 2, e.count
    assert [asked_with(s) for s in e.sends] == [FIRST, "next-refresh-token-0001"]


# ---- KR-6: the endpoint is busy; the new token is rejected too

@rows("KR-6-told")
def _(lab):
    u = lab.provider(then=wants(1))
    e = lab.provider(status(429, [("Retry-After", "2")]), then=pair(1))
    t = start(lab, u, e, allow=[CANNOT])
    for _ in range(8):
        stopped(answer := lab.post(t))
        local_error(answer, 502, code="upstream_credential_rejected")
    assert e.count == 1 and u.count == 0
    first = e.sends[0]

    def served_now():
        answer = lab.post(t)
        return answer.status == 200
    until(served_now, 6, "the endpoint is asked again")
    assert e.count == 2
    assert e.sends[1].at - first.answered_at >= 2.0 - 0.01, e.sends[1].at - first.answered_at


@rows("KR-6-persistent")
def _(lab):
    u = lab.provider(then=status(401))
    e = lab.provider(then=pair(1))
    t = start(lab, u, e, provider={"keys": ["old-key-0001"]})
    answer = lab.post(t)
    local_error(answer, 502, code="upstream_credential_rejected")
    stopped(answer)
    assert u.count == 2 and e.count == 1 and answer.sends == 2
    no_secrets(t)


@rows("KR-6-no-storm")
def _(lab):
    """Tokens that are rejected one after the other are not got by each request anew."""
    u = lab.provider(then=status(401))
    e = lab.provider(*[pair(n) for n in range(1, 40)])
    t = start(lab, u, e)
    for i in range(20):
        answer = lab.post(t, body=body_for(PATH, model="m%d" % i))
        local_error(answer, 502, code="upstream_credential_rejected")
    assert e.count <= 2, e.count


# ---- KR-7: a new refresh token is kept before it is used

@rows("KR-7")
def _(lab):
    path = os.path.join(lab.folder, "token.json")

    def watched(x):
        with open(path) as file:
            found.append((os.stat(path).st_mode & 0o7777, json.load(file)["refresh_token"]))
        wants(1, 2)(x)

    found = []
    u = lab.provider(then=watched)
    e = lab.provider(pair(1), pair(2))
    t = start(lab, u, e)
    served(lab.post(t), sends=1)
    assert found == [(0o600, "next-refresh-token-0001")], found
    assert not os.path.exists(path + ".new")
    pids = [t.pid] + children(t.pid)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    t.wait_exit()
    until(lambda: not any(alive(pid) for pid in pids), 5, "all are dead")
    t.remove_table()  # as after a boot: the access token is gone
    again = start(lab, u, e)
    served(lab.post(again), sends=1)
    assert [asked_with(s) for s in e.sends] == [FIRST, "next-refresh-token-0001"]
    assert kept(lab) == "next-refresh-token-0002"
    no_secrets(again)


@rows("KR-7-changed-configuration")
def _(lab):
    u = lab.provider(then=wants(1, 2))
    e = lab.provider(pair(1), pair(2))
    t = start(lab, u, e)
    served(lab.post(t))
    t.stop()
    changed = start(lab, u, e, refresh={"refresh_token": "another-refresh-token"})
    served(lab.post(changed))
    assert [asked_with(s) for s in e.sends] == [FIRST, "another-refresh-token"]


@rows("KR-7-no-rotation")
def _(lab):
    u = lab.provider(then=wants(1))
    e = lab.provider(pair(1, refresh=False))
    t = start(lab, u, e)
    served(lab.post(t))
    assert os.listdir(lab.folder).count("token.json") == 0
    assert not os.path.exists(os.path.join(lab.folder, "token.json.new"))


@rows("KR-7-cannot-be-kept")
def _(lab):
    """Where a new refresh token could not be kept the endpoint is not asked for one."""
    u, e = lab.provider(then=wants(1)), lab.provider(then=pair(1))
    t = start(lab, u, e, refresh={"state_file": os.path.join(lab.folder, "nowhere", "token.json")}, allow=[CANNOT])
    local_error(lab.post(t), 502, code="upstream_credential_rejected")
    assert e.count == 0 and u.count == 0
    until(lambda: "state_file cannot be written" in t.log, 2, "the log says so")


# ---- both forms

@rows("form")
def _(lab):
    token = "first/refresh+token=&%~"
    u, e = lab.provider(then=wants(1)), lab.provider(then=pair(1))
    t = start(lab, u, e, refresh={"refresh_token": token, "client_id": "my app".replace(" ", "+"),
                                  "client_secret": "s3cret-of-client"})
    served(lab.post(t))
    send = e.sends[0]
    assert send.method == "POST" and send.target == "/oauth/token"
    assert send.header("content-type") == "application/x-www-form-urlencoded"
    assert urllib.parse.parse_qs(send.body.decode(), strict_parsing=True) == {
        "grant_type": ["refresh_token"], "refresh_token": [token], "client_id": ["my+app"],
        "client_secret": ["s3cret-of-client"]}
    assert send.header("authorization") is None
    assert "s3cret-of-client" not in t.log


@rows.table("json", {"access_token": "access_token", "accessToken": "accessToken", "token": "token"})
def _(lab, name):
    u = lab.provider(then=wants(1))
    e = lab.provider(ok(json.dumps({name: "access-token-0001"}).encode(), framing="chunked"))
    t = start(lab, u, e, path="/auth/refresh")
    served(lab.post(t, headers={"Authorization": "Bearer of-the-client", "Cookie": "a=of-the-client"}))
    send = e.sends[0]
    assert send.target == "/auth/refresh" and send.header("content-type") == "application/json"
    assert json.loads(send.body) == {"refresh_token": FIRST}
    assert "of-the-client" not in u.sends[0].raw_head.decode()  # nor anything else of the client's


@rows("key-header")
def _(lab):
    u, e = lab.provider(), lab.provider(then=pair(1))
    t = start(lab, u, e, provider={"key_header": "x-api-key"})
    served(lab.post(t))
    assert u.sends[0].all("x-api-key") == ["access-token-0001"] and u.sends[0].all("authorization") == []


# ---- early, and after the end

def jwt(number, **claims):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
    return "%s.%s.signature-%04d" % (part({"alg": "none"}), part(dict(claims, n=number)), number)


@rows("early")
def _(lab):
    gate = threading.Event()

    def second(x):
        x.await_event(gate)
        pair(2, expires_in=3600)(x)

    u = lab.provider(then=wants(1, 2))
    e = lab.provider(pair(1, expires_in=10), second)
    t = start(lab, u, e)
    served(lab.post(t))
    at = time.monotonic()
    served(lab.post(t))
    assert e.count == 1
    time.sleep(max(0, at + 8.2 - time.monotonic()))  # a fifth of its life is left
    for i in range(8):  # nobody waits for the new one
        answer = lab.post(t, body=body_for(PATH, model="m%d" % i))
        served(answer, sends=1)
        assert answer.took < 1.0 + SLACK
    e.wait_sends(2)
    assert [s.header("authorization") for s in u.sends] == [bearer(1)] * 10
    gate.set()
    until(lambda: kept(lab) == "next-refresh-token-0002", 5, "the second one is kept")
    until(lambda: served(lab.post(t)) or u.sends[-1].header("authorization") == bearer(2), 5, "and used")
    assert e.count == 2


@rows("expired")
def _(lab):
    """After its end a token is not sent any more: one renews, the others wait."""
    u = lab.provider(then=wants(1, 2))
    e = lab.provider(pair(1, expires_in=1), pair(2, expires_in=3600))
    t = start(lab, u, e)
    served(lab.post(t))
    time.sleep(1.1)
    for answer in lab.side_by_side([lambda: lab.post(t)] * 12):
        served(answer, sends=1)
    assert e.count == 2 and [s.header("authorization") for s in u.sends[1:]] == [bearer(2)] * 12


@rows("expired-jwt")
def _(lab):
    tokens = []

    def fresh(x):
        tokens.append(jwt(len(tokens), exp=time.time() + (3600 if tokens else 2.5)))
        x.answer(200, (), json.dumps({"access_token": tokens[-1]}).encode())

    u, e = lab.provider(), lab.provider(then=fresh)
    t = start(lab, u, e)
    served(lab.post(t))
    time.sleep(2.6)
    served(lab.post(t))
    assert [s.header("authorization") for s in u.sends] == ["Bearer " + token for token in tokens]


# ---- the endpoint fails

@rows("down")
def _(lab):
    e = lab.provider()
    url = e.url("/oauth/token")
    e.stop_listening()
    u = lab.provider(then=wants(1))
    t = start(lab, u, url, allow=[CANNOT])
    answers = lab.side_by_side([lambda: lab.post(t)] * 30)
    for answer in answers:
        local_error(answer, 502, code="upstream_credential_rejected")
        stopped(answer)
        assert answer.took < 2 + SLACK
    assert u.count == 0
    assert sum(CANNOT in line for line in t.lines) <= 2, t.log


@rows.table("broken", {
    "redirect": status(307, [("Location", "/elsewhere")]), "html": ok(b"<html>login</html>"),
    "no-token": ok(b'{"ok": true}'), "rejected": status(400, body=b'{"error": "invalid_grant"}'),
    "too-long": ok(b'{"access_token": "access-token-0001", "x": "' + b"x" * 70000 + b'"}'),
    "blank": ok(b'{"access_token": "access token\\r\\nx: 1"}')})
def _(lab, step):
    u, e = lab.provider(then=wants(1)), lab.provider(then=step)
    t = start(lab, u, e, allow=[CANNOT])
    answers = lab.side_by_side([lambda: lab.post(t)] * 8)
    for answer in answers:
        local_error(answer, 502, code="upstream_credential_rejected")
    assert u.count == 0 and e.count == 1, (u.count, e.count)
    assert all(s.target == "/oauth/token" for s in e.sends)
    until(lambda: CANNOT in t.log, 2, "the log says so")


@rows("metrics")
def _(lab):
    u = lab.provider(then=wants(1))
    e = lab.provider(status(503), then=pair(1, expires_in=3600))
    t = start(lab, u, e, allow=[CANNOT], **lab.admin())

    def scrape():
        return Exposition(ask(t.admins[0], "GET", "/metrics", timeout=10).body.decode())

    assert lab.post(t).status != 200 and e.count == 1
    seen = scrape()
    assert seen.of("turnpike_token_refreshes_total") == {("p", "failed"): 1}
    assert seen.of("turnpike_token_age_seconds") == seen.of("turnpike_token_left_seconds") == {}
    until(lambda: lab.post(t).status == 200, 15, "the endpoint is asked again", step=0.2)
    seen = scrape()
    assert seen.of("turnpike_token_refreshes_total") == {("p", "failed"): 1, ("p", "renewed"): 1}
    age, left = seen.of("turnpike_token_age_seconds")[("p",)], seen.of("turnpike_token_left_seconds")[("p",)]
    assert 0 <= age < 60 and 3540 < left <= 3600 and abs(age + left - 3600) < 1, (age, left)
    no_secrets(t)


@rows("hangs")
def _(lab):
    u, e = lab.provider(then=wants(1)), lab.provider(silent(), then=pair(1))
    t = start(lab, u, e, provider={"timeouts": {"first_byte": "1s"}}, allow=[CANNOT])
    answers = lab.side_by_side([lambda: lab.post(t)] * 8)
    for answer in answers:
        local_error(answer, 502, code="upstream_credential_rejected")
        between(answer.took, 0.9, 3)
    assert e.count == 1
    until(lambda: lab.post(t).status == 200, 6, "it is asked again")


@rows("deadline")
def _(lab):
    """A turn waits no longer than its deadline, and not at all for a client that has left."""
    u, e = lab.provider(then=wants(1)), lab.provider(silent(), then=pair(1))
    t = start(lab, u, e, allow=[CANNOT])
    gone = lab.client(t)
    gone.request("POST", PATH, body=body_for(PATH))
    e.wait_sends(1)
    gone.close()
    t.counted(turns_gone=1)
    answer = lab.post(t, headers={"X-Turnpike-Deadline": "1s"})
    local_error(answer, 503, code="access_token_wait_expired")
    assert answer.header("retry-after") == "1" and not answer.stop, answer
    between(answer.took, 0.9, 2)
    e.stop()
    assert e.count == 1 and u.count == 0


def by_credential(answers):
    """{credential: status}; 200 for those that are not in it."""
    return lambda x: status(answers[(x.send.header("authorization") or "")[len("Bearer "):]])(x) \
        if (x.send.header("authorization") or "")[len("Bearer "):] in answers else ok()(x)


def carried(u):
    return [s.header("authorization")[len("Bearer "):] for s in u.sends]


@rows("next-key-when-the-token-is-refused")
def _(lab):
    """Two keys beside the token: when it is refused and no other one can be had the next key is asked."""
    u = lab.provider(then=by_credential({"pooled-0001": 401}))
    e = lab.provider(pair(1), then=status(500))
    t = start(lab, u, e, provider={"keys": ["pooled-0001", "pooled-0002"]}, allow=[CANNOT])
    served(lab.post(t), sends=2)
    u.set(then=by_credential({"pooled-0001": 401, "access-token-0001": 401}))
    for _ in range(2):  # asks the endpoint, and knows that it failed
        served(lab.post(t), sends=2)
    assert carried(u) == ["pooled-0001", "access-token-0001"] + ["access-token-0001", "pooled-0002"] * 2


@rows("next-key-when-the-token-has-expired")
def _(lab):
    u = lab.provider(then=by_credential({"pooled-0001": 401}))
    e = lab.provider(pair(1, expires_in=1), then=status(500))
    t = start(lab, u, e, provider={"keys": ["pooled-0001", "pooled-0002"]}, allow=[CANNOT])
    served(lab.post(t), sends=2)
    time.sleep(1.1)
    for _ in range(2):
        served(lab.post(t), sends=1)
    assert carried(u) == ["pooled-0001", "access-token-0001", "pooled-0002", "pooled-0002"]
    stats = t.final_stats()  # no send was made with the token that could not be had: each first one is what it is
    assert (stats["sends_initial"], stats["sends_refresh"], stats["sends_rotate"]) == (3, 1, 0), stats


@rows("next-key-behind-another-target")
def _(lab):
    """The keys of a target's provider are not used up by those of the target before."""
    other = lab.provider(then=status(429))
    u = lab.provider(then=by_credential({"pooled-0001": 401}))
    e = lab.provider(pair(1), then=status(500))
    providers, config = refreshing(lab, u, e, provider={"keys": ["pooled-0001", "pooled-0002", "pooled-0003"]})
    providers["other"] = {"url": other.url(), "keys": ["other-key-0001", "other-key-0002", "other-key-0003"]}
    config["routes"] = [{"path": "/v1", "provider": "p"}]
    config["combos"] = {"c": {"targets": [{"provider": "other", "model": "x"}, {"provider": "p", "model": "y"}]}}
    config["budget"] = {"sends": 12}
    t = lab.turnpike(providers, config, probe=False, allow=[CANNOT])
    served(lab.post(t), sends=2)
    u.set(then=by_credential({"pooled-0001": 401, "access-token-0001": 401}))
    served(lab.post(t, body=body_for(PATH, model="c")), sends=5)
    assert carried(u)[2:] == ["access-token-0001", "pooled-0002"]


@rows("keys-after-failure")
def _(lab):
    """A key that is rejected, an endpoint that fails: the combo's next target."""
    u, e, other = lab.provider(then=status(401)), lab.provider(then=status(500)), lab.provider()
    providers, config = refreshing(lab, u, e, provider={"keys": ["old-key-0001"]})
    providers["other"] = {"url": other.url(), "keys": ["other-key-0001"]}
    config.update(routes=[{"path": "/v1", "provider": "p"}], combos={"c": {"targets": [
        {"provider": "p", "model": "a"}, {"provider": "other", "model": "b"}]}})
    t = lab.turnpike(providers, config, allow=[CANNOT], probe=False)
    served(lab.post(t, body=body_for(PATH, model="c")), sends=2)
    assert u.count == 1 and e.count == 1 and other.count == 1
    assert "access-token" not in other.sends[0].raw_head.decode()
    served(lab.post(t, body=body_for(PATH, model="c")), sends=1)  # the first target cools
    assert u.count == 1


@rows("no-token-next-target")
def _(lab):
    u, e, other = lab.provider(), lab.provider(then=status(500)), lab.provider()
    providers, config = refreshing(lab, u, e)
    providers["other"] = {"url": other.url(), "keys": ["other-key-0001"]}
    config.update(routes=[{"path": "/v1", "provider": "p"}], combos={"c": {"targets": [
        {"provider": "p", "model": "a"}, {"provider": "other", "model": "b"}]}})
    t = lab.turnpike(providers, config, allow=[CANNOT], probe=False)
    served(lab.post(t, body=body_for(PATH, model="c")), sends=1)
    assert u.count == 0 and e.count == 1 and other.count == 1


# ---- workers die

def worker_of(t, e):
    """The worker that asks the endpoint: its end of the connection."""
    port = e.connections[-1].peer[1]
    wanted = set()
    with open("/proc/net/tcp") as file:
        for line in list(file)[1:]:
            words = line.split()
            if int(words[1].split(":")[1], 16) == port:
                wanted.add("socket:[%s]" % words[9])
    for pid in t.workers():
        for name in os.listdir("/proc/%d/fd" % pid):
            try:
                if os.readlink("/proc/%d/fd/%s" % (pid, name)) in wanted:
                    return pid
            except OSError:
                pass
    raise AssertionError("no worker has this connection")


def patient(lab, t, answers):
    """A client that sends again when its worker died."""
    for _ in range(8):
        answer = lab.post(t, body=body_for(PATH, model="m%d" % threading.get_ident()))
        if answer.status is not None:
            break
        time.sleep(0.1)
    answers.append(answer)


@rows("holder-dies")
def _(lab):
    u = lab.provider(then=wants(2))
    e = lab.provider(silent(), then=pair(2))
    t = start(lab, u, e, allow=["worker .* died", "killed", "ended"])
    t.lost = 16
    answers = []
    callers = [threading.Thread(target=patient, args=(lab, t, answers)) for _ in range(16)]
    for caller in callers:
        caller.start()
    e.wait_sends(1)
    os.kill(worker_of(t, e), signal.SIGKILL)
    for caller in callers:
        caller.join(30)
    assert e.count == 2 and len(answers) == 16, e.count
    for answer in answers:
        served(answer)


@rows("holder-dies-twice")
def _(lab):
    """Who dies is replaced once; then the failure is told, and the endpoint left alone for a moment."""
    u = lab.provider(then=wants(3))
    e = lab.provider(silent(), silent(), then=pair(3))
    t = start(lab, u, e, allow=["worker .* died", "killed", "ended"])
    t.lost = 16
    answers = []
    callers = [threading.Thread(target=patient, args=(lab, t, answers)) for _ in range(16)]
    for caller in callers:
        caller.start()
    for count in (1, 2):
        e.wait_sends(count)
        os.kill(worker_of(t, e), signal.SIGKILL)
    for caller in callers:
        caller.join(30)
    assert {a.status for a in answers} <= {200, 502} and 502 in {a.status for a in answers}, answers
    until(lambda: lab.post(t).status == 200, 6, "it is asked again")
    assert e.count == 3
    assert e.sends[2].at - e.sends[1].at >= 1.0


# ---- the configuration

@pytest.mark.parametrize("section, words", [
    ({"url": "https://a.example/t"}, "needs `refresh_token` too"),
    ({"url": "https://a.example/t", "refresh_token": "abcd"}, "needs `state_file` too"),
    ({"refresh_token": "abcd", "state_file": "/tmp/x"}, "needs `url` too"),
    ({"url": "https://u:p@a.example/t", "refresh_token": "abcd", "state_file": "/tmp/x"}, "user information"),
    ({"url": "ftp://a.example/t", "refresh_token": "abcd", "state_file": "/tmp/x"}, "must begin with http"),
    ({"url": "https://a.example/t", "refresh_token": "abcd", "state_file": "x"}, "absolute path"),
    ({"url": "https://a.example/t", "refresh_token": "abcd", "state_file": "/tmp/x", "client_secret": "x"},
     "no client_id"),
])
def test_rules(section, words, tmp_path):
    file = tmp_path / "t.yaml"
    file.write_text(json.dumps({"providers": {"p": {"url": "https://p.example/v1", "refresh": section}}}))
    done = run("check", "-c", str(file))
    assert done.returncode == 1 and words in done.stderr + done.stdout, done


def test_secrets_are_not_shown(tmp_path):
    file = tmp_path / "t.yaml"
    file.write_text(json.dumps({"providers": {"p": {"url": "https://p.example/v1", "refresh": {
        "url": "https://a.example/t", "refresh_token": "very-secret-1", "client_id": "me",
        "client_secret": "very-secret-2", "state_file": "/tmp/x"}}}}))
    for command in (("config", "--effective", "-c", str(file)), ("check", "-c", str(file))):
        done = run(*command)
        assert done.returncode == 0 and "very-secret" not in done.stdout + done.stderr, done


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
