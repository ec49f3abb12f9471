"""After commit, and streams that pass: cases AC."""

import json
import threading
import time

import pytest

from harness.checks import MODELS, FAMILIES, refusal, served
from harness.client import body_for
from harness.lab import Rows, between
from harness.provider import event, good_events, stream
from harness.turnpike import until

rows = Rows()


def error_end(family, answer, passed):
    """The five events as they came, then the family's own error, and no clean end."""
    assert answer.status == 200 and answer.body.startswith(passed), answer
    assert answer.end in ("cut", "reset"), "a cut answer must not end cleanly: %r" % answer.end
    tail = answer.body[len(passed):].decode()
    events = [e for e in tail.split("\n\n") if e.strip()]
    assert len(events) == 1, tail
    data = json.loads("".join(line[5:] for line in events[0].split("\n") if line.startswith("data:")))
    if family == "responses":
        assert events[0].startswith("event: response.failed\n") and data["type"] == "response.failed", tail
        assert data["response"]["status"] == "failed" and data["response"]["error"]["message"], tail
        assert "response.completed" not in answer.body.decode()
    elif family == "messages":
        assert events[0].startswith("event: error\n") and data["type"] == "error", tail
        assert data["error"]["type"] and data["error"]["message"], tail
    else:
        assert data["error"]["message"] and "[DONE]" not in answer.body.decode(), tail


@rows.table("AC-1", {"%s-%s" % (family, end): (family, end) for family in MODELS for end in ("reset", "close")})
def _(lab, case):
    """AC-1 and AC-2: five good events, then a reset, or a close without the last chunk."""
    family, end = case
    prelude, outputs, _ = good_events(family, ("a ", "b ", "c ", "d ", "e "))
    pieces = (prelude + outputs)[:5] if family != "messages" else prelude + outputs[:3]
    u = lab.provider(stream(pieces, end=end, pause=0.02))
    t = lab.turnpike(u)
    answer = lab.post(t, FAMILIES[family], stream=True)
    error_end(family, answer, b"".join(pieces))
    time.sleep(0.5)
    assert u.count == 1
    stats = t.final_stats()
    assert stats["turns_cut"] == 1 and stats["turns_ok"] == 0, stats


@rows("AC-2-end-of-data")
def _(lab):
    """Responses: created, one delta, then a clean end of the chunks: failed, not completed."""
    prelude, outputs, _ = good_events("responses")
    pieces = prelude[:1] + outputs[:1]
    u = lab.provider(stream(pieces))
    t = lab.turnpike(u)
    answer = lab.post(t, "/v1/responses", stream=True)
    error_end("responses", answer, b"".join(pieces))


@rows("AC-2-json")
def _(lab):
    """A JSON answer that was committed because of its size, and then cut: the client can see it."""
    def step(x):
        x.head(200, {"Content-Type": "application/json", "Content-Length": "3000000"})
        x.write(b'{"choices": ["' + b"j" * 2_000_000)
        x.sleep(0.2)
        x.reset()

    u = lab.provider(step)
    t = lab.turnpike(u)
    answer = lab.post(t)
    assert answer.status == 200 and answer.end in ("cut", "reset"), answer.end
    t.counted(turns_cut=1)


@rows.table("stream", MODELS)
def _(lab, family):
    """A good stream arrives byte for byte, event by event."""
    gates = {}
    prelude, outputs, ending = good_events(family)
    pieces = prelude + outputs + ending
    for index in range(len(prelude) + 1, len(pieces)):
        gates[index] = threading.Event()
    u = lab.provider(stream(pieces, barriers=gates))
    t = lab.turnpike(u)
    c = lab.client(t)
    c.request("POST", FAMILIES[family], body=body_for(FAMILIES[family], stream=True))
    answer = c.head()
    assert answer.header("content-type") == "text/event-stream" and answer.framing == "chunked"
    for index in range(len(prelude), len(pieces)):
        c.until(answer, b"".join(pieces[:index + 1]), timeout=3)
        if index + 1 in gates:
            gates[index + 1].set()
    c.rest(answer)
    served(answer, sends=1)
    assert answer.body == b"".join(pieces)
    until(lambda: t.stats()["turns_ok"] == 1, 1, "counted as a success")


@rows.table("prelude-then-death", {"%s-%s" % (f, e): (f, e) for f in MODELS for e in ("reset", "close")})
def _(lab, case):
    """Dead before its first output: nothing was committed, so it is the refusal and not a 200."""
    family, end = case
    prelude, _, _ = good_events(family)
    u = lab.provider(stream(prelude, end=end))
    t = lab.turnpike(u)
    answer = lab.post(t, FAMILIES[family], stream=True)
    refusal(answer, "upstream_reset_replay_refused" if end == "reset" else "upstream_closed_before_response", family)
    assert u.count == 1


