"""Starts and stops what is measured: Turnpike, nginx and HAProxy, each with as many workers and the same work to do."""
import ctypes
import json
import os
import signal
import socket
import subprocess
import time

import configs
import proc

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


class StartError(Exception):
    pass


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def spawn(argv, cpu, **more):
    """A child on one CPU (or on those of a list) that ends with us, however we end."""
    def prepare():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if cpu is not None:
            os.sched_setaffinity(0, cpu if isinstance(cpu, list) else {cpu})
    return subprocess.Popen(argv, preexec_fn=prepare, **more)


def stop(process):
    if process is None or process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_until(is_ready, process):
    end = time.monotonic() + 20
    while time.monotonic() < end and process.poll() is None:
        if is_ready():
            return
        time.sleep(0.02)
    raise StartError(f"{process.args[0]} does not start")


class Proxy:
    """One running proxy. `port` is for JSON, `stream_port` for streams (the others have options for it)."""

    asks = ()  # options of the loads for it

    def __init__(self, name, directory):
        self.name = name
        self.dir = directory
        self.port = self.stream_port = free_port()
        self.process = None
        self.pss_without = None
        self.workers = 1
        self.front = self.back = None  # a Certificate where TLS is spoken with clients, with the provider
        self.retries = False  # 503 is answered by asking again, at most three times in all
        self.at_once = False  # start() does not wait until it is ready
        self.asked = 0  # requests that it is known to have answered
        os.makedirs(directory, exist_ok=True)

    def launch(self, config, argv, cpu, **more):
        path = os.path.join(self.dir, "config")
        with open(path, "w", encoding="utf-8") as f:
            f.write(config)
        # Warnings about a missing chroot and the like would only disturb the table; errors end the start.
        with open(os.path.join(self.dir, "output"), "wb") as out:
            self.process = spawn([a.replace("CONFIG", path) for a in argv], cpu, stdout=out, stderr=out,
                                 stdin=subprocess.DEVNULL, **more)
        if self.at_once:
            return self
        try:
            wait_until(self.is_ready, self.process)
        except StartError as e:
            raise StartError(f"{e}:\n{self.output()}") from None
        return self

    def output(self):
        with open(os.path.join(self.dir, "output"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def is_ready(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def lanes(self):
        """Of each worker: the process, and the thread whose CPU time is its own."""
        return [(pid, pid) for pid in proc.family(self.process.pid)[1:]]

    def stop(self):
        stop(self.process)
        self.process = None


class Nginx(Proxy):
    def start(self, upstream, cpu):
        self.stream_port = free_port()
        own = f"ssl_certificate {self.front.chain}; ssl_certificate_key {self.front.key}; " \
              "ssl_session_cache shared:s:1m;" if self.front else ""
        server = f"server 127.0.0.1:{upstream} max_fails=0;"
        config = configs.NGINX.format(
            dir=self.dir, port=self.port, stream_port=self.stream_port, servers=server * (3 if self.retries else 1),
            workers=self.workers, reuseport="reuseport" if self.workers > 1 else "",
            retry=configs.NGINX_RETRY if self.retries else "", front="ssl" if self.front else "", certificate=own,
            scheme="https" if self.back else "http")
        return self.launch(config, ["nginx", "-p", self.dir, "-c", "CONFIG", "-e", self.dir + "/nginx.err"], cpu)


class Haproxy(Proxy):
    def start(self, upstream, cpu):
        self.stream_port = free_port()
        config = configs.HAPROXY.format(
            port=self.port, stream_port=self.stream_port, upstream=upstream, workers=self.workers,
            retry=configs.HAPROXY_RETRY if self.retries else "",
            front=f"ssl crt {self.front.both}" if self.front else "",
            back=f"ssl ca-file {self.back.chain}" if self.back else "")
        return self.launch(config, ["haproxy", "-db", "-q", "-f", "CONFIG"], cpu)

    def lanes(self):
        pid = self.process.pid
        return [(pid, int(thread)) for thread in sorted(os.listdir(f"/proc/{pid}/task"), key=int)]


class Certificate:
    """Of 127.0.0.1, signed by itself: P-256."""

    def __init__(self, directory):
        os.makedirs(directory, exist_ok=True)
        self.chain, self.key, self.both = (os.path.join(directory, name) for name in ("c.pem", "k.pem", "both.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", self.key, "-out", self.chain, "-days", "2", "-subj", "/CN=bench",
                        "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        with open(self.both, "w", encoding="utf-8") as out:
            for name in (self.chain, self.key):
                with open(name, encoding="utf-8") as part:
                    out.write(part.read())


class Shim(Proxy):
    """Speaks TLS in place of load (one port for each proxy) and provider (its own port)."""

    def __init__(self, name, directory, certificate, fronts):
        super().__init__(name, directory)
        self.certificate = certificate
        self.fronts = [(p, free_port()) for p in fronts]

    def start(self, upstream, cpu):
        config = configs.SHIM + f"listen provider\n    bind 127.0.0.1:{self.port} ssl crt {self.certificate.both}\n" \
                        f"    server one 127.0.0.1:{upstream}\n"
        for p, port in self.fronts:
            config += f"listen {p.name}{port}\n    bind 127.0.0.1:{port}\n" \
                      f"    server one 127.0.0.1:{p.port} ssl verify none\n"
        return self.launch(config, ["haproxy", "-db", "-q", "-f", "CONFIG"], cpu)

    def port_to(self, proxy):
        return next(port for p, port in self.fronts if p is proxy)


class Bare(Proxy):
    """Forwards bytes and understands nothing: what the kernel alone costs."""

    def __init__(self, name, directory, binary):
        super().__init__(name, directory)
        self.binary = os.path.abspath(binary)

    def start(self, upstream, cpu):
        return self.launch("", [self.binary, "--port", str(self.port), "--upstream", str(upstream)], cpu)


class Turnpike(Proxy):
    serial = 0

    def __init__(self, name, directory, binary, wrapper=()):
        super().__init__(name, directory)
        Turnpike.serial += 1
        self.binary = os.path.abspath(binary)
        self.wrapper = list(wrapper)
        self.state = f"/turnpike-bench-{os.getpid()}-{Turnpike.serial}"
        self.pss_without = "/dev/shm" + self.state  # the table has a size of its own, and is not per worker

    def start(self, upstream, cpu):
        own = f"certificate: {self.front.chain}, key: {self.front.key}" if self.front else ""
        config = configs.TURNPIKE.format(
            workers=self.workers, port=self.port, upstream=upstream, state=self.state, dir=self.dir, front=own,
            scheme="https" if self.back else "http", back=f"ca: {self.back.chain}" if self.back else "")
        return self.launch(config, self.wrapper + [self.binary, "serve", "-c", "CONFIG"], cpu)

    def is_ready(self):
        return "turnpike ready" in self.output()  # the master listens before its workers live

    def counters(self):
        done = subprocess.run([self.binary, "stats", "--json", "--name", self.state], check=True, capture_output=True,
                              timeout=10)
        return json.loads(done.stdout)["counters"]

    def stop(self):
        super().stop()
        for name in (self.state, self.state + ".lock"):
            try:
                os.unlink("/dev/shm" + name)
            except FileNotFoundError:
                pass
