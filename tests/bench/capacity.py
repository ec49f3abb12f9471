#!/usr/bin/python3
"""Many clients, a provider that serves few at once: `make bench-capacity`. docs/performance.md says what is measured.

A provider serves 8 requests at once, 500 ms each, and refuses the rest with 429. 100 clients in a closed loop ask it:
directly, through Turnpike with retries only, with `capacity.limit: 8`, with `auto`, and through HAProxy with `maxconn 8`.
"""
import argparse
import asyncio
import json
import multiprocessing
import os
import sys
import tempfile
import time

import proxies

SERVED, SECONDS, CLIENTS = 8, 0.5, 100
IDEAL_RATE = SERVED / SECONDS
IDEAL_WAIT = CLIENTS / IDEAL_RATE  # of a client that is served in turn
LEARNING = 10.0  # seconds in which `auto` may be refused more often
REFUSAL = b'{"error":{"message":"too many requests at once","type":"rate_limit_error","code":null}}'
ANSWER = b'{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"ok"}}]}'

TURNPIKE = """\
workers: 2
listen: 127.0.0.1:{port}
providers:
  main:
    url: http://127.0.0.1:{upstream}/v1
    capacity: {{ limit: {limit} }}
log: {{ level: warn, output: {dir}/turnpike.log }}
state: {{ name: {state} }}
"""

HAPROXY = """\
global
    nbthread 1
defaults
    mode http
    option http-server-close
    timeout connect 10s
    timeout client 300s
    timeout server 300s
    timeout queue 300s
frontend clients
    bind 127.0.0.1:{port}
    default_backend provider
backend provider
    server one 127.0.0.1:{upstream} maxconn 8
"""


class Limited(proxies.Turnpike):
    def __init__(self, name, directory, binary, limit):
        super().__init__(name, directory, binary)
        self.limit = limit

    def start(self, upstream, cpu):
        return self.launch(TURNPIKE.format(port=self.port, upstream=upstream, limit=self.limit, state=self.state,
                                           dir=self.dir), [self.binary, "serve", "-c", "CONFIG"], cpu)


class Queueing(proxies.Haproxy):
    def start(self, upstream, cpu):
        return self.launch(HAPROXY.format(port=self.port, upstream=upstream),
                           ["haproxy", "-db", "-q", "-f", "CONFIG"], cpu)


