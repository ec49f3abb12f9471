"""Combos: cases CO, credentials, routes by model, and what all workers see."""

import gzip
import threading
import time

import pytest

from harness import turnpike
from harness.checks import FAMILIES, MODELS, local_error, relayed, served, stopped
from harness.client import body_for, prompt, request_bytes
from harness.combos import CHAT, ask, coded, combo, cooling, same_but_model
from harness.lab import T0, Rows, between, gaps, told
from harness.provider import before_body, error_body, good_events, ok, silent, status, stream

rows = Rows()


# ---- cases

@rows.table("CO-1", {"plain": None, "stream": True})
def _(lab, wanted):
    a, b = lab.provider(then=status(503)), lab.provider(
        then=stream(sum(good_events("chat"), [])) if wanted else ok())
    t = combo(lab, a, b)
    served(ask(lab, t, stream=wanted), sends=3)
    assert (a.count, b.count) == (2, 1)
    gaps(a, T0)


@rows.table("CO-1-status", {"503-one": (503, 1, 1), "529": (529, 2, 1), "520": (520, 2, 2), "522": (522, 2, 2),
                            "501": (501, 2, 1), "525": (525, 2, 1), "503-told": (503, 2, 1)})
def _(lab, case):
    code, most, sends = case
    a, b = lab.provider(then=status(code, {"Retry-After": "1"} if (code, most, sends) == (503, 2, 1) else ())), \
        lab.provider()
    served(ask(lab, combo(lab, a, b, sends_per_target=most)), sends=sends + 1)
    assert (a.count, b.count) == (sends, 1)


@rows.table("CO-2", [400, 408, 409, 413, 415, 418, 422, 451, 524])
def _(lab, code):
    a, b = lab.provider(then=status(code, {"Content-Type": "text/plain"}, b"no\n")), lab.provider()
    t = combo(lab, a, b)
    relayed(ask(lab, t), code, b"no\n")
    assert (a.count, b.count) == (1, 0) and cooling(t) == {}


@rows("CO-3")
def _(lab):
    a = lab.provider(coded(400, "context_length_exceeded"), then=ok())
    b = lab.provider()
    t = combo(lab, a, b)
    served(ask(lab, t), sends=2)
    assert (a.count, b.count) == (1, 1) and cooling(t) == {}
    served(ask(lab, t), sends=1)
    assert (a.count, b.count) == (2, 1)


@rows.table("CO-4", [401, 403])
def _(lab, code):
    a, b = lab.provider(then=status(code)), lab.provider()
    t = combo(lab, a, b, models=[{"provider": "a", "model": "m1"}, {"provider": "a", "model": "m2"},
                                 {"provider": "b", "model": "m"}])
    served(ask(lab, t), sends=2)
    served(ask(lab, t), sends=1)
    assert (a.count, b.count) == (1, 2)
    assert [send.json()["model"] for send in a.sends + b.sends] == ["m1", "m", "m"]


@rows("CO-4-alone")
def _(lab):
    """Both targets hang on the key that was rejected: there is no next one."""
    a = lab.provider(then=status(401))
    t = combo(lab, a, models=[{"provider": "a", "model": "m1"}, {"provider": "a", "model": "m2"}])
    answer = ask(lab, t)
    local_error(answer, 502, code="upstream_credential_rejected")
    stopped(answer)
    assert a.count == 1


@rows.table("CO-5", {"2": 2.0, "0": 1.5})
def _(lab, seconds):
    a = lab.provider(status(429, {"Retry-After": "2" if seconds == 2 else "0"}), then=ok())
    b = lab.provider()
    t = combo(lab, a, b)
    served(ask(lab, t), sends=2)
    since = a.sends[0].answered_at
    while time.monotonic() < since + seconds - 0.1:
        served(ask(lab, t), sends=1)
        time.sleep(0.1)
    assert a.count == 1 and b.count > 3
    time.sleep(max(0, since + seconds + 0.2 - time.monotonic()))
    served(ask(lab, t), sends=1)
    assert a.count == 2


@rows("CO-6")
def _(lab):
    a, b = lab.provider(then=status(503)), lab.provider(then=status(500))
    c = lab.provider(then=status(429, {"Retry-After": "33"}))
    t = combo(lab, a, b, c, sends_per_target=1, config={"retry": {"overload": {"sends": 1}}})
    answer = ask(lab, t)
    relayed(answer, 429)
    assert answer.header("retry-after") == "33" and (a.count, b.count, c.count) == (1, 1, 1)
    at = time.monotonic()
    a.set(then=ok(after=1.0))
    both = lab.side_by_side([lambda: ask(lab, t)] * 2)
    good, = [x for x in both if x.status == 200]
    bad, = [x for x in both if x.status != 200]
    served(good, sends=1)
    local_error(bad, 503, code="combo_unavailable")
    assert 33 - (time.monotonic() - at) - 1 <= int(bad.header("retry-after")) <= 33, bad
    assert bad.sends == 0 and (a.count, b.count, c.count) == (2, 1, 1)
    served(ask(lab, t), sends=1)
    assert a.count == 3, "the good answer ended its cooldown"


