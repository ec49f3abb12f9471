"""From `apt install` to a running service, other versions under load, and out again, by README's and the guide's own
commands. One story: the tests run in order."""

import json
import re

import pytest

from harness import documents
from machine import run
from story import (CONFIG, URL, VERSION, Documented, configure, install, load, other_version, serving, streaming,
                   turn)


@pytest.fixture(scope="module")
def before(machine):
    return machine.files()


@pytest.fixture(scope="module")
def documented(machine):
    return Documented(machine)


def test_apt_installs_a_service_that_says_what_it_lacks(machine, deb, before, documented):
    (machine.path("/root") / deb.name).write_bytes(deb.read_bytes())
    said = documented("sudo apt install ./build/turnpike_*.deb", instead=("./build", "/root"))
    assert "libevent-core" in said and "libyaml" in said  # apt found and installed them
    machine.until(lambda: machine.show("ActiveState") == "active", "the service starts")
    answer = machine.curl(*turn(), URL)
    assert answer.endswith("503") and "no provider configured" in answer
    # the configuration may hold keys
    assert machine.run("stat", "-c", "%U:%G %a", CONFIG).stdout == "root:turnpike 640\n"
    assert machine.user("turnpike", "version").stdout.startswith(f"turnpike {VERSION}\nlibraries: libevent 2.1.12")


def test_one_line_makes_it_work(machine, documented):
    machine.run("systemd-run", "--unit=simulator", "turnpike", "simulate", "--listen", "127.0.0.1:9099")
    (line,) = [text for text in documents.blocks("README.md", "yaml") if text.startswith("providers: { main:")]
    url = re.search(r"https://[^\"]+", line).group(0)
    text = machine.path(CONFIG).read_text()
    assert text.count("\nproviders: {}\n") == 1
    machine.path(CONFIG).write_text(text.replace("providers: {}\n", line.replace(url, "http://127.0.0.1:9099/v1")))
    assert "main (http://127.0.0.1:9099/v1): good: it can be reached" in documented("sudo turnpike check --connect")
    documented("sudo turnpike check")
    pid = machine.show("MainPID")
    documented("sudo systemctl reload turnpike")  # it has been taken over when this returns
    assert machine.show("MainPID") == pid
    answer = machine.curl(*turn(), URL)
    assert answer.endswith("200") and re.search(r"^x-turnpike-sends: 2", answer, re.M | re.I), answer


def test_it_runs_as_its_user_without_privileges(machine):
    status = machine.path(f"/proc/{machine.show('MainPID')}/status").read_text()
    user = machine.run("id", "-u", "turnpike").stdout.strip()
    assert re.search(rf"^Uid:\t{user}\t", status, re.M)
    assert re.search(r"^CapEff:\t0+$", status, re.M) and re.search(r"^NoNewPrivs:\t1$", status, re.M)
    assert re.search(r"^Seccomp:\t2$", status, re.M)
    # the file system is read only but for its own folders, and there is no home
    mounts = machine.path(f"/proc/{machine.show('MainPID')}/mountinfo").read_text()
    at = {line.split()[4]: line.split()[5].split(",")[0] for line in mounts.splitlines()}
    assert at["/"] == "ro" and at["/var/lib/turnpike"] == "rw" and "/tmp" in at, mounts


def test_commands_of_the_documents_show_the_service(machine, documented):
    assert "turns" in documented("sudo -u turnpike turnpike stats")
    assert json.loads(documented("sudo -u turnpike turnpike stats --json"))["counters"]["turns_ok"] >= 1
    for command in ("cooldown list", "cooldown clear", "blacklist list", "blacklist clear"):
        documented(f"sudo -u turnpike turnpike {command}")
    assert "http://127.0.0.1:9099/v1" in documented("sudo turnpike config --effective")
    for command in ("sudo journalctl -u turnpike", "sudo journalctl -u turnpike -n 20"):
        assert "no provider configured" in documented(command)
    # the id of an answer leads to its lines
    answer = machine.curl(*turn("400"), URL)
    request = re.search(r"^x-turnpike-request-id: (\S+)", answer, re.M | re.I).group(1)
    assert "400" in documented("sudo journalctl -u turnpike -g REQUEST_ID", instead=("REQUEST_ID", request))
    # without sudo the reason is told
    for argv in (("check",), ("stats",)):
        said = machine.user("turnpike", *argv, check=False)
        assert said.returncode == 1 and ("ermission denied" in said.stdout or "another user" in said.stdout), said.stdout
    socket = machine.path("/run/turnpike/admin.sock")
    assert run("curl", "-s", "--unix-socket", socket, "-o", "/dev/null", "-w", "%{http_code}",
               "http://localhost/readyz").stdout == "200"


