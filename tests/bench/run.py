#!/usr/bin/python3
"""Turnpike, nginx and HAProxy side by side: `make bench`. docs/performance.md says what is measured and why."""
import argparse
import json
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile

import proc
import proxies
import report

CONNECTIONS = 64
STREAMS = 1000
PACE_MS = 100
ROUNDS = 5
WARM_MS = 300
MOST_SECONDS = 420  # of a whole run with the default time; longer times have a longer limit


class BenchError(Exception):
    pass


def read_line(process, word):
    """The next line of a load, which has to begin with `word`, as a dictionary of its numbers."""
    line = process.stdout.readline().split()
    if not line or line[0] != word:
        process.wait(10)
        raise BenchError(f"{os.path.basename(process.args[0])} ended with status {process.returncode}")
    return {k: int(v) for k, _, v in (w.partition("=") for w in line[1:])}


class Bench:
    def __init__(self, args, directory):
        self.args = args
        self.dir = directory
        cpus = sorted(os.sched_getaffinity(0))
        self.load_cpu, self.proxy_cpu = (cpus[0], cpus[-1])
        self.time_ms = int(args.time * 1000)
        self.upstream = None
        self.upstream_port = 0
        self.running = []
        self.turnpike_requests = 0

    # ---- processes

    def tool(self, name, *argv, **more):
        return proxies.spawn([os.path.join(self.args.bin, name), *map(str, argv)], self.load_cpu,
                             stdout=subprocess.PIPE, text=True, **more)

    def start_upstream(self):
        self.upstream = self.tool("upstream", "--pace", PACE_MS)
        self.upstream_port = int(self.upstream.stdout.readline().split()[1])

    def start(self, proxy):
        self.running.append(proxy)
        return proxy.start(self.upstream_port, self.proxy_cpu)

    def start_all(self):
        made = [proxies.Turnpike("turnpike", self.dir + "/turnpike", self.args.turnpike),
                proxies.Nginx("nginx", self.dir + "/nginx"),
                proxies.Haproxy("haproxy", self.dir + "/haproxy"),
                proxies.Bare("bare", self.dir + "/bare", os.path.join(self.args.bin, "bare"))]
        return [self.start(p) for p in made]

    def start_tls(self):
        """[TLS with clients], [TLS both ways], and what speaks TLS in place of load and provider."""
        certificate = proxies.Certificate(self.dir + "/tls")
        kinds = [lambda name: proxies.Turnpike("turnpike", f"{self.dir}/turnpike-{name}", self.args.turnpike),
                 lambda name: proxies.Nginx("nginx", f"{self.dir}/nginx-{name}"),
                 lambda name: proxies.Haproxy("haproxy", f"{self.dir}/haproxy-{name}")]
        front, both = [k("front") for k in kinds], [k("both") for k in kinds]
        shim = proxies.Shim("shim", self.dir + "/shim", certificate, front + both)
        self.running.append(shim)
        shim.start(self.upstream_port, self.load_cpu)
        for p in front + both:
            p.front, p.back = certificate, certificate if p in both else None
            self.running.append(p)
            p.start(shim.port if p in both else self.upstream_port, self.proxy_cpu)
        return front, both, shim

    def stop_all(self):
        for p in self.running:
            p.stop()
        self.running = []
        proxies.stop(self.upstream)

    # ---- single measurements

    def measured(self, load, pids, unit):
        """CPU of the proxy, and of load and provider, between the load's "begin" and "end"."""
        others = [load.pid, self.upstream.pid]
        read_line(load, "begin")
        before, others_before = proc.cpu_seconds(pids), proc.cpu_seconds(others)
        end = read_line(load, "end")
        cpu = proc.cpu_seconds(pids) - before
        others_cpu = proc.cpu_seconds(others) - others_before if load.poll() is None else 0.0
        n, seconds = end[unit], end["ns"] / 1e9
        return {"count": n, "cpu_us": cpu * 1e6 / n, "others_us": others_cpu * 1e6 / n, "rate": n / seconds,
                "core": cpu / seconds, "p50_us": end["p50_ns"] / 1e3, "p99_us": end["p99_ns"] / 1e3}

    def json_load(self, proxy, connections, body, port=None):
        pids = proc.family(proxy.process.pid) if proxy.process is not None else []
        load = self.tool("load", "--port", port or proxy.port, "--connections", connections, "--body", body, "--warm", WARM_MS,
                         "--time", self.time_ms, stdin=subprocess.PIPE)
        try:
            result = self.measured(load, pids, "requests")
            if proxy.name == "turnpike" and port is None:
                self.turnpike_requests += result["count"]
            return result
        finally:
            proxies.stop(load)

    def stream_load(self, proxy, with_memory):
        pids = proc.family(proxy.process.pid)
        idle = proc.pss_bytes(pids, proxy.pss_without) if with_memory else 0
        load = self.tool("streams", "--port", proxy.stream_port, "--streams", STREAMS, "--warm", WARM_MS,
                         "--time", self.time_ms, stdin=subprocess.PIPE)
        try:
            read_line(load, "open")
            open_pss = proc.pss_bytes(pids, proxy.pss_without) if with_memory else 0
            load.stdin.write("go\n")
            load.stdin.flush()
            result = self.measured(load, pids, "events")
        finally:
            proxies.stop(load)
        if with_memory:
            result |= {"idle_bytes": idle, "stream_bytes": (open_pss - idle) / STREAMS}
        return result

    def handshakes(self, proxy, mode):
        """Connections of TLS 1.2 that do nothing else, by `openssl s_time`: whole, or with one session."""
        pids = proc.family(proxy.process.pid)
        before = proc.cpu_seconds(pids)
        done = subprocess.run(["openssl", "s_time", "-connect", f"127.0.0.1:{proxy.port}", "-tls1_2", mode, "-time",
                               str(max(1, round(self.args.time)))], capture_output=True, text=True, timeout=60,
                              preexec_fn=lambda: os.sched_setaffinity(0, {self.load_cpu}))
        said = re.search(r"^(\d+) connections in \d+ real seconds", done.stdout, re.M)
        if said is None or int(said[1]) == 0:
            raise BenchError(f"openssl s_time ended with status {done.returncode}")
        return {"cpu_us": (proc.cpu_seconds(pids) - before) * 1e6 / int(said[1])}

    # ---- scenarios: each proxy in turn, round after round, so that all meet the same weather

    def rounds(self, running, measure):
        """One median per proxy and number."""
        found = {p.name: [] for p in running}
        for r in range(ROUNDS):
            for p in running[r % len(running):] + running[:r % len(running)]:
                found[p.name].append(measure(p, r))
        return {name: {key: statistics.median(one[key] for one in list_ if key in one) for key in list_[0]}
                for name, list_ in found.items()}

    def scenario_json(self, running, body):
        return self.rounds(running, lambda p, _: self.json_load(p, CONNECTIONS, body))

    def scenario_latency(self, running):
        direct = proxies.Proxy("direct", os.path.join(self.dir, "direct"))
        direct.port = self.upstream_port
        return self.rounds([direct] + running, lambda p, _: self.json_load(p, 1, 300))

    def scenario_streams(self, running):
        return self.rounds(running, lambda p, r: self.stream_load(p, r == 0))

    def scenario_tls(self, result):
        front, both, shim = self.start_tls()
        for name, list_ in (("tls_front", front), ("tls_both", both)):
            result[name] = self.rounds(list_, lambda p, _: self.json_load(p, CONNECTIONS, 300, shim.port_to(p)))
        for name, mode in (("tls_new", "-new"), ("tls_resumed", "-reuse")):
            result[name] = self.rounds(front, lambda p, _, mode=mode: self.handshakes(p, mode))

    def idle_pair(self):
        """Master and two workers of Turnpike that have done nothing yet."""
        p = self.start(proxies.Turnpike("pair", os.path.join(self.dir, "pair"), self.args.turnpike, workers=2))
        try:
            return proc.pss_bytes(proc.family(p.process.pid), p.pss_without)
        finally:
            p.stop()

    def check_budgets(self, turnpike):
        """A run in which the budgets did not work would be no measurement of this proxy."""
        counters = json.loads(turnpike.stats())["counters"]
        if counters["sends_initial"] < self.turnpike_requests or counters["ledger_full"] > 0:
            raise BenchError(f"Turnpike's counters do not fit {self.turnpike_requests} requests: {counters}")

    def run(self):
        self.start_upstream()
        result = {"idle_pair_bytes": self.idle_pair()}
        say("streams: memory and CPU per event")
        fresh = self.start_all()  # memory is measured on processes that have done nothing before
        result["streams"] = self.scenario_streams(fresh)
        say("small JSON POST")
        result["small"] = self.scenario_json(fresh, 300)
        say("JSON POST of 16 KiB")
        result["large"] = self.scenario_json(fresh, 16 * 1024)
        say("one connection")
        result["latency"] = self.scenario_latency(fresh)
        self.check_budgets(fresh[0])
        say("TLS")
        self.scenario_tls(result)
        result["versions"] = versions(self.args.turnpike)
        result["one_cpu"] = self.load_cpu == self.proxy_cpu
        return result


