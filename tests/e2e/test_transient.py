"""The transient ladder: cases TL."""

import pytest

from harness.checks import FAMILIES, MODELS, error_json, not_stopped, relayed, served, stopped
from harness.lab import T0, T1, Rows, between, gaps, quiet
from harness.provider import error_body, ok, raw, status

rows = Rows()
ONE_SEND = (400, 401, 402, 403, 404, 405, 408, 409, 415, 418, 425, 451, 501, 505, 507, 508, 523, 524, 525, 526,
            527, 530)


@rows("TL-1")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)

    def one(code):
        row = u.row(str(code), status(code), ok())
        served(lab.post(t, headers={"x-row": str(code)}), sends=2)
        gaps(row, T0)

    lab.side_by_side([lambda code=code: one(code) for code in (500, 502, 503, 504, 520, 521, 522)])


@rows("TL-2")
def _(lab):
    u = lab.provider(then=status(502, body=lambda x: b'{"error":{"message":"no. %d"}}' % x.script.count))
    t = lab.turnpike(u)
    answer = lab.post(t)
    relayed(answer, 502, b'{"error":{"message":"no. 3"}}')
    stopped(answer)
    assert u.count == 3
    gaps(u, T0, T1)


@rows("TL-3")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)

    def one(code):
        row = u.row(str(code), status(code), ok())
        answer = lab.post(t, headers={"x-row": str(code)})
        relayed(answer, code, error_body(code))
        (stopped if code in (408, 524) else not_stopped)(answer)
        quiet(row, 1.0, 1)

    lab.side_by_side([lambda code=code: one(code) for code in ONE_SEND])
    stats = t.final_stats()
    assert stats["sends_initial"] == len(ONE_SEND) == t.sends_counted(stats), stats


@rows("TL-4")
def _(lab):
    u = lab.provider(status(502), status(502), status(400), ok())
    t = lab.turnpike(u)
    answer = lab.post(t)
    relayed(answer, 400, error_body(400))
    assert u.count == 3 and answer.sends == 3


@rows.table("TL-5", MODELS)
def _(lab, family):
    u = lab.provider(then=status(500, body=b""))
    t = lab.turnpike(u)
    answer = lab.post(t, FAMILIES[family])
    assert answer.status == 500 and answer.end == "complete"
    assert u.count == 3
    error_json(answer, family)
    assert answer.header("content-type") == "application/json"


@rows("TL-6")
def _(lab):
    u = lab.provider(status(503, after=3.5), ok())
    t = lab.turnpike(u, {"retry": {"slow_attempt": "3s"}})
    relayed(lab.post(t), 503, error_body(503))
    quiet(u, 1.0, 1)


@rows("TL-6-control")
def _(lab):
    u = lab.provider(status(503, after=0.2), ok())
    t = lab.turnpike(u, {"retry": {"slow_attempt": "3s"}})
    served(lab.post(t), sends=2)


@rows("TL-7-a")
def _(lab):
    u = lab.provider(status(503, {"x-should-retry": "false"}), ok())
    t = lab.turnpike(u)
    answer = lab.post(t)
    relayed(answer, 503, error_body(503))
    stopped(answer)
    quiet(u, 1.0, 1)


@rows("TL-7-b")
def _(lab):
    u = lab.provider(status(409, {"x-should-retry": "true"}), ok())
    t = lab.turnpike(u)
    served(lab.post(t), sends=2)
    assert u.count == 2


@rows("TL-7-b-always")
def _(lab):
    u = lab.provider(then=status(409, {"x-should-retry": "true"}))
    t = lab.turnpike(u)
    answer = lab.post(t)
    relayed(answer, 409, error_body(409))
    assert u.count == 2
    assert "true" not in answer.all("x-should-retry")


@rows("TL-8")
def _(lab):
    head = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n"
    u = lab.provider(raw(head + b'{"error": {"message": "' + b"x" * 200, then="reset"), ok())
    t = lab.turnpike(u)
    served(lab.post(t), sends=2)
    gaps(u, (T0[0] - 0.05, T0[1]))  # the script waits 50 ms between its last byte and the reset


@rows("TL-9")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u, {"retry": {"transient": {"sends": 1}, "overload": {"sends": 1}}})
    for code in (503, 429, 402):
        body = b'{"type":"error","error":{"type":"some_error","message":"own %d"}}' % code
        row = u.row(str(code), status(code, body=body), ok())
        relayed(lab.post(t, "/v1/messages", headers={"x-row": str(code)}), code, body)
        assert row.count == 1
    row = u.row("413", status(413), ok())
    answer = lab.post(t, "/v1/responses", stream=True, headers={"x-row": "413"})
    relayed(answer, 413, error_body(413))
    assert answer.header("content-type") == "application/json" and row.count == 1


@rows("transient-in-each-family-streamed")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)

    def one(family):
        row = u.row(family, status(502), ok())
        answer = lab.post(t, FAMILIES[family], stream=True, headers={"x-row": family})
        served(answer, sends=2)
        between(row.gaps()[0], *T0)

    lab.side_by_side([lambda family=family: one(family) for family in FAMILIES])


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
