"""Every recorded answer of a provider (tests/data/fixtures), served to a turn: its class, its wait, what the client sees.

Each fixture is asked for twice, each time from a provider entry of its own, so that no cooldown, shared wait or
listing of one fixture touches another.  `shown`: with no retry allowed, what reaches the client.  `again`: with
retries, the fixture first and a good answer behind it.
"""

import base64
import concurrent.futures
import email.utils
import json
import math
import os
import time

import pytest

from harness.checks import FAMILIES, refusal, stopped
from harness.client import body_for
from harness.lab import SLACK, Lab
from harness.provider import ok, stream

FOLDER = os.path.join(os.path.dirname(__file__), "..", "data", "fixtures")
LONGEST = 4.0  # a told wait up to here is sat out; of a longer one its beginning is watched
WATCHED = 1.0
CEILING = 60.0
# the floor is low, so that a told wait is measured as it was told
QUICK = {"retry": {"overload": {"base": "1ms", "cap": "1ms"}, "transient": {"base": "1ms", "cap": "1ms"},
                   "retry_after": {"floor": "1ms"}}, "log": {"level": "debug"}}
ONCE = {"retry": {"overload": {"sends": 1}, "transient": {"sends": 1}}, "log": {"level": "debug"}}
# what the error inside a 200 may stand for
STANDS_FOR = {"overload": (429, 503, 529), "rate_limit": (429,), "server_error": (500, 502), "transient": (502, 504),
              "client_error": (400, 404, 422, 502)}


class Fixture:
    def __init__(self, name):
        with open(os.path.join(FOLDER, name + ".json"), encoding="utf-8") as file:
            self.told = json.load(file)
        self.name = name
        self.events = [e.encode() for e in self.told.get("sse", ())]
        body = self.told.get("body", "")
        self.body = base64.b64decode(body) if self.told.get("body_base64") else body.encode()
        self.family = ("messages" if name.startswith("anthropic") else
                       "responses" if name.startswith(("openai-responses", "chatgpt")) else
                       "plain" if "ndjson" in name or "models-named" in name else "chat")

    def __getattr__(self, name):
        return self.told.get(name)

    def headers(self):
        pairs = dict(self.told["headers"])
        for name, how in (self.dynamic or {}).items():
            kind, _, seconds = how.partition(":")
            at = time.time() + float(seconds.rstrip("s"))
            pairs[name] = email.utils.formatdate(at, usegmt=True) if kind == "http-date" else str(int(at))
            pairs.pop("date", None)
        if self.now_ms and not self.dynamic:  # the provider's clock, to which its dates refer
            pairs["date"] = email.utils.formatdate(self.now_ms / 1000, usegmt=True)
        return [(n, v) for n, v in (self.header_list or pairs.items()) if n.lower() != "content-length"]

    def step(self, x):
        if self.events:
            stream(self.events, headers=[h for h in self.headers() if h[0] != "content-type"], pause=0.01)(x)
        else:
            x.answer(self.status, self.headers(), self.body)

    def ask(self, lab, target, prefix, **how):
        path = "/%s%s" % (self.name, FAMILIES[self.family])
        asked = "event-stream" in self.told["headers"].get("content-type", "")
        row = "%s-%s" % (prefix, self.name)
        return lab.post(target, path, body_for(FAMILIES[self.family], stream=asked), {"x-row": row}, **how)

    def waits(self):
        """The readings of the told wait that are right, in seconds; [] for none."""
        if self.retry_after_ms is None:
            return []
        return [ms / 1000 for ms in [self.retry_after_ms] + (self.retry_after_ms_alt or [])]


NAMES = sorted(name[:-5] for name in os.listdir(FOLDER) if name.endswith(".json"))
FIXTURES = {name: Fixture(name) for name in NAMES}


# ---- what is right

def not_leaked(f, *texts):
    for secret in f.must_not_leak or ():
        for text in texts:
            assert secret not in text, "%r leaked" % secret


def passes(f, answer):
    """A success, or what had begun: as it came."""
    assert answer.status == f.status == 200, answer
    sent = b"".join(f.events) if f.events else f.body
    if dict(f.headers()).get("content-encoding"):
        assert b'"choices"' in answer.body, answer
    elif f.kind == "ok":
        assert answer.body == sent, answer
    else:
        assert answer.body.startswith(sent[:-1]), answer