def versions(turnpike):
    def first_line(argv):
        done = subprocess.run(argv, capture_output=True, text=True, timeout=10, check=True)
        return (done.stdout + done.stderr).splitlines()[0]
    return {"turnpike": first_line([turnpike, "--version"]), "nginx": first_line(["nginx", "-v"]),
            "haproxy": first_line(["haproxy", "-v"])}


def say(what):
    print(f"bench: {what}", file=sys.stderr, flush=True)


def too_long(*_):
    raise BenchError("the run takes too long")


def leave(*_):
    sys.exit(130)


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--time", type=float, default=1.2, help="seconds of each measurement (145 of them in a run)")
    a.add_argument("--bin", default="build/plain/bench", help="folder of upstream, load and streams")
    a.add_argument("--turnpike", default="build/turnpike")
    a.add_argument("--json", metavar="FILE", help="write all numbers here as well")
    args = a.parse_args()
    if not 0.1 <= args.time <= 60:
        a.error("--time has to be 0.1 to 60")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    signal.signal(signal.SIGALRM, too_long)
    signal.signal(signal.SIGTERM, leave)
    signal.alarm(int(MOST_SECONDS * max(1.0, args.time / 1.2)))
    with tempfile.TemporaryDirectory(prefix="turnpike-bench-") as directory:
        os.chmod(directory, 0o755)  # nginx's worker is another user when the master is root
        bench = Bench(args, directory)
        try:
            result = bench.run()
        except (BenchError, proxies.StartError) as e:
            sys.exit(f"bench: {e}")
        finally:
            bench.stop_all()
    report.show(result)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
