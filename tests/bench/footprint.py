"""Rows of what a proxy costs that has nothing to do: memory, and the time until it is there."""
import socket
import time

import driver
import proc

IDLE_CONNECTIONS = 2000
STARTS = 9
REQUEST = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" \
          b"Content-Length: 2\r\n\r\n{}"


def idle_connections(bench):
    """Clients that have had one answer each, and stay."""
    result = {}
    with bench.stage():
        for p in bench.start(bench.make(driver.UNDERSTANDING)):
            pids = proc.family(p.process.pid)
            before = proc.pss_bytes(pids, p.pss_without)
            with bench.load("load", p, "--connections", IDLE_CONNECTIONS, "--once") as load:
                driver.read_line(load, "begin")
                driver.read_line(load, "end")
                held = proc.pss_bytes(pids, p.pss_without)
            p.asked += IDLE_CONNECTIONS
            result[p.name] = {"connection_bytes": (held - before) / IDLE_CONNECTIONS}
        pair = bench.make(["turnpike"])[0]
        pair.workers = 2
        bench.start([pair])
        result["pair_bytes"] = proc.pss_bytes(proc.family(pair.process.pid), pair.pss_without)
    return result


def first_answer(port, process):
    """Asks until the first answer comes."""
    end = time.monotonic() + 20
    while time.monotonic() < end and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), 10) as s:
                s.sendall(REQUEST)
                if s.recv(64).startswith(b"HTTP/1.1 200"):
                    return time.monotonic()
        except OSError:
            time.sleep(0.0002)
    raise driver.BenchError(f"no answer from {process.args[0]}")


def start_time(bench):
    """From exec, which Popen waits for, to the first answer of the provider."""
    def once(name):
        p = bench.make([name])[0]
        p.at_once = True
        bench.start([p])
        begun = time.monotonic()
        try:
            return {"start_ms": (first_answer(p.port, p.process) - begun) * 1e3}
        finally:
            p.stop()
    with bench.stage():
        return {name: driver.medians([once(name) for _ in range(STARTS)]) for name in driver.NAMES}
