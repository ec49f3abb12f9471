"""A small Debian of its own, booted with systemd in a container without network: what a user installs into."""

import fcntl
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "packaging"
SOURCES = Path("/etc/apt/sources.list.d/debian.sources")
USER = "1000"  # nobody in particular: no group but its own
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive"}

# While its packages are at hand: what ours depends on becomes a repository of the machine's own.
FETCH = """
set -e
chroot "$1" apt-get satisfy -qy --download-only %s
mkdir -p "$1/srv/apt"
mv "$1"/var/cache/apt/archives/*.deb "$1/srv/apt/"
cd "$1/srv/apt" && dpkg-scanpackages --multiversion . >Packages 2>/dev/null
"""


class Lacking(Exception):
    """The host cannot have such a machine; the text says why."""


def run(*argv, check=True, **more):
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    assert not check or done.returncode == 0, f"{argv} ended with {done.returncode}:\n{done.stdout}"
    return done


def make_base(deb):
    """Debian's minimum with systemd: made once, copied for each machine. What the package depends on is not installed
    there, but apt finds it."""
    if os.geteuid() != 0:
        raise Lacking("a system of its own needs root")
    probe = run("unshare", "--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "true", check=False)
    if probe.returncode:
        raise Lacking(f"no namespaces here: {probe.stdout.strip()}")
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "lock", "w") as lock:  # test files run in processes of their own
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _base_with(deb)


def _base_with(deb):
    wanted = ", ".join(run("dpkg-deb", "-f", deb, field).stdout.strip() for field in ("Depends", "Recommends"))
    wanted += ", rpm"  # for the other package's scripts
    base = BUILD / "base"
    if (base / "complete").exists() and (base / "complete").read_text() == wanted:
        return base
    shutil.rmtree(base, ignore_errors=True)
    run("mmdebstrap", "--variant=minbase", "--include=systemd,systemd-sysv,dbus,logrotate",
        "--aptopt=APT::Install-Recommends \"false\"", "--customize-hook=" + FETCH % shlex.quote(wanted),
        "bookworm", base, *([SOURCES] if SOURCES.exists() else []))
    for old in base.glob("etc/apt/sources.list*/*"):
        old.unlink()
    for option in base.glob("etc/apt/apt.conf.d/99mmdebstrap"):
        option.unlink()
    (base / "etc/apt/sources.list").write_text("deb [trusted=yes] file:/srv/apt ./\n")
    run("chroot", base, "apt-get", "update", "-q")
    (base / "complete").write_text(wanted)
    return base


class Machine:
    def __init__(self, base):
        self.root = Path(tempfile.mkdtemp(prefix="turnpike-machine-", dir=BUILD))
        run("cp", "-a", "--reflink=auto", f"{base}/.", self.root)
        self.log = open(f"{self.root}.log", "w")
        self.nspawn = subprocess.Popen(
            ["systemd-nspawn", "--register=no", "--keep-unit", "--quiet", "--private-network", "--console=pipe",
             "-D", self.root, "-b"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)
        self.init = None
        try:
            self.until(self._booted, "the machine boots", 120)
        except AssertionError as error:
            said = f"no container boots here: {error}"
            self.close()
            raise Lacking(said) from None

    def _booted(self):
        children = run("ps", "--ppid", self.nspawn.pid, "-o", "pid=", check=False).stdout.split()
        if not children:
            return False
        self.init = children[0]
        state = self.run("systemctl", "is-system-running", check=False).stdout.strip()
        return state in ("running", "degraded")

    def run(self, *argv, **more):
        """A command inside, as root."""
        return run("nsenter", "-t", self.init, "-a", "--", *argv, env=ENVIRONMENT, **more)

    def user(self, *argv, **more):
        """A command inside, as anybody."""
        return run("nsenter", "-t", self.init, "-a", "-S", USER, "-G", USER, "--", *argv, env=ENVIRONMENT, **more)

    def near(self, *argv, **more):
        """A command of the host in the machine's network."""
        return run("nsenter", "-t", self.init, "-n", "--", *argv, **more)

    def curl(self, *argv, **more):
        """The host's curl in the machine's network: status on the last line of what it returns."""
        return self.near("curl", "-s", "-m", "60", "-w", "\n%{http_code}", *argv, **more).stdout

    def path(self, inside):
        """A path inside, also below the machine's own mounts, as seen from here."""
        return Path(f"/proc/{self.init}/root{inside}")

    def until(self, condition, what, timeout=60):
        end = time.monotonic() + timeout
        while not condition():
            assert self.nspawn.poll() is None, f"the machine ended: {Path(self.log.name).read_text()}"
            assert time.monotonic() < end, f"not within {timeout} s: {what}"
            time.sleep(0.1)

    def show(self, name):
        return self.run("systemctl", "show", "-P", name, "turnpike.service").stdout.strip()

    def files(self):
        """All that is on the disk and in shared memory, but for what dpkg, systemd and logs keep for themselves."""
        own = ("/var/lib/dpkg", "/var/log", "/var/cache", "/var/lib/systemd", "/var/lib/apt", "/var/lib/logrotate",
               "/tmp", "/root", "/var/tmp")
        listed = self.run("find", "/", "/dev/shm", "-xdev", "-printf", "%y %p\n").stdout.splitlines()
        return {line for line in listed if not line.split(" ", 1)[1].startswith(own)}

    def close(self):
        self.nspawn.terminate()
        try:
            self.nspawn.wait(60)
        except subprocess.TimeoutExpired:
            self.nspawn.kill()
            self.nspawn.wait()
        self.log.close()
        shutil.rmtree(self.root, ignore_errors=True)
        os.unlink(self.log.name)
