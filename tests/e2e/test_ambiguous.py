"""Ambiguous sends and what is provably unsent: cases AM (those that need no combo)."""

import os
import signal
import socket
import threading
import time

import pytest

from harness.checks import FAMILIES, MODELS, error_json, local_error, not_stopped, refusal, relayed, served
from harness.client import Client, body_for
from harness.lab import Rows, between, gaps, quiet
from harness.provider import before_body, fin, good_events, ok, raw, reset, reset_inside, silent, status
from harness.turnpike import ShiftedClock, refusing_port, until

rows = Rows()


@rows.table("AM-1", {"%s%s" % (family, "-streamed" if stream else ""): (family, stream)
                     for family in FAMILIES for stream in (False, True)})
def _(lab, case):
    family, stream = case
    u = lab.provider(reset(), then=ok())
    t = lab.turnpike(u)
    answer = lab.post(t, FAMILIES[family], stream=stream)
    refusal(answer, "upstream_reset_replay_refused", family)
    assert answer.took < 1 and answer.sends == 1
    quiet(u, 1.0, 1)
    stats = t.final_stats()
    assert stats["possibly_billed"] == 1 and stats["turns_refused"] == 1, stats
    assert stats["refusals_upstream_reset_replay_refused"] == 1, stats


@rows("AM-1-fin")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)

    def one(family):
        row = u.row(family, fin())
        answer = lab.post(t, FAMILIES[family], headers={"x-row": family})
        refusal(answer, "upstream_closed_before_response", family)
        quiet(row, 1.0, 1)

    lab.side_by_side([lambda family=family: one(family) for family in FAMILIES])
    t.counted(possibly_billed=4)


@rows("AM-1-inside-the-request")
def _(lab):
    """Reset while the body is still on its way: bytes were written, so it may have run."""
    u = lab.provider(reset_inside(1000), then=ok())
    t = lab.turnpike(u)
    answer = lab.post(t, body=body_for("/v1/chat/completions", "x" * 3_000_000))
    refusal(answer, "upstream_reset_replay_refused")
    quiet(u, 1.0, 1)


@rows("AM-1-repeated")
def _(lab):
    """A client that does not know the stop signal is told the same again, and nothing is sent."""
    u = lab.provider(reset(), then=ok())
    t = lab.turnpike(u)
    body = body_for("/v1/chat/completions")
    for _ in range(3):
        refusal(lab.post(t, body=body), "upstream_reset_replay_refused")
    assert u.count == 1
    t.counted(from_memory=2)


@rows.table("AM-3", MODELS)
def _(lab, family):
    note = []
    u = lab.provider(silent(note))
    t = lab.turnpike({"p": {"url": u.url(), "timeouts": {"first_byte": "2s"}}})
    answer = lab.post(t, FAMILIES[family])
    refusal(answer, "upstream_no_response", family)
    between(answer.took, 2.0, 2.5, "answer")
    quiet(u, 1.0, 1)
    assert note == [True]
    t.counted(possibly_billed=1)


def unreachable(lab, url, limit, **settings):
    t = lab.turnpike({"p": dict({"url": url, "timeouts": {"connect": "3s"}}, **settings)})
    for family, path in FAMILIES.items():
        answer = lab.post(t, path)
        local_error(answer, 502, family, "upstream_unreachable")
        assert answer.took < limit, answer.took
        assert answer.sends == 0
    stats = t.final_stats()
    assert stats["given_back"] == 4 and stats["possibly_billed"] == 0, stats
    return t


@rows("AM-5-closed-port")
def _(lab):
    unreachable(lab, "http://127.0.0.1:%d/v1" % refusing_port(), 1)


@rows("AM-5-tls-handshake")
def _(lab):
    u = lab.provider(on_accept=lambda connection: connection.close() or False)
    unreachable(lab, u.url().replace("http:", "https:"), 3.5)
    assert u.count == 0 and len(u.connections) == 4, "one connection attempt each"


@rows("AM-5-name")
def _(lab):
    unreachable(lab, "http://no-such-host.invalid/v1", 3.5)


