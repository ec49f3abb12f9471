"""Egress: `via` with CONNECT and plain proxies (design 9, first row of the table of section 4)."""

import base64
import json
import threading

import pytest

from harness import proxy, tls
from harness.checks import local_error, relayed, served
from harness.client import ask, body_for
from harness.exposition import Exposition
from harness.lab import Rows, between, quiet
from harness.provider import good_events, ok, status, stream
from harness.turnpike import free_port, refusing_port, run, until

rows = Rows()
SKIP = "no way out via"
SECRET = "pa:ss@word-0815"
USER = "agent:pa%3Ass%40word-0815"
DEBUG = {"log": {"level": "debug"}}


def https(u, via, **more):
    ca = tls.authority()
    return {"p": dict({"url": "https://localhost:%d/v1" % u.port, "tls": {"ca": ca.ca}, "via": via}, **more)}


def http(u, via, **more):
    return {"p": dict({"url": u.url(), "via": via}, **more)}


def secure(lab, *steps, **how):
    return lab.provider(*steps, tls=tls.authority().server(), **how)


def skipped(t):
    return [row["name"] for row in json.loads(run("cooldown", "list", "--json", "-c", t.file).stdout)]


def clear(t):
    assert run("cooldown", "clear", "-c", t.file).returncode == 0


def tells_no_secret(t):
    for word in (SECRET, "pa%3Ass", "word-0815", base64.b64encode(("agent:" + SECRET).encode()).decode()):
        assert word not in t.log, word


# ---- what goes where

@rows("connect")
def _(lab):
    """One tunnel, kept; the proxy hears of its credential, the provider does not."""
    u, p = secure(lab), lab.proxy(user="agent:" + SECRET)
    t = lab.turnpike(https(u, [p.url(USER)]), dict(DEBUG, workers=1))
    for _ in range(3):
        served(lab.post(t, headers={"Proxy-Authorization": "Basic of-the-client"}), sends=1)
    assert p.connections == 1 and len(p.requests) == 1 and len(u.connections) == 1
    asked = p.requests[0]
    assert (asked.method, asked.target, asked.header("host")) == (
        "CONNECT", "localhost:%d" % u.port, "localhost:%d" % u.port)
    assert all(send.header("proxy-authorization") is None for send in u.sends)
    assert all(send.target == "/v1/chat/completions" for send in u.sends)
    tells_no_secret(t)


@rows("connect-stream")
def _(lab):
    prelude, outputs, ending = good_events("chat")
    u, p = secure(lab, stream(prelude + outputs + ending, pause=0.02)), lab.proxy()
    answer = lab.post(lab.turnpike(https(u, [p.url()])), stream=True)
    served(answer, sends=1)
    assert answer.body == b"".join(prelude + outputs + ending)


@rows("connect-certificate")
def _(lab):
    """The proxy is not trusted with the provider's name: it is the provider's certificate that counts."""
    u, p = secure(lab), lab.proxy()
    t = lab.turnpike({"p": {"url": "https://localhost:%d/v1" % u.port, "via": [p.url()]}})
    local_error(lab.post(t), 502, "chat", "upstream_unreachable")
    quiet(u, 0.3, 0)


@rows("plain")
def _(lab):
    u, p = lab.provider(), lab.proxy(user="agent:" + SECRET)
    t = lab.turnpike(http(u, [p.url(USER)]), dict(DEBUG, workers=1))
    for _ in range(3):
        served(lab.post(t, headers={"Proxy-Authorization": "Basic of-the-client"}), sends=1)
    assert p.connections == 1 and len(u.connections) == 1
    authority = u.url()[len("http://"):].split("/")[0]
    for asked in p.requests:
        assert (asked.method, asked.target) == ("POST", "http://%s/v1/chat/completions" % authority)
        assert asked.header("host") == authority
    assert all(send.header("proxy-authorization") is None for send in u.sends)
    tells_no_secret(t)


