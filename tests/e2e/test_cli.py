"""The command line: one request without a server, `check --connect`, help, completions, and output that is lost."""

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
from harness.lab import SLACK
from harness.provider import event, ok, reset, silent, status, stream
from harness.turnpike import BINARY, ROOT, free_port, refusing_port, run, until

PATH = "/chat/completions"
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]})
FULL = {"Retry-After": "2", "X-Codex-Model-Capacity": "4/4"}


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
    done = run("post", "http://127.0.0.1:%d/v1/x" % refusing_port(), "-d", "{}")
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


# ---- check --connect


def test_check_connect(lab):
    u = lab.provider(status(200), then=status(500))
    u.row("r")
    gone = "http://127.0.0.1:%d/v1" % refusing_port()
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