@rows("AM-5-silent-port")
def _(lab):
    """A full backlog answers no SYN: the connect timeout ends it."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
            fillers.append(filler)
        time.sleep(0.1)
        t = lab.turnpike({"p": {"url": "http://127.0.0.1:%d/v1" % full.getsockname()[1],
                                "timeouts": {"connect": "1s"}}})
        answer = lab.post(t)
        local_error(answer, 502, "chat", "upstream_unreachable")
        between(answer.took, 1.0, 1.5, "answer")
        for filler in fillers:
            filler.close()


@rows("AM-5-after-an-answer")
def _(lab):
    """The earlier answer of the provider is shown rather than the failure to connect."""
    def last_words(x):
        x.provider.stop_listening()
        x.answer(503, {"Connection": "close"}, b'{"error":{"message":"going down"}}')
        x.close()

    u = lab.provider(last_words)
    t = lab.turnpike(u, probe=False)
    answer = lab.post(t)
    relayed(answer, 503, b'{"error":{"message":"going down"}}')
    assert answer.sends == 1


@rows("AM-6")
def _(lab):
    u = lab.provider(idle_close=1.0)
    t = lab.turnpike(u)

    def round_():
        with Client(t.address) as c:
            first = c.post()
            time.sleep(3)
            return first.status, c.post().status

    found = lab.side_by_side([round_] * 50, limit=50)
    assert found == [(200, 200)] * 50 and u.count == 100
    stats = t.final_stats()
    assert stats["turns_ok"] == 100 and t.sends_counted(stats) == 100, stats


@rows("AM-6-reused")
def _(lab):
    """A kept connection that the provider closed at once behind its answer is never a lost request."""
    def then_close(x):
        x.answer(200, (), b'{"choices":[]}')
        x.sleep(0.05)
        x.close()

    u = lab.provider(then=then_close)
    t = lab.turnpike(u, {"workers": 1})
    with Client(t.address) as c:
        for _ in range(20):
            assert c.post().status == 200
            time.sleep(0.15)
    assert u.count == 20 and len(u.connections) == 20


@rows("AM-7")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)
    cases = {
        "reset in the status line": raw(b"HTTP/1.1 2", then="reset"),
        "garbage": raw(b"\x15\x03\x01 lorem ipsum\r\n\r\n"),
        "garbage, then reset": raw(b"lorem ipsum\r\n", then="reset"),
        "head without its end": raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-A: 1\r\n"),
        "status out of range": raw(b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"),
        "two digits": raw(b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n"),
        "two lengths": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
        "another protocol": raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
        "HTTP/2": raw(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00"),
    }

    def one(name):
        row = u.row(name, cases[name], then=ok())
        answer = lab.post(t, headers={"x-row": name})
        refusal(answer, "upstream_closed_before_response")
        assert answer.took < 2
        quiet(row, 0.5, 1)

    lab.side_by_side([lambda name=name: one(name) for name in cases])
    t.counted(possibly_billed=len(cases))


# ---- the operator's allowance

REPLAY = {"retry": {"ambiguous_replays": 1}}


def contained(**more):
    """A body that says all there is to say: nothing of a first run is left to be found by a second."""
    tools = [{"type": "function", "name": "look", "parameters": {"type": "object"}}]
    return dict({"store": False, "tools": tools}, **more)


@rows("AM-8")
def _(lab):
    u = lab.provider(reset(), ok())
    t = lab.turnpike(u, REPLAY)
    served(lab.post(t, "/v1/responses", body_for("/v1/responses", **contained())), sends=2)
    assert u.sends[0].connection != u.sends[1].connection and u.sends[0].body == u.sends[1].body
    t.counted(sends_reset=1)


@rows("AM-8-off")
def _(lab):
    u = lab.provider(reset(), ok())
    t = lab.turnpike(u)
    refusal(lab.post(t, "/v1/responses", body_for("/v1/responses", **contained())), "upstream_reset_replay_refused",
            "responses")
    quiet(u, 0.5, 1)


@rows("AM-9")
def _(lab):
    """Whatever makes a second run find what the first one left."""
    u = lab.provider()
    t = lab.turnpike(u, REPLAY)
    tools = contained()["tools"]
    cases = {
        "no store": {"tools": tools},
        "store": contained(store=True),
        "previous": contained(previous_response_id="resp_0"),
        "conversation": contained(conversation="conv_0"),
        "background": contained(background=True),
        "hosted tool": contained(tools=tools + [{"type": "web_search"}]),
        "mcp": contained(tools=[{"type": "mcp", "server_label": "s", "server_url": "http://127.0.0.1:9"}]),
        "code": contained(tools=[{"type": "code_interpreter", "container": {"type": "auto"}}]),
    }

    def one(name):
        row = u.row(name, reset(), then=ok())
        body = body_for("/v1/responses", **cases[name])
        answer = lab.post(t, "/v1/responses", body, {"x-row": name})
        refusal(answer, "upstream_reset_replay_refused", "responses")
        quiet(row, 0.5, 1)

    lab.side_by_side([lambda name=name: one(name) for name in cases])


@rows.table("AM-10", {"502": status(502), "reset": reset(), "429": status(429, {"Retry-After": "2"}),
                      "401": status(401), "503-told": status(503, {"Retry-After": "1"}), "fin": fin()})
def _(lab, second):
    """Two may have run by now: whatever comes, it is the first one's refusal, and no third."""
    u = lab.provider(reset(), second, then=ok())
    t = lab.turnpike(u, REPLAY)
    answer = lab.post(t, "/v1/responses", body_for("/v1/responses", **contained()))
    refusal(answer, "upstream_reset_replay_refused", "responses")
    assert answer.sends == 2
    quiet(u, 3.0, 2)


