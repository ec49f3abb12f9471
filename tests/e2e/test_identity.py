"""Which requests are one logical request: cases ID."""

import json
import time

import pytest

from harness.checks import local_error, refusal, relayed, served
from harness.client import body_for, prompt
from harness.lab import Rows
from harness.provider import ok, status
from harness.turnpike import until

rows = Rows()


@rows("ID-1")
def _(lab):
    u = lab.provider(status(503), status(503), ok())
    t = lab.turnpike(u)
    own = [("Authorization", "Bearer mine"), ("Cookie", "a=b"), ("x-codex-request-id", "r-1"),
           ("OpenAI-Organization", "org"), ("X-Trace", "one"), ("X-Trace", "two"), ("session-id", "s")]
    served(lab.post(t, headers=own), sends=3)
    for send in u.sends:
        assert send.body == u.sends[0].body and send.body_complete
        for name, _ in own:
            assert send.all(name) == [v for n, v in own if n == name], send.headers
        assert send.raw_head == u.sends[0].raw_head


@rows("ID-2")
def _(lab):
    u = lab.provider(then=status(503))
    t = lab.turnpike({"p": {"url": u.url(), "keys": ["provider-key"]}},
                     {"clients": [{"name": "team-a", "key": "key-a"}, {"name": "team-b", "key": "key-b"}]})
    body = body_for("/v1/chat/completions")
    for count, key in ((3, "key-a"), (6, "key-b")):
        answer = lab.post(t, body=body, headers={"Authorization": "Bearer " + key, "x-turnpike-logical-id": "k"})
        relayed(answer, 503)
        assert answer.sends == 3 and u.count == count
    answer = lab.post(t, body=body, headers={"Authorization": "Bearer key-a", "x-turnpike-logical-id": "k"})
    refusal(answer, "request_send_budget_exhausted")
    assert u.count == 6
    assert {send.header("authorization") for send in u.sends} == {"Bearer provider-key"}


@rows("ID-3")
def _(lab):
    u = lab.provider(*[status(503), ok()] * 3)
    t = lab.turnpike(u)
    body = body_for("/v1/chat/completions")
    for count in (2, 4, 6):
        served(lab.post(t, body=body), sends=2)
        assert u.count == count


def twice(lab, sends, pause, one, other, rejoin="2s", first_status=524):
    """Two requests; the first ends unknown after one send, the second meets 503 for ever."""
    u = lab.provider(status(first_status), then=status(503))
    t = lab.turnpike(u, {"budget": {"rejoin": rejoin}})
    relayed(lab.post(t, **one), first_status)
    assert u.count == 1
    time.sleep(pause)
    relayed(lab.post(t, **other), 503)
    assert u.count == 1 + sends, "%d sends after the first, %d were awaited" % (u.count - 1, sends)


@rows.table("ID-4", {"1s": (1, None, 2), "4s": (4, None, 3), "4s-retry-1": (4, "1", 2), "4s-retry-0": (4, "0", 3)})
def _(lab, case):
    pause, count, sends = case
    body = body_for("/v1/chat/completions")
    headers = {} if count is None else {"x-stainless-retry-count": count}
    twice(lab, sends, pause, {"body": body}, {"body": body, "headers": headers})


def same(text):
    return {"model": "m", "messages": [{"role": "user", "content": text}]}


@rows("ID-5-client-metadata")
def _(lab):
    text = prompt()
    one = dict(same(text), client_metadata={"a": "1", "b": {"c": [1, "}"]}})
    other = dict(client_metadata={"b": 2}, **same(text))
    twice(lab, 2, 1, {"body": json.dumps(one).encode()}, {"body": json.dumps(other).encode()})


@rows("ID-5-stream")
def _(lab):
    text = prompt()
    one = dict(same(text), stream=False, stream_options={"include_usage": True})
    twice(lab, 2, 1, {"body": json.dumps(one).encode()}, {"body": json.dumps(same(text)).encode()})


@rows("ID-5-letter")
def _(lab):
    text = prompt()
    twice(lab, 3, 1, {"body": json.dumps(same(text + "a")).encode()},
          {"body": json.dumps(same(text + "b")).encode()})


@rows.table("ID-5-turn-id", {"other": ('{"turn_id":"t2","x":1}', 3), "same": ('{"x":2,"turn_id":"t1"}', 2)})
def _(lab, case):
    metadata, sends = case
    one = {"path": "/v1/responses", "body": body_for("/v1/responses"),
           "headers": {"x-codex-turn-metadata": '{"turn_id":"t1","x":1}'}}
    twice(lab, sends, 1, one, dict(one, headers={"x-codex-turn-metadata": metadata}))


@rows("ID-5-path")
def _(lab):
    body = body_for("/v1/chat/completions")
    twice(lab, 3, 1, {"body": body}, {"path": "/v1/x/chat/completions", "body": body})


@rows("ID-5-credential")
def _(lab):
    body = body_for("/v1/chat/completions")
    twice(lab, 3, 1, {"body": body, "headers": {"Authorization": "Bearer a"}},
          {"body": body, "headers": {"Authorization": "Bearer b"}})


