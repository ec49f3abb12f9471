"""`serve(...)`: one `turnpike serve` after the other, for tests of its life as a process.

With a provider of its own that only answers, so that nothing of lab.py stands in the way of what a test does to
the processes.
"""

import contextlib
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

from .turnpike import BINARY

START_LIMIT = 15
# Where a rule names a time, this is what a busy machine may take on top of it.
SLACK = 1.0


class Provider(http.server.BaseHTTPRequestHandler):
    """Answers "ok"; /slow/MS does so after MS milliseconds."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        slow = re.search(r"/slow/(\d+)", self.path)
        if slow:
            time.sleep(int(slow.group(1)) / 1000)
        with contextlib.suppress(OSError):
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

    def log_message(self, *args):
        pass


class ProviderServer(http.server.ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


@pytest.fixture(scope="module")
def provider():
    server = ProviderServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


class Server:
    """One `turnpike serve`; every process that it started is gone after stop()."""

    def __init__(self, directory, config, env=None, stderr=None, arguments=()):
        self.directory = directory
        self.file = directory / f"turnpike-{time.monotonic_ns()}.yaml"
        self.file.write_text(config)
        self.log = directory / f"log-{time.monotonic_ns()}"
        self.seen = set()
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [BINARY, "serve", "-c", str(self.file), *arguments],
                stdout=subprocess.PIPE,
                stderr=stderr if stderr is not None else log,
                start_new_session=True,
                env={**os.environ, **(env or {})},
            )
        self.pid = self.process.pid
        self.addresses = []

    def wait_ready(self):
        line = []
        reader = threading.Thread(target=lambda: line.append(self.process.stdout.readline()), daemon=True)
        reader.start()
        reader.join(START_LIMIT)
        text = line[0].decode() if line else ""
        assert text.startswith("turnpike ready: listening on "), f"no ready line: {text!r}\n{self.log_text()}"
        self.ready_line = text.strip()
        self.addresses = text.split("listening on ", 1)[1].split(";")[0].split(", ")
        self.workers()
        return self

    def log_text(self):
        return self.log.read_text(errors="replace")

    def complaints(self):
        """Warnings and errors of the log, without those about the machine the tests run on."""
        lines = re.findall(r"^\S+ (?:warn|error) .*$", self.log_text(), re.M)
        return [line for line in lines if "running as root" not in line and "files, about" not in line]

    def port(self):
        return int(self.addresses[0].rsplit(":", 1)[1])

    def workers(self):
        """Pids of the living workers."""
        pids = []
        for task in Path(f"/proc/{self.pid}/task").glob("*/children"):
            pids += [int(p) for p in task.read_text().split()]
        self.seen.update(pids)
        return sorted(pids)

    def connect(self, timeout=10):
        if self.addresses[0].startswith("unix:"):
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(timeout)
            s.connect(self.addresses[0][5:])
            return s
        return socket.create_connection(("127.0.0.1", self.port()), timeout)

    def signal(self, number):
        os.kill(self.pid, number)

    def wait_exit(self, timeout):
        return self.process.wait(timeout)

    def stop(self):
        self.workers() if self.process.poll() is None else None
        for number, patience in ((signal.SIGTERM, 3), (signal.SIGTERM, 3), (signal.SIGKILL, 3)):
            if self.process.poll() is None:
                self.signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(patience)
        self.process.stdout.close()
        for pid in self.seen:
            if is_worker(pid, str(self.file)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def is_worker(pid, needle):
    """A forked worker has the command line of its master."""
    try:
        return needle in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_for(what, limit, why):
    until = time.monotonic() + limit
    while time.monotonic() < until:
        got = what()
        if got:
            return got
        time.sleep(0.02)
    pytest.fail(f"not within {limit} s: {why}")


_counter = iter(range(1, 1 << 30))


@pytest.fixture
def serve(provider):
    """serve(workers=2, listen=..., ...) starts a server; all are stopped at the end."""
    started, names = [], []
    directory = tempfile.TemporaryDirectory(prefix="turnpike-")

    def start(workers=2, listen="127.0.0.1:0", name=None, drain="10s", extra="", ready=True, **options):
        name = name or f"/turnpike-test-{os.getpid()}-{next(_counter)}"
        names.append(name)
        server = Server(
            Path(directory.name),
            f"workers: {workers}\n"
            f"listen: {json.dumps(listen)}\n"
            f"providers: {{ p: {{ url: {json.dumps(provider)} }} }}\n"
            f"state: {{ name: {name}, logical_requests: 1024 }}\n"
            f"shutdown: {{ drain: {drain} }}\n{extra}\n",
            **options,
        )
        server.name = name
        started.append(server)
        return server.wait_ready() if ready else server

    start.directory = Path(directory.name)
    yield start
    for server in started:
        server.stop()
    for name in names:
        for path in (f"/dev/shm{name}", f"/dev/shm{name}.lock"):
            with contextlib.suppress(OSError):
                os.unlink(path)
    directory.cleanup()


def send(connection, path="/v1/models"):
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())


def status(connection):
    """The status of the answer; 0 when the connection ended without one."""
    head = b""
    with contextlib.suppress(ConnectionError):
        while b"\r\n" not in head:
            piece = connection.recv(4096)
            if not piece:
                break
            head += piece
    return int(head.split()[1]) if head.startswith(b"HTTP/1.1 ") else 0


def get(server, path="/v1/models"):
    with server.connect() as c:
        send(c, path)
        return status(c)


def is_refused(server):
    try:
        server.connect(timeout=3).close()
    except (ConnectionRefusedError, FileNotFoundError):
        return True
    except TimeoutError:
        return False
    return False


def stats(server):
    done = subprocess.run([BINARY, "stats", "--json", "--name", server.name], capture_output=True, check=True)
    return json.loads(done.stdout)
