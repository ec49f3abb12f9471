"""What the steps of the installation's story share: the documents' commands in the machine, load, other versions."""

import contextlib
import itertools
import json
import os
import re
import threading

from harness import documents
from machine import ROOT, run

CONFIG = "/etc/turnpike/turnpike.yaml"
URL = "http://127.0.0.1:8080/v1/chat/completions"
VERSION = re.search(r"^VERSION +:= (\S+)$", (ROOT / "Makefile").read_text(), re.M).group(1)


_serial = itertools.count()


def turn(script="503,200;again"):
    """Arguments of curl for one turn, which is another request than all before."""
    return ["-H", "Content-Type: application/json", "-D", "-", "-d",
            json.dumps({"model": "sim:" + script, "messages": [{"role": "user", "content": f"hello {next(_serial)}"}]})]


class Documented:
    """Runs commands as README and guide have them: sudo's as root, all else as anybody. Tells which were not run."""

    def __init__(self, machine):
        self.machine = machine
        self.left = set(documents.of(documents.MACHINE))

    def __call__(self, command, instead=None, check=True):
        """`instead`: (what stands in the document, what it is here)."""
        assert command in documents.of(documents.MACHINE), f"not in the documents any more: {command}"
        self.left.discard(command)
        line = command.replace(*instead) if instead else command
        if line.startswith("sudo -u turnpike "):
            return self.machine.run("setpriv", "--reuid=turnpike", "--regid=turnpike", "--init-groups", "sh", "-c",
                                    line.removeprefix("sudo -u turnpike "), check=check).stdout
        if line.startswith("sudo "):
            line = re.sub(r"^sudo apt (install|remove|purge)", r"apt-get -qy \1", line).removeprefix("sudo ")
            return self.machine.run("sh", "-c", line, check=check).stdout
        return self.machine.user("sh", "-c", line, check=check).stdout


def configure(machine, **replaced):
    text = machine.path(CONFIG).read_text()
    for key, value in replaced.items():
        text, n = re.subn(rf"^{key}: .*$", f"{key}: {value}", text, flags=re.M)
        assert n == 1
    machine.path(CONFIG).write_text(text)


def patch_version(program, digit):
    """Has the program say another version, which is returned. Only the first digit changes: the linker lets shorter
    strings be the ends of longer ones."""
    said = str(digit) + VERSION[1:]
    patched, n = re.subn(rb"(?<![\d.])%s(?![\d.])" % re.escape(VERSION.encode()), said.encode(), program.read_bytes())
    assert n >= 1
    program.write_bytes(patched)
    return said


def other_version(deb, folder, package_version, digit):
    """The same package as another version, whose program says so: (file, what the program says)."""
    tree = folder / "tree"
    run("dpkg-deb", "-R", deb, tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*$", f"Version: {package_version}", control.read_text(), flags=re.M))
    said = patch_version(tree / "usr/bin/turnpike", digit)
    out = folder / f"turnpike_{package_version}_all.deb"
    run("dpkg-deb", "--root-owner-group", "-Znone", "-b", tree, out)
    return out, said


def other_rpm(folder, digit):
    """The rpm as another version, made by packaging/rpm.sh out of a tarball of that version: (file, what its program
    says). What was compiled for the Debian package is taken over."""
    built, said = folder / "built", str(digit) + VERSION[1:]
    run("cp", "-a", ROOT / f"build/deb/turnpike-{VERSION}/build", built)
    assert patch_version((built / "turnpike").resolve(), digit) == said
    run("tar", "-xzf", ROOT / f"build/turnpike-{VERSION}.tar.gz", "-C", folder)
    tree = (folder / f"turnpike-{VERSION}").rename(folder / f"turnpike-{said}")
    tarball = folder / f"turnpike-{said}.tar.gz"
    run("tar", "-czf", tarball, "-C", folder, tree.name)
    (tree / "build").mkdir()
    run("packaging/rpm.sh", tarball, said, "2026-01-01", cwd=tree,
        env={**os.environ, "BUILT": str(built), "MAINTAINER": "Tests <tests@turnpike.example.org>", "HOMEPAGE": ""})
    (out,) = (tree / "build").glob("*.rpm")
    return out, said


def install(machine, deb):
    """What apt printed. apt says of a local file what it does: also when it is an older version."""
    name = f"/root/{deb.name}"
    machine.path(name).write_bytes(deb.read_bytes())
    return machine.run("apt-get", "install", "-qy", "--allow-downgrades", name).stdout


def in_flight(machine):
    """Sends that are at the provider, as the simulator counts them."""
    log = json.loads(machine.near("curl", "-s", "http://127.0.0.1:9099/__sim/log").stdout)
    return sum(entry["end"] == "open" for entry in log)


def serving(machine):
    """(the unit's main process, the version it says it is), from the admin socket."""
    said = run("curl", "-s", "--unix-socket", machine.path("/run/turnpike/admin.sock"), "http://localhost/stats?history=1").stdout
    return machine.show("MainPID"), json.loads(said)["setup"]["version"]


def stream(machine, tokens, answers):
    """A turn that takes a tenth of a second for each token; what came of it goes to `answers`."""
    body = json.dumps({"model": f"sim:slow;first=0s;every=100ms;tokens={tokens}", "stream": True, "messages": []})
    seen = machine.curl("-N", "-H", "Content-Type: application/json", "-d", body, URL, check=False)
    answers.append("200" if seen.endswith("\n200") and "data: [DONE]" in seen else seen)


@contextlib.contextmanager
def streaming(machine, tokens):
    """A stream that began before the block and has to be whole, whenever it ends."""
    answers, had = [], in_flight(machine)
    thread = threading.Thread(target=stream, args=(machine, tokens, answers))
    thread.start()
    try:
        machine.until(lambda: in_flight(machine) > had, "the stream has begun")
        yield
    finally:
        thread.join()
    assert answers == ["200"], answers


@contextlib.contextmanager
def load(machine):
    """Turns without a pause on three clients, and a stream that lasts some seconds: none may fail."""
    over, answers = threading.Event(), []

    def client():
        while not over.is_set():
            answers.append(machine.curl(*turn(), URL, check=False)[-3:])

    threads = [threading.Thread(target=client) for _ in range(3)]
    threads.append(threading.Thread(target=stream, args=(machine, 40, answers)))
    for thread in threads:
        thread.start()
    try:
        machine.until(lambda: len(answers) >= 3, "turns are under way")
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert len(answers) > 4 and set(answers) == {"200"}, answers
