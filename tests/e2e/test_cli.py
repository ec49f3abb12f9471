"""The command line: one request without a server, the live view, variables instead of a file, help and completions."""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from harness.checks import served
from harness.client import body_for
from harness.lab import SLACK
from harness.provider import event, ok, reset, silent, status, stream
from harness.turnpike import BINARY, ROOT, free_port, run, until

PATH = "/chat/completions"
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]})
FULL = {"Retry-After": "2", "X-Codex-Model-Capacity": "4/4"}
CLEAN = {name: value for name, value in os.environ.items() if name not in ("SSL_CERT_FILE", "CODEX_ENDPOINT")}


def post(u, *arguments, path=PATH, **how):
    return subprocess.run([BINARY, "post", u.url() + path, *arguments], capture_output=True, timeout=60, **how)


# ---- post and get


def test_post_gives_the_answer(lab):
    u = lab.provider(ok())
    done = post(u, "-d", BODY, "-H", "Authorization: Bearer secret", "-H", "X-Own: 1")
    assert done.returncode == 0 and done.stderr == b"", done
    assert json.loads(done.stdout)["object"] == "chat.completion"
    sent = u.main.sends[0]
    assert (sent.method, sent.target, sent.body.decode()) == ("POST", "/v1" + PATH, BODY)
    assert sent.header("authorization") == "Bearer secret" and sent.header("x-own") == "1"
    assert sent.header("content-type") == "application/json" and sent.header("host") == "127.0.0.1:%d" % u.port


def test_post_waits_and_says_so(lab):
    """Where standard error is no terminal each wait is a line."""
    u = lab.provider(status(429, FULL), ok())
    begun = time.monotonic()
    done = post(u, "-d", BODY)
    assert time.monotonic() - begun >= 2
    assert done.returncode == 0
    assert re.fullmatch(rb"429 capacity 4/4, waiting 2\.\d s, attempt 2 of 4\n", done.stderr), done.stderr
    assert u.count == 2


def test_post_gives_up_as_the_engine_does(lab):
    u = lab.provider(then=status(503))
    done = post(u, "-d", BODY)
    assert done.returncode == 22 and u.count == 3
    assert b"error" in done.stdout
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 3 and lines[1].endswith("attempt 3 of 3"), lines
    assert lines[2] == "turnpike post: answered 503 after 3 sends"


@pytest.mark.parametrize("arguments, sends", [(["--max-sends", "1"], 1), (["--max-sends", "2"], 2),
                                              (["--deadline", "100ms"], 1), ([], 3)])
def test_post_limits(lab, arguments, sends):
    u = lab.provider(then=status(503))
    done = post(u, "-q", *arguments, "-d", BODY)
    assert done.returncode == 22 and done.stderr == b""
    assert u.count == sends


def test_post_does_not_repeat_what_may_have_run(lab):
    u = lab.provider(reset(), then=ok())
    done = post(u, "-d", BODY)
    assert done.returncode == 22 and u.count == 1
    assert b"upstream_reset_replay_refused" in done.stdout


def test_post_unreachable():
    done = run("post", "http://127.0.0.1:%d/v1/x" % free_port(), "-d", "{}")
    assert done.returncode == 7
    assert done.stderr == "turnpike post: the endpoint is unreachable: check URL and network\n"
    assert "upstream_unreachable" in done.stdout


def test_post_include_shows_the_head(lab):
    u = lab.provider(status(404, {"X-Its": "own"}))
    done = post(u, "-i", "-d", BODY)
    assert done.returncode == 22
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 404 ") and b"X-Its: own" in head and b"x-turnpike-sends: 1" in head.lower()
    assert body.startswith(b"{")


def test_post_reads_files_and_standard_input(lab):
    u = lab.provider(then=ok())
    file = Path(lab.folder) / "body.json"
    file.write_text(BODY)
    assert post(u, "--data-file", str(file)).returncode == 0
    assert post(u, "-", input=BODY.encode()).returncode == 0
    large = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 3_000_000}]}).encode()
    assert post(u, "-", input=large).returncode == 0
    assert [send.body for send in u.main.sends] == [BODY.encode(), BODY.encode(), large]
    assert post(u, "--data-file", "/no/such/file").returncode == 1
    assert u.count == 3