@rows.table("AM-10-held", {"shared": "20", "cooling": "90"})
def _(lab, wait):
    """A wait that the provider tells somebody else meanwhile changes nothing of that: no Retry-After."""
    lost, path = threading.Event(), "/v1/responses"
    u = lab.provider()
    t = lab.turnpike(u, REPLAY)
    row = u.row("lost", lambda x: (x.await_event(lost), x.reset()), then=ok())
    u.row("told", status(429, {"Retry-After": wait}))

    def told_meanwhile():
        row.wait_sends(1)
        lab.post(t, path, body_for(path, "another"), {"x-row": "told", "X-Turnpike-Max-Sends": "1"})
        lost.set()

    answer, _ = lab.side_by_side([
        lambda: lab.post(t, path, body_for(path, **contained()), {"x-row": "lost", "X-Turnpike-Deadline": "10s"}),
        told_meanwhile])
    refusal(answer, "upstream_reset_replay_refused", "responses")
    assert answer.sends == 1 and row.count == 1
    stats = t.final_stats()
    assert stats["refusals_upstream_reset_replay_refused"] == 1 and stats["refusals_rate_limit_shared"] == 0, stats


def left_in_the_wait(lab, t, body):
    """A client whose turn waits to replace a lost send; closed by the lab."""
    lab.client(t).request("POST", "/v1/responses", body=body)
    until(lambda: t.stats().gauges["waiting"] == 1, 5, "the turn waits")


LATER = {"workers": 1, "retry": {"ambiguous_replays": 1, "reset": {"base": "5s", "cap": "5s"}}}


@rows("AM-10-killed")
def _(lab):
    """The worker dies before the second send: the first may have run all the same."""
    u = lab.provider(reset(), then=ok())
    t = lab.turnpike(u, LATER, allow=[r"worker|signal"])
    body = body_for("/v1/responses", **contained())
    left_in_the_wait(lab, t, body)
    t.lost = 1
    os.kill(t.workers()[0], signal.SIGKILL)
    refusal(lab.post(t, "/v1/responses", body), "upstream_closed_before_response", "responses")
    quiet(u, 0.5, 1)


@rows("AM-10-aborted")
def _(lab):
    """The server leaves: that one may have run is remembered for as long as after any other lost send."""
    clock = ShiftedClock(lab.folder)
    u = lab.provider(reset(), then=ok())
    t = lab.turnpike(u, dict(LATER, shutdown={"drain": "100ms"}), allow=[r"."], env=clock.env, probe=False)
    body = body_for("/v1/responses", **contained())
    left_in_the_wait(lab, t, body)
    t.stop()
    clock.shift(60)
    again = lab.turnpike(u, LATER, name=t.name, env=clock.env, probe=False)
    assert lab.post(again, "/v1/responses", body).sends == 2, "the same logical request"


