"""turnpike top, on the terminal of tmux, and what it prints without one."""

import json
import os
import re
import subprocess
import threading
from pathlib import Path

import pytest

from harness.checks import served
from harness.client import body_for
from harness.provider import event, ok, silent, status, stream
from harness.turnpike import BINARY, run, until

PATH = "/chat/completions"
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]})
FULL = {"Retry-After": "2", "X-Codex-Model-Capacity": "4/4"}


class Tmux:
    def __init__(self, folder, columns=100, rows=30):
        self.socket = os.path.join(folder, "tmux")
        self.run("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "env", "PS1=$ ", "sh")

    def run(self, *arguments):
        return subprocess.run(["tmux", "-S", self.socket, *arguments], capture_output=True, text=True, timeout=20, check=True).stdout

    def type(self, text):
        self.run("send-keys", "-l", text)
        self.run("send-keys", "Enter")

    def key(self, key):
        self.run("send-keys", key)

    def screen(self):
        return self.run("capture-pane", "-p")

    def shows(self, pattern, timeout=10):
        until(lambda: re.search(pattern, self.screen(), re.M), timeout,
              lambda: "%r on the screen:\n%s" % (pattern, self.screen()), step=0.05)
        return self.screen()

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True, timeout=20)


@pytest.fixture
def tmux(lab):
    made = Tmux(lab.folder)
    yield made
    made.close()


def test_post_in_tmux(lab, tmux):
    u = lab.provider(status(429, FULL), ok())
    tmux.type("%s post %s%s -d '%s'; echo status $?" % (BINARY, u.url(), PATH, BODY))
    tmux.shows(r"^429 capacity 4/4, waiting \d\.\d s, attempt 2 of 4$")
    screen = tmux.shows(r"status 0$")
    assert "waiting" not in screen, screen


def test_top_in_tmux(lab, tmux):
    gate = threading.Event()
    u = lab.provider(status(503), ok(), status(429, {"Retry-After": "300"}),
                     stream([event({"choices": [{"index": 0, "delta": {"content": "x"}}]}), event("[DONE]")], barriers={1: gate}))
    t = lab.turnpike(u, probe=False)
    tmux.type("echo before; %s top --name %s --every 200ms; echo status $?" % (BINARY, t.name))
    tmux.shows(r"^turnpike %s: up \d+:\d\d:\d\d, 2 workers \(0 restarted\), configuration 1$" % t.name)
    tmux.shows(r"^nothing is out of service$")
    served(lab.post(t, body=body_for("/v1" + PATH)), sends=2)
    tmux.shows(r"^p +\S+/s +2 +0 +0 +0$")
    tmux.shows(r"^transient +\S+/s +1$")
    assert lab.post(t, body=body_for("/v1" + PATH, model="other")).status == 429
    tmux.shows(r"^out of service$")
    tmux.shows(r"^p/other.*: \d+ s left, as the provider told$")
    c = lab.client(t)
    c.request("POST", "/v1" + PATH, body=body_for("/v1" + PATH, stream=True))
    tmux.shows(r"^requests .* in flight 1 ")
    gate.set()
    c.response()
    tmux.run("resize-window", "-x", "50", "-y", "8")
    tmux.shows(r"\A[^\n]{1,50}\n")
    assert len(tmux.screen().rstrip("\n").split("\n")) <= 8
    tmux.run("resize-window", "-x", "100", "-y", "30")
    tmux.shows(r"^out of service$")
    tmux.key("q")
    screen = tmux.shows(r"^status 0$")
    assert "before" in screen and "requests" not in screen, screen


def test_top_shows_slow_open_requests(lab, tmux):
    u = lab.provider(status(429, {"Retry-After": "40", "X-Codex-Model-Capacity": "4/4"}), then=silent())
    t = lab.turnpike(u, probe=False)
    waits, sends = lab.client(t), lab.client(t)
    waits.request("POST", "/v1" + PATH, body=body_for("/v1" + PATH, model="gpt-5"))
    u.wait_sends(1)
    tmux.run("resize-window", "-x", "150", "-y", "40")
    tmux.type("%s top --name %s --every 200ms; echo status $?" % (BINARY, t.name))
    tmux.shows(r"^open for +sends +state +target +family +logical request +request$")
    tmux.shows(r"^ +\d+ s +1  waiting for overload, 3\d s +p/gpt-5 +chat +[0-9a-f]{16} [0-9a-f]{24}$")
    sends.request("POST", "/v1" + PATH, body=body_for("/v1" + PATH))
    tmux.shows(r"^ +\d+ s +1  sending +p/m")
    waits.close()
    sends.close()
    until(lambda: "open for" not in tmux.screen(), 10, tmux.screen, step=0.1)
    tmux.key("q")
    tmux.shows(r"status 0$")