@rows("declined-end-is-joined")
def _(lab):
    """After a declined end the budget goes on for 30 s: Codex's own re-sends cost nothing more."""
    u = lab.provider(then=status(503))
    t = lab.turnpike(u)
    body = body_for("/v1/responses")
    relayed(lab.post(t, "/v1/responses", body), 503)
    assert u.count == 3
    for _ in range(4):
        refusal(lab.post(t, "/v1/responses", body), "request_send_budget_exhausted", "responses")
    assert u.count == 3


@rows("a-4xx-is-told-again-from-memory")
def _(lab):
    u = lab.provider(then=status(404, body=b'{"error":{"code":"model_not_found","message":"no such model"}}'))
    t = lab.turnpike(u, {"budget": {"sends": 1, "reserve": 0}})
    body = body_for("/v1/responses")
    first = lab.post(t, "/v1/responses", body)
    relayed(first, 404)
    again = lab.post(t, "/v1/responses", body)
    local_error(again, 404, "responses")
    assert again.stop and u.count == 1


@rows("side-by-side")
def _(lab):
    """Two identical prompts at once are two logical requests."""
    u = lab.provider(then=ok(after=0.5))
    t = lab.turnpike(u)
    body = body_for("/v1/chat/completions")
    for answer in lab.side_by_side([lambda: lab.post(t, body=body)] * 2):
        served(answer, sends=1)
    assert u.count == 2


@rows("side-by-side-failing")
def _(lab):
    u = lab.provider(then=status(503, after=0.1))
    t = lab.turnpike(u)
    body = body_for("/v1/chat/completions")
    for answer in lab.side_by_side([lambda: lab.post(t, body=body)] * 2):
        relayed(answer, 503)
        assert answer.sends == 3
    assert u.count == 6


@rows("again-after-a-success")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)
    body = body_for("/v1/messages")
    for _ in range(5):
        served(lab.post(t, "/v1/messages", body), sends=1)


@rows("one-id-in-flight")
def _(lab):
    """A turn with an id waits for its earlier turn; then the id keeps what is left."""
    u = lab.provider(ok(after=1.0), then=ok())
    t = lab.turnpike(u)
    body = body_for("/v1/chat/completions")
    ask = lambda: lab.post(t, body=body, headers={"x-turnpike-logical-id": "same"})
    answers = lab.side_by_side([ask, ask])
    assert [a.status for a in answers] == [200, 200]
    assert max(a.took for a in answers) >= 0.9, "the second waited for the first"
    assert sorted(a.sends for a in answers) == [1, 2] and u.count == 2
    a, b = u.sends
    assert b.at >= a.answered_at


@rows("one-id-in-flight-deadline")
def _(lab):
    u = lab.provider(ok(after=3.0), then=ok())
    t = lab.turnpike(u)
    body, headers = body_for("/v1/chat/completions"), {"x-turnpike-logical-id": "same"}
    first = lab.client(t).request("POST", "/v1/chat/completions", headers, body)
    u.wait_sends(1)
    answer = lab.post(t, body=body, headers=dict(headers, **{"X-Turnpike-Deadline": "1s"}))
    local_error(answer, 409, "chat", "logical_request_in_flight")
    assert answer.header("retry-after") == "1" and u.count == 1
    served(first.response(), sends=1)


@rows("id-of-another-body")
def _(lab):
    """A static Idempotency-Key in default headers does not tie different prompts together."""
    u = lab.provider(then=status(503))
    t = lab.turnpike(u)
    for count in (3, 6):
        answer = lab.post(t, headers={"Idempotency-Key": "static"})
        relayed(answer, 503)
        assert answer.sends == 3 and u.count == count


@rows("conversation-ids-are-no-identity")
def _(lab):
    u = lab.provider()
    t = lab.turnpike(u)
    headers = {"x-client-request-id": "thread", "session-id": "s", "thread-id": "t"}
    for _ in range(6):
        served(lab.post(t, "/v1/responses", headers=headers), sends=1)


def left_by_its_client(lab):
    """The provider, the server, and the body of a turn whose client went while its send was open."""
    u = lab.provider(ok(after=5.0), then=status(503))
    t = lab.turnpike(u)
    body = body_for("/v1/chat/completions")
    c = lab.client(t).request("POST", "/v1/chat/completions", body=body)
    u.wait_sends(1)
    c.close()
    until(lambda: t.stats()["turns_gone"] == 1, 2, "the turn ended")
    return u, t, body


@rows("gone-client-is-no-failure")
def _(lab):
    """A turn that its client left is joined only by a declared re-send."""
    u, t, body = left_by_its_client(lab)
    answer = lab.post(t, body=body)
    assert answer.sends == 3 and u.count == 4


@rows("gone-client-declared-resend")
def _(lab):
    u, t, body = left_by_its_client(lab)
    answer = lab.post(t, body=body, headers={"x-stainless-retry-count": "1"})
    assert answer.sends == 3 and u.count == 3


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
