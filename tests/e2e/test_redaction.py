"""What is secret stays out of answers, logs, statistics and the shared table: cases RD."""

import base64
import contextlib
import glob
import json
import os
import socket

import pytest

from harness import tls, turnpike
from harness.checks import FAMILIES, relayed
from harness.client import Client, body_for, request_bytes
from harness.lab import Rows
from harness.provider import event, ok, raw, reset, silent, status, stream

rows = Rows()
PATH = "/v1/chat/completions"
FIXTURES = os.path.join(turnpike.ROOT, "tests", "data", "fixtures")

MARKS = {
    "x-auth-token": "mark-xauth-7f1c0b52",
    "x-goog-api-key": "mark-goog-7f1c0b53",
    "api-key": "mark-apikey-7f1c0b54",
    "x-api-key": "mark-xapikey-7f1c0b55",
    "Cookie": "session=mark-cookie-7f1c0b56; theme=mark-theme-7f1c0b57",
    "Proxy-Authorization": "Basic " + base64.b64encode(b"me:mark-proxy-7f1c0b58").decode(),
    "Authorization": "Bearer mark-bearer-7f1c0b59",
    "Sec-WebSocket-Protocol": "realtime, openai-insecure-api-key.mark-protocol-7f1c0b5a",
}
WORDS = ["mark-xauth", "mark-goog", "mark-apikey", "mark-xapikey", "mark-cookie", "mark-theme", "mark-proxy",
         MARKS["Proxy-Authorization"][6:], "mark-bearer", "mark-protocol", "mark-prompt", "mark-query", "mark-answer"]


def watched(lab, **more):
    """All that Turnpike can write about a request is written."""
    folder = os.path.join(lab.folder, "snapshots")
    os.makedirs(folder, exist_ok=True)
    base = {"log": {"level": "debug"}, "access_log": {"output": os.path.join(lab.folder, "access.log")},
            "snapshots": {"directory": folder}}
    return turnpike.merge(base, more)


def snapshots(t):
    """One for each failed turn, as soon as they are written."""
    folder = t.config.get("snapshots", {}).get("directory")
    if folder is None:
        return []
    stats = t.final_stats()
    failed = sum(stats["turns_" + end] for end in ("error", "refused", "cut"))
    pattern = os.path.join(folder, "*.json")
    turnpike.until(lambda: len(glob.glob(pattern)) == failed, 5, "%d snapshots" % failed)
    out = []
    for path in sorted(glob.glob(pattern)):
        with open(path) as file:
            out.append(json.load(file))
    return out


def everything_written(t):
    """The log, the statistics, and every file: its folder and its tables."""
    snapshots(t)
    out = {"log": t.log.encode(), "stats": json.dumps(t.stats()).encode()}
    stats = turnpike.run("stats", "--name", t.name)
    out["stats as text"] = (stats.stdout + stats.stderr).encode()
    tables = glob.glob("/dev/shm/" + t.name.strip("/") + "*")
    assert tables
    for path in tables + [p for p in glob.glob(t.folder + "/**", recursive=True) if os.path.isfile(p)]:
        if path != t.file:  # the configuration is the user's own
            with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
                out[path] = file.read()
    return out


def absent(words, texts):
    for name, text in texts.items():
        for word in words:
            at = text.find(word.encode())
            assert at < 0, "%s is in %s: %r" % (word, name, text[max(0, at - 80):at + 80])


def refused_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


# ---- RD-1: a key in the query


def _refused(lab):
    return "http://127.0.0.1:%d/v1" % refused_port(), {}


def _unresolved(lab):
    return "http://no-such-name.localhost.:%d/v1" % refused_port(), {}


def _silent(lab):
    return lab.provider(then=silent()).url(), {"timeouts": {"first_byte": "1s"}}


def _tls(lab):
    ca = tls.authority()
    u = lab.provider(tls=ca.server())
    return "https://localhost:%d/v1" % u.port, {}  # its authority is not known here


def _answers(lab):
    def echo(x):
        x.read_body()
        x.answer(400, {"content-type": "application/json", "x-echo": x.send.target},
                 json.dumps({"error": {"message": "bad: " + x.send.target, "code": "bad"}}).encode())
    return lab.provider(then=echo).url(), {}


@rows.table("RD-1", {"refuses": _refused, "not-resolved": _unresolved, "times-out": _silent, "tls": _tls,
                     "repeats": _answers})
