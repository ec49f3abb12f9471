"""The log, the access log and snapshots: what stands in them, renaming them, and disks that fail (design 10)."""

import collections
import glob
import json
import os
import re
import resource
import shutil
import signal
import time

import pytest

from harness import turnpike
from harness.checks import FAMILIES
from harness.client import Client, body_for, request_bytes
from harness.lab import Rows
from harness.provider import event, ok, reset, status
from harness.turnpike import until

rows = Rows()
PATH = "/v1/chat/completions"
QUICK = {"retry": {"transient": {"sends": 3, "base": "20ms", "cap": "40ms"}}, "budget": {"sends": 4, "reserve": 0}}




def told(t, what="turn"):
    """Fields of the lines of a text log that tell `what`."""
    out = []
    for line in t.log.splitlines():
        match = re.match(r"^\S+Z info \S+ ?\d*\[\d+\]: %s (id=.*)$" % what, line)
        if match:
            out.append({name: json.loads(value) if value[0] == '"' else value
                        for name, value in re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)', match[1])})
    return out


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, "rb") as file:
        data = file.read()
    assert data == b"" or data.endswith(b"\n"), data[-200:]
    return data.decode().splitlines()


def number(t, name):
    done = turnpike.run("stats", "--json", "--name", t.name)
    return json.loads(done.stdout)[name]


def files_of(folder):
    return sorted(glob.glob(os.path.join(folder, "*.json")))


def folder_of(lab, name="snapshots"):
    path = os.path.join(lab.folder, name)
    os.mkdir(path)
    return path


def snapshot(path):
    assert os.stat(path).st_mode & 0o777 == 0o600
    with open(path) as file:
        return json.load(file)


# ---- a line for each turn


@rows("line-text")
def _(lab):
    u = lab.provider(status(503), status(503), then=ok())
    t = lab.turnpike(u, dict(QUICK, clients=[{"name": "ann", "key": "open-sesame-1"}],
                             listen="127.0.0.1:0"), probe=False)
    body = body_for(PATH)
    answer = lab.post(t, PATH, body, headers={"Authorization": "Bearer open-sesame-1"})
    assert answer.status == 200
    until(lambda: len(told(t)) == 1, 3, "a line")
    line = told(t)[0]
    assert line["id"] == answer.header("x-turnpike-request-id")
    assert re.fullmatch("[0-9a-f]{16}", line["logical"])
    assert (line["client"], line["family"], line["route"], line["target"]) == ("ann", "chat", "/v1", "p")
    assert (line["sends"], line["classes"], line["status"], line["outcome"]) == ("3", "initial+transient*2", "200", "ok")
    assert int(line["bytes_in"]) == len(body) and int(line["bytes_out"]) == len(answer.body)
    assert 10 <= int(line["waited_ms"]) <= int(line["first_byte_ms"]) <= int(line["total_ms"]) < 5000
    assert "reason" not in line
    # one line for each decision to send again, and nothing else but the turn's own
    mine = [x for x in t.log.splitlines() if answer.header("x-turnpike-request-id") in x]
    assert len(mine) == 3 and sum("; again (transient) in " in x for x in mine) == 2, mine


@rows("line-json")
def _(lab):
    u = lab.provider(status(400), reset(), then=ok())
    t = lab.turnpike(u, {"log": {"format": "json"}}, probe=False)
    wanted = [("error", 400), ("refused", 429), ("ok", 200)]
    for outcome, code in wanted:
        assert lab.post(t, body=body_for(PATH, outcome)).status == code
    with Client(t.address) as c:
        c.send(b"GET /v1/x HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n")
        assert c.response().status == 400

    def turns():
        return [x for x in map(json.loads, (line for line in t.lines if line.startswith("{"))) if x["msg"] == "turn"]

    until(lambda: len(turns()) == 4, 3, "four lines")
    by = {(x["outcome"], x["status"]): x for x in turns()}
    assert set(by) == set(wanted) | {("bad", 400)}, by
    refused = by["refused", 429]
    assert refused["code"] == "upstream_reset_replay_refused" and refused["reason"] and refused["sends"] == 1
    assert refused["classes"] == "initial" and isinstance(refused["total_ms"], int)
    assert by["bad", 400]["reason"] and by["ok", 200]["reason"] == ""


def cut(x):
    """A stream that breaks off behind its first output."""
    x.read_body()
    x.stream_head()
    x.piece(event({"choices": [{"index": 0, "delta": {"content": "a"}}]}))
    x.reset()