@rows("plain-stream-and-large-body")
def _(lab):
    prelude, outputs, ending = good_events("chat")
    u, p = lab.provider(stream(prelude + outputs + ending, pause=0.02), ok()), lab.proxy()
    t = lab.turnpike(http(u, [p.url()]))
    answer = lab.post(t, stream=True)
    served(answer, sends=1)
    assert answer.body == b"".join(prelude + outputs + ending)
    body = body_for("/v1/chat/completions", "t" * 3_000_000)
    served(lab.post(t, body=body), sends=1)
    assert u.sends[1].body == body


@rows("plain-options-asterisk")
def _(lab):
    """OPTIONS * to a proxy names the server without a path (RFC 9112, 3.2.4)."""
    u, p = lab.provider(), lab.proxy(then=proxy.answer(204, body=b""))
    t = lab.turnpike(http(u, [p.url()]), {"routes": [{"path": "/", "provider": "p"}]}, probe=False)
    with lab.client(t) as c:
        c.ask("OPTIONS", "*")
    assert p.requests[0].target == u.url()[:-len("/v1")]


@rows("health-path")
def _(lab):
    u, p = lab.provider(), lab.proxy(user="agent:" + SECRET)
    t = lab.turnpike(http(u, [p.url(USER)], health={"path": "/health"}), DEBUG)
    u.wait_sends(1)
    assert p.requests[0].target == u.url()[:-len("/v1")] + "/health" and u.sends[0].target == "/health"
    served(lab.post(t), sends=1)
    tells_no_secret(t)


# ---- one that fails

FAILURES = {  # what the proxy does, what the log says of it
    "407": (proxy.answer(407, "Proxy-Authenticate: Basic realm=\"p\"\r\n"), "wants other credentials (407)"),
    "403": (proxy.answer(403), "refused the tunnel (403)"),
    "502": (proxy.answer(502), "refused the tunnel (502)"),
    "301": (proxy.answer(301, "Location: http://elsewhere/\r\n"), "refused the tunnel (301)"),
    "101": (proxy.raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", then_close=False),
            "refused the tunnel (101)"),
    "reset": (proxy.reset, "reset by peer"),
    "close": (proxy.close, "the proxy closed the connection"),
    "garbage": (proxy.raw(b"220 mail.example.com ESMTP ready\r\n"), "broken answer to CONNECT"),
    "early-bytes": (proxy.raw(b"HTTP/1.1 200 OK\r\n\r\n\x16\x03\x03early", then_close=False),
                    "bytes behind the proxy's answer"),
    "long-head": (proxy.raw(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 20000, then_close=False),
                  "broken answer to CONNECT"),
    "cut-head": (proxy.raw(b"HTTP/1.1 200 OK\r\nX-"), "the proxy closed the connection"),
    "stall": (proxy.stall, "no answer to CONNECT in time"),
}


def next_is_used(lab, t, bad, count):
    """Two requests: the first goes on with the next way, the second does not touch the dead one."""
    first = lab.post(t)
    served(first, sends=1)
    assert count() == 1
    for _ in range(4):
        served(lab.post(t), sends=1)
    assert count() == 1, "it was to be skipped by all workers"
    assert skipped(t) == ["p via " + bad]
    stats = t.final_stats()
    assert stats["sends_initial"] == 5 and t.sends_counted(stats) == 5 and stats["given_back"] == 0, stats
    return first


@rows.table("connect-fails", FAILURES)
def _(lab, case):
    step, words = case
    u, bad, good = secure(lab), lab.proxy(then=step), lab.proxy(user="agent:" + SECRET)
    t = lab.turnpike(https(u, [bad.url(USER), good.url(USER)], timeouts={"connect": "2s"}),
                     dict(DEBUG, workers=4), allow=[SKIP])
    first = next_is_used(lab, t, bad.address, lambda: bad.connections)
    assert words in next(line for line in t.lines if SKIP in line)
    if step is proxy.stall:
        between(first.took, 1.0, 1.6, "half of the time of the connection")
    assert u.count == 5 and len(good.requests) >= 1
    tells_no_secret(t)
    # skipped for 30 s, or until the operator says that it is well again
    bad.set()
    clear(t)
    served(lab.post(t), sends=1)
    assert bad.connections == 2 and skipped(t) == []


