"""README and guide: every command in them is run, or stands here with the reason why not; every sample is read."""

import os
import re
import shutil
import subprocess
import tomllib

import pytest

from harness.client import post
from harness.turnpike import BINARY, READY, ROOT, Turnpike, become_subreaper, until

DOCUMENTS = ("README.md", "docs/guide.md")
COMMANDS = r"(?:sudo|kill|turnpike|build/turnpike|journalctl|curl|make|systemctl|ls|[A-Z_]+=\S+) "

# What cannot be run against a simulator on any machine: who tries it instead.
NOT_RUN = [
    (r"make (deb|rpm|run|test|deps|help|install)?\b.*|make", "the build; what CI runs, and tests/packaging"),
    (r"sudo apt install .*|sudo dnf install .*", "tests/packaging installs the package"),
    (r"sudo systemctl .*|systemctl .*", "needs the service: tests/packaging"),
    (r"journalctl .*", "needs the service's journal: tests/packaging reads it"),
    (r"sudo (chgrp|chmod) .*", "tests/packaging does the same inside its machine"),
    (r"turnpike .*\b(FILE|URL|COMMAND|BODY)\b.*", "a form with its placeholders: test_cli has every command"),
    (r"build/turnpike serve --env-file .*", "its table has the name that the machine's own server may hold"),
    (r"ANTHROPIC_BASE_URL=.* claude", "tests/clients runs Claude Code"),
]
SERVERS = r"turnpike (serve|simulate)\b"


def text_of(name):
    with open(os.path.join(ROOT, name)) as file:
        return file.read()


def blocks(name, *languages):
    return [m[2] for m in re.finditer(r"^```(\w+)\n(.*?)^```$", text_of(name), re.M | re.S) if m[1] in languages]


def commands(name):
    text = text_of(name)
    fenced = "\n".join(blocks(name, "sh"))
    rest = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    indented = "\n".join(re.findall(r"^ {4}(.*)$", rest, re.M))
    lines = (fenced + "\n" + indented).replace("\\\n", " ").splitlines()
    lines += re.findall(r"`(%s[^`\n]+)`" % COMMANDS, rest)
    lines = [re.sub(r"\s+# .*$", "", line).strip() for line in lines]
    return list(dict.fromkeys(line for line in lines if line))


ALL = [(name, command) for name in DOCUMENTS for command in commands(name)]
RUN = [c for c in ALL if not any(re.fullmatch(pattern, c[1]) for pattern, _ in NOT_RUN)]


def test_the_documents_are_read():
    assert len(ALL) > 30 and len(RUN) > 15
    for pattern, reason in NOT_RUN:
        assert any(re.fullmatch(pattern, c[1]) for c in ALL), f"no command is left of: {pattern} ({reason})"


def wait_ready(argv, **more):
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    said = ""
    for line in process.stdout:
        said += line
        if " ready: " in line:
            return process, line
    raise AssertionError(f"{argv} ended with {process.wait()}:\n{said}")


