"""Rows of server-sent events: many streams, the first token, one worker beside two."""
import os
import signal
import time

import driver
import proc
import proxies

STREAMS, PACE_MS = 1000, 100
MANY_STREAMS, MANY_PACE_MS, MANY_ROUNDS = 5000, 500, 3  # as many events a second

BURST = 4000  # events that lie ready, one for each stream
BURSTS = 9


def streams(bench):
    with bench.stage("--pace", PACE_MS):
        return bench.rounds(bench.start(bench.make()), lambda p, r: bench.stream_load(p, STREAMS, r == 0))


def many_streams(bench):
    with bench.stage("--pace", MANY_PACE_MS):
        return bench.rounds(bench.start(bench.make()), lambda p, r: bench.stream_load(p, MANY_STREAMS, r == 0),
                            MANY_ROUNDS)


# ---- the first token

def first_load(bench, proxy):
    pids = proc.family(proxy.process.pid) if proxy.process is not None else []
    with bench.load("first", proxy, "--warm", driver.WARM_MS, "--time", bench.time_ms, port=proxy.stream_port) as load:
        result = bench.measured(load, pids, "requests")
    proxy.asked += result["count"]
    return result


def first_token(bench):
    """The provider writes head and first event at once, each for itself, and the last event a little later."""
    with bench.stage("--pace", 2, "--events", 2):
        direct = proxies.Proxy("direct", os.path.join(bench.dir, "direct-stream"))
        direct.port = direct.stream_port = bench.upstream_port
        return bench.rounds([direct] + bench.start(bench.make()), lambda p, _: first_load(bench, p))


# ---- one worker and two

class Held:
    """Stands still while the block runs, so that what arrives for it piles up."""

    def __init__(self, pids):
        self.pids = pids

    def __enter__(self):
        for pid in self.pids:
            os.kill(pid, signal.SIGSTOP)

    def __exit__(self, *_):
        for pid in self.pids:
            os.kill(pid, signal.SIGCONT)


def collect(load, events):
    """Reads at the client what has arrived, until it is all; the time of the last of it."""
    last = 0
    for _ in range(100):
        driver.write_line(load)
        got = driver.read_line(load, "got")
        events -= got["events"]
        last = max(last, got["last_ns"])
        if events == 0:
            return last
        time.sleep(0.1)
    raise driver.BenchError(f"{events} events did not arrive")


def burst(bench, load, lanes):
    """One event for each stream lies in the sockets of the proxy; then it goes, and has the machine for itself."""
    with Held({pid for pid, _ in lanes}):
        driver.write_line(bench.upstream)
        said = int(bench.upstream.stdout.readline().split()[1])
        if said != BURST:
            raise driver.BenchError(f"the provider has {said} streams in place of {BURST}")
        time.sleep(0.01)
        before = [proc.thread_seconds(*lane) for lane in lanes]
        begun = time.clock_gettime_ns(time.CLOCK_REALTIME)
    time.sleep(0.3)
    last = collect(load, BURST)
    used = [proc.thread_seconds(*lane) - cpu for lane, cpu in zip(lanes, before)]
    return {"ms": (last - begun) / 1e6, "cpu_us": sum(used) * 1e6 / BURST, "busier": max(used) / sum(used)}


def bursts(bench, name, workers):
    proxy, = bench.make([name])
    proxy.workers = workers
    cpus = [bench.proxy_cpu, bench.load_cpu][:workers]
    bench.start([proxy], cpu=cpus)
    proxies.wait_until(lambda: len(proxy.lanes()) == workers, proxy.process)
    lanes = proxy.lanes()
    for (_, thread), cpu in zip(lanes, cpus):
        os.sched_setaffinity(thread, {cpu})
    with bench.load("streams", proxy, "--streams", BURST, "--bursts", port=proxy.stream_port) as load:
        driver.read_line(load, "open")
        found = driver.medians([burst(bench, load, lanes) for _ in range(BURSTS)])
    proxy.asked += BURST
    return found


def scaling(bench):
    """How long the same burst takes with one worker and with two, while load and provider need no CPU."""
    result = {}
    for name in driver.UNDERSTANDING:
        one, two = ({}, {})
        for found, workers in ((one, 1), (two, 2)):
            with bench.stage("--told"):
                found |= bursts(bench, name, workers)
        result[name] = {"one_ms": one["ms"], "two_ms": two["ms"], "speed_up": one["ms"] / two["ms"],
                        "one_cpu_us": one["cpu_us"], "two_cpu_us": two["cpu_us"], "busier": two["busier"],
                        "cpu_speed_up": one["cpu_us"] / (two["cpu_us"] * two["busier"])}
    return result