def test_a_turn_through_tls_and_a_low_port(machine, documented, tmp_path):
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", tmp_path / "privkey.pem", "-out",
        tmp_path / "fullchain.pem")
    for name in ("privkey.pem", "fullchain.pem"):
        machine.path(f"/etc/turnpike/{name}").write_bytes((tmp_path / name).read_bytes())
    documented("sudo chgrp turnpike /etc/turnpike/privkey.pem")
    documented("sudo chmod 640 /etc/turnpike/privkey.pem")
    configure(machine, listen='[ 127.0.0.1:8080, { address: 127.0.0.1:443, '
                              'tls: { certificate: /etc/turnpike/fullchain.pem, key: /etc/turnpike/privkey.pem } } ]')
    # what `systemctl edit` would write
    (drop_in,) = [text for text in documents.blocks("docs/guide.md", "ini") if text.startswith("[Service]")]
    folder = machine.path("/etc/systemd/system/turnpike.service.d")
    folder.mkdir()
    (folder / "override.conf").write_text(drop_in)
    machine.run("systemctl", "daemon-reload")
    documented("sudo systemctl restart turnpike")
    secure = URL.replace("http://127.0.0.1:8080", "https://localhost")
    assert machine.curl("--cacert", tmp_path / "fullchain.pem", *turn(), secure).endswith("200")

    configure(machine, listen='[ 127.0.0.1:8080, { address: 127.0.0.1:8443, '
                              'tls: { certificate: /etc/turnpike/fullchain.pem, key: /etc/turnpike/privkey.pem } } ]')
    (folder / "override.conf").unlink()
    folder.rmdir()
    machine.run("systemctl", "daemon-reload")
    documented("sudo systemctl restart turnpike")
    secure = secure.replace("localhost", "localhost:8443")
    assert machine.curl("--cacert", tmp_path / "fullchain.pem", *turn(), secure).endswith("200")


def test_a_wrong_file_stops_a_reload_and_a_start_and_not_the_server(machine, documented):
    good, pid = machine.path(CONFIG).read_text(), machine.show("MainPID")
    machine.path(CONFIG).write_text(good + "lisen: 1\n")
    assert "did you mean" in documented("sudo turnpike check", check=False)
    assert "failed" in documented("sudo systemctl reload turnpike", check=False)
    assert "did you mean" in documented("sudo journalctl -u turnpike -n 20")
    machine.path(CONFIG).write_text(good)
    assert machine.show("MainPID") == pid and machine.curl(*turn(), URL).endswith("200")


def test_the_unit_is_hardened(machine):
    text = machine.run("systemd-analyze", "security", "--offline=true", "turnpike.service").stdout
    score = float(re.search(r"exposure level for turnpike.service: ([\d.]+)", text).group(1))
    print(text.splitlines()[-1])
    assert score <= 2.0, text
    # there are no manual pages on so small a system
    said = machine.run("systemd-analyze", "verify", "turnpike.service", check=False).stdout
    assert not re.sub(r"^.*Command 'man .*$|\s", "", said, flags=re.M), said


def test_log_files_are_rotated_and_opened_anew(machine):
    log = machine.path("/var/log/turnpike/access.log")
    with machine.path(CONFIG).open("a") as config:
        config.write("access_log: { output: /var/log/turnpike/access.log }\n")
    machine.run("systemctl", "reload", "turnpike")

    def written():
        return log.exists() and log.stat().st_size > 0

    machine.curl(*turn(), URL)
    machine.until(written, "the turn has its line")
    said = machine.run("logrotate", "-f", "/etc/logrotate.d/turnpike").stdout
    assert log.with_name("access.log.1").exists(), said
    machine.until(log.exists, "the server opens a new file")
    machine.curl(*turn(), URL)
    machine.until(written, "the new file has the next line")


# ---- other versions

@pytest.fixture(scope="module")
def newer(deb, tmp_path_factory):
    return other_version(deb, tmp_path_factory.mktemp("newer"), "98.0-1", 8)


@pytest.fixture(scope="module")
def newest(deb, tmp_path_factory):
    return other_version(deb, tmp_path_factory.mktemp("newest"), "99.0-1", 9)


def test_an_upgrade_loses_no_turn_and_keeps_the_configuration(machine, newer, documented):
    # a key of the environment: apt's own has no such variable
    machine.path("/etc/turnpike/environment").write_text("SIM_KEY=sk-of-the-environment\n")
    configure(machine, providers='{ main: { url: "http://127.0.0.1:9099/v1", keys: [ "${SIM_KEY}" ] } }')
    documented("sudo systemctl restart turnpike")
    edited, since = machine.path(CONFIG).read_text(), machine.show("ActiveEnterTimestampMonotonic")
    old, version = serving(machine)
    assert version == VERSION
    with load(machine):
        said = install(machine, newer[0])
        new, version = serving(machine)
    assert new != old and version == newer[1], said
    assert f"process {new} of the new version serves; process {old} ends" in said
    assert "(deleted)" not in machine.run("readlink", f"/proc/{new}/exe").stdout
    machine.until(lambda: not machine.path(f"/proc/{old}").exists(), "the old master ends after its turns")
    assert machine.show("ActiveEnterTimestampMonotonic") == since and machine.show("NRestarts") == "0"
    assert machine.show("ActiveState") == "active" and machine.show("MainPID") == new
    assert machine.path(CONFIG).read_text() == edited
    assert machine.run("stat", "-c", "%U:%G %a", CONFIG).stdout == "root:turnpike 640\n"
    assert json.loads(documented("sudo -u turnpike turnpike stats --json"))["counters"]["turns_ok"] > 4


