"""What attacks from outside have found, each as a kind: answers whose end is unsure, doors held shut, fields twice."""

import pytest

from harness.client import Client, ask
from harness.checks import served
from harness.lab import Rows
from harness.provider import good_body, ok, status

rows = Rows()
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


# ---- answers

@rows.table("an-answer-whose-end-is-unsure", {
    "204-and-chunks": (b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", b"0\r\n\r\n"),
    "204-and-a-length": (b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", b"hello"),
    "identity-and-a-length": (OK + b"Transfer-Encoding: identity\r\nContent-Length: 14\r\n\r\n" + b'{"choices":[]}', b"\r\n"),
    "an-empty-coding-and-a-length": (OK + b"Transfer-Encoding:\r\nContent-Length: 14\r\n\r\n" + b'{"choices":[]}', b"\r\n")})
def _(lab, case):
    """What the provider still owes, by its own reading, would stand in front of the next turn's answer."""
    answer, owed = case

    def first(x):
        x.write(answer, answered=True)

    def next_one(x):
        if x.send.number > 0:
            x.write(owed)
        x.answer(200, (), good_body(x.send))

    u = lab.provider(first, then=next_one)
    t = lab.turnpike(u, {"workers": 1})
    assert lab.post(t).status in (200, 204)
    served(lab.post(t), sends=1)
    assert len(u.connections) == 2 and u.count == 2


@rows("a-204-without-a-body-keeps-its-connection")
def _(lab):
    u = lab.provider(*[status(204, headers, b"", framing="none") for headers in ((), {"Content-Length": "0"})], then=ok())
    t = lab.turnpike(u, {"workers": 1})
    assert [lab.post(t).status for _ in range(3)] == [204, 204, 200]
    assert len(u.connections) == 1


# ---- limits of clients

@rows("limits-named-twice")
def _(lab):
    """The lower one holds, wherever it stands: a gateway in front may have added its own."""
    u = lab.provider(then=status(503))
    t = lab.turnpike(u, {"retry": {"transient": {"base": "1ms"}}})
    for values in (("1", "3"), ("3", "1"), ("2", "3", "1")):
        answer = lab.post(t, headers=[("X-Turnpike-Max-Sends", v) for v in values])
        assert (answer.status, answer.sends) == (503, 1), (values, answer)
    u.set(then=status(503, {"Retry-After": "3"}))
    for values in (("1s", "60s"), ("60s", "1s")):
        count = u.count
        answer = lab.post(t, headers=[("X-Turnpike-Deadline", v) for v in values])
        assert answer.status == 503 and u.count == count + 1, (values, answer)
    count = u.count
    assert lab.post(t, headers=[("X-Turnpike-Max-Sends", v) for v in ("1", "many")]).status == 400 and u.count == count


# ---- the admin door

@rows("those-who-take-no-answer-hold-no-admin-door-shut")
def _(lab):
    """More than it has room for, each with more to take than the kernel keeps for it: who comes is served all the
    same."""
    t = lab.turnpike(lab.provider(), {"admin": {"listen": ["127.0.0.1:0"]}})
    deaf = []
    for _ in range(80):
        c = Client(t.admins[0], receive_buffer=4096)
        lab.clients.append(c)
        c.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
        assert c.sock.recv(1) == b"H"  # its requests are being answered
        deaf.append(c)
    for _ in range(20):
        assert ask(t.admins[0], "GET", "/healthz", (), timeout=30).status == 200


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
