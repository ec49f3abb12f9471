"""Gateways from npm beside Turnpike: `make bench PEERS=1`. They are installed below build/, and listen on 127.0.0.1."""
import json
import os
import pathlib
import shutil
import subprocess

import driver
import proxies

HERE = pathlib.Path(__file__).resolve().parent / "peers"
PACKAGES = HERE.parents[2] / "build" / "peers"
STREAMS, PACE_MS = 100, 100
WARM_MS = 3000  # what is compiled while it runs is slow at first
ROUNDS = 3


def install():
    """The exact packages of package-lock.json, when they changed; their scripts are not run."""
    PACKAGES.mkdir(parents=True, exist_ok=True)
    wanted = (HERE / "package-lock.json").read_bytes()
    installed = PACKAGES / "installed-lock.json"
    if installed.exists() and installed.read_bytes() == wanted:
        return
    installed.unlink(missing_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, PACKAGES / name)
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=PACKAGES, check=True, timeout=600,
                   stdout=subprocess.DEVNULL)
    installed.write_bytes(wanted)


def version(package):
    return json.loads((PACKAGES / "node_modules" / package / "package.json").read_text(encoding="utf-8"))["version"]


class Peer(proxies.Proxy):
    """Knows no home but its own folder, and no proxy of the machine's."""

    def environment(self, **more):
        return {"PATH": os.environ["PATH"], "HOME": self.dir, "NODE_ENV": "production", "CI": "1", **more}


class Portkey(Peer):
    package = "@portkey-ai/gateway"

    def start(self, upstream, cpu):
        self.asks = ("--header", "x-portkey-provider: openai\r\n"
                                 f"x-portkey-custom-host: http://127.0.0.1:{upstream}/v1")
        entry = PACKAGES / "node_modules" / self.package / "build" / "start-server.js"
        return self.launch("", ["node", "--require", str(HERE / "loopback.cjs"), str(entry), "--headless",
                                f"--port={self.port}"], cpu, env=self.environment())


class Opencodex(Peer):
    package = "@bitkyc08/opencodex"
    asks = ("--model", "bench/gpt-5-mini")

    def start(self, upstream, cpu):
        settings = {"port": self.port, "hostname": "127.0.0.1", "defaultProvider": "bench", "providers": {"bench": {
            "adapter": "openai-chat", "baseUrl": f"http://127.0.0.1:{upstream}/v1", "apiKey": "bench",
            "allowPrivateNetwork": True, "models": ["gpt-5-mini"], "defaultModel": "gpt-5-mini"}}}
        home = pathlib.Path(self.dir, "home")
        for folder in (home, pathlib.Path(self.dir, "codex")):
            folder.mkdir()
        (home / "config.json").write_text(json.dumps(settings), encoding="utf-8")
        modules = PACKAGES / "node_modules"
        return self.launch("", [str(modules / "@oven" / "bun-linux-x64" / "bin" / "bun"), "run",
                                str(modules / self.package / "src" / "cli" / "index.ts"), "start", "--port", str(self.port)],
                           cpu, env=self.environment(OPENCODEX_HOME=str(home), CODEX_HOME=os.path.join(self.dir, "codex")))


def compare(bench):
    install()
    result = {}
    with bench.stage("--pace", PACE_MS):
        running = bench.make(["turnpike"]) + [
            kind(f"{kind.package} {version(kind.package)}", os.path.join(bench.dir, kind.__name__)) for kind in
            (Portkey, Opencodex)]
        bench.start(running)
        result["sse"] = bench.rounds(running, lambda p, r: bench.stream_load(p, STREAMS, r == 0), ROUNDS)
        result["json"] = bench.rounds(
            running, lambda p, _: bench.json_load(p, driver.CONNECTIONS, 300, warm_ms=WARM_MS), ROUNDS)
    return result