def test_with_a_broken_file_the_old_version_goes_on_and_apt_says_so(machine, newer, newest, documented):
    good, there = machine.path(CONFIG).read_text(), serving(machine)
    machine.path(CONFIG).write_text(good + "lisen: 1\n")
    said = install(machine, newest[0])
    assert f"{CONFIG}:" in said and "did you mean" in said and "the running server goes on as it is" in said, said
    assert serving(machine) == there and machine.curl(*turn(), URL).endswith("200")
    machine.path(CONFIG).write_text(good)
    by_hand = "systemctl kill -s USR2 --kill-whom=main turnpike"
    assert by_hand in said
    documented(f"sudo {by_hand}")
    machine.until(lambda: machine.show("MainPID") != there[0], "the new one takes over")
    assert serving(machine)[1] == newest[1]


def test_a_downgrade_loses_no_turn(machine, deb):
    old, _ = serving(machine)
    with load(machine):
        said = install(machine, deb)
        new, version = serving(machine)
    assert new != old and version == VERSION, said


def test_a_restart_while_an_upgrade_is_not_over_lets_all_turns_end(machine, newer):
    """systemd does not wait by itself for a main process that it has not started (stop-running)."""
    first, _ = serving(machine)
    with streaming(machine, 80):
        install(machine, newer[0])
        second, _ = serving(machine)
        assert second != first and machine.path(f"/proc/{first}").exists()
        with streaming(machine, 30):
            machine.run("systemctl", "restart", "turnpike")
            assert not machine.path(f"/proc/{first}").exists() and not machine.path(f"/proc/{second}").exists()
    assert machine.show("ActiveState") == "active" and machine.show("Result") == "success"
    said = machine.run("journalctl", "-u", "turnpike", "--no-pager", "-n", "60").stdout
    assert not re.search(r"Killing process \d+ \(turnpike", said), said


def test_systemd_watches_the_process_that_took_over(machine):
    pid = machine.show("MainPID")
    machine.run("sh", "-c", f"kill -KILL {pid}")
    machine.until(lambda: machine.show("NRestarts") == "1" and machine.show("ActiveState") == "active", "it is restarted")
    assert machine.show("MainPID") not in ("0", pid) and machine.curl(*turn(), URL).endswith("200")


def test_an_upgrade_does_not_start_what_was_stopped_for_good(machine, newer, documented):
    documented("sudo systemctl stop turnpike")
    machine.run("systemctl", "disable", "turnpike")
    install(machine, newer[0])
    assert machine.show("ActiveState") == "inactive" and machine.show("UnitFileState") == "disabled"
    documented("sudo systemctl enable --now turnpike")
    assert machine.curl(*turn(), URL).endswith("200") and serving(machine)[1] == newer[1]


# ---- out again

def test_removal_stops_it_and_keeps_the_configuration(machine, deb, documented):
    edited = machine.path(CONFIG).read_text()
    documented("sudo apt remove turnpike")
    assert machine.run("systemctl", "is-active", "turnpike", check=False).stdout.strip() == "inactive"
    assert machine.path(CONFIG).read_text() == edited and machine.path("/dev/shm/turnpike").exists()
    # and a later installation goes on with it
    install(machine, deb)
    machine.until(lambda: machine.show("ActiveState") == "active", "the service starts")
    assert machine.path(CONFIG).read_text() == edited and machine.curl(*turn(), URL).endswith("200")


def test_purge_of_a_running_server_leaves_nothing(machine, before, documented):
    machine.path("/var/lib/turnpike/snapshots/some").write_text("of a user\n")
    with machine.path(CONFIG).open("a") as config:
        config.write("state: { name: /turnpike-of-another-name }\n")
    machine.run("systemctl", "restart", "turnpike")
    assert machine.path("/dev/shm/turnpike-of-another-name").exists() and machine.path("/dev/shm/turnpike").exists()
    machine.run("systemctl", "stop", "simulator")
    documented("sudo apt purge turnpike")
    machine.run("apt-get", "autoremove", "-qy", "--purge")
    left = {line for line in machine.files() - before if not re.search("ssl|ca-certificates|c_rehash", line)}  # of those packages
    assert not left
    assert machine.run("id", "turnpike", check=False).returncode != 0


def test_all_commands_of_the_documents_were_run(documented):
    documented.left.discard("ANTHROPIC_BASE_URL=http://127.0.0.1:8080 claude")  # test_clients.py
    assert not documented.left
