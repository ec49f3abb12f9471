#!/usr/bin/python3
"""Turnpike, nginx and HAProxy side by side: `make bench`. docs/performance.md says what is measured and why."""
import argparse
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

import driver
import footprint
import peers
import proxies
import report
import streaming
import turns

MOST_SECONDS = 600  # of a whole run with the default time; longer times have a longer limit
DEFAULT_SECONDS = 1.0

# What is said on the terminal, and the scenario. The keys are what ROWS= takes.
GROUPS = {
    "json": ("JSON POST of 300 bytes", turns.scenario(300)),
    "json16k": ("JSON POST of 16 KiB", turns.scenario(16 * 1024)),
    "json1m": ("JSON POST of 1 MiB", turns.scenario(1024 * 1024, turns.LARGE_CONNECTIONS)),
    "tls": ("TLS", turns.tls),
    "retry": ("a provider that refuses 30%", turns.retry),
    "sse": ("1000 streams", streaming.streams),
    "sse5000": ("5000 streams", streaming.many_streams),
    "latency": ("one connection", turns.latency),
    "first": ("the first token", streaming.first_token),
    "idle": ("memory of what is idle", footprint.idle_connections),
    "start": ("start", footprint.start_time),
    "scaling": ("one worker and two", streaming.scaling),
    "peers": ("gateways from npm", peers.compare),
}
SEVERAL = ("tls",)  # groups that return several scenarios
ON_DEMAND = ("peers",)
TABLE = [name for name in GROUPS if name not in ON_DEMAND]
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "performance.md"


def run(args, directory):
    bench = driver.Bench(args, directory)
    result = {"time": args.time, "versions": versions(args.turnpike), "one_cpu": bench.load_cpu == bench.proxy_cpu}
    for name in args.rows:
        text, scenario = GROUPS[name]
        print(f"bench: {text}", file=sys.stderr, flush=True)
        found = scenario(bench)
        result |= found if name in SEVERAL else {name: found}
    return result


def versions(turnpike):
    def first_line(argv):
        done = subprocess.run(argv, capture_output=True, text=True, timeout=10, check=True)
        return (done.stdout + done.stderr).splitlines()[0]
    return {"turnpike": first_line([turnpike, "--version"]), "nginx": first_line(["nginx", "-v"]),
            "haproxy": first_line(["haproxy", "-v"])}


def write_page(lines, mark):
    """Puts the lines between the two comments of that name."""
    text = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {mark}: begin -->\n", f"<!-- {mark}: end -->\n"
    front, _, rest = text.partition(begin)
    _, found, back = rest.partition(end)
    if not found:
        sys.exit(f"bench: {PAGE} has no place for the table")
    PAGE.write_text(front + begin + "\n".join(lines) + "\n" + end + back, encoding="utf-8")


def too_long(*_):
    raise driver.BenchError("the run takes too long")


def leave(*_):
    sys.exit(130)


def arguments():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--time", type=float, default=DEFAULT_SECONDS, help="seconds of each measurement (some 230 of them)")
    a.add_argument("--bin", default="build/plain/bench", help="folder of upstream, load and the like")
    a.add_argument("--turnpike", default="build/turnpike")
    a.add_argument("--json", metavar="FILE", help="write all numbers here as well")
    a.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    a.add_argument("rows", nargs="*", metavar="ROW", help=f"only these: {' '.join(GROUPS)} (default: all but the last)")
    args = a.parse_args()
    if not 0.1 <= args.time <= 60:
        a.error("--time has to be 0.1 to 60")
    args.rows = args.rows or TABLE
    if unknown := [name for name in args.rows if name not in GROUPS]:
        a.error(f"no such row: {unknown[0]}; there are {' '.join(GROUPS)}")
    if args.write and args.rows not in (TABLE, list(ON_DEMAND)):
        a.error("--write needs the whole table, or the peers alone")
    return args


def main():
    args = arguments()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    signal.signal(signal.SIGALRM, too_long)
    signal.signal(signal.SIGTERM, leave)
    signal.alarm(int(MOST_SECONDS * max(1.0, args.time / DEFAULT_SECONDS)))
    with tempfile.TemporaryDirectory(prefix="turnpike-bench-") as directory:
        os.chmod(directory, 0o755)  # nginx's worker is another user when the master is root
        try:
            result = run(args, directory)
        except (driver.BenchError, proxies.StartError) as e:
            sys.exit(f"bench: {e}")
    lines = list(report.lines(result))
    print("\n".join(lines))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)
            f.write("\n")
    if args.write:
        write_page(lines, "bench-peers" if args.rows == list(ON_DEMAND) else "bench")


if __name__ == "__main__":
    main()
