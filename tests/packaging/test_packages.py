"""What the packages hold; the rpm's payload runs; the tarball's bytes."""

import contextlib
import json
import os
import re
import subprocess
import tarfile
import urllib.request

import pytest

from machine import ROOT, run

# Where the two have their own places or names for one thing.
OF_DEB_ALONE = {"/usr/share/doc/turnpike/changelog.Debian", "/usr/share/doc/turnpike/copyright",
                "/usr/share/lintian/overrides/turnpike"}
OF_RPM_ALONE = {"/usr/share/licenses/turnpike", "/usr/share/licenses/turnpike/LICENSE"}


def same_name(path):
    path = re.sub(r"\.gz$", "", path.rstrip("/"))
    path = re.sub(r"^/lib/", "/usr/lib/", path)
    path = path.replace("/zsh/vendor-completions/", "/zsh/site-functions/")
    return path.replace("/doc/turnpike/changelog", "/doc/turnpike/CHANGELOG.md") if path.endswith("changelog") else path


def listed(text):
    return {same_name(line) for line in text.splitlines()}


def test_both_packages_hold_the_same_files(deb, rpm):
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE) as dpkg:
        with tarfile.open(fileobj=dpkg.stdout, mode="r|") as tar:
            of_deb = {same_name(m.name.lstrip(".")) for m in tar if not m.isdir()}
    of_rpm = listed(run("rpm", "-qpl", rpm).stdout)
    folders = {"/usr/share/doc/turnpike", "/usr/libexec/turnpike", "/etc/turnpike", "/var/log/turnpike"}
    assert of_deb - OF_DEB_ALONE == of_rpm - OF_RPM_ALONE - folders


def test_the_configuration_of_both_is_kept_and_closed_to_others(deb, rpm):
    assert "/etc/turnpike/turnpike.yaml" in run("dpkg-deb", "-I", deb, "conffiles").stdout
    attributes = run("rpm", "-qp", "--qf", "[%{FILENAMES} %{FILEFLAGS:fflags} %{FILEMODES:perms} %{FILEGROUPNAME}\n]",
                     rpm).stdout
    assert re.search(r"^/etc/turnpike/turnpike.yaml cn -rw-r----- turnpike$", attributes, re.M), attributes


def test_who_publishes_stands_in_one_place(deb, rpm):
    """The Makefile has it; a homepage is there when it is set."""
    publisher = re.search(r"^MAINTAINER +\?= (.+)$", (ROOT / "Makefile").read_text(), re.M).group(1)
    home = re.search(r"^HOMEPAGE +\?= *(.*)$", (ROOT / "Makefile").read_text(), re.M).group(1)
    fields = run("dpkg-deb", "-f", deb, "Maintainer", "Homepage").stdout
    assert fields == f"Maintainer: {publisher}\n" + (f"Homepage: {home}\n" if home else "")
    assert run("rpm", "-qp", "--qf", "%{PACKAGER} %{URL}", rpm).stdout == f"{publisher} {home or '(none)'}"
    address = re.search(r"<(.+)>", publisher).group(1)
    known = run("git", "grep", "-l", "-F", address, cwd=ROOT, check=False).stdout.split() if (ROOT / ".git").exists() else ["Makefile"]
    assert known == ["Makefile"]


def test_patched_libevent_is_asked_for_and_no_library_that_is_not_linked(deb):
    depends = run("dpkg-deb", "-f", deb, "Depends").stdout
    assert re.findall(r"(libevent\S+) \((.*?)\)", depends) == [("libevent-core-2.1-7", ">= 2.1.12-stable-8+deb12u1")], depends


@contextlib.contextmanager
def started(*argv, ready):
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        for line in process.stdout:
            if found := re.search(ready, line):
                break
        else:
            raise AssertionError(f"{argv} ended")
        yield found.group(1)
    finally:
        process.terminate()
        process.wait(20)


def test_the_rpm_payload_runs(rpm, tmp_path):
    subprocess.run(f"rpm2cpio '{rpm}' | cpio -idm --quiet", shell=True, cwd=tmp_path, check=True)
    turnpike = str(tmp_path / "usr/bin/turnpike")
    version = re.search(r"^VERSION +:= (\S+)$", (ROOT / "Makefile").read_text(), re.M).group(1)
    assert run(turnpike, "version").stdout.startswith(f"turnpike {version}\nlibraries: libevent ")
    with started(turnpike, "simulate", "--listen", "127.0.0.1:0", ready=r"(127\.0\.0\.1:\d+)") as provider:
        config = tmp_path / "t.yaml"
        config.write_text(f"listen: 127.0.0.1:0\nworkers: 1\nproviders: {{ main: {{ url: 'http://{provider}/v1' }} }}\n"
                          f"state: {{ name: /turnpike-test-rpm-{os.getpid()} }}\n")
        with started(turnpike, "serve", "-c", str(config), ready=r"listening on (?:http://)?(127\.0\.0\.1:\d+)") as here:
            request = urllib.request.Request(
                f"http://{here}/v1/chat/completions", headers={"Content-Type": "application/json"},
                data=json.dumps({"model": "sim:503,200;again", "messages": []}).encode())
            with urllib.request.urlopen(request, timeout=20) as answer:
                assert answer.status == 200 and answer.headers["x-turnpike-sends"] == "2"
    for name in os.listdir("/dev/shm"):
        if name.startswith(f"turnpike-test-rpm-{os.getpid()}"):
            os.unlink(f"/dev/shm/{name}")


@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_no_script_of_a_package_restarts_the_server(deb, rpm, kind, tmp_path):
    if kind == "deb":
        run("dpkg-deb", "-e", deb, tmp_path)
        text = "".join(p.read_text() for p in tmp_path.iterdir() if p.name in ("postinst", "preinst", "prerm"))
    else:
        text = run("rpm", "-qp", "--scripts", rpm).stdout
    assert not re.search(r"\b(try-)?restart\b", text), text


def sum_of(tarball):
    return run("sha256sum", tarball).stdout.split()[0]


def test_the_tarball_has_the_same_bytes_each_time(tmp_path):
    made = re.search(r"build/\S+\.tar\.gz", run("make", "-s", "dist", cwd=ROOT).stdout).group(0)
    first = sum_of(ROOT / made)
    run("make", "-s", "dist", cwd=ROOT)
    assert sum_of(ROOT / made) == first
    # and out of itself: in another folder, without git, at another time, in another zone, under another umask
    run("tar", "-xzf", ROOT / made, "-C", tmp_path)
    (inside,) = tmp_path.iterdir()
    run("sh", "-c", "umask 077; chmod -R go= .; find . -exec touch -d 2001-02-03 {} +; make -s dist", cwd=inside,
        env=dict(os.environ, TZ="Asia/Tokyo", LC_ALL="C"))
    assert sum_of(inside / made) == first