@rows("CO-6-wait")
def _(lab):
    a = lab.provider(status(429, {"Retry-After": "2"}), then=ok())
    t = combo(lab, a, wait_for_cooldown="5s", config={"retry": {"overload": {"sends": 1}}})
    relayed(ask(lab, t), 429)
    answer = ask(lab, t)
    served(answer, sends=1)
    between(a.sends[1].at - a.sends[0].answered_at, 1.95, 2.3)
    a.set(status(429, {"Retry-After": "30"}), then=ok())
    relayed(ask(lab, t), 429)
    answer = ask(lab, t)
    local_error(answer, 503, code="combo_unavailable")
    assert answer.took < 1, "nothing ends within the wait"


@rows.table("CO-7", MODELS)
def _(lab, family):
    a = lab.provider()
    t = combo(lab, a)
    local_error(ask(lab, t, FAMILIES[family], model="combo/nope"), 404, family, "model_not_found")
    assert a.count == 0


@rows("CO-8")
def _(lab):
    def half(x):
        x.write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
                b'{"error":', answered=True)
        x.await_peer_close()

    a, b = lab.provider(then=half), lab.provider()
    answer = ask(lab, combo(lab, a, b, sends_per_target=1))
    served(answer, sends=2)
    assert answer.took < 6


@rows("CO-9")
def _(lab):
    a, b = lab.provider(silent(), then=ok()), lab.provider()
    t = combo(lab, a, b)
    with lab.client(t) as c:
        c.send(request_bytes("POST", CHAT, (), body_for(CHAT, model="coder")))
        a.wait_sends(1)
        time.sleep(1.0)
    t.counted(turns_gone=1)
    assert (a.count, b.count) == (1, 0) and cooling(t) == {}
    served(ask(lab, t), sends=1)
    assert a.count == 2


@rows("CO-10")
def _(lab):
    a = lab.provider(status(429, {"Retry-After": "1"}), then=ok())
    served(ask(lab, combo(lab, a)), sends=2)
    gaps(a, told(1))


@rows("CO-10-deadline")
def _(lab):
    a = lab.provider(then=status(429, {"Retry-After": "5"}))
    answer = ask(lab, combo(lab, a, config={"retry": {"deadline": "3s"}}))
    relayed(answer, 429)
    assert answer.header("retry-after") == "5" and answer.took < 1 and a.count == 1


@rows("CO-11")
def _(lab):
    a, b = lab.provider(then=coded(410, "model_not_found")), lab.provider()
    served(ask(lab, combo(lab, a, b)), sends=2)
    assert (a.count, b.count) == (1, 1)


@rows("CO-11-gone")
def _(lab):
    a, b = lab.provider(then=status(410, body=b'{"error":"gone"}')), lab.provider()
    relayed(ask(lab, combo(lab, a, b)), 410, b'{"error":"gone"}')
    assert (a.count, b.count) == (1, 0)


@rows.table("CO-12", ["origin_rejected", "permission_error", "anything"])
def _(lab, code):
    a, b = lab.provider(then=coded(403, code)), lab.provider()
    served(ask(lab, combo(lab, a, b)), sends=2)
    assert (a.count, b.count) == (1, 1)


@rows("CO-13")
def _(lab):
    go = threading.Event()
    begun = threading.Event()

    def slow(x):
        begun.set()
        x.await_event(go)
        x.answer(503, (), error_body(503))

    a = lab.provider(slow, status(503), then=ok())
    b = lab.provider()
    t = combo(lab, a, b, sends_per_target=1, cooldown="2s")
    thread = threading.Thread(target=lambda: ask(lab, t))
    thread.start()
    assert begun.wait(5)
    served(ask(lab, t), sends=2)
    zero = a.sends[1].answered_at
    time.sleep(max(0, zero + 1.5 - time.monotonic()))
    go.set()
    thread.join(10)
    time.sleep(max(0, zero + 2.5 - time.monotonic()))
    served(ask(lab, t), sends=1)
    assert a.count == 2
    time.sleep(max(0, zero + 3.8 - time.monotonic()))
    served(ask(lab, t), sends=1)
    assert a.count == 3


