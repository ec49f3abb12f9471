"""The send budget: cases BU."""

import os
import re

import pytest

from harness import turnpike
from harness.client import body_for
from harness.checks import refusal, relayed, served, stopped
from harness.lab import T0, T1, Rows, gaps
from harness.provider import error_body, ok, status

rows = Rows()


def numbered(code):
    """An error whose body names the send it belongs to."""
    return status(code, body=lambda x: b'{"error":{"message":"failure %d"}}' % x.script.count)


@rows("BU-1")
def _(lab):
    u = lab.provider(then=numbered(500))
    t = lab.turnpike(u)
    answer = lab.post(t)
    relayed(answer, 500, b'{"error":{"message":"failure 3"}}')
    stopped(answer)
    assert answer.sends == 3 and u.count == 3
    gaps(u, T0, T1)
    stats = t.final_stats()
    assert stats["turns"] == 1 and t.sends_counted(stats) == 3, stats
    assert stats["sends_initial"] == 1 and stats["sends_transient"] == 2, stats
    assert stats["turns_error"] == 1, stats


def sdk_call(lab, t, body, most=2):
    """The rule of the Stainless SDKs: 408 409 429 5xx again, unless the answer says no."""
    calls = []
    while True:
        calls.append(lab.post(t, body=body, headers={"x-stainless-retry-count": str(len(calls))}))
        again = calls[-1].status in (408, 409, 429) or calls[-1].status >= 500
        if calls[-1].stop or not again or len(calls) > most:
            return calls


@rows("BU-3")
def _(lab):
    u = lab.provider(then=status(503))
    t = lab.turnpike(u, {"budget": {"sends": 2, "reserve": 0}})
    calls = sdk_call(lab, t, body_for("/v1/chat/completions"))
    assert u.count == 2 and len(calls) == 1
    relayed(calls[0], 503, error_body(503))


@rows("BU-4")
def _(lab):
    u = lab.provider(then=status(503))
    t = lab.turnpike(u, {"budget": {"sends": 2, "reserve": 0}})
    body, calls = body_for("/v1/responses"), []
    while len(calls) < 5 and (not calls or calls[-1].status >= 500):
        calls.append(lab.post(t, "/v1/responses", body, {"x-codex-request-id": "turn-1"}))
    assert u.count == 2, u.sends
    assert calls[0].status == 503
    refusal(calls[-1], "request_send_budget_exhausted", "responses")
    t.counted(from_memory=len(calls) - 1)


@rows("BU-5")
def _(lab):
    u = lab.provider(then=status(503))
    t = lab.turnpike(u, {"budget": {"sends": 0, "reserve": 0}}, probe=False)
    refusal(lab.post(t), "request_send_budget_exhausted")
    assert u.count == 0 and u.connections == []


@rows("BU-5-lowered")
def _(lab):
    u = lab.provider(then=status(503))
    t = lab.turnpike(u)
    answer = lab.post(t, headers={"X-Turnpike-Max-Sends": "1"})
    relayed(answer, 503, error_body(503))
    stopped(answer)
    assert u.count == 1 and answer.sends == 1
    refusal(lab.post(t, headers={"X-Turnpike-Max-Sends": "0"}), "request_send_budget_exhausted")
    assert u.count == 1


@rows("BU-6")
def _(lab):
    body = b'{"error": {"message": "exactly \\u00fc this"} }\n'
    u = lab.provider(then=status(503, body=body))
    t = lab.turnpike(u, {"budget": {"sends": 1, "reserve": 0}})
    answer = lab.post(t)
    relayed(answer, 503, body)
    stopped(answer)
    assert u.count == 1


@rows("BU-7")
def _(lab):
    u = lab.provider(then=status(503))
    t = lab.turnpike(u, {"retry": {"transient": {"sends": 5}}})
    relayed(lab.post(t), 503)
    assert u.count == 3


@rows("BU-8")
def _(lab):
    u = lab.provider(status(429), status(429), status(429), ok())
    t = lab.turnpike(u, {"retry": {"overload": {"base": "200ms"}}})
    served(lab.post(t, headers={"X-Turnpike-Max-Sends": "50"}), sends=4)
    assert u.count == 4


@rows("BU-8-always")
def _(lab):
    u = lab.provider(then=status(429))
    t = lab.turnpike(u, {"retry": {"overload": {"base": "200ms"}}})
    answer = lab.post(t, headers={"X-Turnpike-Max-Sends": "50"})
    relayed(answer, 429)
    stopped(answer)
    assert u.count == 4


def refused_config(lab, text):
    """Both check and serve say the same and start nothing; the messages."""
    path = os.path.join(lab.folder, "wrong.yaml")
    with open(path, "w") as out:
        out.write(text)
    found = []
    for command in ("check", "serve"):
        done = turnpike.run(command, "-c", path)
        assert done.returncode == 1, (command, done)
        lines = [line for line in (done.stdout + done.stderr).splitlines()
                 if re.match(re.escape(path) + r":\d+:\d+: \S", line)]
        assert turnpike.READY not in done.stdout + done.stderr
        found.append(lines)
    assert found[0] == found[1] and found[0], found
    return [re.match(r".*?:(\d+):(\d+): (.*)", line[len(path) - 1:]).groups() for line in found[0]]


MINIMAL = "listen: 127.0.0.1:0\nproviders:\n  p:\n    url: http://127.0.0.1:9/v1\n"


@rows.table("BU-9", ["-1", "1.5", "99999999999"])
def _(lab, value):
    (line, column, message), = refused_config(lab, MINIMAL + "budget:\n  sends: %s\n" % value)
    assert line == "6" and int(column) in (3, 10), (line, column, message)


@rows("BU-9-five-mistakes")
def _(lab):
    found = refused_config(lab, MINIMAL + "worker: 2\nbudget:\n  sends: -1\nretry:\n  deadline: soon\n"
                           "limits:\n  body: 1MiB\n  body: 2MiB\nallow_anonymous: perhaps\n")
    assert [line for line, _, _ in found] == ["5", "7", "9", "12", "13"], found
    assert "workers" in found[0][2], "the nearest known key is named: %r" % (found[0],)


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
