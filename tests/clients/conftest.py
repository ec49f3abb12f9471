"""Fixtures: the simulator, a proxy in front of it, and the installed client packages.

TURNPIKE_BIN names the binary (build/turnpike otherwise).  Every process started here is stopped by its own id.
"""

import itertools
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.request

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BINARY = pathlib.Path(os.environ.get("TURNPIKE_BIN", ROOT / "build" / "turnpike")).absolute()
CLIENTS = ROOT / "build" / "clients"

_numbers = itertools.count(1)


class Simulator:
    def __init__(self, url):
        self.url = url

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return json.load(answer)

    def log(self):
        return self.get("/__sim/log")

    def sends(self):
        """Sends of model calls; clients may ask for models or health beside them."""
        return [e for e in self.log() if e["path"].endswith(("/completions", "/responses", "/messages"))]


def stop(process):
    """TERM, and KILL when that is not enough; returns the exit status."""
    process.terminate()
    try:
        return process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def start_simulator():
    process = subprocess.Popen(
        [BINARY, "simulate", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    )
    line = process.stdout.readline()
    if not line.startswith("turnpike simulate ready: http://"):
        process.kill()
        process.wait()
        pytest.fail(f"the simulator did not become ready: {line!r}")
    return process, Simulator(line.split(": ", 1)[1].strip())


@pytest.fixture
def simulator():
    process, sim = start_simulator()
    yield sim
    assert stop(process) == 0


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for_port(process, port):
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        assert process.poll() is None, f"turnpike serve ended with status {process.returncode}"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.02)
    raise AssertionError("turnpike serve did not listen within 15s")


@pytest.fixture
def proxy(simulator, tmp_path):
    """Base URL of a proxy whose only provider is the simulator."""
    port = free_port()
    name = f"/turnpike-clients-{os.getpid()}-{next(_numbers)}"
    config = tmp_path / "turnpike.yaml"
    config.write_text(
        f"workers: 2\n"
        f"listen: 127.0.0.1:{port}\n"
        f"providers:\n"
        f"  sim:\n"
        f"    url: {simulator.url}/v1\n"
        f"state: {{ name: {name} }}\n"
    )
    log = open(tmp_path / "serve.log", "wb")
    process = subprocess.Popen([BINARY, "serve", "-c", config], stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_for_port(process, port)
        yield f"http://127.0.0.1:{port}/v1"
        assert stop(process) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        log.close()
        print((tmp_path / "serve.log").read_text(errors="replace"))  # shown when a test fails
        pathlib.Path("/dev/shm" + name).unlink(missing_ok=True)


@pytest.fixture(params=["direct", "proxy"])
def road(request, simulator):
    """The base URL a client uses.  "direct" tells a fault of client or simulator from one of the proxy."""
    if request.param == "direct":
        return simulator.url + "/v1"
    return request.getfixturevalue("proxy")


@pytest.fixture(scope="session")
def clients_dir():
    """build/clients with the exact packages of package-lock.json; installed when they changed."""
    CLIENTS.mkdir(parents=True, exist_ok=True)
    wanted = (HERE / "package-lock.json").read_bytes()
    installed = CLIENTS / "installed-lock.json"
    if not installed.exists() or installed.read_bytes() != wanted:
        installed.unlink(missing_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, CLIENTS / name)
        subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=CLIENTS, check=True, timeout=600
        )
        installed.write_bytes(wanted)
    return CLIENTS


class Clients:
    """Runs real clients against a base URL."""

    def __init__(self, directory, simulator, tmp_path):
        self.directory = directory
        self.simulator = simulator
        self.tmp_path = tmp_path

    def sdk(self, client, model, mode, base_url, **more):
        """What the caller of the SDK saw; `more` goes into the environment (see sdk.mjs)."""
        environment = {
            **os.environ,
            "CLIENTS_DIR": str(self.directory),
            "BASE_URL": base_url,
            "SIM_URL": self.simulator.url,
            **more,
        }
        done = subprocess.run(
            ["node", HERE / "sdk.mjs", client, model, mode],
            env=environment, capture_output=True, text=True, timeout=90,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def codex(self, model, base_url, timeout=120):
        """One turn of the Codex CLI: (exit status, its events).  TimeoutExpired when it hangs."""
        home, work = self.tmp_path / "home", self.tmp_path / "work"
        home.mkdir()
        work.mkdir()
        (home / "config.toml").write_text(CODEX_CONFIG % (model, base_url))
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "CODEX_HOME": str(home),
            "SIM_API_KEY": "sk-test",
            "RUST_LOG": "error",
            # nothing but 127.0.0.1 is to be reached: all else goes to a port where nobody listens
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "HTTP_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1",
        }
        done = subprocess.run(
            ["node", self.directory / "node_modules/@openai/codex/bin/codex.js", "exec", "--json",
             "--skip-git-repo-check", "-s", "read-only", "-C", work, "say hello"],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout,
        )
        print(done.stdout, done.stderr)
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


CODEX_CONFIG = """\
model = "%s"
model_provider = "sim"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.sim]
name = "sim"
base_url = "%s"
env_key = "SIM_API_KEY"
wire_api = "responses"
"""


@pytest.fixture
def clients(clients_dir, simulator, tmp_path):
    return Clients(clients_dir, simulator, tmp_path)
