"""Edges that no case names: strange providers, bounds, and how pieces of the contract meet."""

import json
import socket
import time

import pytest

from harness.checks import FAMILIES, MODELS, error_json, local_error, refusal, relayed, served, stopped
from harness.client import Client, body_for, request_bytes
from harness.lab import SLACK, T0, Rows, between, gaps, quiet
from harness.provider import event, good_body, good_events, ok, raw, reset, status, stream
from harness.turnpike import alive, resident, until

rows = Rows()
PATH = "/v1/chat/completions"
MIB = 1024 * 1024


@rows("error-body-that-stalls")
def _(lab):
    """The status was told; its body is awaited for 5 s at most."""
    def stalls(x):
        x.head(503, {"Content-Type": "application/json", "Content-Length": "100"})
        x.write(b'{"error":')
        x.await_peer_close(20)

    u = lab.provider(stalls, ok())
    t = lab.turnpike(u)
    answer = lab.post(t)
    served(answer, sends=2)
    assert answer.took < 6.5 + SLACK


@rows("error-body-without-end")
def _(lab):
    """A very large error body is not read to its end and takes little memory."""
    def large(x):
        x.head(400, {"Content-Type": "application/json", "Content-Length": str(64 * MIB)})
        x.write(b'{"error": {"message": "')
        for _ in range(64):
            x.write(b"e" * MIB)

    u = lab.provider(large)
    t = lab.turnpike(u, {"workers": 1})
    before = resident(t.workers()[0])
    answer = lab.post(t)
    assert answer.status == 400 and answer.end == "complete"
    assert len(answer.body) <= 128 * 1024, len(answer.body)
    error_json(answer, "chat")
    assert resident(t.workers()[0]) - before < 4 * MIB


@rows("a-head-without-end")
def _(lab):
    def large(x):
        x.write(b"HTTP/1.1 200 OK\r\n")
        for index in range(100_000):
            x.write(b"X-%d: %s\r\n" % (index, b"h" * 100))

    u = lab.provider(large)
    t = lab.turnpike(u)
    answer = lab.post(t)
    refusal(answer, "upstream_closed_before_response")
    assert answer.took < 5


@rows("interim-answers-without-end")
def _(lab):
    def chatty(x):
        for _ in range(100_000):
            x.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        x.answer(200, (), good_body(x.send))

    u = lab.provider(chatty)
    t = lab.turnpike({"p": {"url": u.url(), "timeouts": {"first_byte": "3s"}}}, {"workers": 1})
    answer = lab.post(t)
    assert answer.status in (200, 429) and answer.end == "complete"
    assert answer.took < 10 and alive(t.workers()[0])


@rows("headers-that-are-no-headers")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)
    cases = {"bare LF": b"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}",
             "NUL": b"HTTP/1.1 200 OK\r\nX-A: a\x00b\r\nContent-Length: 2\r\n\r\n{}",
             "folded": b"HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\nContent-Length: 2\r\n\r\n{}",
             "no colon": b"HTTP/1.1 200 OK\r\nnonsense\r\nContent-Length: 2\r\n\r\n{}",
             "negative": b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}",
             "huge": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
             "coding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n{}"}
    split = b"evil: 1"

    def one(name):
        # the one that is a good answer must not close unannounced: another send may be on that connection already
        row = u.row(name, raw(cases[name], then="keep" if name == "bare LF" else "close"), then=ok())
        answer = lab.post(t, headers={"x-row": name})
        assert answer.end in ("complete", "close") and 200 <= answer.status <= 599, answer
        assert split not in b"".join(n.encode() for n, _ in answer.headers)
        assert row.count == 1, "a broken head after a whole request is never sent again"
        if answer.status == 429:
            refusal(answer, answer.code)

    lab.side_by_side([lambda name=name: one(name) for name in cases])