def test_post_streams_as_it_comes(lab):
    gate = threading.Event()
    first, last = event({"choices": [{"index": 0, "delta": {"content": "one"}}]}), event("[DONE]")
    u = lab.provider(stream([first, last], barriers={1: gate}))
    p = subprocess.Popen([BINARY, "post", u.url() + PATH, "-d", BODY], stdout=subprocess.PIPE)
    try:
        got = b""
        while len(got) < len(first):
            got += os.read(p.stdout.fileno(), 65536)
        assert got == first
        gate.set()
        assert p.communicate(timeout=10)[0] == last and p.returncode == 0
    finally:
        p.kill()
        p.wait()


def test_post_tells_a_cut_answer(lab):
    piece = event({"choices": [{"index": 0, "delta": {"content": "one"}}]})
    u = lab.provider(stream([piece], end="reset"))
    done = post(u, "-d", BODY)
    assert done.returncode == 18 and done.stdout.startswith(piece)
    assert b"turnpike post: the answer was cut" in done.stderr


def test_get(lab):
    u = lab.provider(ok())
    done = subprocess.run([BINARY, "get", u.url() + "/models?x=1#part"], capture_output=True, timeout=20)
    assert done.returncode == 0
    assert (u.main.sends[0].method, u.main.sends[0].target) == ("GET", "/v1/models?x=1")