@rows("CO-14")
def _(lab):
    a, b = lab.provider(then=status(402)), lab.provider()
    t = combo(lab, a, b)
    for _ in range(5):
        served(ask(lab, t))
    assert (a.count, b.count) == (1, 5)


@rows("CO-14-text")
def _(lab):
    a, b = lab.provider(then=coded(400, None, "usage limit reached")), lab.provider()
    answer = ask(lab, combo(lab, a, b))
    relayed(answer, 400)
    assert (a.count, b.count) == (1, 0)


@rows("CO-15")
def _(lab):
    a, b, c = (lab.provider(then=step) for step in (status(503), status(503), ok()))
    t = combo(lab, a, b, c, sends_per_target=1)
    for _ in range(10):
        served(ask(lab, t))
    assert (a.count, b.count, c.count) == (1, 1, 10)


@rows.table("CO-16", {"1KiB": (2**10, None), "1MiB": (2**20, None), "20MiB": (20 * 2**20, None),
                      "chunked": (3 * 2**20, 70001), "early": (2**20, "early")})
def _(lab, case):
    size, how = case
    early = before_body(lambda x: x.answer(503, {"Connection": "close"}, error_body(503)))
    a = lab.provider(then=early if how == "early" else status(503))
    b = lab.provider()
    body = body_for(CHAT, text=prompt() + "y" * size, model="coder")
    chunked = how if isinstance(how, int) else None
    answer = lab.post(combo(lab, a, b, sends_per_target=1), CHAT, body, chunked=chunked)
    served(answer, sends=2)
    same_but_model(body, b.sends[0], "model-b")


@rows.table("CO-17", ["combo/coder", "coder", "c\\u006fder"])
def _(lab, name):
    a, b = lab.provider(then=status(404)), lab.provider()
    text = prompt()
    raw = ('{ "messages" : [ {"role":"user","content":"\\"model\\" : \\"%s\\" %s"} ],\n\t"model"  :\t"%s" ,'
           ' "x":1.50e+3 } ')
    t = combo(lab, a, b)
    served(lab.post(t, CHAT, (raw % (name, text, name)).encode()), sends=2)
    assert a.sends[0].body == (raw % (name, text, "model-a")).encode()
    assert b.sends[0].body == (raw % (name, text, "model-b")).encode()


@rows("CO-17-twice")
def _(lab):
    a = lab.provider()
    body = b'{"model":"x","messages":[],"model":"coder"}'
    local_error(lab.post(combo(lab, a), CHAT, body), 400)
    assert a.count == 0


@rows("compressed")
def _(lab):
    a, b = lab.provider(then=status(404)), lab.provider()
    body = body_for(CHAT, text=prompt() + "z" * 200000, model="coder")
    t = combo(lab, a, b)
    served(lab.post(t, CHAT, gzip.compress(body), {"Content-Encoding": "gzip"}), sends=2)
    same_but_model(body, b.sends[0], "model-b")
    assert b.sends[0].all("content-encoding") == []


@rows("other-models")
def _(lab):
    """A model that is no combo goes where it always went, byte for byte."""
    a, b = lab.provider(), lab.provider()
    body = body_for(CHAT, model="coder2")
    answer = lab.post(combo(lab, a, b), CHAT, body, headers={"x-turnpike-logical-id": prompt()})
    served(answer)
    assert a.sends[0].body == body and answer.header("x-turnpike-target") == "a"


@rows("logical-id")
def _(lab):
    a, b = lab.provider(then=status(404)), lab.provider()
    served(ask(lab, combo(lab, a, b), headers={"x-turnpike-logical-id": prompt()}), sends=2)


# ---- credentials

@rows("credentials")
def _(lab):
    a, b = lab.provider(then=status(404)), lab.provider()
    t = combo(lab, a, b)
    served(ask(lab, t, headers={"Authorization": "Bearer client-credential", "Cookie": "c=client-credential"}))
    for name, u in (("a", a), ("b", b)):
        assert u.sends[0].all("authorization") == ["Bearer key-of-" + name]
        assert b"client-credential" not in u.sends[0].raw_head


def keyless(lab, a, b, **of_b):
    return lab.turnpike({"a": a.url(), "b": dict({"url": b.url()}, **of_b)}, {
        "workers": 2, "routes": [{"path": "/v1", "provider": "a"}],
        "combos": {"coder": {"targets": [{"provider": "a", "model": "m1"}, {"provider": "b", "model": "m2"}]}}},
        start=False)