@rows("AC-5")
def _(lab):
    """Nothing limits the total of a healthy stream."""
    pieces = [event({"choices": [{"index": 0, "delta": {"content": "%d " % i}}]}) for i in range(12)]
    u = lab.provider(stream(pieces + [event("[DONE]")], pause=1.0))
    t = lab.turnpike({"p": {"url": u.url(), "timeouts": {"first_byte": "2s", "idle": "3s", "connect": "1s"}}},
                     {"retry": {"deadline": "3s", "slow_attempt": "2s"},
                      "hold": {"time": "1s"}, "limits": {"client_idle": "2s", "slow_reader": "2s"}})
    answer = lab.post(t, stream=True)
    served(answer, sends=1)
    assert answer.body == b"".join(pieces) + event("[DONE]") and answer.took > 11


@rows("AC-6")
def _(lab):
    text = "你好，世界 🦩👩‍👩‍👧 ünï"
    data = event({"choices": [{"index": 0, "delta": {"content": text}}]})
    usage = event({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}})

    def step(x):
        x.stream_head(framing="close")
        for value in data:
            x.write(bytes([value]))
            x.sleep(0.002)
        x.write(usage + event("[DONE]"))
        x.close()

    u = lab.provider(step)
    t = lab.turnpike(u)
    answer = lab.post(t, stream=True)
    assert answer.status == 200 and answer.end in ("complete", "close")
    assert answer.body == data + usage + event("[DONE]") and "\ufffd" not in answer.body.decode()


@rows("AC-8")
def _(lab):
    """Each frame leaves in the loop turn it arrived in."""
    sent, frames = {}, [b"data: " + (b"%04d" % i).ljust(52, b".") + b"\n\n" for i in range(100)]
    frames[50] = b": a lone comment\n\n"
    first = event({"choices": [{"index": 0, "delta": {"content": "go"}}]})

    def step(x):
        x.stream_head()
        x.piece(first)
        for frame in frames:
            x.sleep(0.05)
            sent[frame] = time.monotonic()
            x.piece(frame)
        x.piece(event("[DONE]"))
        x.stream_end()

    u = lab.provider(step)
    t = lab.turnpike(u)
    answer = lab.post(t, stream=True)
    served(answer, sends=1)
    came, data = {}, b""
    for at, piece in answer.pieces:
        data += piece
        for frame in frames:
            if frame not in came and frame in data:
                came[frame] = at
    late = sorted(came[frame] - sent[frame] for frame in frames)
    assert late[98] < 0.020 + 0.05, late[-5:]  # p99; 50 ms for the scheduling of the test itself
    assert late[50] < 0.020, late[50]
    assert len(answer.pieces) >= 101, "frames were merged: %d pieces" % len(answer.pieces)


@rows("hold-time")
def _(lab):
    """Short form of PR-5: the head is out by hold.time, nothing is lost or sent twice."""
    prelude, outputs, ending = good_events("responses")
    gate = threading.Event()
    u = lab.provider(stream(prelude + outputs + ending, barriers={len(prelude): gate}))
    t = lab.turnpike(u, {"hold": {"time": "1s"}})
    c = lab.client(t)
    c.request("POST", "/v1/responses", body=body_for("/v1/responses", stream=True))
    answer = c.head(timeout=3)
    assert answer.status == 200 and 0.95 <= answer.head_at - answer.asked_at < 1.6
    c.until(answer, b"".join(prelude), timeout=1)
    gate.set()
    c.rest(answer)
    served(answer, sends=1)
    assert answer.body == b"".join(prelude + outputs + ending)


@rows("idle-after-commit")
def _(lab):
    """Short form of AC-4: silence after output ends with the family's error event."""
    u = lab.provider()
    t = lab.turnpike({"p": {"url": u.url(), "timeouts": {"idle": "2s"}}})

    def one(family):
        prelude, outputs, _ = good_events(family)
        last_byte = []

        def step(x):
            x.stream_head()
            for piece in prelude + outputs:
                last_byte[:] = [time.monotonic()]
                x.piece(piece)
            x.await_peer_close()

        u.row(family, step)
        answer = lab.post(t, FAMILIES[family], stream=True, headers={"x-row": family})
        error_end(family, answer, b"".join(prelude + outputs))
        between(answer.end_at - last_byte[0], 2.0, 2.5, "end")

    lab.side_by_side([lambda family=family: one(family) for family in MODELS])


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
