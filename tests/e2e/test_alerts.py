"""Alerts and the command that tells people of them: design 5, 10, case OV-16."""

import calendar
import contextlib
import json
import os
import shlex
import signal
import time

import pytest

from harness import client, turnpike
from harness.checks import relayed, served, stopped
from harness.exposition import Exposition
from harness.lab import Rows, between
from harness.provider import ok, status
from harness.turnpike import until

rows = Rows()

TICK = 1.5  # seconds until the master has looked, and the command has run
ALERT = r"^alert \w+: "
DROWNING = {"X-Codex-System-Load": "95%"}
FAST = {"retry": {"overload": {"base": "1ms", "cap": "1ms"}}}


def file_of(lab, name="alerts"):
    return os.path.join(lab.folder, name)


def text_of(lab, name="alerts"):
    with contextlib.suppress(FileNotFoundError):
        with open(file_of(lab, name)) as file:
            return file.read()
    return ""


def appends(lab):
    return ["sh", "-c", 'cat >> "$0"', file_of(lab)]


def alerts_of(lab, count):
    """The alerts once there are as many, and no further one comes."""
    until(lambda: text_of(lab).count("\n") >= count, 5, lambda: "%d alerts: %r" % (count, text_of(lab)))
    time.sleep(TICK)
    found = [json.loads(line) for line in text_of(lab).splitlines()]
    assert len(found) == count, found
    return found


def serve(lab, provider, command, *allow, config=None, **how):
    config = turnpike.merge(config or FAST, {"alerts": {"command": command}})
    return lab.turnpike(provider, config, allow=[ALERT, *allow], **how)


def raised(t):
    """Alerts counted, by kind."""
    done = turnpike.run("stats", "--json", "--name", t.name)
    assert done.returncode == 0, done.stderr
    return {kind: n for kind, n in json.loads(done.stdout)["alerts"].items() if n}


def lost(t):
    return json.loads(turnpike.run("stats", "--json", "--name", t.name).stdout)["alerts_lost"]


def group_lives(group):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, 0)
        return True
    return False


def logged(t, words, timeout=5.0):
    until(lambda: words in t.log, timeout, lambda: "%r in\n%s" % (words, t.log))


# ---- OV-16


@rows("OV-16-drowning")
def _(lab):
    u = lab.provider(then=status(429, DROWNING))
    t = serve(lab, u, appends(lab), config={"retry": {"overload": {"base": "200ms"}}}, probe=False)
    answer = lab.post(t)
    relayed(answer, 429)
    stopped(answer)
    assert u.count == 2 == answer.sends  # of three left, half, rounded down
    alert, = alerts_of(lab, 1)
    assert alert["kind"] == "system_load" and alert["provider"] == "p", alert
    assert alert["details"]["status"] == 429, alert
    assert alert["details"]["request_id"] == answer.header("x-turnpike-request-id"), alert
    when = calendar.timegm(time.strptime(alert["time"], "%Y-%m-%dT%H:%M:%SZ"))
    assert abs(time.time() - when) < 60 and alert["text"], alert
    assert raised(t) == {"system_load": 1}
    assert t.log.count("alert system_load: provider p") == 1


@rows("OV-16-busy")
def _(lab):
    u = lab.provider(then=status(429, {"X-Codex-Model-Capacity": "4/4"}))
    t = serve(lab, u, appends(lab), config={"retry": {"overload": {"base": "200ms"}}}, probe=False)
    answer = lab.post(t)
    relayed(answer, 429)
    stopped(answer)
    assert u.count == 4 == answer.sends
    alerts_of(lab, 0)
    assert raised(t) == {} and "alert " not in t.log


# ---- how often


