"""After commit, and streams that pass: cases AC."""

import json
import threading
import time

import pytest

from harness.checks import MODELS, FAMILIES, refusal, served
from harness.client import body_for
from harness.lab import SLACK, Rows, between
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


@rows("AC-4")
def _(lab):
    """Silence after output ends with the family's error event."""
    u = lab.provider()
    t = lab.turnpike({"p": {"url": u.url(), "timeouts": {"idle": "3s"}}})

    def one(family):
        prelude, outputs, _ = good_events(family, ["%d " % i for i in range(9)])
        last_byte = []

        def step(x):
            x.stream_head()
            for piece in prelude + outputs:
                last_byte[:] = [time.monotonic()]
                x.piece(piece)
            x.await_peer_close()

        row = u.row(family, step)
        answer = lab.post(t, FAMILIES[family], stream=True, headers={"x-row": family})
        error_end(family, answer, b"".join(prelude + outputs))
        between(answer.end_at - last_byte[0], 3.0, 3.5 - SLACK, "end")
        until(lambda: row.sends[0].peer_closed_at, 1, "the provider's connection is closed")

    lab.side_by_side([lambda family=family: one(family) for family in MODELS])


BOM = b"\xef\xbb\xbf"


def several_lines(frame):
    """The same event with its data in several lines."""
    return frame.replace(b", ", b",\ndata: ")


SPELLINGS = {
    "crlf": lambda frame: frame.replace(b"\n", b"\r\n"),
    "cr": lambda frame: frame.replace(b"\n", b"\r"),
    "no-blank": lambda frame: frame.replace(b"data: ", b"data:").replace(b"event: ", b"event:"),
    "several-lines": several_lines,
    "bom": lambda frame: frame,
}


@rows.table("AC-7", {"%s-%s" % (f, s): (f, s) for f in MODELS for s in SPELLINGS})
def _(lab, case):
    """However the events are written, they pass as they are, and the last one is known for what it is: the
    provider leaves its connection open, and that is no failure."""
    family, spelling = case
    pieces = [SPELLINGS[spelling](frame) for frame in sum(good_events(family), [])]
    if spelling == "bom":
        pieces[0] = BOM + pieces[0]
    u = lab.provider(stream(pieces, pause=0.02, end="hold"))
    t = lab.turnpike({"p": {"url": u.url(), "timeouts": {"idle": "1s"}}})
    answer = lab.post(t, FAMILIES[family], stream=True)
    served(answer, sends=1)
    assert answer.body == b"".join(pieces)
    t.counted(turns_ok=1, turns_cut=0)


@rows.table("AC-7-no-empty-line", MODELS)
def _(lab, family):
    """The empty line behind the last event is missing, and the answer ends."""
    pieces = sum(good_events(family), [])
    pieces[-1] = pieces[-1].rstrip(b"\n") + b"\n"
    u = lab.provider(stream(pieces, pause=0.02))
    t = lab.turnpike(u)
    answer = lab.post(t, FAMILIES[family], stream=True)
    served(answer, sends=1)
    assert answer.body == b"".join(pieces)
    t.counted(turns_ok=1, turns_cut=0)


@rows.table("AC-9", {"off": {}, "on": {"heartbeat": {"after": "1s", "every": "500ms"}}})
def _(lab, retry):
    """The provider's comments pass as comments, when they were sent; nothing stands inside a split event."""
    sent, comment = [], b": PROCESSING\n\n"
    prelude, outputs, ending = good_events("chat")
    half = len(outputs[1]) // 2

    def step(x):
        x.stream_head()
        for _ in range(5):
            x.sleep(1.0)
            sent.append(time.monotonic())
            x.piece(comment)
        x.piece(prelude[0] + outputs[0] + outputs[1][:half])
        x.sleep(3.0)
        x.piece(outputs[1][half:] + outputs[2] + b"".join(ending))
        x.stream_end()

    u = lab.provider(step)
    t = lab.turnpike(u, {"hold": {"time": "1500ms"}, "retry": retry})
    answer = lab.post(t, stream=True)
    assert answer.status == 200 and answer.end == "complete" and u.count == 1, answer
    signs = answer.body.count(b": turnpike waiting\n\n")
    assert (signs >= 1) == bool(retry), "signs of life while the answer is held: %d" % signs
    body = answer.body.replace(b": turnpike waiting\n\n", b"")
    assert body == comment * 5 + b"".join(prelude + outputs + ending)
    whole = prelude[0] + b"".join(outputs)
    assert whole in answer.body, "something stands inside the split event"
    came = [at for at, piece in answer.pieces if comment in piece]
    for at, back in zip(came[-4:], sent[-4:]):  # the first one was held with the prelude
        between(at - back, 0, 0.2, "comment")


@rows("AC-11")
def _(lab):
    """After `completed` an open connection is no failure, and not waited for for long."""
    good = sum(good_events("responses"), [])
    u = lab.provider(stream(good, end="hold"))
    t = lab.turnpike({"p": {"url": u.url(), "timeouts": {"idle": "2s"}}})
    began = time.monotonic()
    answer = lab.post(t, "/v1/responses", stream=True)
    served(answer, sends=1)
    assert answer.body == b"".join(good)
    between(time.monotonic() - began, 0, 2.3, "end")
    t.counted(turns_ok=1, turns_cut=0)


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
