"""Start, second instances, unix sockets, log, table and command line of `turnpike serve` (design section 3)."""

import contextlib
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from harness.serving import START_LIMIT, get, send, stats, status, wait_for
from harness.turnpike import BINARY


# ---- start


def test_ready_line_tells_the_real_addresses(serve):
    server = serve(listen=["127.0.0.1:0", "[::1]:0", f"unix:{serve.directory}/ready.sock"], workers=3)
    assert re.fullmatch(
        r"turnpike ready: listening on http://127\.0\.0\.1:[1-9]\d*, http://\[::1\]:[1-9]\d*, "
        r"unix:\S+/ready\.sock; 3 workers; to http://127\.0\.0\.1:\d+/v1",
        server.ready_line,
    )
    assert len(server.workers()) == 3
    assert [get(server) for _ in range(10)] == [200] * 10
    port6 = int(server.addresses[1].rsplit(":", 1)[1])
    with socket.create_connection(("::1", port6), 10) as c:
        send(c)
        assert status(c) == 200


def test_pid_file(serve):
    path = serve.directory / "pid"
    server = serve(extra=f"pid_file: {path}")
    assert path.read_text() == f"{server.pid}\n"
    server.signal(signal.SIGTERM)
    assert server.wait_exit(5) == 0
    assert not path.exists()


def test_service_manager_is_told(serve):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(serve.directory / "notify"))
        manager.settimeout(10)
        server = serve(env={"NOTIFY_SOCKET": str(serve.directory / "notify")})
        assert manager.recv(4096).decode().split() == ["READY=1", f"MAINPID={server.pid}"]
        server.signal(signal.SIGTERM)
        assert manager.recv(4096).decode().split() == ["STOPPING=1"]
        assert server.wait_exit(5) == 0


def test_second_instance_is_refused_with_the_pid_of_the_first(serve):
    first = serve()
    second = serve(name=first.name, ready=False)
    assert second.wait_exit(START_LIMIT) == 1
    assert f"another turnpike (pid {first.pid})" in second.log_text()
    assert get(first) == 200


def test_a_start_that_fails_says_why_on_standard_error_whatever_the_log_is(serve):
    log = serve.directory / "elsewhere.log"
    first = serve()
    second = serve(name=first.name, ready=False, extra=f"log: {{ output: {log} }}")
    assert second.wait_exit(START_LIMIT) == 1
    said = f"another turnpike (pid {first.pid})"
    assert said in log.read_text() and said in second.log_text()  # that of the harness is its standard error


def test_once_it_serves_errors_go_to_the_log_alone(serve):
    log = serve.directory / "alone.log"
    server = serve(workers=1, extra=f"log: {{ output: {log} }}")
    for pid in server.workers():
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: " error master" in log.read_text(), 5, "the death is in the log")
    assert server.log_text() == ""


def test_workers_do_not_hold_the_instance(serve):
    first = serve()
    with first.connect() as busy:
        send(busy, "/v1/slow/3000")
        time.sleep(0.3)
        first.signal(signal.SIGKILL)
        first.wait_exit(5)
        second = serve(name=first.name)
        assert get(second) == 200
        assert len(stats(second)["workers"]) == 3  # the orphan kept its slot,
        assert status(busy) == 200  # finished its turn,
    wait_for(lambda: len(stats(second)["workers"]) == 2, 3, "and left")


@pytest.mark.parametrize("holder", ["program", "turnpike"])
def test_address_in_use_is_told_in_plain_words(serve, holder):
    with contextlib.ExitStack() as stack:
        if holder == "program":
            other = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            port = other.getsockname()[1]
        else:
            port = serve().port()
        server = serve(listen=f"127.0.0.1:{port}", ready=False)
        assert server.wait_exit(START_LIMIT) == 1
        assert f"127.0.0.1:{port} is in use by another program" in server.log_text()


# ---- unix listeners


def test_unix_socket_mode_and_removal(serve):
    path = serve.directory / "mode.sock"
    server = serve(listen=f"unix:{path}")
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    assert get(server) == 200
    server.signal(signal.SIGTERM)
    assert server.wait_exit(5) == 0
    assert not path.exists()


def test_unix_socket_of_a_dead_instance_is_replaced(serve):
    path = serve.directory / "stale.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
        dead.listen()
    assert get(serve(listen=f"unix:{path}")) == 200


def test_unix_socket_that_is_alive_is_refused(serve):
    path = serve.directory / "live.sock"
    first = serve(listen=f"unix:{path}")
    second = serve(listen=f"unix:{path}", ready=False)
    assert second.wait_exit(START_LIMIT) == 1
    assert f"unix:{path} is in use by another program" in second.log_text()
    assert get(first) == 200


def test_a_file_that_is_no_socket_is_left_alone(serve):
    path = serve.directory / "precious"
    path.write_text("data")
    server = serve(listen=f"unix:{path}", ready=False)
    assert server.wait_exit(START_LIMIT) == 1
    assert path.read_text() == "data"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a user who may not write everywhere")