@rows("once-for-each-kind")
def _(lab):
    """Over all workers and turns, and each kind by itself."""
    u = lab.provider(then=ok())
    u.row("load", then=status(429, DROWNING))
    t = serve(lab, u, appends(lab), r"^worker \d+ .* was ended by signal")
    lab.side_by_side([lambda: lab.post(t, headers={"x-row": "load"}) for _ in range(12)])
    victims = t.workers()
    assert len(victims) == 2
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    load, death = sorted(alerts_of(lab, 2), key=lambda alert: alert["kind"])
    assert (load["kind"], death["kind"]) == ("system_load", "worker_died")
    assert death["details"]["signal"] == signal.SIGKILL and death["details"]["pid"] in victims, death
    assert "provider" not in death, death
    assert raised(t) == {"system_load": 1, "worker_died": 1}
    served(lab.post(t))


@rows("no-command")
def _(lab):
    """Counted and logged all the same."""
    u = lab.provider(status(429, DROWNING), then=ok())
    t = serve(lab, u, [])
    served(lab.post(t), sends=2)
    assert raised(t) == {"system_load": 1}
    logged(t, "alert system_load: provider p")


@rows("metric")
def _(lab):
    u = lab.provider(status(429, DROWNING), then=ok())
    t = serve(lab, u, appends(lab), config=turnpike.merge(FAST, {"admin": {"listen": "127.0.0.1:0"}}))
    lab.post(t)
    values = Exposition(client.ask(t.admins[0], "GET", "/metrics").body.decode()).values
    assert values["turnpike_alerts_lost_total", ()] == 0
    assert values["turnpike_alerts_total", (("kind", "system_load"),)] == 1
    assert values["turnpike_alerts_total", (("kind", "worker_died"),)] == 0


# ---- the command


@rows("slow")
def _(lab):
    """It delays nothing, and is killed after 30 s with all that it started."""
    u = lab.provider(then=ok())
    u.row("load", status(429, DROWNING), then=ok())
    t = serve(lab, u, ["sh", "-c", 'echo $$ > "$0"; sleep 60; true', file_of(lab, "pid")],
              r"^alerts.command for system_load ran for 30 s: killed$")
    began = time.monotonic()
    served(lab.post(t, headers={"x-row": "load"}), sends=2)
    group = int(until(lambda: text_of(lab, "pid"), 5, "the command runs"))
    assert os.getpgid(group) == group and os.getpgid(t.pid) != group
    while time.monotonic() < began + 3:
        answer = lab.post(t)
        served(answer, sends=1)
        between(answer.took, 0, 0.2, "answer beside a slow command")
    before = t.workers()
    assert len(before) == t.config["workers"] + 1  # and the command

    until(lambda: not group_lives(group), 35, "the group is gone", step=0.1)
    between(time.monotonic() - began, 30, 33, "life of the command")
    logged(t, "alerts.command for system_load ran for 30 s: killed")
    until(lambda: len(t.workers()) == t.config["workers"], 2, "it was reaped")


HOSTILE = '''
trap "" TERM INT HUP PIPE
echo $$ > "$0"
for i in 1 2 3 4 5; do (trap "" TERM; while :; do sleep 60; done) & done
head -c 2000000 /dev/zero | tr "\\0" "x"
while :; do sleep 60; done
'''


def zombies(t):
    return [pid for pid in turnpike.children(t.pid) if not turnpike.alive(pid)]


@rows("hostile")
def _(lab):
    """It ignores signals, starts processes, writes masses and never ends, while a hundred alerts come: no turn waits, what is
    lost is counted and told, all is killed after 30 s, nothing stays behind, and the next alert gets through."""
    u = lab.provider(then=ok())
    u.row("load", then=status(429, DROWNING))
    clock = turnpike.ShiftedClock(lab.folder)
    with open(file_of(lab, "tell"), "w") as out:
        out.write("[ -e %s ] || exec sh -c %s %s\ncat >> %s\n" % (
            file_of(lab, "pid"), shlex.quote(HOSTILE), file_of(lab, "pid"), file_of(lab)))
    t = serve(lab, u, ["sh", file_of(lab, "tell")], r"^alerts.command for system_load ran for 30 s: killed$",
              r"log lines were lost", env=clock.env)
    once = {"x-row": "load", "x-turnpike-max-sends": "1"}
    lab.post(t, headers=once)
    group = int(until(lambda: text_of(lab, "pid"), 5, "the command runs"))
    for _ in range(100):
        answer = lab.post(t, headers=once)
        assert answer.status == 429
        between(answer.took, 0, 1.0, "answer beside a hostile command")
    served(lab.post(t))
    os.kill(group, signal.SIGTERM)
    clock.shift(28)
    for _ in range(20):
        lab.post(t, headers=once)
    assert group_lives(group)
    clock.shift(3)
    until(lambda: not group_lives(group), 5, "the group is gone")
    until(lambda: not zombies(t) and len(t.workers()) == t.config["workers"], 5, "it was reaped")
    logged(t, "alerts.command for system_load ran for 30 s: killed")
    assert raised(t) == {"system_load": 1} and lost(t) == 1
    clock.shift(31)
    lab.post(t, headers=once)
    alert, = alerts_of(lab, 1)
    assert alert["kind"] == "system_load"
    assert raised(t) == {"system_load": 2} and lost(t) == 1