@rows.table("bad-chunks", {"size": b"zz\r\n", "end": b"2\r\n{}x", "sign": b"-2\r\n", "wide": b"f" * 17 + b"\r\n"})
def _(lab, chunk):
    """A broken chunk before commit is a 200 that was cut; after commit the stream ends as a failure."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n"
    first = good_events("chat")[1][0]
    u = lab.provider(raw(head % b"application/json" + chunk),
                     raw(head % b"text/event-stream" + b"%x\r\n%s\r\n" % (len(first), first) + chunk), then=ok())
    t = lab.turnpike(u)
    answer = lab.post(t)
    assert answer.status == 429 and answer.stop and answer.code in (
        "upstream_response_truncated", "upstream_response_invalid"), answer
    answer = lab.post(t, stream=True)
    assert answer.status == 200 and answer.end in ("cut", "reset") and answer.body.startswith(first)
    assert b'"error"' in answer.body[len(first):]
    assert u.count == 2


@rows("json-that-trickles")
def _(lab):
    """Held up to hold.time, then it goes out as it comes; death after that is a cut."""
    def slowly(x):
        x.head(200, {"Content-Type": "application/json", "Content-Length": "40"})
        for _ in range(8):
            x.write(b"     ")
            x.sleep(0.5)

    u = lab.provider(slowly)
    t = lab.turnpike(u, {"hold": {"time": "1s"}})
    c = lab.client(t)
    c.request("POST", PATH, body=body_for(PATH))
    answer = c.head()
    between(answer.head_at - answer.asked_at, 0.95, 1.5, "head")
    c.rest(answer)
    assert answer.end == "complete" and answer.body == b" " * 40


@rows("json-is-held-until-complete")
def _(lab):
    def two_halves(x):
        body = good_body(x.send)
        x.head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))})
        x.write(body[:50])
        x.sleep(0.5)
        x.write(body[50:])

    u = lab.provider(two_halves)
    t = lab.turnpike(u)
    answer = lab.post(t)
    served(answer, sends=1)
    assert answer.head_at - answer.asked_at > 0.45


@rows("head-requests")
def _(lab):
    """HEAD: replay-safe, and never a body, whoever answers it."""
    u = lab.provider(reset(), status(503), ok(b""))
    t = lab.turnpike(u)
    c = lab.client(t)
    answer = c.ask("HEAD", "/v1/models")
    assert (answer.status, answer.sends, answer.body) == (200, 3, b"")
    u.set(then=status(503))
    answer = c.ask("HEAD", "/v1/models")
    assert answer.status == 503 and answer.stop
    u.set(then=reset())
    answer = c.ask("HEAD", "/v1/models")
    assert answer.status == 429 and answer.stop and answer.header("content-type") == "application/json"
    u.set(then=ok(b""))
    assert c.ask("HEAD", "/v1/models").status == 200, "the connection is still in step"


@rows("methods-that-are-no-post")
def _(lab):
    """PUT, DELETE, PATCH are not replay-safe; OPTIONS is."""
    u = lab.provider()
    t = lab.turnpike(u)
    for method in ("PUT", "DELETE", "PATCH"):
        row = u.row(method, reset(), then=ok())
        with Client(t.address) as c:
            refusal(c.ask(method, "/v1/files/1", {"x-row": method}, b"{}"), "upstream_reset_replay_refused", "plain")
        assert row.count == 1
    row = u.row("OPTIONS", reset(), then=ok())
    with Client(t.address) as c:
        assert c.ask("OPTIONS", "/v1/models", {"x-row": "OPTIONS"}).status == 200
    assert row.count == 2


@rows("replay-safe-paths-are-exact")
def _(lab):
    u = lab.provider()
    t = lab.turnpike({"p": {"url": u.url(), "replay_safe": ["/embeddings"]}})
    for path, sends in (("/v1/embeddings", 2), ("/v1/embeddings?x=1", 2), ("/v1/embeddings/x", 1),
                        ("/v1/xembeddings", 1), ("/v1/messages/count_tokens", 1)):
        row = u.row(path, reset(), then=ok())
        lab.post(t, path, headers={"x-row": path})
        assert row.count == sends, path


@rows("names-with-two-addresses")
def _(lab):
    """localhost is ::1 and 127.0.0.1: the one that answers is found without a pause that hurts."""
    u = lab.provider()
    t = lab.turnpike({"p": "http://localhost:%d/v1" % u.port})
    for _ in range(3):
        answer = lab.post(t)
        served(answer, sends=1)
        assert answer.took < 0.5 + SLACK
    assert u.sends[0].all("host") == ["localhost:%d" % u.port]


@rows("user-information-of-the-url")
def _(lab):
    u = lab.provider()
    t = lab.turnpike({"p": u.url().replace("http://", "http://user:pass%20word@")}, probe=False)
    served(lab.post(t), sends=1)
    assert u.sends[0].all("authorization") == ["Basic dXNlcjpwYXNzIHdvcmQ="]
    assert u.sends[0].all("host") == ["127.0.0.1:%d" % u.port]
    assert "word" not in t.log


@rows("headers-of-clients-only-lower")
def _(lab):
    """Of class overload, which the whole of the budget bounds and not its base."""
    u = lab.provider(then=status(529, [("Retry-After", "0")]))
    t = lab.turnpike(u, {"budget": {"sends": 2, "reserve": 1}, "retry": {"retry_after": {"floor": "1ms"}, "deadline": "10s"}})
    for value, sends in (("1", 1), ("2", 2), ("50", 2)):
        answer = lab.post(t, headers={"X-Turnpike-Max-Sends": value})
        assert answer.status == 529 and answer.sends == sends, (value, answer)
    u.set(status(529, [("Retry-After", "20")]))  # within the deadline that is asked for, not within the configured one
    answer = lab.post(t, body=body_for(PATH, "deadline"), headers={"X-Turnpike-Deadline": "100s"})
    assert answer.status == 529 and answer.sends == 1 and answer.took < 5, answer
    u.set(then=status(503))
    count = u.count
    for value in ("-1", "1.5", "many", ""):
        answer = lab.post(t, headers={"X-Turnpike-Max-Sends": value})
        assert answer.status in (400, 503), (value, answer)
        assert u.count <= count + 2, value
        count = u.count


@rows("memory-of-pipelined-requests")
def _(lab):
    """Requests piled up behind one in progress are not read without bound."""
    gate_open = []

    def wait(x):
        end = time.monotonic() + 15
        while not gate_open and time.monotonic() < end:
            x.sleep(0.05)
        x.answer(200, (), b'{"choices":[]}')

    u = lab.provider(wait, then=ok(b'{"choices":[]}'))
    t = lab.turnpike(u, {"workers": 1})
    before = resident(t.workers()[0])
    c = lab.client(t)
    one = request_bytes("POST", PATH, body=body_for(PATH, "p" * 20_000))
    data, sent = one * 1500, 0
    c.sock.setblocking(False)
    end = time.monotonic() + 2
    while sent < len(data) and time.monotonic() < end:
        try:
            sent += c.sock.send(data[sent:sent + 1_000_000])
        except BlockingIOError:
            time.sleep(0.02)
    assert resident(t.workers()[0]) - before < 4 * MIB
    assert sent < len(data), "the client is made to wait"
    gate_open.append(True)
    c.sock.setblocking(True)
    for _ in range(20):
        served(c.response(timeout=10))
    c.reset()


@rows("client-resets-a-large-answer")
def _(lab):
    big = b'{"choices": ["' + b"r" * (8 * MIB) + b'"]}'
    u = lab.provider(then=ok(big))
    t = lab.turnpike(u, {"workers": 1})
    for _ in range(10):
        c = lab.client(t, receive_buffer=16384)
        c.request("POST", PATH, body=body_for(PATH))
        assert c.head().status == 200
        c.reset()
    until(lambda: t.stats()["turns_gone"] == 10, 3, lambda: "gone: %r" % t.stats())


@rows("requests-behind-connection-close-are-not-run")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)
    c = lab.client(t)
    c.send(request_bytes("POST", PATH, {"Connection": "close"}, body_for(PATH)) +
           request_bytes("POST", PATH, body=body_for(PATH)))
    served(c.response(), sends=1)
    assert c.closed(3) is not None and bytes(c.buffer) == b""
    assert u.count == 1


@rows("an-answer-after-its-error-keeps-the-connection")
def _(lab):
    """Refusals and local answers leave a client's connection usable."""
    u = lab.provider(reset(), ok(), status(503), status(503), status(503), ok())
    t = lab.turnpike(u)
    c = lab.client(t)
    refusal(c.post(), "upstream_reset_replay_refused")
    served(c.post(), sends=1)
    assert c.post().status == 503
    served(c.post(), sends=1)
    local_error(c.ask("GET", "/v1/../x"), 400, "plain")


