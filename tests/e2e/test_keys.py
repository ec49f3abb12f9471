"""Several keys for one provider, and whose credential reaches whom: cases KR-1 to KR-4."""

import json
import threading

import pytest

from harness import turnpike
from harness.checks import local_error, not_stopped, relayed, served, stopped
from harness.client import body_for
from harness.combos import cooling
from harness.exposition import Exposition
from harness.lab import Rows, between, told
from harness.provider import error_body, ok, status

rows = Rows()
CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"


def by_key(answers, then=None):
    """A step that answers by the key: {key: step}."""
    def step(x):
        key = (x.send.header("authorization") or x.send.header("x-api-key") or "").replace("Bearer ", "")
        return (answers[key] if key in answers else then or ok())(x)
    return step


def pool(lab, u, keys=("A", "B"), config=None, **settings):
    over = {"workers": 4}
    return lab.turnpike({"p": dict({"url": u.url(), "keys": list(keys)}, **settings)},
                        turnpike.merge(over, config or {}), probe=False)


def keys_of(u):
    return [(s.header("authorization") or s.header("x-api-key")).replace("Bearer ", "") for s in u.sends]


def cools_once(t, name):
    return len([line for line in t.lines if ": %s cools for" % name in line])


# ---- which key

@rows("KR-1")
def _(lab):
    u = lab.provider(then=by_key({"A": status(429, {"Retry-After": "5"})}))
    t = pool(lab, u)
    answer = lab.post(t)
    served(answer, sends=2)
    assert keys_of(u) == ["A", "B"] and answer.took < 1, answer
    for _ in range(8):  # whichever worker takes it
        served(lab.post(t), sends=1)
    assert keys_of(u) == ["A"] + ["B"] * 9
    left = cooling(t)
    assert list(left) == ["p key 1"] and 0 < left["p key 1"] <= 5, left
    stats = t.final_stats()
    assert (stats["sends_initial"], stats["sends_rotate"], stats["sends_overload"]) == (9, 1, 0), stats


@rows("KR-1-parallel")
def _(lab):
    both = threading.Barrier(2)

    def refuse(x):
        both.wait(30)
        return status(429, {"Retry-After": "5"})(x)

    u = lab.provider(then=by_key({"A": refuse}))
    t = pool(lab, u)
    for answer in lab.side_by_side([lambda: lab.post(t)] * 2):
        served(answer, sends=2)
    assert sorted(keys_of(u)) == ["A", "A", "B", "B"]
    assert list(cooling(t)) == ["p key 1"]
    assert cools_once(t, "p key 1") == 1 and cools_once(t, "p key 2") == 0


@rows("KR-1-afterwards")
def _(lab):
    """When the told time is over the first key is used again."""
    u = lab.provider(then=by_key({"A": status(429, {"Retry-After": "2"})}))
    t = pool(lab, u)
    served(lab.post(t), sends=2)
    turnpike.until(lambda: not cooling(t), 10, "key 1 cools no more")
    u.set(then=ok())
    served(lab.post(t), sends=1)
    assert keys_of(u) == ["A", "B", "A"]


@rows.table("KR-2", [401, 402, 403])
def _(lab, code):
    u = lab.provider(then=by_key({"A": status(code)}))
    t = pool(lab, u)
    answer = lab.post(t)
    served(answer, sends=2)
    assert keys_of(u) == ["A", "B"] and answer.took < 1
    for _ in range(4):
        served(lab.post(t), sends=1)
    assert keys_of(u) == ["A"] + ["B"] * 5
    assert 55 < cooling(t)["p key 1"] <= 60


@rows("KR-2-all")
def _(lab):
    u = lab.provider(then=status(429))
    t = pool(lab, u, config={"retry": {"overload": {"sends": 1}}})
    answer = lab.post(t)
    relayed(answer, 429, error_body(429))
    assert answer.sends == 2 and keys_of(u) == ["A", "B"]
    # all cool: nobody asks, on any worker
    for _ in range(4):
        answer = lab.post(t)
        error = local_error(answer, 429, code="keys_cooling")
        assert "try again in" not in error["message"].lower()
        assert 50 < int(answer.header("retry-after")) <= 60, answer
        not_stopped(answer)
    assert u.count == 2
    assert sorted(cooling(t)) == ["p key 1", "p key 2"]
    assert turnpike.run("cooldown", "clear", "--name", t.name).returncode == 0
    u.set(then=ok())
    served(lab.post(t), sends=1)
    assert keys_of(u) == ["A", "B", "A"]


