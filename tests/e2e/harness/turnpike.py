"""Turnpike as a process: starts it, watches it, and looks after a test for what it left behind."""

import atexit
import collections
import contextlib
import ctypes
import itertools
import json
import mmap
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BINARY = os.path.abspath(os.environ.get("TURNPIKE_BIN", os.path.join(ROOT, "build", "turnpike")))
ADMIN = "turnpike-admin"  # what the admin process calls itself
READY = "turnpike ready: listening on "
LEVEL = re.compile(r"^\S+Z (error|warn|info|debug) ([^\[]+)\[(\d+)\]: (.*)$")
SANITIZER = re.compile(r"ERROR: \w+Sanitizer|runtime error:|WARNING: ThreadSanitizer|SUMMARY: \w+Sanitizer")
AS_ROOT = r"\broot\b"  # `serve` warns once when it runs as root
GAUGES = ("clients", "turns", "sends", "waiting", "pooled")

_numbers = itertools.count(1)
_running = {}


@atexit.register
def _kill_leftovers():
    for process in list(_running.values()):
        with contextlib.suppress(ProcessLookupError, OSError):
            for pid in children(process.pid):
                os.kill(pid, signal.SIGKILL)
            process.kill()


def yaml(value, indent=0):
    """Block YAML of dicts, lists and scalars; strings always quoted."""
    pad = "  " * indent
    if isinstance(value, dict):
        if not value:
            return " {}\n"
        out = "\n" if indent else ""
        for key, item in value.items():
            out += "%s%s:%s" % (pad, json.dumps(key) if not re.fullmatch(r"[a-z_0-9]+", key) else key,
                                yaml(item, indent + 1))
        return out
    if isinstance(value, (list, tuple)):
        if not value:
            return " []\n"
        return "\n" + "".join("%s-%s" % (pad, _item(item, indent)) for item in value)
    if isinstance(value, bool):
        return " true\n" if value else " false\n"
    if isinstance(value, (int, float)):
        return " %s\n" % value
    return " %s\n" % json.dumps(value)


def _item(item, indent):
    if isinstance(item, dict):
        return " " + json.dumps(item) + "\n"  # flow style: JSON is YAML
    return yaml(item, indent + 1)


def merge(base, over):
    out = dict(base)
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(out.get(key), dict):
            out[key] = merge(out[key], value)
        else:
            out[key] = value
    return out


def children(pid):
    out = []
    for thread in glob_tasks(pid):
        with contextlib.suppress(OSError):
            with open("/proc/%d/task/%s/children" % (pid, thread)) as file:
                out += [int(word) for word in file.read().split()]
    return out


def glob_tasks(pid):
    try:
        return os.listdir("/proc/%d/task" % pid)
    except OSError:
        return []


def descriptors(pid):
    out = collections.Counter()
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc/%d/fd" % pid):
            with contextlib.suppress(OSError):
                out[re.sub(r"\d+", "N", os.readlink("/proc/%d/fd/%s" % (pid, name)))] += 1
    return out


def resident(pid):
    """Private resident bytes (what the shared table does not count for)."""
    with open("/proc/%d/smaps_rollup" % pid) as file:
        return sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Private_Dirty:"))


def name_of(pid):
    try:
        with open("/proc/%d/comm" % pid) as file:
            return file.read().strip()
    except OSError:
        return ""


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


_refusing = []  # sockets that keep those ports from anybody else


def refusing_port():
    """A port at which connections are refused for as long as this process lives."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    _refusing.append(taken)
    return taken.getsockname()[1]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def until(condition, timeout, what, step=0.02):
    """Polls until the condition holds; its last value.  Fails in plain words."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("not within %.1f s: %s" % (timeout, what() if callable(what) else what))
        time.sleep(step)


class Heir:
    """A master that another one has started: a process of ours once that one is gone. As much of Popen as is needed."""

    def __init__(self, pid):
        self.pid, self.returncode = pid, None

    def poll(self):
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self.returncode = os.waitstatus_to_exitcode(status)
            except ChildProcessError:  # another one's child, still
                if not alive(self.pid) and not os.path.exists("/proc/%d" % self.pid):
                    self.returncode = -1
        return self.returncode

    def wait(self, timeout):
        end = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("heir", timeout)
            time.sleep(0.02)
        return self.returncode

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def become_subreaper():
    """Orphans of our children become ours, with their exit status."""
    PR_SET_CHILD_SUBREAPER = 36
    assert ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


class Stats(dict):
    """Counters by name, and those gauges that no counter shares its name with; `gauges` has them all."""

    def __init__(self, tree):
        self.gauges = dict(tree["gauges"])
        super().__init__(self.gauges, **tree["counters"])


def preloaded(folder, name):
    """The environment that preloads harness/NAME.c."""
    library = os.path.join(folder, name + ".so")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library,
                    os.path.join(os.path.dirname(__file__), name + ".c")], check=True)
    return {"LD_PRELOAD": library, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}