@rows("compressed-bodies-are-one-logical-request")
def _(lab):
    """The same prompt sent with another compression is still the same prompt: decoded before it is hashed."""
    import gzip
    import zlib
    u = lab.provider(status(524), then=status(503))
    t = lab.turnpike(u)
    body = body_for(PATH)
    lab.post(t, body=gzip.compress(body, 9), headers={"Content-Encoding": "gzip"})
    lab.post(t, body=gzip.compress(body, 1), headers={"Content-Encoding": "gzip"})
    assert [gzip.decompress(s.body) for s in u.sends] == [body] * 3, "1 + 2 sends, passed on as they came"
    assert zlib.crc32(u.sends[0].body) != zlib.crc32(u.sends[1].body)


@rows("streams-in-every-cut")
def _(lab):
    """However the provider's writes cut a stream, it arrives whole and is understood."""
    prelude, outputs, ending = good_events("messages")
    data = b"".join(prelude + outputs + ending)
    u = lab.provider()
    t = lab.turnpike(u)

    def one(size):
        u.row(str(size), stream([data[i:i + size] for i in range(0, len(data), size)]))
        answer = lab.post(t, "/v1/messages", stream=True, headers={"x-row": str(size)})
        served(answer, sends=1)
        assert answer.body == data, size

    lab.side_by_side([lambda size=size: one(size) for size in (1, 2, 3, 7, 50, 1000, len(data))])
    t.counted(turns_ok=7)