def _(lab, make):
    url, more = make(lab)
    t = lab.turnpike({"p": dict({"url": url, "retry": {"deadline": "3s"}}, **more)}, watched(lab))
    for query in ("key=mark-query-1234", "alt=sse&key=mark%2Dquery-1234&x=1", "api_key=mark-query-1234",
                  "access_token=mark-query-1234"):
        answer = lab.post(t, PATH + "?" + query)
        assert answer.status >= 400, answer
        absent(["mark-query", "mark%2Dquery"],
               dict(everything_written(t), answer=answer.body, head=repr(answer.headers).encode()))


# ---- RD-2: an error that repeats what it got


@rows.table("RD-2", {"%s-%s" % (family, kind): (family, kind) for family in FAMILIES
                     for kind in ("json", "text", "nested", "escaped")})
def _(lab, case):
    family, kind = case

    def tell(x):
        x.read_body()
        text = "401 for %s: %s in File \"/srv/app/main.py\", line 3" % (
            x.send.header("authorization"), x.send.header("authorization").split()[1])
        if kind == "text":
            x.answer(401, {"content-type": "text/plain"}, text.encode())
            return
        if kind == "nested":
            text = json.dumps({"headers": dict(x.send.headers), "text": text})
        body = json.dumps({"error": {"message": text, "type": "authentication_error"}})
        if kind == "escaped":
            body = body.replace("mark", "\\u006da\\u0072k").replace("/srv", "\\/srv")
        x.answer(401, {"content-type": "application/json", "x-got": x.send.header("authorization")},
                 body.encode())

    u = lab.provider(then=tell)
    t = lab.turnpike(u, watched(lab), probe=False)
    answer = lab.post(t, FAMILIES[family], headers=MARKS)
    relayed(answer, 401)
    words = WORDS + ["/srv", "main.py", "\\u006da"]
    absent(words, dict(everything_written(t), answer=answer.body, head=repr(answer.headers).encode()))
    assert b"401 for" in answer.body and b"line 3" in answer.body, answer
    if kind != "text":
        assert answer.json()["error"]["type"] == "authentication_error"


@rows("RD-2-configured")
def _(lab):
    """Turnpike's own keys, and the keys of clients, whatever they look like."""
    def tell(x):
        x.read_body()
        x.answer(422, {"content-type": "application/json"}, json.dumps(
            {"error": {"message": "no: zebra.crossing+9, open-sesame-1, passw0rt %s" %
                                  x.send.header("authorization")}}).encode())

    u = lab.provider(then=tell)
    t = lab.turnpike({"p": {"url": u.url(), "keys": ["zebra.crossing+9"]},
                      "q": {"url": "http://me:passw0rt@127.0.0.1:1/v1"}},
                     {"clients": [{"name": "a", "key": "open-sesame-1"}],
                      "routes": [{"path": "/v1", "provider": "p"}], **watched(lab)})
    answer = lab.post(t, headers={"Authorization": "Bearer open-sesame-1"})
    relayed(answer, 422)
    assert u.sends[0].header("authorization") == "Bearer zebra.crossing+9"
    assert answer.json()["error"]["message"] == "no: ***, ***, *** Bearer ***", answer
    absent(["zebra", "open-sesame", "passw0rt"], everything_written(t))


# ---- RD-3: marks everywhere


def _cut(x):
    x.read_body()
    x.stream_head()
    x.piece(event({"choices": [{"index": 0, "delta": {"content": "mark-answer"}}]}))
    x.reset()


ENDINGS = {
    "succeeds": [ok()],
    "fails-4xx": [status(400)],
    "fails-5xx": [status(503)] * 9,
    "reset": [reset()],
    "garbage": [raw(b"mark-answer not HTTP\r\n\r\n")],
    "broken-off": [_cut],
    "error-in-stream": [stream([event({"error": {"message": "mark-answer", "code": "x"}})])],
}


@rows.table("RD-3", {"%s-%s" % (name, fmt): (name, fmt) for name in ENDINGS for fmt in ("text", "json")})
def _(lab, case):
    name, fmt = case
    u = lab.provider(*ENDINGS[name], then=ok())
    t = lab.turnpike(u, watched(lab, log={"level": "debug", "format": fmt},
                                access_log={"format": "combined" if fmt == "text" else "json"}), probe=False)
    headers = dict(MARKS, **{"idempotency-key": "mark-prompt-key", "x-codex-turn-metadata": "mark-prompt-meta"})
    body = body_for(PATH, "mark-prompt of mine", stream="stream" in name or name == "broken-off")
    lab.post(t, PATH + "?key=mark-query-9", body, headers)
    u.wait_sends(1)
    absent(WORDS, everything_written(t))