@rows("credentials-mixed")
def _(lab):
    t = keyless(lab, lab.provider(), lab.provider())
    done = turnpike.run("check", "-c", t.file)
    assert done.returncode == 1 and "pass_credential" in done.stdout + done.stderr, done


@rows("credentials-passed")
def _(lab):
    a, b = lab.provider(then=status(401)), lab.provider()
    t = keyless(lab, a, b, pass_credential=True).start()
    served(ask(lab, t, headers={"Authorization": "Bearer client-credential"}), sends=2)
    assert b.sends[0].all("authorization") == ["Bearer client-credential"]
    served(ask(lab, t, headers={"Authorization": "Bearer client-credential"}), sends=1)
    served(ask(lab, t, headers={"Authorization": "Bearer another"}), sends=2)
    assert (a.count, b.count) == (2, 3), "one client's wrong credential cools nothing for others"


@rows("credentials-other-route")
def _(lab):
    """Through the route of one provider, its credential is not shown to the target at another."""
    a, b = lab.provider(), lab.provider()
    t = lab.turnpike({"a": a.url(), "b": b.url()}, {
        "workers": 2, "routes": [{"path": "/a/v1", "provider": "a"}, {"path": "/b/v1", "provider": "b"}],
        "combos": {"coder": {"targets": [{"provider": "b", "model": "m"}]}}})
    for path, seen in (("/a", []), ("/b", ["Bearer of-" + "the-client"])):
        served(ask(lab, t, path + CHAT, headers={"Authorization": "Bearer of-the-client"}))
        assert b.sends[-1].all("authorization") == seen and a.count == 0
        assert b.sends[-1].target == CHAT


# ---- routes by model

@rows("routes")
def _(lab):
    a, b, c = lab.provider(), lab.provider(), lab.provider()
    t = lab.turnpike({"a": a.url(), "b": b.url(), "c": c.url()}, {"workers": 2, "routes": [
        {"path": "/v1", "models": ["claude-*", "*-opus"], "provider": "a"}, {"path": "/v1", "provider": "b"},
        {"path": "/v1/x", "models": ["only"], "provider": "c"}]})
    for model, u in (("claude-9", a), ("my-opus", a), ("gpt-5", b), ("my-opus-2", b)):
        count = u.count
        served(lab.post(t, CHAT, body_for(CHAT, model=model)))
        assert u.count == count + 1, model
    served(lab.get(t, "/v1/models"))
    assert (a.count, b.count, c.count) == (2, 3, 0)
    path = "/v1/x/chat/completions"
    served(lab.post(t, path, body_for(path, model="only")))
    local_error(lab.post(t, path, body_for(path, model="other")), 404, code="model_not_found")
    assert (a.count, b.count, c.count) == (2, 3, 1)


# ---- over workers

@rows("SH-2")
def _(lab):
    a, b = lab.provider(then=status(503)), lab.provider()
    t = combo(lab, a, b, sends_per_target=1)
    for _ in range(200):
        served(ask(lab, t))
    assert (a.count, b.count) == (1, 200)


@rows("outage")
def _(lab):
    """The first target is out: at most one send per cooldown reaches it, every turn is answered."""
    a, b = lab.provider(then=status(503)), lab.provider()
    t = combo(lab, a, b, sends_per_target=1, cooldown="2s")
    begun = time.monotonic()
    while time.monotonic() < begun + 7:
        served(ask(lab, t))
        time.sleep(0.1)
    assert a.count <= 4, a.sends
    assert all(y.at - x.at >= 1.95 for x, y in zip(a.sends, a.sends[1:]))


@rows("blacklisted")
def _(lab):
    """A target whose URL is blacklisted is passed over without a send, and comes back by its probe."""
    a, b = lab.provider(status(500), then=ok()), lab.provider()
    t = combo(lab, a, b, sends_per_target=1, cooldown="10ms",
              config={"blacklist": {"failures": 0, "duration": "2s"}}, allow=[r"^alert url_listed: "])
    served(ask(lab, t), sends=2)
    time.sleep(0.1)
    for _ in range(3):
        served(ask(lab, t), sends=1)
    assert (a.count, b.count) == (1, 4)
    time.sleep(2.1)
    served(ask(lab, t), sends=1)
    assert (a.count, b.count) == (2, 4)


@rows("hops-counted")
def _(lab):
    a, b = lab.provider(then=status(404)), lab.provider()
    t = combo(lab, a, b)
    served(ask(lab, t))
    done = turnpike.run("stats", "--json", "--name", t.name)
    assert '"coder":1' in done.stdout.replace(" ", ""), done.stdout


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
