"""From `dpkg -i` to a running service, an upgrade under load, and out again. One story: the tests run in order."""

import json
import re
import threading

import pytest

from machine import run

CONFIG = "/etc/turnpike/turnpike.yaml"
TURN = ["-H", "Content-Type: application/json", "-D", "-", "-d",
        json.dumps({"model": "sim:503,200;again", "messages": [{"role": "user", "content": "hello"}]})]
URL = "http://127.0.0.1:8080/v1/chat/completions"


def install(machine, deb):
    name = f"/root/{deb.name}"
    machine.path(name).write_bytes(deb.read_bytes())
    return machine.run("dpkg", "-i", name)


def configure(machine, **replaced):
    text = machine.path(CONFIG).read_text()
    for key, value in replaced.items():
        text, n = re.subn(rf"^{key}: .*$", f"{key}: {value}", text, flags=re.M)
        assert n == 1
    machine.path(CONFIG).write_text(text)


@pytest.fixture(scope="module")
def before(machine):
    return machine.files()


def test_an_installed_service_says_what_it_lacks(machine, deb, before):
    install(machine, deb)
    machine.until(lambda: machine.show("ActiveState") == "active", "the service starts")
    answer = machine.curl(*TURN, URL)
    assert answer.endswith("503") and "no provider configured" in answer
    # the configuration may hold keys
    assert machine.run("stat", "-c", "%U:%G %a", CONFIG).stdout == "root:turnpike 640\n"


def test_one_line_makes_it_work(machine):
    machine.run("systemd-run", "--unit=simulator", "turnpike", "simulate", "--listen", "127.0.0.1:9099")
    configure(machine, providers='{ main: { url: "http://127.0.0.1:9099/v1" } }')
    pid = machine.show("MainPID")
    machine.run("systemctl", "reload", "turnpike")  # it has been taken over when this returns
    assert machine.show("MainPID") == pid
    answer = machine.curl(*TURN, URL)
    assert answer.endswith("200") and re.search(r"^x-turnpike-sends: 2", answer, re.M | re.I), answer


def test_it_runs_as_its_user_without_privileges(machine):
    status = machine.path(f"/proc/{machine.show('MainPID')}/status").read_text()
    user = machine.run("id", "-u", "turnpike").stdout.strip()
    assert re.search(rf"^Uid:\t{user}\t", status, re.M)
    assert re.search(r"^CapEff:\t0+$", status, re.M) and re.search(r"^NoNewPrivs:\t1$", status, re.M)
    assert re.search(r"^Seccomp:\t2$", status, re.M)


def test_the_shared_table_and_the_admin_socket_are_within_reach(machine):
    seen = json.loads(machine.run("setpriv", "--reuid=turnpike", "--regid=turnpike", "--clear-groups", "turnpike",
                                  "stats", "--json").stdout)
    assert seen["counters"]["turns_ok"] >= 1
    socket = machine.path("/run/turnpike/admin.sock")
    assert run("curl", "-s", "--unix-socket", socket, "-o", "/dev/null", "-w", "%{http_code}",
               "http://localhost/readyz").stdout == "200"


def test_a_turn_through_tls(machine, tmp_path):
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", tmp_path / "k.pem", "-out",
        tmp_path / "c.pem")
    for name in ("k.pem", "c.pem"):
        machine.path(f"/etc/turnpike/{name}").write_bytes((tmp_path / name).read_bytes())
        machine.run("chgrp", "turnpike", f"/etc/turnpike/{name}")
        machine.run("chmod", "640", f"/etc/turnpike/{name}")
    configure(machine, listen='[ 127.0.0.1:8080, { address: 127.0.0.1:8443, '
                              'tls: { certificate: /etc/turnpike/c.pem, key: /etc/turnpike/k.pem } } ]')
    machine.run("systemctl", "restart", "turnpike")
    assert machine.curl("--cacert", tmp_path / "c.pem", *TURN,
                        URL.replace("http://127.0.0.1:8080", "https://localhost:8443")).endswith("200")


def test_a_wrong_file_stops_a_reload_and_not_the_server(machine):
    good, pid = machine.path(CONFIG).read_text(), machine.show("MainPID")
    machine.path(CONFIG).write_text(good + "lisen: 1\n")
    assert machine.run("systemctl", "reload", "turnpike", check=False).returncode != 0
    assert "did you mean" in machine.run("journalctl", "-u", "turnpike", "--no-pager").stdout
    machine.path(CONFIG).write_text(good)
    assert machine.show("MainPID") == pid and machine.curl(*TURN, URL).endswith("200")


def test_the_unit_is_hardened(machine):
    text = machine.run("systemd-analyze", "security", "--offline=true", "turnpike.service").stdout
    score = float(re.search(r"exposure level for turnpike.service: ([\d.]+)", text).group(1))
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

    machine.curl(*TURN, URL)
    machine.until(written, "the turn has its line")
    said = machine.run("logrotate", "-f", "/etc/logrotate.d/turnpike").stdout
    assert log.with_name("access.log.1").exists(), said
    machine.until(log.exists, "the server opens a new file")
    machine.curl(*TURN, URL)
    machine.until(written, "the new file has the next line")


def next_version(deb, tmp_path):
    tree = tmp_path / "tree"
    run("dpkg-deb", "-R", deb, tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*$", "Version: 99.0-1", control.read_text(), flags=re.M))
    out = tmp_path / "turnpike_99.0-1_all.deb"
    run("dpkg-deb", "--root-owner-group", "-b", tree, out)
    return out


def test_an_upgrade_loses_no_turn_and_keeps_the_configuration(machine, deb, tmp_path):
    edited, since = machine.path(CONFIG).read_text(), machine.show("ActiveEnterTimestampMonotonic")
    over, answers = threading.Event(), []

    def load():
        while not over.is_set():
            answers.append(machine.curl(*TURN, URL, check=False)[-3:])

    loader = threading.Thread(target=load)
    loader.start()
    try:
        said = install(machine, next_version(deb, tmp_path)).stdout
    finally:
        over.set()
        loader.join()
    assert answers and set(answers) == {"200"}, (answers, said)
    assert machine.show("ActiveEnterTimestampMonotonic") == since and machine.show("NRestarts") == "0"
    assert machine.path(CONFIG).read_text() == edited
    assert machine.run("stat", "-c", "%U:%G %a", CONFIG).stdout == "root:turnpike 640\n"
    assert machine.curl(*TURN, URL).endswith("200")


def test_removal_stops_it_and_keeps_the_configuration(machine):
    machine.run("dpkg", "-r", "turnpike")
    assert machine.run("systemctl", "is-active", "turnpike", check=False).stdout.strip() == "inactive"
    assert machine.path(CONFIG).exists() and machine.path("/dev/shm/turnpike").exists()


def test_purge_leaves_nothing(machine, before):
    machine.run("systemctl", "stop", "simulator")
    machine.run("dpkg", "-P", "turnpike")
    left = machine.files() - before
    assert not {line for line in left if "turnpike" in line or "/dev/shm" in line}, left
    assert machine.run("id", "turnpike", check=False).returncode != 0