@rows.table("line-ends", {"crlf": b"\r\n", "cr": b"\r"})
def _(lab, end):
    """Short form of AC-7: other line ends pass unchanged and the terminal event is recognised."""
    prelude, outputs, ending = good_events("responses")
    data = b"".join(prelude + outputs + ending).replace(b"\n", end)
    u = lab.provider(stream([data]))
    t = lab.turnpike(u)
    answer = lab.post(t, "/v1/responses", stream=True)
    served(answer, sends=1)
    assert answer.body == data
    t.counted(turns_ok=1)


@rows("terminal-event-then-nothing")
def _(lab):
    """A close-delimited stream with its terminal event is complete; one without is not."""
    prelude, outputs, ending = good_events("responses")
    u = lab.provider(stream(prelude + outputs + ending, framing="close"), stream(prelude + outputs, framing="close"))
    t = lab.turnpike(u)
    answer = lab.post(t, "/v1/responses", stream=True)
    assert answer.status == 200 and answer.end in ("complete", "close") and answer.body.endswith(ending[-1])
    answer = lab.post(t, "/v1/responses", stream=True)
    assert answer.end in ("cut", "reset") and b"response.failed" in answer.body


@rows("reset-after-the-terminal-event")
def _(lab):
    """The answer was whole: what happens to the connection afterwards is no failure of it."""
    u = lab.provider()
    t = lab.turnpike(u)

    def one(family):
        prelude, outputs, ending = good_events(family)
        u.row(family, stream(prelude + outputs + ending, end="reset"))
        answer = lab.post(t, FAMILIES[family], stream=True, headers={"x-row": family})
        served(answer, sends=1)
        assert answer.body == b"".join(prelude + outputs + ending), "nothing behind the terminal event"

    lab.side_by_side([lambda family=family: one(family) for family in MODELS])
    t.counted(turns_ok=3)


@rows("many-workers-many-connections")
def _(lab):
    u = lab.provider(status(503), then=ok())
    t = lab.turnpike(u, {"workers": 4})
    answers = lab.side_by_side([lambda: lab.post(t)] * 200, limit=50)
    assert [a.status for a in answers] == [200] * 200
    assert t.sends_counted() == 201 and u.count == 201


