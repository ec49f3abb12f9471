"""Starts and stops what is measured: Turnpike, nginx and HAProxy, each with one worker and the same work to do."""
import ctypes
import os
import signal
import socket
import subprocess
import time

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)

NGINX = """\
worker_processes 1;
worker_rlimit_nofile 16384;
daemon off;
pid {dir}/nginx.pid;
error_log {dir}/nginx.err crit;
events {{ worker_connections 8192; }}
http {{
    access_log off;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    client_body_buffer_size 64k;  # a body that is held stays in memory, as with the others
    client_max_body_size 64m;
    keepalive_requests 100000000;
    keepalive_timeout 75s;
    tcp_nodelay on;
    upstream provider {{
        server 127.0.0.1:{upstream};
        keepalive 128;
        keepalive_requests 100000000;
    }}
    server {{
        listen 127.0.0.1:{port} {front} backlog=4096;
        {certificate}
        location / {{
            proxy_pass {scheme}://provider;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_read_timeout 300s;
        }}
    }}
    server {{
        listen 127.0.0.1:{stream_port} backlog=4096;
        location / {{
            proxy_pass http://provider;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_read_timeout 300s;
            proxy_buffering off;
        }}
    }}
}}
"""

HAPROXY = """\
global
    nbthread 1
    maxconn 8192
defaults
    mode http
    no option http-server-close
    http-reuse always
    timeout connect 10s
    timeout client 300s
    timeout server 300s
    timeout http-keep-alive 75s
frontend clients
    bind 127.0.0.1:{port} backlog 4096 {front}
    default_backend provider
backend provider
    server one 127.0.0.1:{upstream} {back}
frontend stream_clients
    bind 127.0.0.1:{stream_port} backlog 4096
    option http-no-delay
    default_backend stream_provider
backend stream_provider
    option http-no-delay  # without it an event waits for the next one
    server one 127.0.0.1:{upstream}
"""

TURNPIKE = """\
workers: {workers}
listen: {{ address: "127.0.0.1:{port}", tls: {{ {front} }} }}
providers:
  main:
    url: {scheme}://127.0.0.1:{upstream}/v1
    tls: {{ {back} }}
    keepalive: {{ max: 128 }}
log: {{ level: warn, output: {dir}/turnpike.log }}
state: {{ name: {state} }}
"""


# Plain text in, TLS out and the reverse: load and provider speak none, and what it costs is not counted.
SHIM = """\
global
    nbthread 1
    maxconn 8192
defaults
    mode tcp
    timeout connect 10s
    timeout client 300s
    timeout server 300s
"""


class StartError(Exception):
    pass


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def spawn(argv, cpu, **more):
    """A child on one CPU that ends with us, however we end."""
    def prepare():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})
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

    def __init__(self, name, directory):
        self.name = name
        self.dir = directory
        self.port = self.stream_port = free_port()
        self.process = None
        self.pss_without = None
        self.front = self.back = None  # a Certificate where TLS is spoken with clients, with the provider
        os.makedirs(directory, exist_ok=True)

    def launch(self, config, argv, cpu):
        path = os.path.join(self.dir, "config")
        with open(path, "w", encoding="utf-8") as f:
            f.write(config)
        # Warnings about a missing chroot and the like would only disturb the table; errors end the start.
        with open(os.path.join(self.dir, "output"), "wb") as out:
            self.process = spawn([a.replace("CONFIG", path) for a in argv], cpu, stdout=out, stderr=out,
                                 stdin=subprocess.DEVNULL)
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

    def stop(self):
        stop(self.process)
        self.process = None


class Nginx(Proxy):
    def start(self, upstream, cpu):
        self.stream_port = free_port()
        own = f"ssl_certificate {self.front.chain}; ssl_certificate_key {self.front.key}; " \
              "ssl_session_cache shared:s:1m;" if self.front else ""
        return self.launch(NGINX.format(dir=self.dir, port=self.port, stream_port=self.stream_port, upstream=upstream,
                                        front="ssl" if self.front else "", certificate=own,
                                        scheme="https" if self.back else "http"),
                           ["nginx", "-p", self.dir, "-c", "CONFIG", "-e", self.dir + "/nginx.err"], cpu)


class Haproxy(Proxy):
    def start(self, upstream, cpu):
        self.stream_port = free_port()
        return self.launch(HAPROXY.format(port=self.port, stream_port=self.stream_port, upstream=upstream,
                                          front=f"ssl crt {self.front.both}" if self.front else "",
                                          back=f"ssl ca-file {self.back.chain}" if self.back else ""),
                           ["haproxy", "-db", "-q", "-f", "CONFIG"], cpu)


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
        config = SHIM + f"listen provider\n    bind 127.0.0.1:{self.port} ssl crt {self.certificate.both}\n" \
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

    def __init__(self, name, directory, binary, workers=1, wrapper=()):
        super().__init__(name, directory)
        Turnpike.serial += 1
        self.binary = os.path.abspath(binary)
        self.workers = workers
        self.wrapper = list(wrapper)
        self.state = f"/turnpike-bench-{os.getpid()}-{Turnpike.serial}"
        self.pss_without = "/dev/shm" + self.state  # the table has a size of its own, and is not per worker

    def start(self, upstream, cpu):
        own = f"certificate: {self.front.chain}, key: {self.front.key}" if self.front else ""
        return self.launch(TURNPIKE.format(workers=self.workers, port=self.port, upstream=upstream, state=self.state,
                                           dir=self.dir, front=own, scheme="https" if self.back else "http",
                                           back=f"ca: {self.back.chain}" if self.back else ""),
                           self.wrapper + [self.binary, "serve", "-c", "CONFIG"], cpu)

    def is_ready(self):
        return "turnpike ready" in self.output()  # the master listens before its workers live

    def stats(self):
        return subprocess.run([self.binary, "stats", "--json", "--name", self.state], check=True, capture_output=True,
                              timeout=10).stdout

    def stop(self):
        super().stop()
        for name in (self.state, self.state + ".lock"):
            try:
                os.unlink("/dev/shm" + name)
            except FileNotFoundError:
                pass
