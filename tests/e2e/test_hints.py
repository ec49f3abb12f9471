"""Wait hints in bodies: cases WH (those that need no combo; the compressed ones are in test_compression.py)."""

import json
import time

import pytest

from harness.checks import relayed, served, stopped, not_stopped
from harness.lab import Rows, between, gaps, told
from harness.provider import ok, status

rows = Rows()
ONE_SEND = {"retry": {"overload": {"sends": 1}}}


def limited(message="Rate limit reached.", headers=(), **members):
    """A 429 that says how long to wait in its body alone."""
    body = {"error": dict({"message": message, "type": "requests", "code": "rate_limit_exceeded"}, **members)}
    return status(429, headers, json.dumps(body))


def within(seconds):
    return "Rate limit reached for m on requests per min. Please try again in %s." % seconds


@rows("WH-2")
def _(lab):
    u = lab.provider(limited(within("7s")), ok())
    t = lab.turnpike(u)
    served(lab.post(t), sends=2)
    gaps(u, told(7))


@rows("WH-2-told-to-the-client")
def _(lab):
    u = lab.provider(limited(within("7s")), ok())
    t = lab.turnpike(u, ONE_SEND, probe=False)
    answer = lab.post(t)
    relayed(answer, 429)
    assert answer.all("retry-after") == ["7"] and u.count == 1


@rows.table("WH-3", {"1m20s": "80", "1h30m": "5400"})
def _(lab, seconds):
    words = {"80": "1m20s", "5400": "1h30m"}[seconds]
    u = lab.provider(limited(within(words)), ok())
    t = lab.turnpike(u, probe=False)
    answer = lab.post(t)
    relayed(answer, 429)
    assert within(words) in answer.json()["error"]["message"], answer
    assert answer.all("retry-after") == [seconds] and answer.sends == 1 and u.count == 1
    not_stopped(answer)
    between(answer.took, 0, 0.2, "answer")


@rows("WH-4")
def _(lab):
    u = lab.provider(limited("Limit of requests: try again in 2s. Limit of tokens: try again in 4s."), ok())
    t = lab.turnpike(u)
    served(lab.post(t), sends=2)
    gaps(u, told(4))


def retry_info(delay):
    return limited(status="RESOURCE_EXHAUSTED", details=[
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}])


def resets_at(seconds):
    """A time since 1970, of the moment of the answer."""
    return lambda x: limited(resets_at=int(time.time()) + seconds)(x)


@rows.table("WH-5", {
    "seconds": (limited(resets_in_seconds=2), told(2)),
    "time": (resets_at(3), (2.0, 3.3)),
    "retry-info": (retry_info("3.2s"), told(3.2)),
    "header-first": (limited(within("40s"), {"Retry-After": "2"}), told(2)),
})
def _(lab, case):
    step, bounds = case
    u = lab.provider(step, ok())
    t = lab.turnpike(u)
    served(lab.post(t), sends=2)
    gaps(u, bounds)


@rows.table("no-hint", ["Try again later.", "You can try again in a few minutes.", "Limit 5, used 5, in 60s windows."])
def _(lab, message):
    """What is not understood is not guessed: nothing is told to the client, and the ladder is not changed."""
    u = lab.provider(then=limited(message))
    t = lab.turnpike(u, ONE_SEND, probe=False)
    answer = lab.post(t)
    relayed(answer, 429)
    stopped(answer)
    assert answer.all("retry-after") == []


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