def test_post_means_what_is_written(lab):
    """Neither ${} in the URL nor a header is read as anything else."""
    u = lab.provider(then=ok())
    done = post(u, "-d", "{}", path="/${HOME}$${x}?a=${b}")
    assert done.returncode == 0 and u.main.sends[0].target == "/v1/${HOME}$${x}?a=${b}"


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("during", ["wait", "send"])
def test_ctrl_c_cancels_at_once(lab, number, code, during):
    u = lab.provider(status(429, {"Retry-After": "30"}) if during == "wait" else silent())
    p = subprocess.Popen([BINARY, "post", u.url() + PATH, "-d", BODY], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        u.wait_sends(1)
        if during == "wait":
            assert b"waiting" in p.stderr.readline()
        begun = time.monotonic()
        p.send_signal(number)
        assert p.wait(5) == code
        assert time.monotonic() - begun < 1 + SLACK
        until(lambda: not u.open_connections(), 3, "the connection to the provider is closed")
    finally:
        p.kill()
        p.wait()
    assert u.count == 1


@pytest.mark.parametrize("arguments, said", [
    ([], "which URL?"),
    (["ftp://h/"], "is not an http or https URL"),
    (["http://h/a b"], "blanks"),
    (["http://h/", "x"], 'what is "x"?'),
    (["http://h/", "-d", "a", "-"], "exclude each other"),
    (["http://h/", "-H", "no colon"], "Name: value"),
    (["http://h/", "-H", "a: b\r\nc: d"], "Name: value"),
    (["http://h/", "-H", "Content-Length: 3"], "by turnpike itself"),
    (["http://h/", "--profile", "bold"], "is not one of guarded, patient"),
    (["http://h/", "--max-sends", "x"], "takes a number"),
    (["http://h/", "--deadline", "5"], "deadline"),
    (["http://h/", "--header"], "needs a value"),
    (["http://h/", "--haeder", "x"], "did you mean --header?"),
    (["http://:99999/"], "url"),
])
def test_post_wrong_usage(arguments, said):
    done = run("post", *arguments)
    assert done.returncode == 2 and said in done.stderr, done.stderr


def read_until(fd, pattern, timeout=10.0):
    """What a terminal shows, until the pattern is in it."""
    seen, end = b"", time.monotonic() + timeout
    while not re.search(pattern, seen):
        left = end - time.monotonic()
        assert left > 0, "not on the terminal: %r in %r" % (pattern, seen)
        if select.select([fd], [], [], left)[0]:
            try:
                seen += os.read(fd, 65536)
            except OSError:
                break
    return seen


def test_post_counts_down_on_a_terminal(lab):
    """One line, written anew, gone when the answer comes; colours only where they are wanted."""
    u = lab.provider(status(429, FULL), ok())
    for no_color in (False, True):
        u.set(status(429, FULL), ok())
        master, slave = pty.openpty()
        env = dict(os.environ, TERM="xterm", **({"NO_COLOR": "1"} if no_color else {}))
        p = subprocess.Popen([BINARY, "post", u.url() + PATH, "-d", BODY], stdout=subprocess.PIPE, stderr=slave, env=env)
        os.close(slave)
        seen = read_until(master, rb"waiting 0\.\d s") + (p.communicate(timeout=10) and read_until(master, rb"\r\x1b\[K$"))
        os.close(master)
        assert p.returncode == 0
        assert b"\n" not in seen
        assert re.search(rb"\r\x1b\[K(\x1b\[2m)?429 capacity 4/4, waiting 2\.\d s, attempt 2 of 4", seen)
        assert re.search(rb"waiting 1\.\d s", seen)
        assert (b"\x1b[2m" in seen) != no_color


# ---- top, in tmux


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


# ---- check --connect


def test_check_connect(lab):
    u = lab.provider(status(200), then=status(500))
    u.row("r")
    gone = "http://127.0.0.1:%d/v1" % free_port()
    t = lab.turnpike({"reached": u, "well": {"url": u.url(), "health": {"path": "/health"}}, "gone": gone},
                     {"routes": [{"path": "/v1", "provider": "well"}], "workers": 4}, start=False)
    done = run("check", "-c", t.file, "--connect")
    assert done.returncode == 1
    lines = done.stdout.splitlines()[1:]
    assert sorted(lines) == [
        "gone (%s): unreachable, check URL and network: Connection refused" % gone,
        "reached (%s): good: it can be reached" % u.url(),
        "well (%s): good: its health path answers 200" % u.url()]
    assert [send.target for send in u.main.sends] == ["/health"]
    done = run("check", "-c", t.file, "--connect")
    assert "well (%s): its health path does not answer 200: it answered 500" % u.url() in done.stdout
    assert run("check", "-c", t.file).returncode == 0 and u.count == 2


# ---- variables instead of a file



def state_name(lab):
    """Of a server that has no name from the harness."""
    return "turnpike-test-" + Path(lab.folder).name


@pytest.fixture(autouse=True)
def tables_without_a_file(request):
    lab = request.getfixturevalue("lab") if "lab" in request.fixturenames else None
    yield
    if lab is not None:
        for left in Path("/dev/shm").glob(state_name(lab) + "*"):
            left.unlink()


def serve_env(lab, text, *arguments, env=None):
    file = Path(lab.folder) / "turnpike.env"
    text = text.encode() if isinstance(text, str) else text
    file.write_bytes(text + b"STATE_NAME=%s\n" % state_name(lab).encode())
    return subprocess.Popen([BINARY, "serve", "--env-file", str(file), "--listen", "127.0.0.1:0", "--fresh-state", *arguments],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env or CLEAN, text=True)


def ready(p):
    line = p.stdout.readline()
    if not line:
        raise AssertionError(p.stderr.read())
    words = re.search(r"listening on http://127\.0\.0\.1:(\d+)", line)
    admin = re.search(r"admin on http://127\.0\.0\.1:(\d+)", line)
    return ("127.0.0.1", int(words[1])), admin and int(admin[1])


def end(p):
    p.send_signal(signal.SIGTERM)
    said = p.communicate(timeout=15)[1]
    assert p.returncode == 0, said
    return said


def test_env_file_serves(lab):
    """The five-line start: BOM, CRLF, quotes, comments and `export` are as people have them."""
    u = lab.provider(status(503), status(503), status(503), then=ok())
    p = serve_env(lab, b"\xef\xbb\xbf# ours\r\nexport CODEX_ENDPOINT=\"%s\"\r\nCODEX_API_KEY='k1234567' # key\r\n"
                  b"MAX_RETRIES=2\r\nTOTAL_TIMEOUT=60\r\nMETRICS_PORT=0\r\nLOG_LEVEL=INFO\r\n" % u.url().encode())
    try:
        address, admin = ready(p)
        answer = lab.post(address, body=body_for("/v1" + PATH), timeout=30)
        assert answer.status == 503 and u.count == 3, "two retries"
        assert {send.header("authorization") for send in u.main.sends} == {"Bearer k1234567"}
        assert b"turnpike_turns_total" in lab.get(("127.0.0.1", admin), "/metrics").body
    finally:
        said = end(p)
    assert "k1234567" not in said and "unreachable" not in said


def test_environment_alone(lab):
    u = lab.provider(then=ok())
    if os.path.exists("/etc/turnpike/turnpike.yaml"):
        pytest.skip("this machine has a configuration")
    p = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0", "--fresh-state"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=dict(CLEAN, CODEX_ENDPOINT=u.url(), STATE_NAME=state_name(lab)), text=True)
    try:
        address, _ = ready(p)
        served(lab.post(address), sends=1)
    finally:
        end(p)
    done = subprocess.run([BINARY, "serve"], env=CLEAN, capture_output=True, text=True, timeout=20)
    assert done.returncode == 1 and "set CODEX_ENDPOINT" in done.stderr
    done = subprocess.run([BINARY, "check"], env=dict(CLEAN, CODEX_ENDPOINT="h"), capture_output=True, text=True, timeout=20)
    assert done.returncode == 1 and done.stderr.startswith("environment: CODEX_ENDPOINT: "), done.stderr


def test_env_file_is_reloaded(lab):
    a, b = lab.provider(then=ok()), lab.provider(then=ok())
    log = Path(lab.folder) / "turnpike.log"
    p = serve_env(lab, "CODEX_ENDPOINT=%s\nLOG_FILE=%s\n" % (a.url(), log))
    try:
        address, _ = ready(p)
        served(lab.post(address), sends=1)
        file = Path(lab.folder) / "turnpike.env"
        file.write_text("CODEX_ENDPOINT=%s\nLOG_FILE=%s\nSTATE_NAME=/%s\n" % (b.url(), log, state_name(lab)))
        done = subprocess.run([BINARY, "reload", "--env-file", str(file)], env=CLEAN, capture_output=True, text=True, timeout=30)
        assert done.returncode == 0 and "generation 2" in done.stdout, (done, log.read_text())
        served(lab.post(address), sends=1)
        file.write_text("CODEX_ENDPOINT=nowhere\n")
        done = subprocess.run([BINARY, "reload", "--env-file", str(file)], env=CLEAN, capture_output=True, text=True, timeout=30)
        assert done.returncode == 1 and "%s:1: CODEX_ENDPOINT: " % file in done.stderr
        served(lab.post(address), sends=1)
    finally:
        end(p)
    assert (a.count, b.count) == (1, 2)
    assert "reloading %s" % file in log.read_text()


def test_two_servers_without_a_file(lab):
    """One name, one server: the second says what to do; with a name of its own it serves beside the first, with a table
    and a file of refresh tokens of its own."""
    a, b = lab.provider(then=ok()), lab.provider(then=ok())
    env = dict(CLEAN, CODEX_ENDPOINT=b.url(), STATE_NAME=state_name(lab))
    serve = [BINARY, "serve", "--listen", "127.0.0.1:0"]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": lab.folder}
    first = serve_env(lab, "CODEX_ENDPOINT=%s\n" % a.url())
    try:
        address, _ = ready(first)
        second = subprocess.run(serve, env=env, capture_output=True, text=True, timeout=20, cwd=lab.folder)
        assert second.returncode == 1 and second.stdout == ""
        assert re.search(r"another turnpike \(pid %d\) is running with the state name /%s; .*STATE_NAME" % (
            first.pid, state_name(lab)), second.stderr), second.stderr
        env["STATE_NAME"] += "-b"
        second = subprocess.Popen(serve, env=env, **how)
        try:
            other, _ = ready(second)
            served(lab.post(address), sends=1)
            served(lab.post(other), sends=1)
            served(lab.post(other), sends=1)
            turns = [json.loads(run("stats", "--json", "--name", "/" + state_name(lab) + more).stdout)["counters"]["turns"]
                     for more in ("", "-b")]
            assert turns == [1, 2] and (a.count, b.count) == (1, 2)
        finally:
            end(second)
    finally:
        end(first)
    for name, file in ((None, "turnpike.refresh"), ("/other", "other.refresh")):
        env = dict(CLEAN, CODEX_ENDPOINT=b.url(), REFRESH_TOKEN="r-12345678", **({"STATE_NAME": name} if name else {}))
        done = subprocess.run([BINARY, "config", "--effective"], env=env, capture_output=True, text=True, cwd=lab.folder)
        assert os.path.join(lab.folder, file) in done.stdout, done


def test_env_mode_tells_an_unreachable_endpoint(lab):
    url = "http://127.0.0.1:%d/v1" % free_port()
    p = serve_env(lab, "CODEX_ENDPOINT=%s\n" % url)
    try:
        address, _ = ready(p)
        for line in p.stderr:
            if "endpoint unreachable" in line:
                break
        assert "endpoint unreachable: check URL and network (tried %s: Connection refused)" % url in line
        assert lab.post(address, timeout=10).status == 502
    finally:
        end(p)


def test_env_file_makes_snapshots_and_a_log(lab):
    u = lab.provider(then=status(400))
    folder, log = Path(lab.folder) / "snapshots", Path(lab.folder) / "turnpike.log"
    p = serve_env(lab, "CODEX_ENDPOINT=%s\nSNAPSHOT_FAILED_REQUESTS=%s\nLOG_FILE=%s\nENABLE_LOGGING=yes\n" % (u.url(), folder, log))
    try:
        address, _ = ready(p)
        assert lab.post(address).status == 400
        until(lambda: list(folder.iterdir()), 5, "a snapshot")
    finally:
        end(p)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert "info master" in log.read_text()


@pytest.mark.parametrize("arguments", [["-c", "a", "--env-file", "b"], ["--endpoint", "http://h", "--env-file", "b"]])
def test_env_file_excludes_others(arguments):
    done = run("serve", *arguments)
    assert done.returncode == 2 and "exclude each other" in done.stderr


def test_env_file_mistakes_are_told_at_their_line(lab):
    file = Path(lab.folder) / "bad.env"
    file.write_text("CODEX_ENDPOINT=http://h\nMAX_RETRIES=many\n")
    done = run("serve", "--env-file", str(file))
    assert done.returncode == 1 and done.stderr == "%s:2: MAX_RETRIES: is not a number from 0 to 99\n" % file
    assert run("check", "--env-file", str(Path(lab.folder) / "none")).returncode == 1


# ---- help and completions


def commands():
    listed = run("help").stdout.split("Commands\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def flags(command):
    part = run(command, "--help").stdout.split("\nOptions\n")[1].split("\n\n")[0]
    return re.findall(r"^ {2}(?:-\w, |    )(--[a-z-]+)", part, re.M)


@pytest.mark.parametrize("command", commands())
def test_each_command_has_its_help(command):
    done = run(command, "--help")
    assert done.returncode == 0 and done.stderr == "" and "\x1b" not in done.stdout
    assert done.stdout.startswith("Usage: turnpike %s" % command) and "\nExit status\n" in done.stdout
    assert run("help", command).stdout == done.stdout
    assert "--help" in flags(command)
    wrong = run(command, "--no-such-option")
    assert wrong.returncode == 2 and wrong.stderr.endswith("Try: turnpike %s --help\n" % command)


def test_help_has_colours_on_a_terminal_only():
    for env, coloured in (({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        master, slave = pty.openpty()
        clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        p = subprocess.Popen([BINARY, "help"], stdout=slave, env=dict(clean, **env))
        seen = read_until(master, rb"tells more")
        assert p.wait(5) == 0
        os.close(slave)
        os.close(master)
        assert (b"\x1b[1mUsage:\x1b[0m" in seen) == coloured, seen


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_files_are_current(shell):
    made = run("completion", shell).stdout
    file = Path(ROOT, "etc", "completion", {"bash": "turnpike.bash", "zsh": "_turnpike"}[shell])
    assert file.read_text() == made, "turnpike completion %s > %s" % (shell, file)
    assert subprocess.run([shell, "-n", str(file)]).returncode == 0


def complete(*words):
    """What bash offers for the last word."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _turnpike; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, "bash", str(Path(ROOT, "etc/completion/turnpike.bash")), "turnpike", *words],
                          capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.split()


def letters(command):
    part = run(command, "--help").stdout.split("\nOptions\n")[1].split("\n\n")[0]
    return re.findall(r"^ {2}(-\w), ", part, re.M)


ZSH = r"""
_describe() { print -rl -- "${(P@)2}" }
_arguments() { for a; do print -r -- "argument $a"; done }
file=$1; shift; CURRENT=${#}
words=("$@"); source $file
"""


def zsh_offers(*words):
    """What it hands to zsh's own functions for these words, the last of which is being written."""
    file = str(Path(ROOT, "etc", "completion", "_turnpike"))
    done = subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", file, "turnpike", *words], capture_output=True, text=True, timeout=10)
    assert done.returncode == 0 and done.stderr == "", done
    return done.stdout


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh")
def test_zsh_completes():
    offered = zsh_offers("")
    assert [line.split(":")[0] for line in offered.splitlines()] == commands(), offered
    for command in commands():
        offered = zsh_offers(command, "")
        assert re.findall(r"^argument \*?(--[a-z-]+)\[", offered, re.M) == flags(command)
        assert re.findall(r"^argument \*?(-\w)\[", offered, re.M) == letters(command)
    assert "(list clear)" in zsh_offers("blacklist", "")
    assert "--config[" in zsh_offers("serve", "") and ":FILE:_files" in zsh_offers("serve", "")


def test_the_manual_page_has_all_commands_and_exit_codes():
    page = Path(ROOT, "packaging", "man", "turnpike.8").read_text()
    section = {name: text for name, text in re.findall(r"^\.SH ([A-Z ]+)\n(.*?)(?=^\.SH|\Z)", page, re.M | re.S)}
    for command in commands():
        if command != "help":
            assert re.search(r"^\.B .*(?<![a-z])(?:fB)?%s\b" % command, section["COMMANDS"], re.M), command
        codes = run(command, "--help").stdout.split("\nExit status\n")[1]
        for code in re.findall(r"^ {2}(\d+)", codes, re.M):
            assert re.search(r"^\.BR? %s\b" % code, section["EXIT STATUS"], re.M), (command, code)
    for name in ("HUP", "USR1", "USR2", "TERM"):
        assert name in section["SIGNALS"] and name in run("serve", "--help").stdout
    if shutil.which("man") is not None:
        done = subprocess.run(["man", "--warnings", "-l", str(Path(ROOT, "packaging/man/turnpike.8"))], capture_output=True, text=True,
                              env=dict(os.environ, MANWIDTH="80", LC_ALL="C.UTF-8"), timeout=60)
        assert done.returncode == 0 and done.stderr == "", done.stderr


def test_bash_completes(lab):
    assert complete("") == [*commands(), "--help", "--version"]
    assert complete("co") == ["config", "cooldown", "completion"]
    for command in commands():
        if command != "help":
            assert complete(command, "--") == flags(command)
            assert [word for word in complete(command, "-") if word[1] != "-"] == letters(command)
    assert complete("blacklist", "c") == ["clear"]
    assert complete("post", "--profile", "") == ["guarded", "patient"]
    assert complete("post", "-H", "") == []
    assert complete("help", "se") == ["serve"]
    Path(lab.folder, "some.yaml").write_text("")
    assert complete("serve", "-c", lab.folder + "/so") == [lab.folder + "/some.yaml"]


# ---- what is printed counts when it has arrived

PRINTING = [["help"], ["--help"], ["-h"], ["version"], ["--version"], ["-V"], ["help", "serve"], ["completion", "bash"],
            ["completion", "zsh"], *([["config", "--" + what] for what in ("defaults", "schema", "markdown", "man")]),
            *([[command, "--help"] for command in commands()])]
TABLE = [["stats"], ["stats", "--json"], ["top", "--once", "--every", "100ms"], ["blacklist"], ["blacklist", "--json"],
         ["blacklist", "clear"], ["cooldown"], ["cooldown", "clear"]]


def lost(arguments, closed):
    """With standard output on a full disk, or closed."""
    with open("/dev/full", "wb") as full:
        how = {"preexec_fn": lambda: os.close(1)} if closed else {"stdout": full}
        done = subprocess.run([BINARY, *arguments], stderr=subprocess.PIPE, text=True, timeout=30, **how)
    why = "Bad file descriptor" if closed else "No space left on device"
    # of much output the C library has forgotten why
    assert re.search(r"^turnpike %s: cannot write to standard output(: %s)?\n\Z" % (arguments[0], why), done.stderr, re.M), done
    return done.returncode


@pytest.mark.parametrize("closed", [False, True], ids=["full", "closed"])
def test_output_that_is_lost_is_an_error(lab, closed):
    u = lab.provider(then=ok())
    t = lab.turnpike(u, probe=False)
    server = [[*arguments, "--name", t.name] for arguments in TABLE]
    of_file = [[*arguments, "-c", t.file] for arguments in (["check"], ["check", "--connect"], ["config", "--effective"], ["reload"])]
    request = [["post", u.url() + PATH, "-d", BODY], ["get", u.url("/v1/models")], ["post", "-i", u.url() + PATH, "-d", BODY]]
    missed = {command for command in commands()} - {arguments[0] for arguments in PRINTING + server + of_file + request}
    assert not missed
    for arguments in PRINTING + server + of_file + request + [["simulate", "--listen", "127.0.0.1:0"]]:
        assert lost(arguments, closed) == 1, arguments
    for arguments in (["nonsense"], ["top", "--every", "1ms"], ["stats", "--name", "/turnpike-test-none"]):
        done = run(*arguments)  # nothing is printed there: nothing is lost
        assert done.returncode > 0 and "standard output" not in done.stderr


@pytest.mark.parametrize("closed", [False, True], ids=["full", "closed"])
def test_a_server_whose_line_is_lost_serves(lab, closed):
    """It cannot be told by its exit status, which comes much later: its log says so."""
    u = lab.provider(then=ok())
    port = free_port()
    t = lab.turnpike(u, {"listen": "127.0.0.1:%d" % port}, start=False)
    with open("/dev/full", "wb") as full:
        how = {"preexec_fn": lambda: os.close(1)} if closed else {"stdout": full}
        p = subprocess.Popen([BINARY, "serve", "-c", t.file], stderr=subprocess.PIPE, text=True, **how)
    try:
        line = next(line for line in p.stderr if "standard output" in line)
        assert re.search(r"warn .*cannot write to standard output where it listens: ", line)
        served(lab.post(("127.0.0.1", port)), sends=1)
    finally:
        p.send_signal(signal.SIGTERM)
        said = p.communicate(timeout=15)[1]
        t.remove_table()
    assert p.returncode == 0 and "standard output" not in said, said


def test_a_closed_standard_input_is_an_error(lab):
    u = lab.provider(then=ok())
    done = subprocess.run([BINARY, "post", u.url() + PATH, "-"], preexec_fn=lambda: os.close(0), capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and "standard input" in done.stderr and u.count == 0, done