@rows("connect-is-bounded-by-first-byte-too")
def _(lab):
    """A provider that accepts and never reads: no answer, one send, the provider's end seen."""
    u = lab.provider(on_accept=lambda connection: connection.provider.stopping.wait(8) and False, receive_buffer=4096)
    t = lab.turnpike({"p": {"url": u.url(), "timeouts": {"first_byte": "2s"}}}, probe=False)
    answer = lab.post(t, body=body_for(PATH, "n" * 8_000_000))
    refusal(answer, "upstream_no_response")
    between(answer.took, 2.0, 2.6, "answer")


@rows("fast-open-and-close")
def _(lab):
    """Connections without a request, and half requests, cost nothing."""
    u = lab.provider()
    t = lab.turnpike(u)
    for index in range(200):
        c = socket.create_connection(t.address)
        if index % 3 == 1:
            c.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHo")
        if index % 3 == 2:
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        c.close()
    served(lab.post(t), sends=1)
    until(lambda: t.stats().gauges["clients"] == 0, 3, lambda: repr(t.stats().gauges))
    assert u.count == 1


@rows("ladder-mixed")
def _(lab):
    """The overload send takes the reserve, so that the base still has its third send for a transient one."""
    u = lab.provider(status(503), status(429), status(503), status(503), then=ok())
    t = lab.turnpike(u, {"retry": {"overload": {"base": "100ms"}}})
    answer = lab.post(t)
    relayed(answer, 503)
    stopped(answer)
    assert u.count == 4
    stats = t.final_stats()
    assert (stats["sends_initial"], stats["sends_transient"], stats["sends_overload"]) == (1, 2, 1), stats
    between(u.gaps()[0], *T0)


@rows("retry-keeps-nothing-of-a-stream-request")
def _(lab):
    """stream: true, refused twice as JSON, then streamed: the client sees one stream only."""
    prelude, outputs, ending = good_events("chat")
    u = lab.provider(status(502), status(500), stream(prelude + outputs + ending))
    t = lab.turnpike(u)
    answer = lab.post(t, stream=True)
    served(answer, sends=3)
    assert answer.header("content-type") == "text/event-stream"
    assert answer.body == b"".join(prelude + outputs + ending)


@rows("json-logs")
def _(lab):
    """Each line of log.format json is one object."""
    u = lab.provider(status(503), ok(), reset())
    t = lab.turnpike(u, {"log": {"format": "json", "level": "debug"}})
    lab.post(t)
    lab.post(t)
    lines = [line for line in t.lines if "turnpike ready" not in line]
    assert lines
    for line in lines:
        assert json.loads(line)["msg"], line


@rows("events-larger-than-the-scanner")
def _(lab):
    """Prelude beyond hold.bytes commits; nothing is lost."""
    big = event({"type": "response.created", "response": {"instructions": "i" * 600_000}}, "response.created")
    prelude, outputs, ending = good_events("responses")
    u = lab.provider(stream([big] + prelude[1:] + outputs + ending))
    t = lab.turnpike(u)
    answer = lab.post(t, "/v1/responses", stream=True)
    served(answer, sends=1)
    assert answer.body == b"".join([big] + prelude[1:] + outputs + ending)


@rows("quiet-after-everything")
def _(lab):
    """No send comes of itself after any of the failures."""
    u = lab.provider()
    t = lab.turnpike(u)
    steps = {"reset": reset(), "503": status(503), "429-told": status(429, {"Retry-After": "100"}), "400": status(400)}
    for name, step in steps.items():
        u.row(name, step, then=step)
        lab.post(t, headers={"x-row": name})
    counts = {name: u.rows[name].count for name in steps}
    quiet(u, 3.0, 0)
    assert {name: u.rows[name].count for name in steps} == counts


@rows("gaps-are-jittered")
def _(lab):
    """Ten clients that fail together do not come back together."""
    u = lab.provider()
    t = lab.turnpike(u)

    def one(index):
        row = u.row(str(index), status(503), ok())
        served(lab.post(t, headers={"x-row": str(index)}), sends=2)
        gaps(row, T0)
        return row.gaps()[0]

    found = lab.side_by_side([lambda index=index: one(index) for index in range(10)])
    assert max(found) - min(found) > 0.02, found


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
