#!/usr/bin/python3
"""User-space instructions of one Turnpike worker for one small JSON turn: `make bench-instructions`.

Two runs under callgrind with different numbers of requests over one connection; the difference leaves start and end out.
Unlike CPU time the number hardly depends on what else the machine does. The kernel's part is not in it.
With --expected (`make bench-instructions-check`) it fails when the number is above the one in that file by more than 10 %.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

import proc
import proxies

REQUESTS = (300, 1300)
TOLERANCE = 0.10  # libc and compiler of another Debian 12 machine take other paths
TIMEOUT = 100  # seconds for one run


def worker_total(directory, worker):
    for path in glob.glob(os.path.join(directory, f"callgrind.{worker}*")):
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                found = re.match(r"(?:summary|totals): (\d+)", line)
                if found:
                    return int(found.group(1))
    sys.exit("bench-instructions: callgrind wrote no total for the worker")


def run_once(args, upstream_port, requests, keep):
    with tempfile.TemporaryDirectory(prefix="turnpike-bench-") as directory:
        where = keep or directory
        wrapper = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={where}/callgrind.%p",
                   f"--log-file={directory}/valgrind.%p")
        turnpike = proxies.Turnpike("turnpike", directory, args.turnpike, wrapper=wrapper)
        try:
            turnpike.start(upstream_port, None)
            worker = proc.family(turnpike.process.pid)[1]
            subprocess.run([os.path.join(args.bin, "load"), "--port", str(turnpike.port), "--body", args.body,
                            "--requests", str(requests)],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, timeout=TIMEOUT)
        finally:
            turnpike.stop()
        return worker_total(where, worker)


def check(result, path):
    with open(path, encoding="utf-8") as f:
        expected = int(f.read())
    if result > expected * (1 + TOLERANCE):
        sys.exit(f"bench-instructions: {result} instructions for one turn, expected {expected} (+10 %)")
    if result < expected * (1 - TOLERANCE):
        print(f"bench-instructions: 10 % below what is expected ({expected}): write the new number to {path}")


def main():
    a = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    a.add_argument("--bin", default="build/plain/bench")
    a.add_argument("--turnpike", default="build/turnpike")
    a.add_argument("--body", default="300", help="bytes of a request's body")
    a.add_argument("--keep", metavar="DIRECTORY", help="leave callgrind's files here, for callgrind_annotate")
    a.add_argument("--expected", metavar="FILE", help="holds one number; fail when the result is 10 %% above it")
    args = a.parse_args()
    upstream = proxies.spawn([os.path.join(args.bin, "upstream")], None, stdout=subprocess.PIPE, text=True)
    try:
        port = int(upstream.stdout.readline().split()[1])
        few, many = (run_once(args, port, n, args.keep if n == REQUESTS[1] else None) for n in REQUESTS)
    except (proxies.StartError, subprocess.SubprocessError) as e:
        sys.exit(f"bench-instructions: {e}")
    finally:
        proxies.stop(upstream)
    result = (many - few) // (REQUESTS[1] - REQUESTS[0])
    print(result)
    if args.expected:
        check(result, args.expected)


if __name__ == "__main__":
    main()