async def read_message(reader):
    """(first line, header fields, body) of a request or an answer with a Content-Length."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    fields = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in head[1:] if line)}
    return head[0], fields, await reader.readexactly(int(fields.get("content-length", 0)))


class Provider:
    def __init__(self):
        self.inside = self.most = 0
        self.sends = []  # (time, refused)

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=1024)
        return self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        try:
            while True:
                await read_message(reader)
                refused = self.inside >= SERVED
                self.sends.append((time.monotonic(), refused))
                if refused:
                    head, body = (b"429 Too Many Requests\r\nRetry-After: 1\r\nX-Codex-Model-Capacity: %d/%d"
                                  % (SERVED, SERVED)), REFUSAL
                else:
                    self.inside += 1
                    self.most = max(self.most, self.inside)
                    try:
                        await asyncio.sleep(SECONDS)
                    finally:
                        self.inside -= 1
                    head, body = b"200 OK", ANSWER
                writer.write(b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                             % (head, len(body), body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def client(number, port, turns):
    """A closed loop. After a failure it does what its answer says, as SDKs do: it waits for the Retry-After."""
    reader = writer = None
    for serial in range(10**9):
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": f"{number} {serial}"}]}).encode()
        begun, status, wait = time.monotonic(), 0, 1
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                         b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            line, fields, _ = await read_message(reader)
            status, wait = int(line.split()[1]), int(fields.get("retry-after", 1))
        except (asyncio.IncompleteReadError, OSError):
            writer = None
        turns.append((begun, time.monotonic(), status))
        if status != 200:
            await asyncio.sleep(wait)


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))] if values else 0.0


def numbers(provider, turns, begun, seconds):
    end = begun + seconds
    ended = [turn for turn in turns if turn[1] <= end]
    good = [b - a for a, b, status in ended if status == 200]
    sends = [send for send in provider.sends if send[0] <= end]
    late = [refused for at, refused in sends if at >= begun + LEARNING]
    return {
        "throughput": len(good) / seconds, "p50": quantile(good, 0.5), "p95": quantile(good, 0.95),
        "failures": len(ended) - len(good), "turns": len(ended), "sends": len(sends),
        "refused": sum(refused for _, refused in sends),
        "refused_late_percent": 100 * sum(late) / len(late) if late else 0.0,
        "sends_per_turn": len(sends) / len(ended) if ended else 0.0, "most_at_once": provider.most,
    }


async def measure(proxy, seconds):
    provider, turns = Provider(), []
    port = await provider.start()
    try:
        if proxy is not None:
            await asyncio.get_running_loop().run_in_executor(None, proxy.start, port, None)
            port = proxy.port
        begun = time.monotonic()
        clients = [asyncio.create_task(client(n, port, turns)) for n in range(CLIENTS)]
        await asyncio.sleep(seconds)
        for task in clients:
            task.cancel()
        return numbers(provider, turns, begun, seconds)
    finally:
        if proxy is not None:
            proxy.stop()


def scenario(job):
    name, seconds, binary, directory = job
    place = os.path.join(directory, name.replace(" ", "-").replace(":", ""))
    made = {"direct": lambda: None,
            "retries only": lambda: Limited(name, place, binary, "off"),
            "capacity: 8": lambda: Limited(name, place, binary, SERVED),
            "capacity: auto": lambda: Limited(name, place, binary, "auto"),
            "HAProxy maxconn 8": lambda: Queueing(name, place)}[name]()
    return name, asyncio.run(measure(made, seconds))


NAMES = ["direct", "retries only", "capacity: 8", "capacity: auto", "HAProxy maxconn 8"]


def verdicts(result):
    for name in ("capacity: 8", "capacity: auto"):
        n = result[name]
        yield f"{name}: failures 0", n["failures"] == 0
        yield f"{name}: throughput >= {0.97 * IDEAL_RATE:.2f}/s", n["throughput"] >= 0.97 * IDEAL_RATE
        yield f"{name}: p95 <= {1.15 * IDEAL_WAIT:.2f} s", n["p95"] <= 1.15 * IDEAL_WAIT
    yield (f"capacity: auto: at most 1% refused after {LEARNING:.0f} s",
           result["capacity: auto"]["refused_late_percent"] <= 1)


def table(result):
    lines = ["| | answers/s | p50 | p95 | failures | refused sends | after 10 s | sends per turn |",
             "|---|---|---|---|---|---|---|---|"]
    for name in NAMES:
        n = result[name]
        label = "Turnpike, " + name if name.startswith(("retries", "capacity")) else name
        lines.append(f"| {label} | {n['throughput']:.2f} | {n['p50']:.2f} s | {n['p95']:.2f} s | {n['failures']} | "
                     f"{n['refused']} | {n['refused_late_percent']:.1f}% | {n['sends_per_turn']:.2f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time", type=float, default=60.0, help="seconds of each measurement; all run at once")
    parser.add_argument("--turnpike", default="build/turnpike")
    parser.add_argument("--out", default="build", help="folder for capacity.json and capacity.md")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="turnpike-capacity-") as directory:
        # Side by side: together they need a small part of one CPU.
        with multiprocessing.Pool(len(NAMES)) as pool:
            result = dict(pool.map(scenario, [(n, args.time, args.turnpike, directory) for n in NAMES], 1))
    text = table(result)
    print(text)
    missed = 0
    for what, holds in verdicts(result):
        print(f"{'met   ' if holds else 'MISSED'}  {what}")
        missed += not holds
    with open(os.path.join(args.out, "capacity.json"), "w", encoding="utf-8") as f:
        json.dump({"seconds": args.time, **result}, f, indent=1)
    with open(os.path.join(args.out, "capacity.md"), "w", encoding="utf-8") as f:
        f.write(text + "\n")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
