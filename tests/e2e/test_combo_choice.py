"""Combos: whom a turn asks first, over four workers; and which targets may serve which family."""

import threading

import pytest

from harness import turnpike
from harness.checks import FAMILIES, local_error, served
from harness.combos import ask, combo
from harness.lab import Rows
from harness.provider import ok, status

rows = Rows()


def weighted(*weights):
    return [{"provider": "abcde"[i], "model": "model-" + "abcde"[i], "weight": w} for i, w in enumerate(weights)]


def row_of(lab, t, turns):
    """Whom each turn asked, as letters."""
    answers = [ask(lab, t) for _ in range(turns)]
    for answer in answers:
        served(answer, sends=1)
    return "".join(answer.header("x-turnpike-target")[0] for answer in answers)


# ---- round robin

@rows("round-robin")
def _(lab):
    """Exact over all workers, and smooth: each turn comes in on a connection of its own."""
    a, b = lab.provider(), lab.provider()
    t = combo(lab, a, b, models=weighted(3, 1), strategy="round_robin")
    assert row_of(lab, t, 400) == "AABA".lower() * 100
    assert (a.count, b.count) == (300, 100)


@rows("round-robin-at-once")
def _(lab):
    a, b, c = lab.provider(), lab.provider(), lab.provider()
    t = combo(lab, a, b, c, models=weighted(2, 1, 1), strategy="round_robin")
    for answer in lab.side_by_side([lambda: ask(lab, t)] * 120, limit=24):
        served(answer, sends=1)
    assert (a.count, b.count, c.count) == (60, 30, 30)


@rows("round-robin-one-out")
def _(lab):
    """One that cools is passed over, its turns go to the others in equal parts, and none is asked twice."""
    a, b, c = lab.provider(then=status(503)), lab.provider(), lab.provider()
    t = combo(lab, a, b, c, strategy="round_robin", sends_per_target=1)
    served(ask(lab, t), sends=2)
    before = b.count
    for _ in range(60):
        served(ask(lab, t), sends=1)
    assert a.count == 1 and before == 1
    assert abs(b.count - c.count) <= 2, (b.count, c.count)


@rows("round-robin-reaches-all")
def _(lab):
    """Whoever is first, all of them are reached, each once, within the budget."""
    all3 = [lab.provider(then=status(404)) for _ in range(3)]
    t = combo(lab, *all3, strategy="round_robin")
    for turn in range(1, 7):
        answer = ask(lab, t)
        assert answer.status == 404 and answer.sends == 3, answer
        assert [u.count for u in all3] == [turn] * 3


@rows("round-robin-reload")
def _(lab):
    """The count goes by the combo's name and outlives a restart that keeps the table."""
    a, b = lab.provider(), lab.provider()
    t = combo(lab, a, b, strategy="round_robin")
    assert row_of(lab, t, 3) == "aba"
    other = combo(lab, a, b, strategy="round_robin")
    assert row_of(lab, other, 2) == "ab", "another table counts for itself"
    assert row_of(lab, t, 2) == "ba"


# ---- random

@rows("random")
def _(lab):
    a, b = lab.provider(), lab.provider()
    t = combo(lab, a, b, models=weighted(3, 1), strategy="random")
    row = row_of(lab, t, 400)
    # Five standard deviations: once in two million runs.
    assert 257 <= row.count("a") <= 343, row.count("a")
    assert "aaba" * 100 != row


# ---- least busy

def held(lab, t, go, count, u):
    """`count` requests that are in progress at u until `go`."""
    threads = [threading.Thread(target=lambda: ask(lab, t)) for _ in range(count)]
    before = u.count
    for thread in threads:
        thread.start()
    u.wait_sends(before + count)
    return threads