@rows("KR-2-quota")
def _(lab):
    """A used-up quota is the key's, whatever the provider says about retries; the last answer is shown."""
    out = status(429, {"x-should-retry": "false"},
                 body=b'{"error":{"message":"x","type":"insufficient_quota","code":"insufficient_quota"}}')
    u = lab.provider(then=by_key({"A": out, "B": out}))
    answer = lab.post(pool(lab, u))
    assert answer.status == 429 and answer.code == "insufficient_quota" and answer.sends == 2, answer
    stopped(answer)
    assert keys_of(u) == ["A", "B"]


@rows("KR-2-rejected")
def _(lab):
    u = lab.provider(then=status(401))
    t = pool(lab, u, keys=["A", "B", "C"])
    answer = lab.post(t)
    local_error(answer, 502, code="upstream_credential_rejected")
    stopped(answer)
    assert keys_of(u) == ["A", "B", "C"] and answer.sends == 3
    local_error(lab.post(t), 429, code="keys_cooling")


@rows("keys-budget")
def _(lab):
    """More keys than the budget has sends: no send beyond it."""
    u = lab.provider(then=status(429, {"Retry-After": "30"}))
    t = pool(lab, u, keys=["A", "B", "C", "D", "E", "F"])
    answer = lab.post(t)
    relayed(answer, 429)
    stopped(answer)
    assert answer.sends == 4 and keys_of(u) == ["A", "B", "C", "D"]
    # the others are free for the next one
    u.set(then=ok())
    served(lab.post(t), sends=1)
    assert keys_of(u)[4:] == ["E"]


@rows("keys-max-sends")
def _(lab):
    u = lab.provider(then=by_key({"A": status(429)}))
    answer = lab.post(pool(lab, u), headers={"X-Turnpike-Max-Sends": "1"})
    relayed(answer, 429)
    assert keys_of(u) == ["A"]


@rows("keys-last-one-waits")
def _(lab):
    """With no other key a limit is waited for, on the key that met it; its success ends the guess."""
    u = lab.provider(status(401), status(429), then=ok())
    t = pool(lab, u, config={"retry": {"overload": {"base": "300ms"}}})
    answer = lab.post(t)
    served(answer, sends=3)
    assert keys_of(u) == ["A", "B", "B"]
    assert list(cooling(t)) == ["p key 1"]


@rows("keys-told")
def _(lab):
    """The last key's told wait is kept, and all others are told what is left of the nearest."""
    u = lab.provider(then=by_key({"A": status(429, {"Retry-After": "40"}),
                                  "B": status(429, {"Retry-After": "600"})}))
    t = pool(lab, u)
    answer = lab.post(t)
    relayed(answer, 429)
    assert answer.header("retry-after") == "600" and answer.took < 1 and keys_of(u) == ["A", "B"]
    answer = lab.post(t)
    local_error(answer, 429, code="keys_cooling")
    assert 35 <= int(answer.header("retry-after")) <= 40
    assert u.count == 2


@rows("keys-told-long")
def _(lab):
    """What one key was told is no word about the target: the next one is asked at once."""
    u = lab.provider(then=by_key({"A": status(429, {"Retry-After": "600"})}))
    t = pool(lab, u)
    served(lab.post(t), sends=2)
    served(lab.post(t), sends=1)
    left = cooling(t)
    assert keys_of(u) == ["A", "B", "B"] and list(left) == ["p key 1"] and left["p key 1"] > 590, left


@rows("keys-while-waiting")
def _(lab):
    """A key that is refused while a turn waits to use it again: that turn takes the other one."""
    u = lab.provider(status(503, {"Retry-After": "2"}),
                     then=by_key({"A": status(429, {"Retry-After": "30"})}))
    t = pool(lab, u)
    with lab.client(t) as c:
        c.request("POST", CHAT, (), body_for(CHAT))
        t.counted(waiting=1)
        served(lab.post(t), sends=2)
        served(c.response(), sends=2)
    assert keys_of(u) == ["A", "A", "B", "B"]
    assert t.final_stats()["sends_rotate"] == 1