@rows("line-cut-and-gone")
def _(lab):
    u = lab.provider(cut, then=ok(after=30))
    t = lab.turnpike(u, probe=False)
    lab.post(t, stream=True)
    until(lambda: [x["outcome"] for x in told(t)] == ["cut"], 3, "a line")
    assert told(t)[0]["reason"].startswith("cut after commit: ") and told(t)[0]["status"] == "200"
    with Client(t.address) as c:
        c.send(request_bytes("POST", PATH, body=body_for(PATH, "another")))
        u.wait_sends(2)
        c.reset()
    until(lambda: len(told(t)) == 2, 3, "a line")
    assert told(t)[1]["outcome"] == "gone" and told(t)[1]["status"] == "0"


# ---- renaming


@rows("USR1")
def _(lab):
    """Renamed under load and opened anew: each turn stands in exactly one file, and the old ones stand still."""
    log, access = os.path.join(lab.folder, "log"), os.path.join(lab.folder, "access")
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"log": {"output": log, "format": "json"}, "access_log": {"output": access},
                         "admin": {"listen": "unix:" + os.path.join(lab.folder, "admin")}}, probe=False)
    ids = []

    def ask(n):
        for i in range(60):
            answer = lab.post(t, body=body_for(PATH, "%d-%d" % (n, i)))
            assert answer.status == 200
            ids.append(answer.header("x-turnpike-request-id"))

    def rotate():
        for i in range(3):
            until(lambda: len(ids) > 40 * (i + 1), 20, "turns")
            for path in (log, access):
                os.rename(path, "%s.%d" % (path, i))
            t.signal(signal.SIGUSR1)
            until(lambda: os.path.exists(log) and os.path.exists(access), 5, "new files")

    lab.side_by_side([lambda n=n: ask(n) for n in range(4)] + [rotate])
    t.final_stats()
    for path, key in ((log, "id"), (access, "id")):
        found = collections.Counter()
        for name in [path] + ["%s.%d" % (path, i) for i in range(3)]:
            found.update(x[key] for x in map(json.loads, lines_of(name)) if x.get("msg", "turn") == "turn")
        assert found == collections.Counter(ids), (path, len(found), len(ids))
    # nobody writes to the old files any more: master, workers and admin process have let go
    for pid in [t.pid] + turnpike.children(t.pid):
        held = [os.readlink("/proc/%d/fd/%s" % (pid, fd)) for fd in os.listdir("/proc/%d/fd" % pid)]
        assert not [x for x in held if re.search(r"/(log|access)\.\d", x)], (pid, held)
    assert number(t, "log_lost") == 0


@rows("USR1-folder-gone")
def _(lab):
    folder = folder_of(lab, "gone")
    log, access = os.path.join(folder, "log"), os.path.join(folder, "access")
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"log": {"output": log, "format": "json"}, "access_log": {"output": access}}, probe=False)
    held = open(log)
    shutil.rmtree(folder)
    t.signal(signal.SIGUSR1)
    until(lambda: held.seek(0) or "cannot reopen the log" in held.read(), 3, "it is told where it still can be")
    assert lab.post(t).status == 200
    os.mkdir(folder)
    t.signal(signal.SIGUSR1)
    until(lambda: os.path.exists(log) and os.path.exists(access), 3, "new files")
    assert lab.post(t, body=body_for(PATH, "more")).status == 200
    until(lambda: any('"turn"' in x for x in lines_of(log)) and lines_of(access), 3, "lines")
    held.close()


# ---- disks that fail


@rows("disk-full")
def _(lab):
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"log": {"output": "/dev/full", "level": "debug"}, "access_log": {"output": "/dev/full"},
                         "admin": {"listen": "127.0.0.1:0"}}, probe=False)
    for i in range(20):
        assert lab.post(t, body=body_for(PATH, str(i))).status == 200
    until(lambda: number(t, "log_lost") >= 40, 5, lambda: "40 lines of turns and requests: %d" % number(t, "log_lost"))
    with Client(t.admins[0]) as c:
        c.send(request_bytes("GET", "/metrics"))
        text = c.response().body.decode()
    assert int(re.search(r"^turnpike_log_lost_total (\d+)$", text, re.M)[1]) >= 40