@rows("least-busy")
def _(lab):
    """Counted over all workers; of equal ones the first."""
    go = threading.Event()

    def slow(x):
        x.await_event(go)
        ok()(x)

    a, b, c = (lab.provider(then=slow) for _ in range(3))
    t = combo(lab, a, b, c, strategy="least_busy")
    threads = []
    for turn in range(1, 13):
        threads.append(threading.Thread(target=lambda: ask(lab, t)))
        threads[-1].start()
        u = (a, b, c)[(turn - 1) % 3]
        u.wait_sends((turn + 2) // 3)
    assert (a.count, b.count, c.count) == (4, 4, 4)
    go.set()
    for thread in threads:
        thread.join(10)
    served(ask(lab, t), sends=1)
    assert a.count == 5, "all are idle again"


@rows("least-busy-plain-traffic")
def _(lab):
    """What goes to the provider without a combo counts too; of two models of one provider the idle one is asked."""
    go = threading.Event()

    def slow(x):
        x.await_event(go)
        ok()(x)

    a, b = lab.provider(then=slow), lab.provider(then=slow)
    t = combo(lab, a, b, strategy="least_busy", models=[{"provider": "a", "model": "m1"},
                                                        {"provider": "a", "model": "m2"},
                                                        {"provider": "b", "model": "m3"}])
    plain = threading.Thread(target=lambda: ask(lab, t, model="plain"))
    plain.start()
    a.wait_sends(1)
    asked = []
    for u, count in ((b, 1), (a, 2), (b, 2), (a, 3)):
        asked.append(threading.Thread(target=lambda: ask(lab, t)))
        asked[-1].start()
        u.wait_sends(count)
    assert [send.json()["model"] for send in a.sends] == ["plain", "m1", "m2"]
    go.set()
    for thread in asked + [plain]:
        thread.join(10)


# ---- families

def two(lab, a, b, **more):
    return combo(lab, a, b, config={"providers": {"a": {"family": "openai"}, "b": {"family": "anthropic"}}}, **more)


@rows("KR-3")
def _(lab):
    """Both dialects have chat: each provider gets its own key in its own header, and the client's nowhere."""
    a, b = lab.provider(then=status(503)), lab.provider()
    t = two(lab, a, b, sends_per_target=1)
    t2 = lab.turnpike({"a": {"url": a.url(), "keys": ["K-one"], "family": "openai"},
                       "b": {"url": b.url(), "keys": ["K-two"], "family": "anthropic"}},
                      {"workers": 4, "clients": [{"name": "t", "key": "T-of-the-client"}],
                       "routes": [{"path": "/v1", "provider": "a"}],
                       "combos": {"coder": {"sends_per_target": 1, "targets": [
                           {"provider": "a", "model": "m1"}, {"provider": "b", "model": "m2"}]}}})
    served(ask(lab, t2, headers={"Authorization": "Bearer T-of-the-client"}), sends=2)
    one, other = a.sends[0], b.sends[0]
    assert one.all("authorization") == ["Bearer K-one"] and one.all("x-api-key") == []
    assert other.all("x-api-key") == ["K-two"] and other.all("authorization") == []
    for send in (one, other):
        assert b"T-of-the-client" not in send.raw_head
    assert other.all("anthropic-version") == ["2023-06-01"] and one.all("anthropic-version") == []
    served(ask(lab, t), sends=2)


@rows.table("family", {"messages": ("messages", 0, 1), "responses": ("responses", 1, 0)})
def _(lab, case):
    """A target that does not speak the request's family is passed over, whatever its place."""
    family, of_a, of_b = case
    a, b = lab.provider(), lab.provider()
    t = two(lab, a, b)
    served(ask(lab, t, FAMILIES[family]), sends=1)
    assert (a.count, b.count) == (of_a, of_b)


@rows.table("family-last", ["messages", "responses"])
def _(lab, family):
    """It is not what remains either: the only one that speaks it has the whole budget of one target."""
    a, b = lab.provider(then=status(503)), lab.provider(then=status(503))
    t = two(lab, a, b)
    answer = ask(lab, t, FAMILIES[family])
    assert answer.status == 503 and answer.sends == 3, answer
    assert sorted((a.count, b.count)) == [0, 3]


@rows.table("family-none", {"messages": ("openai", "chat and responses"),
                            "responses": ("anthropic", "chat and messages")})
def _(lab, case):
    family, words = case
    wanted = "messages" if family == "openai" else "responses"
    a = lab.provider()
    t = combo(lab, a, config={"providers": {"a": {"family": family}}})
    answer = ask(lab, t, FAMILIES[wanted])
    local_error(answer, 400, wanted)
    assert words in answer.body.decode() and a.count == 0, answer


@rows("check")
def _(lab):
    a, b = lab.provider(), lab.provider()
    t = two(lab, a, b, strategy="least_busy")
    done = turnpike.run("check", "-c", t.file)
    assert done.returncode == 0, done
    assert "combo coder: chat: all targets; responses: a/model-a; messages: b/model-b" in done.stdout, done.stdout


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
