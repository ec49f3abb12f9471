"""Rows: independent experiments, each with a Turnpike, providers and clients of its own.

Most of a row is waiting, so the rows of a module run side by side in threads; each is still one test with a
result of its own.  A row gets a fresh table, and is looked after when it has passed: a plain request is served,
gauges are zero, descriptors are back, the log is clean, TERM ends it with 0.
"""

import concurrent.futures
import contextlib
import os
import shutil
import tempfile
import threading
import time

from . import client, credentials, provider, proxy, turnpike

SIDE_BY_SIDE = int(os.environ.get("TP_SIDE_BY_SIDE", "10"))
SLACK = float(os.environ.get("TP_SLACK", "0.3"))  # tolerance of upper bounds, seconds; more under sanitizers


class Lab:
    def __init__(self, name, allow=()):
        self.name, self.allow = name, list(allow)
        self.folder = tempfile.mkdtemp(prefix="turnpike-row-")
        self.providers, self.proxies, self.turnpikes, self.clients = [], [], [], []
        self._probe = {}

    # -- parts
    def provider(self, *steps, **how):
        made = provider.Provider(*steps, **how)
        self.providers.append(made)
        return made

    def proxy(self, *steps, **how):
        made = proxy.Proxy(*steps, **how)
        self.proxies.append(made)
        return made

    def turnpike(self, providers, config=None, start=True, allow=(), probe=True, **how):
        made = turnpike.Turnpike(providers, config, folder=self.folder, **how)
        made.allowed += self.allow + list(allow)
        self.turnpikes.append(made)
        self._probe[made] = probe and isinstance(providers, provider.Provider)
        return made.start() if start else made

    def admin(self, more=None):
        """A configuration with an admin socket in the row's folder, and with `more`."""
        return turnpike.merge({"admin": {"listen": ["unix:" + os.path.join(self.folder, "admin.sock")]}}, more or {})

    def client(self, target, **how):
        made = client.Client(getattr(target, "address", target), **how)
        self.clients.append(made)
        return made

    def post(self, target, path="/v1/chat/completions", body=None, headers=(), stream=None, **how):
        """One request on a connection of its own, closed behind it."""
        return client.post(getattr(target, "address", target), path, body, headers, stream, **how)

    def get(self, target, path="/v1/models", headers=(), **how):
        return client.ask(getattr(target, "address", target), "GET", path, headers, **how)

    def side_by_side(self, calls, limit=64):
        """Runs callables in threads; their results in order; the first failure is raised."""
        calls = list(calls)
        with concurrent.futures.ThreadPoolExecutor(max(1, min(limit, len(calls)))) as pool:
            return [future.result(120) for future in [pool.submit(call) for call in calls]]

    # -- the end of a row
    def logs(self):
        return "\n".join("log of %s:\n%s" % (made.name, made.log[-6000:]) for made in self.turnpikes)

    def check(self):
        for made in self.turnpikes:
            if made.process is None or made.process.poll() is not None:
                continue
            if self._probe[made]:
                # a model of its own: what the row left cooling or waiting is not meant
                answer = self.post(made, body=client.body_for("/v1/chat/completions", model="afterwards"),
                                   headers={"x-row": "probe"})
                assert answer.status == 200, "a plain request afterwards: %r" % answer
        for made in self.clients:
            made.close()
        for made in self.providers:
            made.stop()
            assert not made.errors, "the provider's script failed: %r" % made.errors
        for made in self.proxies:
            made.stop()
            assert not made.errors, "the proxy failed: %r" % made.errors
        addresses = {address for made in self.turnpikes for address in made.addresses}
        sent = {word for address in addresses for word in client.carried.get(address, ())}
        credentials.check(self.providers, self.turnpikes, sent)
        for made in self.turnpikes:
            if made.process is None:
                continue
            if made.process.poll() is None:
                made.check_idle()
                made.stop()
            made.check_log()

    def close(self):
        for made in self.clients:
            made.close()
        for made in self.providers + self.proxies:
            made.stop()
        for made in self.turnpikes:
            made.kill()
            made.remove_table()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def lab(name, allow=()):
    made = Lab(name, allow)
    try:
        yield made
        made.check()
    except BaseException as error:
        error.add_note(made.logs())
        raise
    finally:
        made.close()


class Rows:
    """The rows of one module.  `@rows("BU-1")` takes a function (lab); `@rows.table(...)` one row per case.
    `allow`: what may stand in the log as a warning in every row."""

    def __init__(self, allow=()):
        self.calls, self.allow = {}, allow
        self._futures = None
        self._lock = threading.Lock()

    def __call__(self, name):
        def add(function):
            assert name not in self.calls, name
            self.calls[name] = function
            return function
        return add

    def table(self, prefix, cases):
        """cases: values or {name: value}; function (lab, value)."""
        pairs = cases.items() if isinstance(cases, dict) else [(str(c), c) for c in cases]

        def add(function):
            for name, value in pairs:
                self("%s-%s" % (prefix, name))(lambda lab, value=value: function(lab, value))
            return function
        return add

    def names(self):
        return list(self.calls)

    def start(self, names):
        with self._lock:
            if self._futures is None:
                pool = concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE)
                self._futures = {name: pool.submit(self._run, name) for name in names}
                pool.shutdown(wait=False)

    def _run(self, name):
        with lab(name, self.allow) as made:
            self.calls[name](made)

    def result(self, name):
        try:
            self._futures[name].result(300)
        except BaseException as error:
            for note in getattr(error, "__notes__", ()):
                print(note)  # here, so that it is captured with the test it belongs to
            raise


def between(value, low, high, what="wait"):
    """A lower bound without tolerance, an upper one with the run's slack."""
    assert low <= value <= high + SLACK, "%s of %.3f s, not within %.3f to %.3f (+%.1f)" % (
        what, value, low, high, SLACK)


T0, T1 = (0.320, 0.480), (0.640, 0.960)
O0, O1, O2 = (1.2, 2.8), (2.7, 4.3), (5.7, 7.3)


def told(seconds):
    low = max(seconds, 1.5)
    return (low, low + 0.3)


def gaps(script, *bounds):
    found = script.gaps()
    assert len(found) == len(bounds), "%d gaps %r, %d were awaited" % (len(found), found, len(bounds))
    for index, (value, (low, high)) in enumerate(zip(found, bounds)):
        between(value, low, high, "gap %d" % index)


def quiet(script, seconds, count):
    """No send more than `count` within the next seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert len(script.sends) <= count, "a send too many: %r" % script.sends
        time.sleep(0.05)
    assert len(script.sends) == count, script.sends