@rows("file-size-limit")
def _(lab):
    """A limit that sends a signal, and lets half a line through: the next line begins on its own."""
    log, access = os.path.join(lab.folder, "log"), os.path.join(lab.folder, "access")
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"workers": 1, "log": {"output": log, "format": "json"}, "access_log": {"output": access}}, probe=False)
    assert lab.post(t).status == 200
    until(lambda: lines_of(access), 3, "a line")
    pids, size = t.workers(), os.stat(access).st_size
    for pid in pids:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size + 40, resource.RLIM_INFINITY))
    for i in range(3):
        assert lab.post(t, body=body_for(PATH, str(i))).status == 200
    until(lambda: number(t, "log_lost") >= 3, 5, "losses")
    assert t.workers() == pids
    for pid in pids:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert lab.post(t, body=body_for(PATH, "again")).status == 200
    until(lambda: len(lines_of(access)) == 3, 3, lambda: "three lines: %r" % lines_of(access))
    good = lines_of(access)
    json.loads(good[0]), json.loads(good[2])
    with pytest.raises(ValueError):
        json.loads(good[1])


# ---- the access log


COMBINED = re.compile(r'^(\S+) - (\S+) \[(\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000)\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+) '
                      r'"((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"$')


@rows("access-combined")
def _(lab):
    path = os.path.join(lab.folder, "access")
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"access_log": {"output": path, "format": "combined"}}, probe=False)
    answer = lab.post(t, PATH + "?key=s3cret-value&x=1",
                      headers={"Referer": "http://127.0.0.1/a?token=s3cret-value", "User-Agent": 'a "b" \\ c'})
    assert answer.status == 200
    assert lab.get(t, "/nowhere/../x").status == 400
    with Client(t.address) as c:
        c.send(b"NONSENSE \x1b[31m?key=s3cret-value\r\n\r\n")
        assert c.response().status == 400
    until(lambda: len(lines_of(path)) == 3, 3, "three lines")
    text = "\n".join(lines_of(path))
    assert "s3cret" not in text and "\x1b" not in text, text
    # several workers write: in the order in which they do
    found = {m[4].split()[0]: m for m in map(COMBINED.match, lines_of(path))}
    first = found["POST"]
    assert first[1] == "127.0.0.1" and first[4] == "POST %s?key=***&x=1 HTTP/1.1" % PATH
    assert (first[5], int(first[6])) == ("200", len(answer.body))
    assert first[7] == "http://127.0.0.1/a?token=***" and first[8] == 'a \\"b\\" \\\\ c'
    assert found["GET"][5] == "400" and found["NONSENSE"][5] == "400"


@rows("access-json")
def _(lab):
    path = os.path.join(lab.folder, "access")
    socket_path = os.path.join(lab.folder, "socket")
    u = lab.provider(then=ok())
    t = lab.turnpike(u, {"listen": ["127.0.0.1:0", "unix:" + socket_path], "access_log": {"output": path}}, probe=False)
    long_agent = "\x01".join("ab" for _ in range(4)).replace("\x01", "\t") + "\xc3\xa9" * 3000
    assert lab.post(t, headers={"User-Agent": long_agent}).status == 200
    with Client(socket_path) as c:  # two requests on one connection: two lines
        for i in range(2):
            c.send(request_bytes("POST", PATH, body=body_for(PATH, str(i))))
            assert c.response().status == 200
    until(lambda: len(lines_of(path)) == 3, 3, "three lines")
    found = [json.loads(line) for line in lines_of(path)]
    assert sorted(x["address"] for x in found) == ["127.0.0.1", "unix", "unix"]
    for x in found:
        assert (x["method"], x["target"], x["status"], x["protocol"]) == ("POST", PATH, 200, "HTTP/1.1")
        assert x["received"] > 0 and x["bytes"] > 0 and re.fullmatch("[0-9a-f]{24}", x["id"])
    assert all(len(line) < 4096 for line in lines_of(path))


@rows("access-cannot-be-opened")
def _(lab):
    made = lab.turnpike("http://127.0.0.1:1/v1", {"access_log": {"output": "/no/such/folder/access"}}, start=False)
    done = turnpike.run("serve", "-c", made.file)
    assert done.returncode == 1 and "cannot open the access log /no/such/folder/access" in done.stderr, done


# ---- snapshots