class FailingMalloc:
    """Allocations of one process that fail, for processes started with `env`."""
    NEXT = -1  # as a pid: the process that is started next

    def __init__(self, folder):
        file = os.path.join(folder, "malloc")
        with open(file, "wb") as out:
            out.write(bytes(40))
        self.env = dict(preloaded(folder, "failing_malloc"), TP_FAILING_MALLOC=file)
        with open(file, "r+b") as both:
            self.words = memoryview(mmap.mmap(both.fileno(), 40)).cast("q")  # see failing_malloc.c

    def arm(self, pid, first, times):
        """Of the process's allocations from now on the first, second ... one fails, and those behind it."""
        self.words[1] = 0
        self.words[0], self.words[2], self.words[3], self.words[4] = pid, times, 0, 0
        self.words[1] = first

    def disarm(self):
        """How many there were, and how many failed."""
        self.words[1] = 0
        return self.words[3], self.words[4]


class ShiftedClock:
    """A CLOCK_BOOTTIME that a test can put forward, and a time of day, for processes started with `env`."""

    def __init__(self, folder):
        self.file = os.path.join(folder, "clock")
        self.seconds = self.wall = 0
        self.shift(0)
        self.env = dict(preloaded(folder, "clock_shift"), TP_CLOCK_SHIFT=self.file)

    def shift(self, seconds, wall=0):
        self.seconds += seconds
        self.wall += wall
        with open(self.file, "r+b" if os.path.exists(self.file) else "wb") as out:
            out.write(self.seconds.to_bytes(8, "little") + self.wall.to_bytes(8, "little", signed=True))