def told_while_waiting(lab, seconds, headers=()):
    """A turn waits to use key A again, the only one left, when another one is told to leave it alone."""
    u = lab.provider(status(401), status(503), status(429, {"Retry-After": str(seconds)}), then=ok())
    t = pool(lab, u, config={"retry": {"transient": {"base": "2s"}}})
    with lab.client(t) as c:
        c.request("POST", CHAT, headers, body_for(CHAT))
        t.counted(waiting=1)
        lab.post(t, headers={"X-Turnpike-Max-Sends": "1"})
        told_at = u.wait_sends(3)[2].answered_at
        return u, told_at, c.response()


@rows("keys-told-while-waiting")
def _(lab):
    """No send with it before its time."""
    u, told_at, answer = told_while_waiting(lab, 5)
    served(answer, sends=3)
    assert keys_of(u) == ["A", "B", "B", "B"]
    between(u.sends[3].at - told_at, 5.0, 6.0)


@rows.table("keys-told-too-long-while-waiting", {"deadline": (20, {"X-Turnpike-Deadline": "10s"}), "ceiling": (70, ())})
def _(lab, case):
    """And none at all where that is later than the turn may wait: it ends with what it has."""
    u, _, answer = told_while_waiting(lab, *case)
    relayed(answer, 503)
    assert answer.sends == 2 and answer.took < 8, answer
    assert keys_of(u) == ["A", "B", "B"]


@rows("keys-shared-wait")
def _(lab):
    """A told wait of one key holds nobody who can use another."""
    u = lab.provider(then=by_key({"A": status(429, {"Retry-After": "10"})}))
    t = pool(lab, u)
    answers = [lab.post(t)] + lab.side_by_side([lambda: lab.post(t)] * 10)
    for answer in answers:
        served(answer)
        assert answer.took < 5
    assert keys_of(u) == ["A"] + ["B"] * 11


@rows("keys-overload")
def _(lab):
    """Overload is the provider's: no key cools, and none is changed."""
    u = lab.provider(status(503), status(429, {"X-Codex-Model-Capacity": "4/4"}), then=ok())
    t = pool(lab, u, config={"retry": {"overload": {"base": "300ms"}}})
    served(lab.post(t), sends=3)
    assert keys_of(u) == ["A"] * 3 and cooling(t) == {}


@rows("keys-one")
def _(lab):
    """One key: a limit is waited for and shared, nothing cools."""
    u = lab.provider(status(429, {"Retry-After": "2"}), then=ok())
    t = pool(lab, u, keys=["A"])
    answer = lab.post(t)
    served(answer, sends=2)
    between(answer.took, *told(2))
    assert keys_of(u) == ["A", "A"] and "p key 1" not in cooling(t)
    u.set(status(401), then=ok())
    local_error(lab.post(t), 502, code="upstream_credential_rejected")
    served(lab.post(t), sends=1)


# ---- and combos

@rows("keys-combo")
def _(lab):
    """Next key, next target; a target whose keys all cool is passed over."""
    a = lab.provider(then=by_key({"A": status(429), "B": status(403)}))
    b = lab.provider()
    t = lab.turnpike({"a": {"url": a.url(), "keys": ["A", "B"]}, "b": {"url": b.url(), "keys": ["Z"]}},
                     {"workers": 4, "routes": [{"path": "/v1", "provider": "a"}],
                      "combos": {"coder": {"targets": [{"provider": "a", "model": "x"},
                                                       {"provider": "b", "model": "y"}]}}})
    answer = lab.post(t, CHAT, body_for(CHAT, model="coder"))
    served(answer, sends=3)
    assert keys_of(a) == ["A", "B"] and b.count == 1 and answer.took < 1
    assert sorted(cooling(t)) == ["a key 1", "a key 2"]
    served(lab.post(t, CHAT, body_for(CHAT, model="coder")), sends=1)
    assert (a.count, b.count) == (2, 2)
    b.set(then=status(403))
    local_error(lab.post(t, CHAT, body_for(CHAT, model="coder")), 502, code="upstream_credential_rejected")
    # all is a guess: one request at a time finds out, with the key that ends first
    a.set(then=ok())
    served(lab.post(t, CHAT, body_for(CHAT, model="coder")), sends=1)
    assert keys_of(a) == ["A", "B", "A"]


