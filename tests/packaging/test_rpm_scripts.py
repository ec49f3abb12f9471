"""The rpm's scripts, by rpm itself. The system is Debian all the same: the libraries come from apt."""

import re

import pytest

from machine import run
from story import CONFIG, URL, configure, load, serving, turn

RPM = ("rpm", "--force-debian", "--nodeps")


@pytest.fixture(scope="module")
def prepared(machine, deb, rpm):
    machine.path("/root/turnpike.rpm").write_bytes(rpm.read_bytes())
    depends = run("dpkg-deb", "-f", deb, "Depends").stdout.strip()
    machine.run("apt-get", "satisfy", "-qy", depends + ", rpm")
    return machine


def test_it_installs_and_waits_for_its_administrator(prepared):
    said = prepared.run(*RPM, "-i", "/root/turnpike.rpm").stdout
    assert not re.search("fail|error", said, re.I), said
    assert prepared.show("ActiveState") == "inactive"
    assert prepared.run("stat", "-c", "%U:%G %a", CONFIG).stdout == "root:turnpike 640\n"
    assert prepared.run("stat", "-c", "%U:%G %a", "/var/log/turnpike").stdout == "turnpike:turnpike 750\n"
    prepared.run("systemd-run", "--unit=simulator", "turnpike", "simulate", "--listen", "127.0.0.1:9099")
    configure(prepared, providers='{ main: { url: "http://127.0.0.1:9099/v1" } }')
    prepared.run("systemctl", "enable", "--now", "turnpike")
    assert prepared.curl(*turn(), URL).endswith("200")


def test_an_upgrade_replaces_what_runs(prepared):
    edited, (old, _) = prepared.path(CONFIG).read_text(), serving(prepared)
    with load(prepared):
        said = prepared.run(*RPM, "-U", "--replacepkgs", "/root/turnpike.rpm").stdout
        new, _ = serving(prepared)
    assert new != old and f"process {new} of the new version serves" in said, said
    assert prepared.path(CONFIG).read_text() == edited and prepared.show("NRestarts") == "0"


def test_removal_stops_it_and_takes_the_table(prepared):
    prepared.run(*RPM, "-e", "turnpike")
    state = prepared.run("systemctl", "is-active", "turnpike", check=False).stdout.strip()
    assert state == "inactive", prepared.run("journalctl", "-u", "turnpike", "-n", "40", "--no-pager").stdout
    assert not prepared.path("/usr/bin/turnpike").exists() and not prepared.path("/dev/shm/turnpike").exists()
    assert prepared.path(CONFIG + ".rpmsave").exists()