@rows.table("snapshot", FAMILIES)
def _(lab, path):
    folder = folder_of(lab)
    u = lab.provider(status(503, {"x-request-id": "req_1"}), then=status(422))
    t = lab.turnpike(u, dict(QUICK, snapshots={"directory": folder}), probe=False)
    body = body_for(path, "tell me a secret")
    answer = lab.post(t, path + "?key=s3cret-value", body, headers={"Authorization": "Bearer s3cret-value"})
    assert answer.status == 422
    until(lambda: files_of(folder), 3, "a file")
    assert answer.header("x-turnpike-request-id") in files_of(folder)[0]
    with open(files_of(folder)[0]) as file:
        text = file.read()
    assert "s3cret" not in text and "tell me" not in text, text
    s = snapshot(files_of(folder)[0])
    assert (s["outcome"], s["status"], s["sends"], s["target"]) == ("error", 422, 2, "p")
    request, sent = s["request"], json.loads(body)
    assert (request["method"], request["target"], request["bytes"]) == ("POST", path + "?key=***", len(body))
    assert ["Authorization", "***"] in request["headers"]
    assert request["body"].keys() == sent.keys() and request["body"]["model"] == sent["model"]
    first, second = s["attempts"]
    assert (first["status"], first["class"], second["status"], second["class"]) == (503, "initial", 422, "transient")
    assert first["again_in_ms"] >= 0 and second["again_in_ms"] == -1 and first["took_ms"] >= 0
    assert second["began_ms"] >= first["began_ms"] + first["took_ms"]
    assert ["x-request-id", "req_1"] in [[name.lower(), value] for name, value in first["headers"]]
    assert t.stats()["turns_error"] == number(t, "snapshots") == 1


@rows("snapshot-which")
def _(lab):
    """Of turns that were refused or cut; none of those that went well, or whose client was wrong or left."""
    folder = folder_of(lab)
    u = lab.provider(ok(), reset(), cut, then=ok(after=30))
    t = lab.turnpike(u, {"snapshots": {"directory": folder}}, probe=False)
    assert lab.post(t, body=body_for(PATH, "1")).status == 200
    assert lab.post(t, body=body_for(PATH, "2")).status == 429
    lab.post(t, body=body_for(PATH, "3 tell me", stream=True))
    assert lab.get(t, "/v1/../x").status == 400
    with Client(t.address) as c:
        c.send(request_bytes("POST", PATH, body=body_for(PATH, "another")))
        u.wait_sends(4)
        c.reset()
    t.counted(turns_gone=1)
    until(lambda: len(files_of(folder)) >= 2, 3, "two files")
    found = {x["outcome"]: x for x in map(snapshot, files_of(folder))}
    assert len(files_of(folder)) == 2 and set(found) == {"refused", "cut"}, found
    assert found["refused"]["code"] == "upstream_reset_replay_refused"
    assert found["refused"]["attempts"][0]["cause"] and found["refused"]["attempts"][0]["status"] == 0
    assert found["cut"]["attempts"][0]["cause"] == "committed" and found["cut"]["attempts"][0]["status"] == 200
    assert found["cut"]["request"]["body"]["stream"] is True and "tell me" not in json.dumps(found["cut"])


@rows("snapshot-keep")
def _(lab):
    """At most `keep`, the newest; also those of an earlier start count."""
    folder = folder_of(lab)
    for i in range(30):
        with open(os.path.join(folder, "turnpike-20200101T0000%02d.000Z-%024x.json" % (i, i)), "w") as file:
            file.write("{}")
    stranger = os.path.join(folder, "mine.json")
    with open(stranger, "w") as file:
        file.write("{}")
    u = lab.provider(then=status(400))
    t = lab.turnpike(u, {"snapshots": {"directory": folder, "keep": 10}}, probe=False)
    until(lambda: len(files_of(folder)) == 11, 3, "those of before")
    assert "T000020.000Z" in files_of(folder)[1]
    ids = [lab.post(t, body=body_for(PATH, str(i))).header("x-turnpike-request-id") for i in range(25)]
    until(lambda: number(t, "snapshots") == 25, 5, "25 written")
    mine = [x for x in files_of(folder) if x != stranger]
    assert sorted(x[-29:-5] for x in mine) == sorted(ids[-10:]) and os.path.exists(stranger)
    assert number(t, "snapshots_lost") == 0


