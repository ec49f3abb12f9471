"""turnpike serve with variables instead of a file."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from harness.checks import served
from harness.client import body_for
from harness.provider import ok, status
from harness.turnpike import BINARY, refusing_port, run, until

PATH = "/chat/completions"
CLEAN = {name: value for name, value in os.environ.items() if name not in ("SSL_CERT_FILE", "CODEX_ENDPOINT")}


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
    url = "http://127.0.0.1:%d/v1" % refusing_port()
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
