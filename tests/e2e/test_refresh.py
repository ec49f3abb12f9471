"""Access tokens that are renewed: cases KR-5, KR-6, KR-7."""

import base64
import json
import os
import signal
import threading
import time
import urllib.parse

import pytest

from harness.checks import local_error, served, stopped
from harness.client import body_for
from harness.lab import SLACK, Rows
from harness.provider import ok, status
from harness.tokens import CANNOT, FIRST, PATH, asked_with, bearer, kept, no_secrets, pair, start, wants
from harness.turnpike import alive, children, run, until

rows = Rows()


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