@rows("snapshot-bodies")
def _(lab):
    """Large, cut, no JSON, compressed, deep: a file that is JSON all the same."""
    folder = folder_of(lab)
    u = lab.provider(then=status(400))
    t = lab.turnpike(u, {"snapshots": {"directory": folder, "bodies": "full"}}, probe=False)
    bodies = [b"\xff\xfe\x00 prompt", b"x" * 300000, json.dumps({"model": "m", "x": "\x01" * 200000}).encode(),
              json.dumps({"model": "m", "list": list(range(60000))}).encode(), b"[" * 600, b""]
    for body in bodies:
        assert lab.post(t, "/v1/other", body, headers={"Content-Type": "application/json"}).status == 400
    until(lambda: len(files_of(folder)) == len(bodies), 5, "files")
    assert sorted(snapshot(x)["request"]["bytes"] for x in files_of(folder)) == sorted(len(x) for x in bodies)
    assert number(t, "snapshots_lost") == 0


@rows("snapshot-folder-gone")
def _(lab):
    folder = folder_of(lab)
    u = lab.provider(then=status(400))
    t = lab.turnpike(u, {"snapshots": {"directory": folder}}, probe=False, allow=["a snapshot could not be written"])
    shutil.rmtree(folder)
    for i in range(5):
        assert lab.post(t, body=body_for(PATH, str(i))).status == 400
    until(lambda: number(t, "snapshots_lost") == 5, 3, "losses")
    assert t.log.count("a snapshot could not be written") == 1
    os.mkdir(folder)
    assert lab.post(t, body=body_for(PATH, "back")).status == 400
    until(lambda: len(files_of(folder)) == 1, 3, "a file")
    until(lambda: t.log.count("are written to %s again" % folder) == 1, 3, "that it is back")
    shutil.rmtree(folder)  # gone once more: that is news, at most every five seconds

    def told_again():
        assert lab.post(t, body=body_for(PATH, "gone again %f" % time.monotonic())).status == 400
        return t.log.count("a snapshot could not be written") == 2
    until(told_again, 10, "told again", step=0.2)
    assert lab.post(t, body=body_for(PATH, "and again")).status == 400
    assert t.log.count("a snapshot could not be written") == 2


def writer_of(t):
    return until(lambda: next((p for p in turnpike.children(t.pid) if turnpike.name_of(p) == "turnpike-snaps"), None), 3,
                 "the process for snapshots")


@rows("snapshot-writer-dies")
def _(lab):
    folder = folder_of(lab)
    u = lab.provider(then=status(400))
    t = lab.turnpike(u, {"snapshots": {"directory": folder}}, probe=False, allow=["the process for snapshots"])
    pid = writer_of(t)
    os.kill(pid, signal.SIGKILL)
    assert lab.post(t).status == 400
    until(lambda: files_of(folder), 5, "the next one writes it")
    assert writer_of(t) != pid


@rows("snapshot-slow-disk")
def _(lab):
    """A writer that stands still delays nobody: 2000 failing turns as fast as without, losses counted."""
    folder = folder_of(lab)
    u = lab.provider(then=status(400))
    t = lab.turnpike(u, {"snapshots": {"directory": folder, "keep": 10000}}, probe=False, allow=["a snapshot is lost"])
    pid = writer_of(t)
    os.kill(pid, signal.SIGSTOP)
    slowest = [0.0] * 4
    try:
        def ask(n):
            with Client(t.address) as c:
                for i in range(500):
                    began = time.monotonic()
                    c.send(request_bytes("POST", PATH, body=body_for(PATH, "%d-%d" % (n, i))))
                    assert c.response().status == 400
                    slowest[n] = max(slowest[n], time.monotonic() - began)
        lab.side_by_side([lambda n=n: ask(n) for n in range(4)])
        lost = until(lambda: number(t, "snapshots_lost"), 3, "losses")
        assert lost < 2000 and not files_of(folder)
        assert t.log.count("a snapshot is lost: more turns fail than are written") == 1
    finally:
        os.kill(pid, signal.SIGCONT)
    assert max(slowest) < 8, slowest  # a turn that waited for the writer would not end at all
    until(lambda: len(files_of(folder)) + number(t, "snapshots_lost") == 2000, 10, "each is written or counted")
    assert len(files_of(folder)) == number(t, "snapshots") > 0


@rows("snapshot-at-the-end")
def _(lab):
    """What failed last is written before the server is gone."""
    folder = folder_of(lab)
    u = lab.provider(then=status(400))
    t = lab.turnpike(u, {"snapshots": {"directory": folder}}, probe=False)
    for i in range(20):
        lab.post(t, body=body_for(PATH, str(i)))
    t.final_stats()
    t.stop()
    assert len(files_of(folder)) == 20


@pytest.mark.parametrize("row", rows.names())
def test_logs(row, row_result):
    row_result(row)