@rows("refused-then-direct")
def _(lab):
    u, port = secure(lab), free_port()
    t = lab.turnpike(https(u, ["http://127.0.0.1:%d" % port, "direct"]), {"workers": 4}, allow=[SKIP])
    for _ in range(5):
        served(lab.post(t), sends=1)
    assert t.log.count(SKIP) == 1 and skipped(t) == ["p via 127.0.0.1:%d" % port]


@rows("name-of-the-proxy-unknown")
def _(lab):
    u = secure(lab)
    t = lab.turnpike(https(u, ["http://proxy.invalid:3128", "direct"]), allow=[SKIP])
    served(lab.post(t), sends=1)
    assert skipped(t) == ["p via proxy.invalid:3128"]


@rows("direct-then-proxy")
def _(lab):
    """`direct` is a way like the others. The proxy knows where the name leads, we do not."""
    u, p = lab.provider(), lab.proxy()
    p._dial = lambda _authority, dial=p._dial: dial("127.0.0.1:%d" % u.port)
    t = lab.turnpike({"p": {"url": "http://inner.invalid/v1", "via": ["direct", p.url()]}}, allow=[SKIP])
    served(lab.post(t), sends=1)
    served(lab.post(t), sends=1)
    assert p.requests[0].target == "http://inner.invalid/v1/chat/completions" and skipped(t) == ["p via direct"]


@rows("plain-407")
def _(lab):
    """The proxy's own answer to a plain request: the same send goes another way, and is charged once."""
    u, bad, good = lab.provider(), lab.proxy(user="some:body"), lab.proxy()
    t = lab.turnpike(http(u, [bad.url(), good.url()]), {"workers": 4, "admin": {"listen": ["127.0.0.1:0"]}},
                     allow=[SKIP])
    next_is_used(lab, t, bad.address, lambda: bad.connections)
    assert u.count == 5
    shown = Exposition(ask(t.admins[0], "GET", "/metrics").body.decode()).of("turnpike_sends_total")
    assert shown == {("p", "initial"): 5}, shown


@rows("plain-407-on-a-kept-connection")
def _(lab):
    u, bad = lab.provider(), lab.proxy()
    t = lab.turnpike(http(u, [bad.url(), "direct"]), {"workers": 1}, allow=[SKIP])
    served(lab.post(t), sends=1)
    bad.set(then=FAILURES["407"][0])
    served(lab.post(t), sends=1)
    assert bad.connections == 1 and len(bad.requests) == 2 and u.count == 2
    assert skipped(t) == ["p via " + bad.address]


@rows.table("plain-407-only", {"one": 1, "two": 2})
def _(lab, ways):
    """Never shown to the client as if it were the provider's: it would send its credential again."""
    u, proxies = lab.provider(), [lab.proxy(user="some:body") for _ in range(ways)]
    t = lab.turnpike(http(u, [p.url(USER) for p in proxies]), dict(DEBUG), allow=[SKIP], probe=False)
    answer = lab.post(t)
    local_error(answer, 502, "chat", "upstream_unreachable")
    assert answer.all("proxy-authenticate") == [] and answer.sends == 0
    assert [len(p.requests) for p in proxies] == [1] * ways
    quiet(u, 0.3, 0)
    stats = t.final_stats()
    assert stats["given_back"] == 1 and stats["possibly_billed"] == 0, stats
    tells_no_secret(t)


@rows("plain-503-of-the-proxy")
def _(lab):
    """What a proxy says in the provider's place with another status counts as that status."""
    u, p = lab.provider(), lab.proxy(proxy.answer(503, "Via: 1.1 test\r\nX-Squid-Error: ERR_DNS_FAIL 0\r\n"))
    t = lab.turnpike(http(u, [p.url(), "direct"]))
    served(lab.post(t), sends=2)
    assert len(p.requests) == 2 and skipped(t) == []