@rows("stop")
def _(lab):
    """The server does not wait long for it, and leaves nothing behind."""
    u = lab.provider(status(429, DROWNING), then=ok())
    t = serve(lab, u, ["sh", "-c", 'echo $$ > "$0"; sleep 60; true', file_of(lab, "pid")],
              r"^alerts.command for system_load is killed, as the server stops$")
    served(lab.post(t), sends=2)
    group = int(until(lambda: text_of(lab, "pid"), 5, "the command runs"))
    began = time.monotonic()
    t.stop()
    between(time.monotonic() - began, 1.0, 4.0, "stop")
    until(lambda: not group_lives(group), 2, "the group is gone")


@rows("stop-lets-it-end")
def _(lab):
    """What was raised just before the end gets through."""
    u = lab.provider(status(429, DROWNING), then=ok())
    t = serve(lab, u, ["sh", "-c", 'sleep 0.5; cat >> "$0"', file_of(lab)])
    served(lab.post(t), sends=2)
    t.stop()
    assert json.loads(text_of(lab))["kind"] == "system_load"


@rows("missing")
def _(lab):
    u = lab.provider(status(429, DROWNING), then=ok())
    t = serve(lab, u, ["/nonexistent/tell"], r"^alerts.command")
    served(lab.post(t), sends=2)
    logged(t, "alerts.command: cannot run /nonexistent/tell: No such file or directory")
    logged(t, "alerts.command for system_load exited with status 127")
    assert lost(t) == 1 and not zombies(t)


@rows("not-executable")
def _(lab):
    with open(file_of(lab, "tell"), "w") as out:
        out.write("no program")
    u = lab.provider(status(429, DROWNING), then=ok())
    t = serve(lab, u, [file_of(lab, "tell")], r"^alerts.command")
    served(lab.post(t), sends=2)
    logged(t, "alerts.command: cannot run %s: Permission denied" % file_of(lab, "tell"))
    until(lambda: lost(t) == 1 and not zombies(t), 5, "it is counted, and reaped")


@rows.table("ends", {"status": ("exit 3", "exited with status 3"),
                     "signal": ("kill -SEGV $$", "was ended by signal 11 (Segmentation fault)")})
def _(lab, case):
    script, words = case
    u = lab.provider(status(429, DROWNING), then=ok())
    t = serve(lab, u, ["sh", "-c", script], r"^alerts.command")
    served(lab.post(t), sends=2)
    logged(t, "alerts.command for system_load " + words)
    assert lost(t) == 1


@rows("deaf")
def _(lab):
    """A command that does not read its input is no failure."""
    u = lab.provider(status(429, DROWNING), then=ok())
    t = serve(lab, u, ["true"], config=turnpike.merge(FAST, {"log": {"level": "debug"}}))
    served(lab.post(t), sends=2)
    logged(t, "alerts.command for system_load is done")


SHOW = """
import json, os, re, sys
fds = [fd for fd in os.listdir("/proc/self/fd") if os.path.lexists("/proc/self/fd/" + fd)]
with open(sys.argv[1] + "~", "w") as out:
    json.dump({"words": sys.argv[2:], "descriptors": fds, "environment": dict(os.environ), "folder": os.getcwd(),
               "signals": dict(re.findall(r"(Sig\\w+):\\s+(\\S+)", open("/proc/self/status").read())),
               "input": sys.stdin.read()}, out)
os.rename(sys.argv[1] + "~", sys.argv[1])
"""


