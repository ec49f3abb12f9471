"""The simulator, a proxy in front of it, and the installed client packages: for the tests and for bench.py.

TURNPIKE_BIN names the binary (build/turnpike otherwise).  Every process started here is stopped by its own id.
"""

import contextlib
import fcntl
import itertools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BINARY = pathlib.Path(os.environ.get("TURNPIKE_BIN", ROOT / "build" / "turnpike")).absolute()
CLIENTS = ROOT / "build" / "clients"
MODEL_CALLS = ("/completions", "/responses", "/messages")

_numbers = itertools.count(1)


# ---- servers

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
        return [e for e in self.log() if e["path"].endswith(MODEL_CALLS)]


def stop(process):
    """TERM, and KILL when that is not enough; returns the exit status."""
    process.terminate()
    try:
        return process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


@contextlib.contextmanager
def simulator():
    process = subprocess.Popen(
        [BINARY, "simulate", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline()
        ready = "turnpike simulate ready: http://"
        assert line.startswith(ready), f"the simulator did not become ready: {line!r}"
        yield Simulator(line.split(": ", 1)[1].strip())
        assert stop(process) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


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


@contextlib.contextmanager
def proxy(sim, folder):
    """Base URL of a proxy whose only provider is the simulator."""
    port = free_port()
    name = f"/turnpike-clients-{os.getpid()}-{next(_numbers)}"
    config = folder / "turnpike.yaml"
    config.write_text(
        f"workers: 2\n"
        f"listen: 127.0.0.1:{port}\n"
        f"providers:\n"
        f"  sim:\n"
        f"    url: {sim.url}/v1\n"
        f"state: {{ name: {name} }}\n"
    )
    log = open(folder / "serve.log", "wb")
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
        print((folder / "serve.log").read_text(errors="replace"))  # shown when a test fails
        for left in (name, name + ".lock"):
            pathlib.Path("/dev/shm" + left).unlink(missing_ok=True)


# ---- clients

def install_clients():
    """build/clients with the exact packages of package-lock.json; installed when they changed, by one process."""
    CLIENTS.mkdir(parents=True, exist_ok=True)
    with open(CLIENTS / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _install_changed()
    return CLIENTS


def _install_changed():
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


def run(argv, environment, timeout, cwd=None):
    """(exit status or None when its time was over, standard output, standard error)."""
    process = subprocess.Popen(
        argv, env=environment, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # the launchers of npm packages have children of their own
        out, err = process.communicate()
        return None, out, err


def offline(home):
    """Nothing but 127.0.0.1 is to be reached: all else goes to a port where nobody listens."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1",
    }


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


class Clients:
    """Runs real clients, at their default settings, against a base URL that ends in /v1."""

    def __init__(self, directory, sim, folder):
        self.directory = directory
        self.simulator = sim
        self.folder = folder

    def _folders(self):
        home, work = self.folder / "home", self.folder / "work"
        home.mkdir()
        work.mkdir()
        return home, work

    def sdk(self, client, model, mode, base_url, timeout=90, **more):
        """What the caller of the SDK saw, None when it hung; `more` goes into the environment (see sdk.mjs)."""
        environment = {
            **os.environ,
            "CLIENTS_DIR": str(self.directory),
            "BASE_URL": base_url,
            "SIM_URL": self.simulator.url,
            "TIMEOUT_MS": str(timeout * 1000),
            **more,
        }
        status, out, err = run(["node", HERE / "sdk.mjs", client, model, mode], environment, timeout)
        assert status in (0, None), err
        return json.loads(out.splitlines()[-1]) if status == 0 else None

    def codex(self, model, base_url, timeout=120):
        """One turn of the Codex CLI: (exit status, None when it hung; its events)."""
        home, work = self._folders()
        (home / "config.toml").write_text(CODEX_CONFIG % (model, base_url))
        environment = {**offline(home), "CODEX_HOME": str(home), "SIM_API_KEY": "sk-test", "RUST_LOG": "error"}
        status, out, err = run(
            ["node", self.directory / "node_modules/@openai/codex/bin/codex.js", "exec", "--json",
             "--skip-git-repo-check", "-s", "read-only", "-C", work, "say hello"],
            environment, timeout,
        )
        print(out, err)
        return status, [json.loads(line) for line in out.splitlines() if line.startswith("{")]

    def claude_code(self, model, base_url, timeout=120):
        """One turn of Claude Code: (exit status, None when it hung; its result as it prints it)."""
        home, work = self._folders()
        environment = {
            **offline(home),
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "ANTHROPIC_BASE_URL": base_url.removesuffix("/v1"),
            "ANTHROPIC_API_KEY": "sk-ant-test",
            "ANTHROPIC_MODEL": model,
            "ANTHROPIC_SMALL_FAST_MODEL": model,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        }
        status, out, err = run(
            ["node", self.directory / "node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs", "-p", "say hello",
             "--output-format", "json"],
            environment, timeout, cwd=work,
        )
        print(out, err)
        return status, json.loads(out) if out.startswith("{") else {}