@rows("provider-407")
def _(lab):
    """Without a proxy a 407 is an answer like others."""
    u = lab.provider(status(407))
    relayed(lab.post(lab.turnpike(u)), 407)


# ---- all fail

@rows("all-fail")
def _(lab):
    """Nothing was sent: given back, and the blacklist hears nothing of the provider."""
    u, bad = secure(lab), [lab.proxy(then=FAILURES[name][0]) for name in ("407", "garbage")]
    t = lab.turnpike(https(u, [p.url() for p in bad]), {"blacklist": {"failures": 1}}, allow=[SKIP], probe=False)
    for n in range(4):
        answer = lab.post(t, body=body_for("/v1/chat/completions", "request %d" % n))
        local_error(answer, 502, "chat", "upstream_unreachable")
        assert answer.sends == 0
    # when all are skipped all are tried again: nothing else is left
    assert [p.connections for p in bad] == [4, 4]
    stats = t.final_stats()
    assert stats["given_back"] == 4 and stats["possibly_billed"] == 0, stats
    quiet(u, 0.2, 0)


@rows("all-fail-direct-too")
def _(lab):
    """That the provider itself cannot be reached counts."""
    bad = lab.proxy(then=FAILURES["407"][0])
    t = lab.turnpike({"p": {"url": "https://127.0.0.1:%d/v1" % refusing_port(), "via": ["direct", bad.url()]}},
                     {"blacklist": {"failures": 1, "duration": "60s"}}, allow=[SKIP, "alert url_listed"], probe=False)
    for n in range(2):
        answer = lab.post(t, body=body_for("/v1/chat/completions", "request %d" % n))
        local_error(answer, 502, "chat", "upstream_unreachable")
    local_error(lab.post(t, body=body_for("/v1/chat/completions", "last")), 503, "chat", "upstream_blacklisted")


@rows("time-over-all-ways")
def _(lab):
    u, bad = secure(lab), [lab.proxy(then=proxy.stall) for _ in range(3)]
    t = lab.turnpike(https(u, [p.url() for p in bad], timeouts={"connect": "1500ms"}), allow=[SKIP], probe=False)
    answer = lab.post(t)
    local_error(answer, 502, "chat", "upstream_unreachable")
    between(answer.took, 1.5, 1.8, "timeouts.connect, over all ways")
    assert [p.connections for p in bad] == [1, 1, 1]


@rows("client-leaves-meanwhile")
def _(lab):
    u, bad = secure(lab), lab.proxy(then=proxy.stall)
    t = lab.turnpike(https(u, [bad.url()]), probe=False)
    c = lab.client(t)
    c.request("POST", "/v1/chat/completions", body=body_for("/v1/chat/completions"))
    until(lambda: len(bad.requests) == 1, 5, "the proxy is asked")
    c.close()
    t.counted(turns_gone=1, given_back=1)


@rows("combo-with-a-dead-way")
def _(lab):
    """The first target cannot be reached by any proxy: the second one answers, and is charged alone."""
    a, b, bad = secure(lab), lab.provider(), lab.proxy(then=FAILURES["403"][0])
    made = https(a, [bad.url()], keys=["key-of-a"])
    t = lab.turnpike({"a": made["p"], "b": {"url": b.url(), "keys": ["key-of-b"]}},
                     {"routes": [{"path": "/v1", "provider": "a"}],
                      "combos": {"coder": {"targets": [{"provider": "a", "model": "m-a"},
                                                       {"provider": "b", "model": "m-b"}]}}})
    answer = lab.post(t, body=body_for("/v1/chat/completions", model="coder"))
    served(answer, sends=1)
    assert answer.header("x-turnpike-target") == "b/m-b" and bad.connections == 1
    stats = t.final_stats()
    assert stats["given_back"] == 1, stats
    quiet(a, 0.2, 0)


