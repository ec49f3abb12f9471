"""The instruments of `make bench`: a provider, proxies in front of it, loads, and what the scheduler charged for them."""
import contextlib
import itertools
import json
import os
import statistics
import subprocess
import urllib.request

import proc
import proxies

CONNECTIONS = 64
ROUNDS = 5
WARM_MS = 300
NAMES = ("turnpike", "nginx", "haproxy", "bare")
UNDERSTANDING = NAMES[:3]  # those that know what they forward


class BenchError(Exception):
    pass


def read_line(process, word):
    """The next line of a tool, which has to begin with `word`, as a dictionary of its numbers."""
    line = process.stdout.readline().split()
    if not line or line[0] != word:
        process.wait(10)
        raise BenchError(f"{os.path.basename(process.args[0])} ended with status {process.returncode}")
    return {k: int(v) for k, _, v in (w.partition("=") for w in line[1:])}


def write_line(process):
    process.stdin.write("go\n")
    process.stdin.flush()


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
        self.serial = itertools.count()

    # ---- processes

    def tool(self, name, *argv):
        return proxies.spawn([os.path.join(self.args.bin, name), *map(str, argv)], self.load_cpu,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    @contextlib.contextmanager
    def stage(self, *options):
        """A provider, and whatever is started in front of it, for the time of the block; then the counters are looked at."""
        self.upstream = self.tool("upstream", *options)
        try:
            self.upstream_port = int(self.upstream.stdout.readline().split()[1])
            yield
            for p in self.running:
                self.check(p)
        finally:
            for p in self.running:
                p.stop()
            self.running = []
            proxies.stop(self.upstream)

    def make(self, names=NAMES):
        """Proxies that have not been started."""
        kinds = {"turnpike": lambda place: proxies.Turnpike("turnpike", place, self.args.turnpike),
                 "nginx": lambda place: proxies.Nginx("nginx", place),
                 "haproxy": lambda place: proxies.Haproxy("haproxy", place),
                 "bare": lambda place: proxies.Bare("bare", place, os.path.join(self.args.bin, "bare"))}
        return [kinds[name](os.path.join(self.dir, f"{name}-{next(self.serial)}")) for name in names]

    def start(self, made, upstream_port=None, cpu=None):
        for p in made:
            self.running.append(p)
            p.start(upstream_port or self.upstream_port, self.proxy_cpu if cpu is None else cpu)
        return made

    @staticmethod
    def check(proxy):
        """A run in which the budgets did not work would be no measurement of Turnpike."""
        if proxy.name != "turnpike" or proxy.process is None:
            return
        counters = proxy.counters()
        if counters["sends_initial"] < proxy.asked or counters["ledger_full"] > 0:
            raise BenchError(f"Turnpike's counters do not fit {proxy.asked} requests: {counters}")

    def provider_counts(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.upstream_port}/", timeout=10) as answer:
            return json.load(answer)

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
        if n == 0:
            raise BenchError("nothing arrived in the time of a measurement")
        return {"count": n, "cpu_us": cpu * 1e6 / n, "others_us": others_cpu * 1e6 / n, "rate": n / seconds,
                "core": cpu / seconds, "p50_us": end["p50_ns"] / 1e3, "p99_us": end["p99_ns"] / 1e3, "end": end}

    @contextlib.contextmanager
    def load(self, name, proxy, *options, port=None):
        load = self.tool(name, "--port", port or proxy.port, *proxy.asks, *options)
        try:
            yield load
        finally:
            proxies.stop(load)

    def json_load(self, proxy, connections, body, port=None, more=(), warm_ms=WARM_MS):
        pids = proc.family(proxy.process.pid) if proxy.process is not None else []
        with self.load("load", proxy, "--connections", connections, "--body", body, "--warm", warm_ms,
                       "--time", self.time_ms, *more, port=port) as load:
            result = self.measured(load, pids, "requests")
        proxy.asked += result["count"]
        return result

    def stream_load(self, proxy, streams, with_memory):
        pids = proc.family(proxy.process.pid)
        idle = proc.pss_bytes(pids, proxy.pss_without) if with_memory else 0
        with self.load("streams", proxy, "--streams", streams, "--warm", WARM_MS, "--time", self.time_ms,
                       port=proxy.stream_port) as load:
            read_line(load, "open")
            open_pss = proc.pss_bytes(pids, proxy.pss_without) if with_memory else 0
            write_line(load)
            result = self.measured(load, pids, "events")
        proxy.asked += streams
        if with_memory:
            result |= {"idle_bytes": idle, "stream_bytes": (open_pss - idle) / streams}
        return result

    # ---- each proxy in turn, round after round, so that all meet the same weather

    @staticmethod
    def rounds(running, measure, number=ROUNDS):
        """One median per proxy and number; measure(proxy, round)."""
        found = {p.name: [] for p in running}
        for r in range(number):
            for p in running[r % len(running):] + running[:r % len(running)]:
                found[p.name].append(measure(p, r))
        return {name: medians(list_) for name, list_ in found.items()}


def medians(measurements):
    """Key by key; a key that only some of them have is of those."""
    keys = {key: None for one in measurements for key, value in one.items() if isinstance(value, (int, float))}
    return {key: statistics.median(one[key] for one in measurements if key in one) for key in keys}