def signals_of(pid, kind):
    with open(f"/proc/{pid}/status") as told:
        return int(next(line for line in told if line.startswith(kind)).split()[1], 16)


@rows("ordinary-process")
def _(lab):
    """No shell, no signals of the master, no descriptors of the server, the environment as it is."""
    words = ["$HOME", "; exit 1", "$HOME"]
    u = lab.provider(status(429, DROWNING), then=ok())
    with open(file_of(lab, "show.py"), "w") as out:
        out.write(SHOW)
    t = serve(lab, u, ["python3", file_of(lab, "show.py"), file_of(lab), *words], env={"TEST_WORD": "kept"})
    served(lab.post(t), sends=2)
    seen = json.loads(until(lambda: text_of(lab), 5, "the command ran"))
    assert seen["words"] == words and json.loads(seen["input"])["kind"] == "system_load", seen
    assert sorted(seen["descriptors"]) == ["0", "1", "2"], seen
    assert seen["environment"]["TEST_WORD"] == "kept" and seen["folder"] == os.getcwd()
    # (Python ignores SIGPIPE, 13, and SIGXFSZ, 25, itself; what whoever started the tests ignores is inherited, but for
    # what the master takes itself)
    inherited = signals_of("self", "SigIgn") & ~signals_of(t.process.pid, "SigBlk")
    assert int(seen["signals"]["SigBlk"], 16) == 0, seen
    assert int(seen["signals"]["SigIgn"], 16) == inherited | 1 << 12 | 1 << 24, seen


@rows("provider-text")
def _(lab):
    """Only on standard input, without secrets, and always one line of JSON."""
    secret, client_key = "sk-ant-api03-" + "x" * 40, "client-credential-1234"
    words = 'key %s of %s "quoted"\n{"kind":"forged"} %s' % (secret, client_key, "é" * 300)
    body = json.dumps({"error": {"message": words, "code": "rate_limit_exceeded"}}).encode()
    u = lab.provider(status(429, DROWNING, body), then=ok())
    t = serve(lab, u, ["sh", "-c", 'cat >> "$0"; echo "$0 $*" | cat - /proc/$$/environ > "$1"', file_of(lab),
                       file_of(lab, "shown")])
    served(lab.post(t, headers={"Authorization": "Bearer " + client_key}), sends=2)
    alert, = alerts_of(lab, 1)
    message = alert["details"]["message"]
    assert message.startswith('key *** of *** "quoted" {"kind":"forged"} '), message
    assert message.endswith("é") and len(message.encode()) <= 300
    assert secret not in text_of(lab) and client_key not in text_of(lab)
    assert "quoted" not in text_of(lab, "shown") and "quoted" not in t.log


# ---- the blacklist


LISTING = {"workers": 4, "blacklist": {"failures": 3}, "retry": {"transient": {"sends": 1, "base": "1ms"}}}


@rows("url-listed-is-told-once-over-all-workers")
def _(lab):
    """Also for a second URL within the minute: that is the same news."""
    u = lab.provider(then=status(500))
    t = serve(lab, u, appends(lab), config=LISTING, probe=False)
    answers = lab.side_by_side([lambda: lab.post(t) for _ in range(40)], limit=8)
    assert {a.status for a in answers} == {500, 503} and u.count < 40
    alert, = alerts_of(lab, 1)
    assert (alert["kind"], alert["provider"]) == ("url_listed", "p"), alert
    details = alert["details"]
    assert details["url"] == u.url() + "/chat/completions" and details["why"] == "status", alert
    assert details["request_id"] in {a.header("x-turnpike-request-id") for a in answers}, alert
    for _ in range(6):
        lab.post(t, "/v1/responses")
    logged(t, "/responses is blacklisted")
    assert len(alerts_of(lab, 1)) == 1 and raised(t) == {"url_listed": 1}



@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