@rows.table("RD-3-full", ENDINGS)
def _(lab, steps):
    """With `bodies: full` what people wrote is kept: but no credentials, and none that stand in a body."""
    u = lab.provider(*steps, then=ok())
    t = lab.turnpike(u, watched(lab, snapshots={"bodies": "full"}), probe=False)
    words = [word for word in WORDS if word not in ("mark-prompt", "mark-answer")]
    body = body_for(PATH, "my prompt, with %s and sk-%s" % (MARKS["Authorization"], "a1b2c3d4" * 5), stream=steps[0] is _cut)
    lab.post(t, PATH + "?key=mark-query-9", body, MARKS)
    u.wait_sends(1)
    absent(words + ["a1b2c3d4a1b2"], everything_written(t))
    for snapshot in snapshots(t):
        assert "my prompt, with " in json.dumps(snapshot["request"]["body"])


@rows("RD-3-refused-at-the-door")
def _(lab):
    """Requests that are refused before they are one: bad heads, unknown paths, unknown keys."""
    u = lab.provider()
    t = lab.turnpike(u, watched(lab, clients=[{"name": "a", "key": "open-sesame-1"}]), probe=False)
    for target, headers in (("/v1/chat/completions?key=mark-query", MARKS),
                            ("/v1/../mark-prompt?key=mark-query", MARKS),
                            ("/v1/x", {"Authorization": "Bearer open-sesame-1", "mark-prompt bad": "x"}),
                            ("/v1/x", {"X-Turnpike-Max-Sends": "mark-prompt", "Authorization": "Bearer open-sesame-1"})):
        with Client(t.address) as c:
            c.send(request_bytes("POST", target, headers, b"{}"))
            answer = c.response()
        assert answer.status in (400, 401, 404), answer
        absent(WORDS + ["open-sesame"], {"answer": answer.body, "head": repr(answer.headers).encode()})
    texts = everything_written(t)
    access = texts.pop(os.path.join(lab.folder, "access.log")).decode()
    absent(WORDS + ["open-sesame"], texts)
    assert "/v1/../mark-prompt?key=***" in access and access.count("\n") == 4  # a path is no secret
    absent([word for word in WORDS if word != "mark-prompt"] + ["open-sesame", "mark-prompt bad"], {"access": access.encode()})
    assert u.count == 0


@rows("RD-3-gone")
def _(lab):
    """The client leaves in the middle of its own body."""
    u = lab.provider()
    t = lab.turnpike(u, watched(lab))
    with Client(t.address) as c:
        whole = request_bytes("POST", PATH + "?key=mark-query", MARKS, body_for(PATH, "mark-prompt " * 1000))
        c.send(whole[:-2000])
        turnpike.until(lambda: t.stats().gauges["turns"] == 1, 5, "the turn began")
        c.reset()
    turnpike.until(lambda: t.stats().gauges["turns"] == 0, 5, "the turn is over")
    absent(WORDS, everything_written(t))


# ---- RD-4: ordinary words beside a key


@rows("RD-4")
def _(lab):
    key = "sk-" + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN"
    message = "internal; key %s; max_tokens: 100, model: x, tokens: 7" % key
    body = json.dumps({"error": {"message": message, "type": "server_error", "code": None}}).encode()
    u = lab.provider(status(503, {"content-type": "application/json", "etag": '"x"'}, body))
    t = lab.turnpike(u, watched(lab, retry={"transient": {"sends": 1}}), probe=False)
    answer = lab.post(t)
    relayed(answer, 503, body.replace(key.encode(), b"***"))
    assert int(answer.header("content-length")) == len(answer.body)
    absent([key], everything_written(t))