@rows("AM-10-budget")
def _(lab):
    """The grant does not widen the budget."""
    u = lab.provider(reset(), then=ok())
    t = lab.turnpike(u, dict(REPLAY, budget={"sends": 1, "reserve": 0}))
    answer = lab.post(t, "/v1/responses", body_for("/v1/responses", **contained()))
    refusal(answer, "upstream_reset_replay_refused", "responses")
    quiet(u, 0.5, 1)


@rows("AM-11")
def _(lab):
    u = lab.provider(reset(), reset(), ok())
    t = lab.turnpike(u)
    served(lab.get(t), sends=3)
    gaps(u, (0.120, 0.180), (0.240, 0.360))
    t.counted(sends_reset=2)


@rows("AM-11-count-tokens")
def _(lab):
    u = lab.provider(reset(), ok(b'{"input_tokens": 3}'))
    t = lab.turnpike(u)
    served(lab.post(t, "/v1/messages/count_tokens"), sends=2)


@rows("AM-11-silent")
def _(lab):
    u = lab.provider(silent())
    t = lab.turnpike({"p": {"url": u.url(), "timeouts": {"first_byte": "1s"}}})
    refusal(lab.get(t), "upstream_no_response", "plain")
    quiet(u, 1.0, 1)


@rows("AM-11-always")
def _(lab):
    u = lab.provider(then=reset())
    t = lab.turnpike(u)
    refusal(lab.get(t), "upstream_reset_replay_refused", "plain")
    assert u.count == 3


@rows.table("AM-11-stream", {"first": (), "behind-an-answer": (503,)})
def _(lab, before):
    """A stream that was lost before its first output was no answer: what is shown in the end is another one."""
    def lost(x):
        x.provider.stop_listening()
        x.stream_head()
        x.piece(good_events("chat")[0][0])
        x.sleep(0.1)
        x.reset()

    u = lab.provider(*[status(code) for code in before], lost)
    t = lab.turnpike({"p": {"url": u.url(), "replay_safe": ["/chat/completions"]}})
    answer = lab.post(t, stream=True)
    if before:
        relayed(answer, before[0])
    else:
        local_error(answer, 502, "chat", "upstream_unreachable")
    assert answer.sends == u.count == len(before) + 1


@rows("AM-12")
def _(lab):
    other = lab.provider()
    u = lab.provider(status(307, {"Location": other.url("/v1/chat/completions")}, b""))
    t = lab.turnpike(u)
    answer = lab.post(t)
    assert answer.status == 307 and answer.header("location") == other.url("/v1/chat/completions")
    not_stopped(answer)
    quiet(u, 0.5, 1)
    assert other.connections == []


@rows("a-200-cut-before-commit")
def _(lab):
    def cut(x):
        x.answer(200, (), b'{"choices": [' + b" " * 500, cut=300)
        x.close()

    u = lab.provider(cut, then=ok())
    t = lab.turnpike(u)
    refusal(lab.post(t), "upstream_response_truncated")
    quiet(u, 0.5, 1)


@rows("error-answer-cut-by-the-provider")
def _(lab):
    """The status of an error was told; a body that is cut does not make it ambiguous."""
    def cut(x):
        x.answer(400, (), b'{"error": {"message": "' + b"y" * 500, cut=300)
        x.close()

    u = lab.provider(cut, then=ok())
    t = lab.turnpike(u)
    answer = lab.post(t)
    assert answer.status == 400 and answer.end == "complete", answer
    error_json(answer, "chat")
    quiet(u, 0.5, 1)


@rows("answer-after-reading-nothing-of-the-body")
def _(lab):
    """The provider answers at the head and leaves the rest unread: its answer counts."""
    def early(x):
        x.answer(400, {"Connection": "close"}, b'{"error":{"message":"too early"}}')
        x.half_close()
        x.sleep(0.3)
        x.close()

    u = lab.provider(before_body(early), then=ok())
    t = lab.turnpike(u)
    answer = lab.post(t)
    relayed(answer, 400, b'{"error":{"message":"too early"}}')
    quiet(u, 0.5, 1)


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