def end(process):
    process.terminate()
    process.stdout.read()
    assert process.wait(20) == 0


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A server before a simulator, as the documents have it; where they say /etc/turnpike, a folder."""
    folder = tmp_path_factory.mktemp("docs")
    os.symlink(BINARY, folder / "turnpike")
    simulator, line = wait_ready([BINARY, "simulate", "--listen", "127.0.0.1:0"])
    url = re.search(r"http://\S+", line).group(0) + "/v1"
    server = Turnpike({"p": url}, {
        "routes": [{"path": path, "provider": "p"} for path in ("/v1", "/openai/v1", "/anthropic/v1")],
        "admin": {"listen": ["127.0.0.1:0"]}, "pid_file": f"{folder}/run/turnpike.pid",
        "log": {"output": f"{folder}/log/turnpike.log"}, "snapshots": {"directory": f"{folder}/snapshots"}},
        folder=str(folder))
    for name in ("run", "log", "snapshots"):
        os.mkdir(folder / name)
    server.start()
    assert post(server.address, "/v1/chat/completions", b'{"model": "sim:400", "messages": []}').status == 400
    until(lambda: os.listdir(folder / "snapshots"), 10, "a snapshot")
    server.url = url
    yield folder, server
    server.stop()
    server.remove_table()
    end(simulator)


def translated(command, folder, server):
    command = re.sub(r"^sudo -u turnpike ", "", command).replace("build/turnpike", "turnpike")
    command = command.replace("127.0.0.1:8080", "%s:%d" % tuple(server.addresses[0][:2]))
    command = command.replace("127.0.0.1:9090", "%s:%d" % tuple(server.admins[0][:2]))
    command = command.replace("127.0.0.1:9099", "127.0.0.1:0")
    for there, here in (("/var/log/turnpike/", "log/"), ("/run/turnpike/", "run/"),
                        ("/var/lib/turnpike/", "")):
        command = command.replace(there, f"{folder}/{here}")
    command = re.sub(r"(-c )(/etc/turnpike/)?turnpike.yaml", r"\1" + server.file, command)
    if re.match(r"turnpike (stats|top|blacklist|cooldown)\b", command):
        command += " --name " + server.name
    if command in ("turnpike reload", "turnpike check --connect"):
        command += " -c " + server.file
    return command


@pytest.mark.parametrize("name, command", RUN, ids=[f"{n.split('/')[-1]}-{c[:40]}" for n, c in RUN])
def test_a_command_of_the_documents_works(place, name, command, tmp_path):
    folder, server = place
    env = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", OPENAI_API_KEY="sk-test", HOME=str(tmp_path))
    line = translated(command, folder, server)
    if re.match(SERVERS, line):
        second = Turnpike(server.url, name=server.name + "-docs", folder=str(tmp_path))  # the first one runs
        if "serve" in line:
            line = re.sub(r" -c \S+", "", line) + f" -c {second.file}"
        process, _ = wait_ready(line.split(), env=env)
        end(process)
        second.remove_table()
        return
    if "USR2" in line:
        become_subreaper()
    ready = server.log.count(READY)
    done = subprocess.run(["bash", "-c", line], env=env, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    if "USR1" in line:
        until(lambda: (folder / "log" / "turnpike.log").exists(), 10, "a new file")
    if "USR2" in line:
        until(lambda: server.log.count(READY) > ready, 30, "another master")
        server.adopt(server.holder())
        assert "this is the master now" in (folder / "log" / "turnpike.log").read_text()
    if "grep" in line:
        assert done.stdout
    if line.startswith("curl -i"):
        assert re.match(r"HTTP/1.1 200 ", done.stdout), done.stdout
    if "sim:503,200" in line:
        assert re.search(r"^x-turnpike-sends: 2\b", done.stdout, re.M | re.I), done.stdout


YAML = [(name, text) for name in DOCUMENTS for text in blocks(name, "yaml")]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", "/CN=localhost", "-keyout", folder / "privkey.pem", "-out", folder / "fullchain.pem"],
                   check=True, capture_output=True)
    (folder / "openai.key").write_text("sk-test-of-a-file\n")
    return folder


@pytest.mark.parametrize("name, text", YAML, ids=[f"{n.split('/')[-1]}-{i}" for i, (n, _) in enumerate(YAML)])
def test_a_sample_configuration_is_good(name, text, files, tmp_path):
    text = text.replace("/etc/turnpike/", f"{files}/").replace("/var/lib/turnpike/", f"{tmp_path}/")
    if not re.search(r"^providers:", text, re.M):
        text += "providers: { main: { url: http://127.0.0.1:1/v1 } }\n"
    file = tmp_path / "turnpike.yaml"
    file.write_text(text)
    env = dict(os.environ, **{v: f"secret-{v}" for v in re.findall(r"\$\{([A-Z_0-9]+)\}", text)})
    done = subprocess.run([BINARY, "check", "-c", file], env=env, capture_output=True, text=True, timeout=20)
    assert done.returncode == 0, text + done.stderr


@pytest.mark.parametrize("name", DOCUMENTS)
def test_other_samples_are_well_formed(name, tmp_path):
    for text in blocks(name, "toml"):
        assert tomllib.loads(text)["model_providers"]
    for text in blocks(name, "python"):
        compile(text, name, "exec")
    for text in blocks(name, "nginx"):
        if (nginx := shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")) is None:
            continue
        config = tmp_path / "nginx.conf"
        config.write_text(f"pid {tmp_path}/pid; error_log stderr; events {{}}\nhttp {{ access_log off;\n"
                          f"client_body_temp_path {tmp_path}/b; proxy_temp_path {tmp_path}/p;\n"
                          f"fastcgi_temp_path {tmp_path}/f; uwsgi_temp_path {tmp_path}/u; scgi_temp_path {tmp_path}/s;\n"
                          f"server {{ listen 127.0.0.1:1; {text} }} }}\n")
        done = subprocess.run([nginx, "-t", "-c", config], capture_output=True, text=True, timeout=20)
        assert "syntax is ok" in done.stderr, done.stderr


def test_links_between_documents_lead_somewhere():
    for name in DOCUMENTS + ("CONTRIBUTING.md", "SECURITY.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text_of(name)):
            assert os.path.exists(os.path.join(ROOT, os.path.dirname(name), target)), f"{name}: {target}"


def test_dashboard_and_alert_rules_use_numbers_that_exist(place):
    _, server = place
    host, port = server.admins[0][:2]
    seen = subprocess.run(["curl", "-s", f"http://{host}:{port}/metrics"], capture_output=True, text=True,
                          check=True, timeout=20).stdout
    there = set(re.findall(r"^# TYPE (\S+)", seen, re.M))
    documented = set(re.findall(r"\bturnpike_\w+", text_of("docs/monitoring.md")))
    for name in ("etc/grafana-dashboard.json", "etc/prometheus-alerts.yaml"):
        used = {re.sub(r"_(bucket|sum|count)$", "", m) for m in re.findall(r"\bturnpike_\w+", text_of(name))}
        assert len(used) > 5
        assert not used - there, f"{name} uses numbers that /metrics has not"
        assert not used - documented, f"{name} uses numbers that docs/monitoring.md has not"


def test_no_provider_is_told_in_plain_words(tmp_path):
    server = Turnpike({}, text="listen: 127.0.0.1:0\nworkers: 1\nproviders: {}\nstate: { name: /turnpike-docs-%d }\n"
                      % os.getpid(), name="/turnpike-docs-%d" % os.getpid(), folder=str(tmp_path),
                      config={"workers": 1})
    server.start()
    try:
        for path in ("/v1/chat/completions", "/v1/messages", "/else"):
            done = subprocess.run(["curl", "-s", "-w", "\n%{http_code}", "-d", "{}", "-H",
                                   "Content-Type: application/json", "http://%s:%d%s" % (*server.address[:2], path)],
                                  capture_output=True, text=True, timeout=20)
            assert done.stdout.endswith("\n503") and "no provider configured" in done.stdout, done.stdout
        assert any("no provider configured" in line for line in server.lines)
        server.stop()
    finally:
        server.kill()
        server.remove_table()
