"""The rpm's scripts, by rpm itself. The system is Debian all the same: the libraries come from apt."""

import re

import pytest

from machine import run
from story import CONFIG, URL, VERSION, configure, load, other_rpm, serving, turn

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


@pytest.fixture(scope="module")
def newer(rpm, tmp_path_factory):
    return other_rpm(tmp_path_factory.mktemp("newer"), 9)


def test_an_upgrade_to_a_higher_version_loses_no_turn(prepared, newer):
    """Unlike above the scripts of the version that goes run as well."""
    edited, (old, version) = prepared.path(CONFIG).read_text(), serving(prepared)
    assert version == VERSION
    prepared.path("/root/newer.rpm").write_bytes(newer[0].read_bytes())
    with load(prepared):
        said = prepared.run(*RPM, "-U", "/root/newer.rpm").stdout
        new, version = serving(prepared)
    assert new != old and version == newer[1] and f"process {new} of the new version serves" in said, said
    assert prepared.run("rpm", "-q", "turnpike").stdout == f"{newer[0].stem}\n"
    assert prepared.path(CONFIG).read_text() == edited and prepared.show("NRestarts") == "0"
    assert prepared.run("systemctl", "is-enabled", "turnpike").stdout == "enabled\n"
    assert prepared.curl(*turn(), URL).endswith("200")


def test_a_downgrade_loses_none_either(prepared):
    old, _ = serving(prepared)
    with load(prepared):
        said = prepared.run(*RPM, "-U", "--oldpackage", "/root/turnpike.rpm").stdout
        new, version = serving(prepared)
    assert new != old and version == VERSION, said


def test_removal_stops_it_and_takes_the_table(prepared):
    prepared.run(*RPM, "-e", "turnpike")
    state = prepared.run("systemctl", "is-active", "turnpike", check=False).stdout.strip()
    assert state == "inactive", prepared.run("journalctl", "-u", "turnpike", "-n", "40", "--no-pager").stdout
    assert not prepared.path("/usr/bin/turnpike").exists() and not prepared.path("/dev/shm/turnpike").exists()
    assert prepared.path(CONFIG + ".rpmsave").exists()