class Turnpike:
    def __init__(self, providers, config=None, folder=None, name=None, env=None, text=None, arguments=()):
        """providers: one Provider or url, or {name: Provider or url or mapping}.  config: overrides.
        text: the whole file instead."""
        self.folder = folder or tempfile.mkdtemp(prefix="turnpike-e2e-")
        self.name = name or "/turnpike-test-%d-%d" % (os.getpid(), next(_numbers))
        if not isinstance(providers, dict):
            providers = {"p": providers}
        base = {"workers": 2, "listen": "127.0.0.1:0", "state": {"name": self.name},
                "providers": {key: value if isinstance(value, dict) else {"url": _url(value)}
                              for key, value in providers.items()}}
        self.config = merge(base, config or {})
        self.file = os.path.join(self.folder, "turnpike-%s.yaml" % self.name.strip("/"))
        with open(self.file, "w") as out:
            out.write(text if text is not None else yaml(self.config))
        self.written = yaml(self.config) if text is None else None  # None: `config` does not say what is in it
        self.allowed = [AS_ROOT]  # regular expressions of warnings a test expects
        self.env = dict(os.environ, **(env or {}))
        self.arguments = list(arguments)
        self.binary = None  # what start() runs; BINARY as it is then
        self.prefix = []  # of commands that read its table: it may belong to another user
        self.process = None
        self.replaced = []  # earlier masters, see upgrade()
        self.lines = []
        self.addresses = []
        self.admins = []  # of the admin endpoints
        self.base_descriptors = {}
        self.lost = 0  # turns that may have died with a worker that the test killed: they have no outcome

    # -- life
    def start(self, timeout=20.0):
        assert os.access(BINARY, os.X_OK), "no %s: build it, or set TURNPIKE_BIN" % BINARY
        self.process = subprocess.Popen([self.binary or BINARY, "serve", "-c", self.file, *self.arguments], env=self.env,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, start_new_session=True)
        _running[self.process.pid] = self.process
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, args=(self.process,), daemon=True)
        self._reader.start()
        end = time.monotonic() + timeout
        while not self._ready.wait(0.01):
            if self.process.poll() is not None:
                self._reader.join(2)
                raise AssertionError("serve ended with %s:\n%s" % (self.process.returncode, self.log))
            if time.monotonic() > end:
                raise AssertionError("serve was not ready within %.0f s:\n%s" % (timeout, self.log))
        until(lambda: len(self.workers()) >= self.config["workers"], 5,
              lambda: "%d workers:\n%s" % (self.config["workers"], self.log))
        self.base_descriptors = {pid: self.settled(pid) for pid in self.workers()}
        return self

    def _read(self, process):
        for raw in process.stdout:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            self.lines.append(line)
            if READY in line:
                self.admins = [_address(word) for part in line.split("; admin on ")[1:]
                               for word in part.split("; ")[0].split(", ")]
                self.addresses = [_address(word) for word in
                                  re.findall(r"(?:https?://|unix:)[^\s,;]+",
                                             line.split(READY)[1].split("; ")[0])]
                self._ready.set()

    @staticmethod
    def settled(pid, quiet=0.1):
        """Descriptors once they stand still: a worker opens its own just after the fork."""
        last = descriptors(pid)
        end = time.monotonic() + 2
        while time.monotonic() < end:
            time.sleep(quiet)
            now = descriptors(pid)
            if now == last:
                break
            last = now
        return last

    @property
    def log(self):
        return "\n".join(self.lines)

    @property
    def pid(self):
        return self.process.pid

    @property
    def address(self):
        return self.addresses[0]

    def workers(self):
        return sorted(pid for pid in children(self.pid) if not name_of(pid).startswith("turnpike-"))

    def admin_process(self):
        """Pid, or None."""
        return next((pid for pid in children(self.pid) if name_of(pid) == ADMIN), None)

    def signal(self, number):
        os.kill(self.pid, number)

    def wait_exit(self, timeout=15.0):
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError("serve did not end within %.1f s:\n%s" % (timeout, self.log[-4000:]))
        self._reader.join(3)
        _running.pop(self.process.pid, None)
        return status

    def stop(self, timeout=15.0):
        """TERM; exit 0."""
        for process in self.replaced:
            process.wait(timeout)
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        status = self.wait_exit(timeout)
        assert status == 0, "serve ended with %s:\n%s" % (status, self.log[-4000:])

    def kill(self):
        if self.process is None:
            return
        pids = [] if self.process.poll() is not None else children(self.pid)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(5)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in [self.process] + self.replaced:
            if process.poll() is None:
                process.kill()
            _running.pop(process.pid, None)

    def other_layout(self, more=1):
        """The table looks like one of another version to whoever attaches."""
        with open("/dev/shm" + self.name, "r+b") as table:
            table.seek(8)
            version = struct.unpack("I", table.read(4))[0]
            table.seek(8)
            table.write(struct.pack("I", version + more))

    def remove_table(self):
        """What it left in /dev/shm, by its own name only."""
        for name in os.listdir("/dev/shm"):
            if name == self.name.strip("/") or name.startswith(self.name.strip("/") + "."):
                with contextlib.suppress(OSError):
                    os.unlink("/dev/shm/" + name)

    def holder(self):
        """The master that says it has the instance lock."""
        with open("/dev/shm%s.lock" % self.name) as file:
            return int(file.read() or 0)

    def upgrade(self, timeout=30.0):
        """USR2; returns the old master, which is still there or not, once the new one is ready."""
        become_subreaper()
        old, before = self.process, self.log.count(READY)
        self.signal(signal.SIGUSR2)
        until(lambda: self.log.count(READY) > before, timeout, lambda: "a new master:\n" + self.log[-4000:])
        self.adopt(self.holder())
        return old

    def adopt(self, pid):
        """That process is the master now."""
        assert pid != self.pid, self.log[-4000:]
        self.replaced.append(self.process)
        self.process = _running[pid] = Heir(pid)
        until(lambda: len(self.workers()) >= self.config["workers"], 5, "workers of the new master")

    # -- what it says
    def stats(self):
        """Counters and gauges by name."""
        done = subprocess.run([*self.prefix, BINARY, "stats", "--json", "--name", self.name], capture_output=True, timeout=20)
        assert done.returncode == 0, "stats: %r" % (done.stderr or done.stdout)
        return Stats(json.loads(done.stdout))

    def final_stats(self, timeout=3.0):
        """The same once no turn is in progress: a turn is counted a moment after its client has the last byte."""
        return until(lambda: (lambda stats: not stats.gauges["turns"] and stats)(self.stats()), timeout,
                     "no turn in progress")

    def counted(self, timeout=3.0, **numbers):
        """Each of these counters or gauges comes to its number."""
        last = [None]

        def there():
            last[0] = self.stats()
            return all(last[0][name] == number for name, number in numbers.items())

        until(there, timeout, lambda: "%r: %r" % (numbers, {name: last[0][name] for name in numbers}))

    def sends_counted(self, stats=None):
        return sum(v for k, v in (stats or self.stats()).items() if k.startswith("sends_"))

    # -- looking after it
    def bad_lines(self):
        out = []
        for line in self.lines:
            match = LEVEL.match(line)
            if SANITIZER.search(line):
                out.append(line)
            elif match and match[1] in ("error", "warn"):
                if not any(re.search(pattern, match[4]) for pattern in self.allowed):
                    out.append(line)
        return out

    def check_log(self):
        bad = self.bad_lines()
        assert not bad, "lines of the log that nobody expected:\n" + "\n".join(bad)

    def check_idle(self, timeout=5.0):
        """Gauges at zero, descriptors of living workers back to where they began."""
        last = [None]

        def zero():
            last[0] = self.stats()
            return not any(last[0].gauges[gauge] for gauge in GAUGES)

        until(zero, timeout, lambda: "gauges at zero: %r" % last[0].gauges, step=0.05)
        stats = last[0]
        done = sum(stats["turns_" + end] for end in ("ok", "error", "refused", "cut", "gone", "bad"))
        assert 0 <= stats["turns"] - done <= self.lost, "outcomes do not add up to turns: %r" % stats
        for pid, base in self.base_descriptors.items():
            if alive(pid):
                until(lambda: descriptors(pid) == base, timeout,
                      lambda: "descriptors of %d: %r more, %r fewer" % (
                          pid, descriptors(pid) - base, base - descriptors(pid)))


def _url(provider):
    return provider if isinstance(provider, str) else provider.url()


def _address(word):
    if word.startswith("unix:"):
        return word[len("unix:"):]
    match = re.match(r"https?://(?:\[(.*)\]|([^:/]*)):(\d+)", word)
    return (match[1] or match[2], int(match[3]))


def run(*arguments, timeout=30):
    """A short command of the binary."""
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=timeout)