def test_a_unix_socket_in_a_folder_that_may_not_be_written_is_told_as_that():
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        binary, config = shutil.copy(BINARY, f"{place}/turnpike"), Path(place) / "t.yaml"
        config.write_text(f"listen: 'unix:{place}/http.sock'\nproviders: {{}}\nstate: {{ name: /turnpike-folder-{os.getpid()} }}\n")
        done = subprocess.run([binary, "serve", "-c", config], user=65534, group=65534, extra_groups=[], capture_output=True,
                              text=True, timeout=START_LIMIT)
    for left in Path("/dev/shm").glob(f"turnpike-folder-{os.getpid()}*"):
        left.unlink()
    assert done.returncode == 1 and f"unix:{place}/http.sock cannot be made: its folder" in done.stderr, done.stderr


# ---- log, table, command line


def test_a_log_that_nobody_reads_stops_nothing(serve):
    reader, writer = os.pipe()
    try:
        os.set_blocking(writer, True)
        server = serve(stderr=writer)
        for _ in range(3000):
            server.signal(signal.SIGHUP)
            time.sleep(0.0002)
        assert get(server) == 200
        server.signal(signal.SIGTERM)
        assert server.wait_exit(5) == 0
    finally:
        os.close(reader)
        os.close(writer)


def test_counters_go_on_after_a_restart(serve):
    first = serve()
    assert [get(first) for _ in range(7)] == [200] * 7
    first.signal(signal.SIGTERM)
    assert first.wait_exit(5) == 0
    before = stats(first)["counters"]["connections"]
    assert before >= 7
    second = serve(name=first.name)
    assert get(second) == 200
    assert stats(second)["counters"]["connections"] >= before + 1
    assert "goes on from an earlier start" in second.log_text()


def test_fresh_state_starts_over(serve):
    first = serve()
    assert [get(first) for _ in range(7)] == [200] * 7
    first.signal(signal.SIGTERM)
    assert first.wait_exit(5) == 0
    assert stats(first)["counters"]["connections"] >= 7
    second = serve(name=first.name, arguments=["--fresh-state"])
    assert get(second) == 200
    assert stats(second)["counters"]["connections"] < 7


def test_stats_shows_the_workers(serve):
    server = serve(workers=3)
    seen = stats(server)
    assert len(seen["workers"]) == 3
    assert all(w["heartbeat_age_ms"] < 5000 for w in seen["workers"])
    text = subprocess.run([BINARY, "stats", "--name", server.name], capture_output=True, text=True, check=True)
    assert re.search(r"^workers +3$", text.stdout, re.M)


@pytest.mark.parametrize(
    "arguments, code, said",
    [
        ([], 2, "Usage: turnpike COMMAND"),
        (["--help"], 0, "Usage: turnpike COMMAND"),
        (["version"], 0, "turnpike "),
        (["serv"], 2, 'did you mean "serve"?'),
        (["frobnicate"], 2, 'no command "frobnicate"'),
        (["serve", "--help"], 0, "Exit status"),
        (["serve", "--no-such-option"], 2, "turnpike serve --help"),
        (["serve", "extra"], 2, 'what is "extra"?'),
        (["serve", "-c", "a", "--endpoint", "http://b"], 2, "exclude each other"),
        (["serve", "-c", "/no/such/file.yaml"], 1, "/no/such/file.yaml"),
        (["stats", "--help"], 0, "Exit status"),
        (["stats", "--name", "/turnpike-test-none"], 1, "/turnpike-test-none"),
    ],
)
def test_command_line(arguments, code, said):
    done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=10)
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_endpoint_without_a_file(serve, provider):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    env = {**os.environ, "HOME": str(serve.directory)}
    process = subprocess.Popen(
        [BINARY, "serve", "--endpoint", provider, "--listen", f"127.0.0.1:{port}", "--fresh-state"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
    )
    try:
        line = process.stdout.readline().decode()
        if not line:
            text = process.stderr.read().decode()
            if "another turnpike" in text:
                pytest.skip("another server runs with the default state name")
            pytest.fail(text)
        assert line.startswith(f"turnpike ready: listening on http://127.0.0.1:{port};")
    finally:
        process.terminate()
        process.communicate(timeout=10)
    assert process.returncode == 0


def test_listen_replaces_the_files_section(serve):
    path = serve.directory / "other.sock"
    server = serve(arguments=["--listen", f"unix:{path}", "--listen", "127.0.0.1:0"])
    assert server.addresses[0] == f"unix:{path}" and server.addresses[1].startswith("http://127.0.0.1:")
    assert len(server.addresses) == 2
    assert get(server) == 200


@pytest.mark.parametrize(
    "extra, code",
    [("", 1), ("clients: [ { name: a, key: 0123456789abcdef0123456789abcdef } ]", 0), ("allow_anonymous: true", 0)],
)
def test_listen_meets_the_checks_of_a_file(serve, extra, code):
    server = serve(extra=extra, arguments=["--listen", "0.0.0.0:0"], ready=code == 0)
    if code == 0:
        server.signal(signal.SIGTERM)
    assert server.wait_exit(START_LIMIT) == code
    assert code == 0 or "can be reached from other machines" in server.log_text()