@rows("RD-4-nothing-secret")
def _(lab):
    """Then the body is the provider's, byte for byte: white space, order, escapes and all; no UTF-8 where it is not
    called JSON.  JSON is UTF-8 or nothing (fixture body-invalid-utf8-500): there U+FFFD stands for such a byte."""
    json_type, text, odd = "application/json", "text/plain", b'{"error":{"message":"\xff\xfe"}}'
    mended = odd.replace(b"\xff\xfe", b"\xef\xbf\xbd" * 2)
    bodies = [(json_type, b'{ "error" :\t{"message":"\\u0061 \\/v1\\/chat max_tokens: 100","n":1.50,"n":1e3}}\r\n', None),
              (json_type, b"plain /v1/models words", None), (json_type, b'{"error": {"message": "cut', None),
              (text, odd, None), (json_type, odd, mended)]
    for kind, body, other in bodies:
        u = lab.provider(then=status(400, {"content-type": kind}, body))
        t = lab.turnpike(u, probe=False)
        relayed(lab.post(t, headers=MARKS), 400, other or body)


@rows("RD-4-no-error-is-touched")
def _(lab):
    """Answers that succeed, and redirects, are not looked at: a model may well write about keys."""
    text = "export OPENAI_API_KEY=sk-abcdefghijklmnopqrstuvwxyz0123 in /home/me/.profile"
    body = json.dumps({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]})
    u = lab.provider(ok(body.encode()), status(302, {"location": "https://x/?key=abc12345"}, text.encode()))
    t = lab.turnpike(u, probe=False)
    relayed(lab.post(t), 200, body.encode())
    relayed(lab.post(t), 302, text.encode())


# ---- RD-5: user information in a URL


@rows("RD-5")
def _(lab):
    port = refused_port()
    t = lab.turnpike({"p": {"url": "http://usr7:pa55w0rd@127.0.0.1:%d/v1" % port}},
                     watched(lab, retry={"deadline": "2s"}))
    answer = lab.post(t)
    assert answer.status >= 500, answer
    basic = base64.b64encode(b"usr7:pa55w0rd").decode()
    words = ["usr7", "pa55w0rd", basic]
    shown = turnpike.run("config", "--effective", "-c", t.file)
    checked = turnpike.run("check", "-c", t.file)
    assert shown.returncode == 0 and checked.returncode == 0, (shown, checked)
    assert "127.0.0.1:%d" % port in shown.stdout
    absent(words, dict(everything_written(t), answer=answer.body, head=repr(answer.headers).encode(),
                       effective=(shown.stdout + shown.stderr).encode(),
                       check=(checked.stdout + checked.stderr).encode()))


@rows("RD-5-mistakes")
def _(lab):
    """Messages about a file with mistakes in secret values."""
    wrong = {"url": "http://usr7:pa55w0rd@127.0.0.1:99999/v1", "keys": ["pa55w0rd\tx", "pa55w0rd-2"]}
    t = lab.turnpike({"p": wrong}, start=False)
    for command in ("check", "config", "serve"):
        more = ["--effective"] if command == "config" else []
        done = turnpike.run(command, *more, "-c", t.file)
        assert done.returncode == 1, done
        assert "url" in done.stderr
        absent(["usr7", "pa55w0rd"], {command: (done.stdout + done.stderr).encode()})


# ---- all fixtures that say what must not leak


def _leaky():
    out = {}
    for path in sorted(glob.glob(os.path.join(FIXTURES, "*.json"))):
        with open(path) as file:
            fixture = json.load(file)
        if fixture.get("must_not_leak"):
            out[fixture["name"]] = fixture
    assert len(out) >= 11
    return out


@rows.table("fixture", _leaky())
def _(lab, fixture):
    def serve(x):
        x.read_body()
        if "sse" in fixture:
            x.stream_head(fixture["headers"])
            for piece in fixture["sse"]:
                x.piece(piece.encode())
            x.stream_end()
        else:
            x.answer(fixture["status"], fixture["headers"], fixture["body"].encode())

    u = lab.provider(then=serve)
    t = lab.turnpike(u, watched(lab, retry={"deadline": "1s"}), probe=False)
    answer = lab.post(t, FAMILIES["responses" if "responses" in fixture["name"] else "chat"],
                      stream="sse" in fixture)
    assert answer.status >= 400 and answer.end == "complete", answer
    assert answer.json()["error"], answer
    leaks = [json.dumps(word)[1:-1] for word in fixture["must_not_leak"]] + fixture["must_not_leak"]
    absent(leaks, dict(everything_written(t), answer=answer.body))


@pytest.mark.parametrize("row", rows.names())
def test_redaction(row, row_result):
    row_result(row)