@rows("keys-combo-told")
def _(lab):
    a = lab.provider(then=status(429, {"Retry-After": "30"}))
    t = lab.turnpike({"a": {"url": a.url(), "keys": ["A", "B"]}},
                     {"workers": 4, "routes": [{"path": "/v1", "provider": "a"}],
                      "combos": {"coder": {"targets": [{"provider": "a", "model": "x"},
                                                       {"provider": "a", "model": "y"}]}},
                      "retry": {"overload": {"sends": 1}}})
    relayed(lab.post(t, CHAT, body_for(CHAT, model="coder")), 429)
    assert keys_of(a) == ["A", "B"]  # the other model would be asked with the same keys
    answer = lab.post(t, CHAT, body_for(CHAT, model="coder"))
    local_error(answer, 503, code="combo_unavailable")
    assert 25 <= int(answer.header("retry-after")) <= 30
    assert a.count == 2


# ---- whose credential

CLIENTS = [("x-api-key", "c-1"), ("api-key", "c-2"), ("x-goog-api-key", "c-3"), ("Cookie", "session=c-4"),
           ("OpenAI-Organization", "org-c5"), ("OpenAI-Project", "proj-c6"), ("ChatGPT-Account-Id", "acc-c7"),
           ("anthropic-organization-id", "org-c8"), ("anthropic-workspace-id", "ws-c9"),
           ("x-goog-user-project", "gp-c10"), ("X-Auth-Token", "tok-c11")]
QUERY = "?key=q-1&a=1&%6Bey=q-2&api%5Fkey=q-3&API-KEY=q-4&access_token=q-5&b=key"


@rows("KR-3")
def _(lab):
    u1, u2 = lab.provider(then=status(503)), lab.provider()
    t = lab.turnpike({"u1": {"url": u1.url(), "keys": ["K1"], "family": "openai"},
                      "u2": {"url": u2.url(), "keys": ["K2"], "family": "anthropic"}},
                     {"workers": 4, "routes": [{"path": "/v1", "provider": "u1"}],
                      "clients": [{"name": "t", "key": "T-secret"}],
                      "combos": {"coder": {"sends_per_target": 1,
                                           "targets": [{"provider": "u1", "model": "x"},
                                                       {"provider": "u2", "model": "y"}]}}}, probe=False)
    headers = [("Authorization", "Bearer T-secret"), ("anthropic-version", "2023-06-01"),
               ("anthropic-beta", "tools"), ("OpenAI-Beta", "assistants=v2"), ("X-Trace", "kept")] + CLIENTS
    served(lab.post(t, CHAT + QUERY, body_for(CHAT, model="coder"), headers), sends=2)
    for send, name, value in ((u1.sends[0], "authorization", "Bearer K1"), (u2.sends[0], "x-api-key", "K2")):
        assert send.all(name) == [value]
        for other in ["authorization"] + [n.lower() for n, _ in CLIENTS]:
            assert other == name or send.all(other) == [], (other, send.headers)
        seen = send.raw_head.decode("latin-1")
        assert "T-secret" not in seen and "q-" not in seen, seen
        assert not [v for _, v in CLIENTS if v in seen]
        assert send.target == CHAT + "?a=1&b=key" and send.header("x-trace") == "kept"
    assert u1.sends[0].all("anthropic-version") == [] and u1.sends[0].all("anthropic-beta") == []
    assert u1.sends[0].header("openai-beta") == "assistants=v2"
    assert u2.sends[0].all("anthropic-version") == ["2023-06-01"] and u2.sends[0].all("openai-beta") == []
    assert u2.sends[0].header("anthropic-beta") == "tools"


@rows("KR-3-version")
def _(lab):
    """An anthropic provider always gets a version: the client's, else ours."""
    u = lab.provider()
    t = pool(lab, u, keys=["K"], family="anthropic")
    served(lab.post(t, MESSAGES))
    served(lab.post(t, MESSAGES, headers={"anthropic-version": "2024-01-01"}))
    served(lab.get(t, "/v1/models"))
    assert [s.all("anthropic-version") for s in u.sends] == [["2023-06-01"], ["2024-01-01"], ["2023-06-01"]]


