"""A small Debian of its own, booted with systemd in a container without network: what a user installs into."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "packaging"
SOURCES = Path("/etc/apt/sources.list.d/debian.sources")


def run(*argv, check=True, **more):
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    assert not check or done.returncode == 0, f"{argv} ended with {done.returncode}:\n{done.stdout}"
    return done


def make_base(deb):
    """Debian's minimum, systemd, and what the package depends on: made once, copied for each machine."""
    base = BUILD / "base"
    if (base / "complete").exists():
        return base
    shutil.rmtree(base, ignore_errors=True)
    base.parent.mkdir(parents=True, exist_ok=True)
    run("debootstrap", "--variant=minbase", "--include=systemd,systemd-sysv,dbus,ca-certificates,logrotate",
        "bookworm", base)
    if SOURCES.exists():  # the security updates, too
        shutil.copy(SOURCES, base / "etc/apt/sources.list.d/")
        (base / "etc/apt/sources.list").unlink(missing_ok=True)
    run("chroot", base, "apt-get", "update", "-q")
    depends = run("dpkg-deb", "-f", deb, "Depends").stdout
    run("chroot", base, "apt-get", "satisfy", "-qy", "--no-install-recommends", depends)
    (base / "complete").touch()
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
        self.until(self._booted, "the machine boots", 60)

    def _booted(self):
        children = run("ps", "--ppid", self.nspawn.pid, "-o", "pid=", check=False).stdout.split()
        if not children:
            return False
        self.init = children[0]
        state = self.run("systemctl", "is-system-running", check=False).stdout.strip()
        return state in ("running", "degraded")

    def run(self, *argv, **more):
        """A command inside."""
        return run("nsenter", "-t", self.init, "-a", "--", *argv, **more)

    def curl(self, *argv, **more):
        """The host's curl in the machine's network: status on the last line of what it returns."""
        return run("nsenter", "-t", self.init, "-n", "--", "curl", "-s", "-m", "20", "-w", "\n%{http_code}", *argv,
                   **more).stdout

    def path(self, inside):
        """A path inside, also below the machine's own mounts, as seen from here."""
        return Path(f"/proc/{self.init}/root{inside}")

    def until(self, condition, what, timeout=20):
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
            self.nspawn.wait(30)
        except subprocess.TimeoutExpired:
            self.nspawn.kill()
            self.nspawn.wait()
        self.log.close()
        shutil.rmtree(self.root, ignore_errors=True)
        os.unlink(self.log.name)