def error_shown(f, answer):
    """An error under its own status, or under the one that a 200 hid; always JSON where it was HTML or nothing."""
    if f.kind == "pseudo200":
        assert answer.status in STANDS_FOR[f.inner_kind], answer
    else:
        assert answer.status == f.status, answer
    assert answer.end == "complete" and len(answer.body) <= 65536, answer
    assert b"<html" not in answer.body.lower() and b"<!doctype" not in answer.body.lower(), answer
    if f.status != 302 and "text/plain" not in f.told["headers"].get("content-type", ""):
        assert answer.header("content-type").split(";")[0] == "application/json", answer
        answer.body.decode()  # whatever the provider's bytes were
        if f.name != "body-truncated-json-500":
            json.loads(answer.body)
    shown = answer.all("retry-after")
    right = [str(max(1, math.ceil(wait))) for wait in f.waits()]
    if f.now_ms:  # of a date; a second may have passed
        right += [str(int(value) - 1) for value in right]
    assert shown == [] if not right else shown and shown[0] in right, (shown, right)
    if f.kind == "quota" and f.status == 429 and not any(w > CEILING for w in f.waits()):
        stopped(answer)


def check_shown(f, answer, sends):
    assert sends == 1, "%d sends" % sends
    not_leaked(f, answer.body.decode("utf-8", "replace"), repr(answer.headers))
    if f.kind == "ok" or f.committed:
        passes(f, answer)
        assert f.kind == "ok" or not f.ambiguous or answer.end != "complete", "a clean end of a cut answer"
    elif f.kind == "pseudo200" and not f.retryable and f.ambiguous:
        refusal(answer, answer.code, f.family)
        assert answer.code in ("upstream_response_invalid", "upstream_closed_before_response"), answer
    else:
        error_shown(f, answer)


def check_again(f, answer, sends, gap):
    wait = min(f.waits(), default=0)
    if not f.retryable or wait > CEILING:
        assert sends == 1, "%d sends" % sends
    elif wait > LONGEST:
        assert answer.status is None and sends == 1, "it must still be waiting for its %g s: %r" % (wait, answer)
    else:
        assert answer.status == 200 and sends == 2 and answer.sends == 2, answer
        # (what failed inside a stream is known, and sent again, before its last byte is written)
        least = wait if wait > 0 else -SLACK
        assert least <= gap <= max(f.waits(), default=0) + 0.3 + SLACK, "gap of %.3f s, told %r" % (gap, f.waits())
    not_leaked(f, answer.body.decode("utf-8", "replace"), repr(answer.headers))


# ---- the run

def asked_twice(lab, u, once, quick, f):
    """(answer, sends) with no retry allowed; (answer, sends, gap) with retries."""
    shown = u.row("shown-" + f.name, f.step, then=ok())
    again = u.row("again-" + f.name, f.step, then=ok())
    first = f.ask(lab, once, "shown")
    long = LONGEST < min(f.waits(), default=0) <= CEILING and f.retryable
    second = f.ask(lab, quick, "again", timeout=WATCHED if long else 30.0)
    # a stream that was cut short for its error has no end to measure from
    gap = again.sends[1].at - (again.sends[0].answered_at or again.sends[0].at) if again.count > 1 else None
    return (first, shown.count), (second, again.count, gap)


@pytest.fixture(scope="module")
def results():
    """Of the whole table at once: most of it is waiting."""
    lab = Lab("fixtures")
    u = lab.provider()

    def instance(config):
        names = list(enumerate(NAMES))
        return lab.turnpike({"f%d" % i: u.url("/%s/v1" % name) for i, name in names},
                            dict(config, routes=[{"path": "/%s/v1" % name, "provider": "f%d" % i} for i, name in names]),
                            allow=["alert system_load"])

    try:
        once, quick = instance(ONCE), instance(QUICK)
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            asked = {name: pool.submit(asked_twice, lab, u, once, quick, f) for name, f in FIXTURES.items()}
        yield asked, once.log + quick.log
        lab.check()
    finally:
        lab.close()


@pytest.mark.parametrize("name", NAMES)
def test_fixture(name, results):
    asked, log = results
    f = FIXTURES[name]
    shown, again = asked[name].result()
    check_shown(f, *shown)
    check_again(f, *again)
    not_leaked(f, log)


def test_there_are_fixtures_of_each_kind():
    assert len(NAMES) >= 176
    kinds = {f.kind for f in FIXTURES.values()} | {f.inner_kind for f in FIXTURES.values()}
    assert kinds - {None} == {"overload", "rate_limit", "quota", "auth", "client_error", "server_error", "transient",
                              "pseudo200", "ok"}