@rows("KR-3-no-keys")
def _(lab):
    """Without keys everything goes along as it came."""
    u = lab.provider()
    t = lab.turnpike({"p": {"url": u.url(), "family": "openai"}}, {"workers": 4}, probe=False)
    headers = [("Authorization", "Bearer own"), ("anthropic-version", "1")] + CLIENTS
    served(lab.post(t, CHAT + QUERY, headers=headers))
    for name, value in headers:
        assert u.sends[0].all(name) == [value]
    assert u.sends[0].target == CHAT + QUERY


@rows("KR-4")
def _(lab):
    u1, u2 = lab.provider(then=status(503)), lab.provider(then=status(401))
    t = lab.turnpike({"a": {"url": u1.url(), "keys": ["K1"]}, "b": {"url": u2.url(), "keys": ["K2"]}},
                     {"workers": 4, "routes": [{"path": "/v1", "provider": "a"}],
                      "combos": {"coder": {"targets": [{"provider": "a", "model": "x"},
                                                       {"provider": "b", "model": "y"}]}}}, probe=False)
    answer = lab.post(t, CHAT, body_for(CHAT, model="coder"))
    local_error(answer, 502, code="upstream_credential_rejected")
    stopped(answer)
    assert "b key 1" in cooling(t)


@rows.table("KR-4-one", [401, 403])
def _(lab, code):
    u = lab.provider(then=status(code))
    answer = lab.post(pool(lab, u, keys=["K"]))
    local_error(answer, 502, code="upstream_credential_rejected")
    assert u.count == 1


@rows("KR-4-control")
def _(lab):
    u = lab.provider(then=status(401))
    answer = lab.post(lab.turnpike(u, {"workers": 4}, probe=False), headers={"Authorization": "Bearer mine"})
    relayed(answer, 401, error_body(401))


# ---- numbers

@rows("keys-numbers")
def _(lab):
    u = lab.provider(then=by_key({"first-secret": status(429, {"Retry-After": "30"})}))
    t = pool(lab, u, keys=["first-secret", "second-secret"], config={"admin": {"listen": ["127.0.0.1:0"]}})
    served(lab.post(t), sends=2)
    served(lab.post(t), sends=1)
    t.final_stats()
    text = lab.get(t.admins[0], "/metrics").body.decode()
    values = Exposition(text).values
    found = {(name, labels[1][1]): value for (name, labels), value in values.items()
             if name.startswith("turnpike_key_")}
    assert found == {("turnpike_key_sends_total", "1"): 1, ("turnpike_key_sends_total", "2"): 2,
                     ("turnpike_key_cooling", "1"): 1, ("turnpike_key_cooling", "2"): 0}, found
    report = lab.get(t.admins[0], "/stats").json()
    assert report["providers"]["p"]["key_sends"] == {"1": 1, "2": 2}
    listing = turnpike.run("cooldown", "list", "--name", t.name).stdout
    assert "p key 1" in listing
    assert "secret" not in text + json.dumps(report) + listing + t.log


@rows.table("rejection-is-not-shown", ["next-key", "next-target"])
def _(lab, way):
    """A 401 for a key of Turnpike's is no answer for the client, also when nothing better comes behind it."""
    u = lab.provider(then=lambda x: (gone.stop_listening(), x.answer(401, (), error_body(401), framing="close")))
    gone = u if way == "next-key" else lab.provider()
    combo = {"combos": {"c": {"targets": [{"provider": "p", "model": "m"}, {"provider": "q", "model": "m"}]}},
             "routes": [{"path": "/v1", "provider": "p"}]}
    t = lab.turnpike({"p": {"url": u.url(), "keys": ["A", "B"] if way == "next-key" else ["A"]},
                      "q": {"url": gone.url(), "keys": ["A"]}}, combo, probe=False)
    answer = lab.post(t, body=body_for(CHAT, model="m" if way == "next-key" else "c"))
    local_error(answer, 502, code="upstream_unreachable")
    assert u.count == 1


@pytest.mark.parametrize("row", rows.names())
def test_keys(row, row_result):
    row_result(row)
