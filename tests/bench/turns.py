"""Rows of JSON turns: bodies of three sizes, one connection, TLS, a provider that refuses."""
import os
import re
import subprocess

import driver
import proc
import proxies

# Turnpike waits before it asks again, the others do not: all get the same number of requests a second.
RETRY_CONNECTIONS, RETRY_RATE = 2000, 3000
REFUSED_PERCENT = 30
LARGE_CONNECTIONS = 16


def scenario(body, connections=driver.CONNECTIONS):
    def run(bench):
        with bench.stage():
            return bench.rounds(bench.start(bench.make()), lambda p, _: bench.json_load(p, connections, body))
    return run


def latency(bench):
    """One connection; "direct" is the load straight at the provider, in the same rounds."""
    with bench.stage():
        direct = proxies.Proxy("direct", os.path.join(bench.dir, "direct"))
        direct.port = bench.upstream_port
        return bench.rounds([direct] + bench.start(bench.make()), lambda p, _: bench.json_load(p, 1, 300))


# ---- refusals

def retry_load(bench, proxy):
    before = bench.provider_counts()["posts"]
    result = bench.json_load(proxy, RETRY_CONNECTIONS, 300, more=("--refusals", "--rate", RETRY_RATE))
    sends, answers = bench.provider_counts()["posts"] - before, result["end"]["all"]
    proxy.asked += answers - result["count"]
    proxy.sends += sends
    return result | {"failures": 1000 * result["end"]["refused"] / answers, "sends": sends / answers}


def retry(bench):
    with bench.stage("--refuse", REFUSED_PERCENT):
        made = bench.make(driver.UNDERSTANDING)
        for p in made:
            p.retries, p.sends = True, 0
        result = bench.rounds(bench.start(made), lambda p, _: retry_load(bench, p))
        counters = made[0].counters()
        counted = sum(n for name, n in counters.items() if name.startswith("sends_"))
        if counted != made[0].sends or counters["sends_initial"] != made[0].asked:
            raise driver.BenchError(f"Turnpike counted {counted} sends and {counters['sends_initial']} requests, the "
                                    f"provider {made[0].sends}, the clients {made[0].asked}")
        return result


# ---- TLS

def handshakes(bench, proxy, mode):
    """Connections of TLS 1.2 that do nothing else, by `openssl s_time`: whole, or with one session."""
    pids = proc.family(proxy.process.pid)
    before = proc.cpu_seconds(pids)
    done = subprocess.run(["openssl", "s_time", "-connect", f"127.0.0.1:{proxy.port}", "-tls1_2", mode, "-time",
                           str(max(1, round(bench.args.time)))], capture_output=True, text=True, timeout=60,
                          preexec_fn=lambda: os.sched_setaffinity(0, {bench.load_cpu}))
    said = re.search(r"^(\d+) connections in \d+ real seconds", done.stdout, re.M)
    if said is None or int(said[1]) == 0:
        raise driver.BenchError(f"openssl s_time ended with status {done.returncode}")
    return {"cpu_us": (proc.cpu_seconds(pids) - before) * 1e6 / int(said[1])}


def start_tls(bench):
    """[TLS with clients], [TLS both ways], and what speaks TLS in place of load and provider."""
    certificate = proxies.Certificate(os.path.join(bench.dir, "tls"))
    front, both = bench.make(driver.UNDERSTANDING), bench.make(driver.UNDERSTANDING)
    shim = proxies.Shim("shim", os.path.join(bench.dir, "shim"), certificate, front + both)
    bench.start([shim], cpu=bench.load_cpu)
    for p in front + both:
        p.front, p.back = certificate, certificate if p in both else None
    bench.start(front)
    bench.start(both, shim.port)
    return front, both, shim


def tls(bench):
    with bench.stage():
        front, both, shim = start_tls(bench)
        result = {}
        for name, list_ in (("tls_front", front), ("tls_both", both)):
            result[name] = bench.rounds(list_, lambda p, _: bench.json_load(p, driver.CONNECTIONS, 300, shim.port_to(p)))
        for name, mode in (("tls_new", "-new"), ("tls_resumed", "-reuse")):
            result[name] = bench.rounds(front, lambda p, _, mode=mode: handshakes(bench, p, mode))
        return result