@pytest.mark.parametrize("columns, rows", [(80, 24), (40, 12)])
def test_top_scrolls_what_does_not_fit(lab, tmux, columns, rows):
    """200 targets out of service: the last row says what is seen of how much, and keys lead to the rest."""
    u = lab.provider(then=status(429, {"Retry-After": "300"}))
    t = lab.turnpike(u, probe=False)
    lab.side_by_side([lambda n=n: lab.post(t, body=body_for("/v1" + PATH, model="m%d" % n)) for n in range(200)])
    tmux.run("resize-window", "-x", str(columns), "-y", str(rows))
    tmux.type("%s top --name %s --every 200ms; echo status $?" % (BINARY, t.name))
    screen = tmux.shows(r"^lines 1-%d of 2\d\d" % (rows - 1)).rstrip("\n").split("\n")
    assert len(screen) == rows and max(map(len, screen)) <= columns and screen[0].startswith("turnpike " + t.name[:20])
    all = int(re.search(r"of (\d+)", screen[-1])[1])
    for key, line in (("Down", 2), ("j", 3), ("Up", 2), ("PageDown", rows + 1), ("b", 2), ("End", all - rows + 2),
                      ("g", 1), ("G", all - rows + 2), ("Home", 1)):
        tmux.key(key)
        tmux.shows(r"^lines %d-%d of %d" % (line, line + rows - 2, all))
    tmux.key("End")
    tmux.shows(r"^p/m\d+: \d+ s left")
    tmux.run("resize-window", "-x", str(columns), "-y", "300")
    tmux.shows(r"\Aturnpike [^\n]+\n(?:[^\n]*\n){%d}" % (all - 1))
    assert "lines " not in tmux.screen()
    tmux.key("q")
    tmux.shows(r"status 0$")


def test_top_goes_on_over_a_restart(lab, tmux):
    u = lab.provider(then=ok())
    t = lab.turnpike(u, probe=False)
    tmux.type("%s top --name %s --every 100ms; echo status $?" % (BINARY, t.name))
    tmux.shows(r"2 workers \(0 restarted\)")
    t.stop()
    tmux.shows(r" 0 workers ")
    again = lab.turnpike(u, {"workers": 1}, name=t.name, probe=False)
    tmux.shows(r"^turnpike %s: up 0:00:\d\d, 1 worker " % t.name)
    again.stop()
    third = lab.turnpike(u, name=t.name, probe=False, arguments=["--fresh-state"])
    served(lab.post(third), sends=1)
    tmux.shows(r"^p +\S+/s +1 ")
    tmux.key("q")
    tmux.shows(r"status 0$")


def test_top_without_colours(lab, tmux):
    t = lab.turnpike(lab.provider(), probe=False)
    for variable, bold in (("NO_COLOR=", True), ("NO_COLOR=1", False)):
        tmux.type("env %s %s top --name %s; echo shown $((%d+1))" % (variable, BINARY, t.name, bold))
        tmux.shows(r"^nothing is out of service$")
        assert ("\x1b[1m" in tmux.run("capture-pane", "-p", "-e")) == bold
        tmux.key("q")
        tmux.shows(r"^shown %d$" % (bold + 1))


def test_top_leaves_the_terminal_as_it_was(lab, tmux):
    u = lab.provider()
    t = lab.turnpike(u, probe=False)
    tmux.type("stty -a > %s/before" % lab.folder)
    for leave in ("C-c", "q"):
        tmux.type("%s top --name %s; echo status $?" % (BINARY, t.name))
        tmux.shows(r"^nothing is out of service$")
        tmux.key(leave)
        tmux.shows(r"status 0$")
        tmux.type("clear; stty -a > %s/after; echo done with %s" % (lab.folder, leave))
        tmux.shows(r"^done with %s$" % leave)
        assert Path(lab.folder, "before").read_text() == Path(lab.folder, "after").read_text()
    # a server that is gone is said, and one that comes back is shown
    t.stop()
    t.remove_table()
    tmux.type("%s top --name %s --every 100ms" % (BINARY, t.name))
    tmux.shows(r"^no numbers: ")
    again = lab.turnpike(u, name=t.name, probe=False)
    tmux.shows(r"^nothing is out of service$")
    tmux.key("q")
    again.stop()


def test_top_prints_once_without_a_terminal(lab):
    t = lab.turnpike(lab.provider(then=ok()))
    served(lab.post(t), sends=1)
    done = run("top", "--name", t.name, "--every", "100ms")
    assert done.returncode == 0 and "\x1b" not in done.stdout and "\x01" not in done.stdout
    assert done.stdout.startswith("turnpike %s: up " % t.name) and "nothing is out of service" in done.stdout
    assert run("top", "--name", "/turnpike-test-none").returncode == 1
    assert run("top", "--every", "1ms").returncode == 2