# ---- kept connections

@rows("kept-connections")
def _(lab):
    """Through a proxy that is skipped they are used on; a worse way's are left alone once the better is back."""
    gate = threading.Event()

    def held(x):
        x.read_body()
        x.await_event(gate)
        ok()(x)

    u = secure(lab, ok(), held)
    first, second = lab.proxy(), lab.proxy()
    t = lab.turnpike(https(u, [first.url(), second.url()]), {"workers": 1}, allow=[SKIP])
    served(lab.post(t), sends=1)  # a tunnel by the first is kept
    first.set(then=FAILURES["403"][0])
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(lab.post(t)))
    waiting.start()
    u.wait_sends(2)  # it has taken the kept tunnel
    served(lab.post(t, body=body_for("/v1/chat/completions", "other")), sends=1)
    assert (first.connections, second.connections) == (2, 1) and skipped(t) == ["p via " + first.address]
    gate.set()
    waiting.join(10)
    served(answers[0], sends=1)
    for n in range(4):
        served(lab.post(t, body=body_for("/v1/chat/completions", "request %d" % n)), sends=1)
    assert (first.connections, second.connections) == (2, 1), "kept ones serve"
    assert 0 in {send.connection for send in u.sends[3:]}, "the one through the skipped proxy too"


@rows("back-to-the-better-way")
def _(lab):
    u, first, second = secure(lab), lab.proxy(FAILURES["502"][0]), lab.proxy()
    t = lab.turnpike(https(u, [first.url(), second.url()]), {"workers": 1}, allow=[SKIP])
    served(lab.post(t), sends=1)
    clear(t)
    served(lab.post(t), sends=1)
    assert (first.connections, second.connections) == (2, 1), "a kept tunnel of the second does not hold it there"
    served(lab.post(t), sends=1)
    assert (first.connections, second.connections) == (2, 1)


@rows("last-resort")
def _(lab):
    """The only other way fails too: the skipped one is tried, works, and is skipped no more."""
    once = ok(headers={"Connection": "close"})
    u, first, second = secure(lab, once, once, once), lab.proxy(FAILURES["502"][0]), lab.proxy()
    t = lab.turnpike(https(u, [first.url(), second.url()]), {"workers": 1}, allow=[SKIP])
    served(lab.post(t), sends=1)
    second.set(then=FAILURES["403"][0])
    served(lab.post(t), sends=1)
    assert (first.connections, second.connections) == (2, 2) and skipped(t) == ["p via " + second.address]
    served(lab.post(t), sends=1)
    assert (first.connections, second.connections) == (3, 2)


# ---- the file

def checked(lab, via):
    t = lab.turnpike({"p": {"url": "https://127.0.0.1:1/v1", "via": via}}, start=False)
    return run("check", "-c", t.file), run("config", "--effective", "-c", t.file)


@rows.table("wrong", {
    "word": ["proxy"],
    "scheme": ["https://u:%s@127.0.0.1:3128" % "hidden-word"],
    "socks": ["socks5://u:%s@127.0.0.1:1080" % "hidden-word"],
    "port": ["http://u:%s@127.0.0.1" % "hidden-word"],
    "path": ["http://u:%s@127.0.0.1:3128/x" % "hidden-word"],
    "twice": ["direct", "direct"],
    "none": [],
})
def _(lab, via):
    done, _ = checked(lab, via)
    assert done.returncode == 1 and "via" in done.stderr and ".yaml:" in done.stderr, done
    assert "hidden-word" not in done.stderr + done.stdout, done


@rows("effective")
def _(lab):
    done, shown = checked(lab, ["direct", "http://%s@Proxy.Example:3128" % USER, "http://[::1]:3128/"])
    assert done.returncode == 0 and shown.returncode == 0, (done, shown)
    assert "via: [ direct, \"http://********@proxy.example:3128\", \"http://[::1]:3128\" ]" in shown.stdout, shown
    assert "0815" not in shown.stdout


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
