"""README and guide: every command in them is run, here or by tests/packaging, or has its reason why not in
harness/documents.py; every sample is read."""

import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from harness import documents
from harness.client import post
from harness.documents import DOCUMENTS, HERE, MACHINE, TARGET, WHERE, blocks, text_of
from harness.turnpike import BINARY, READY, ROOT, Turnpike, become_subreaper, until

SERVERS = r"turnpike (serve|simulate)\b"
RUN = [(name, command) for name, command in documents.every() if documents.where(command) == HERE]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_sample_is_passed_over(name):
    assert not documents.strays(name), "fence it as " + ", ".join(sorted(documents.LANGUAGES))


def test_a_sample_that_nothing_reads_is_noticed(monkeypatch):
    for stray in ("```\nturnpike frob\n```\n", "```console\n$ turnpike frob\n```\n", "\n    turnpike frob\n", "\n\tfrob\n"):
        monkeypatch.setattr(documents, "text_of", lambda name, stray=stray: text_of(name) + stray)
        assert documents.strays(DOCUMENTS[0]), stray
    monkeypatch.setattr(documents, "text_of", lambda name: text_of(name) + "```sh\nfrob --now\n```\n")
    assert documents.where(documents.commands(DOCUMENTS[0])[-1]) == HERE  # where it fails, as there is no frob


def test_each_reason_has_a_command():
    assert len(RUN) > 15 and len(documents.of(MACHINE)) > 15
    for pattern, place in WHERE:
        assert any(re.fullmatch(pattern, command) for _, command in documents.every()), f"no command is left of: {pattern}"


@pytest.mark.parametrize("command", documents.of(TARGET))
def test_a_target_of_the_makefile_is_there(command):
    done = subprocess.run([*command.split(), "--question", "--dry-run"], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert "No rule" not in done.stderr, done.stderr


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
    (folder / "turnpike.env").write_text("".join(b for b in blocks("README.md", "ini") if "CODEX_ENDPOINT" in b))
    yield folder, server
    server.stop()
    server.remove_table()
    end(simulator)


def translated(command, folder, server):
    command = re.sub(r"\bsudo (-u turnpike )?", "", command).replace("build/turnpike", "turnpike").replace(" turnpike.env", f" {folder}/turnpike.env")
    command = command.replace("127.0.0.1:8080", "%s:%d" % tuple(server.addresses[0][:2]))
    command = command.replace("127.0.0.1:9090", "%s:%d" % tuple(server.admins[0][:2]))
    command = command.replace("127.0.0.1:9099", "127.0.0.1:0")
    for there, here in (("/var/log/turnpike/", "log/"), ("/run/turnpike/", "run/"),
                        ("/var/lib/turnpike/", "")):
        command = command.replace(there, f"{folder}/{here}")
    command = re.sub(r"(-c )(/etc/turnpike/)?turnpike.yaml", r"\1" + server.file, command)
    if re.match(r"turnpike (stats|top|blacklist|cooldown)\b", command):
        command += " --name " + server.name + (" --once" if command.startswith("turnpike top") else "")
    if command in ("turnpike reload", "turnpike check --connect"):
        command += " -c " + server.file
    return command


@pytest.mark.parametrize("name, command", RUN, ids=[f"{n.split('/')[-1]}-{c[:40]}" for n, c in RUN])
def test_a_command_of_the_documents_works(place, name, command, tmp_path):
    folder, server = place
    env = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", OPENAI_API_KEY="sk-test", HOME=str(tmp_path))
    if "--env-file" in command and "serve" in command:
        pytest.skip("it has a test of its own: test_the_five_lines_of_a_gateways_user_start_a_server")
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


# Alone in a network and before a /dev/shm of its own: the ports and names that the documents have are free there.
ISOLATED = """
import fcntl, os, socket, struct, subprocess, sys
subprocess.run(["mount", "-t", "tmpfs", "none", "/dev/shm"], check=True)
with socket.socket() as s:
    fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 0x49))  # SIOCSIFFLAGS: up
os.execvp(sys.argv[1], sys.argv[1:])
"""


def isolated(*argv):
    unshare = ["unshare", "--net", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if (done := subprocess.run([*unshare, "true"], capture_output=True, text=True, timeout=20)).returncode:
        pytest.skip(f"no namespaces here: {done.stderr}")
    return [*unshare, sys.executable, "-c", ISOLATED, *argv]


def test_the_demo_of_make_run_starts_and_its_first_line_works():
    listed = subprocess.run(["make", "--dry-run", "--no-print-directory", "run"], cwd=ROOT, capture_output=True, text=True, timeout=60).stdout
    assert listed.rstrip().endswith("etc/demo.sh build/turnpike"), listed
    (line,) = [c for n, c in RUN if n == "README.md" and "sim:503,200" in c]
    script = (f"etc/demo.sh {BINARY} >&2 & demo=$!\nfor _ in $(seq 300); do curl -s http://127.0.0.1:8080/ >/dev/null && break; "
              f"sleep 0.1; done\n{line}\nstatus=$?\nkill $demo; wait $demo\nexit $status\n")
    done = subprocess.run(isolated("bash", "-c", script), cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and re.match(r"HTTP/1.1 200 ", done.stdout), done.stdout + done.stderr
    assert re.search(r"^x-turnpike-sends: 2\b", done.stdout, re.M | re.I), done.stdout


def test_the_five_lines_of_a_gateways_user_start_a_server(tmp_path):
    (lines,) = [text for text in blocks("README.md", "ini") if "CODEX_ENDPOINT" in text]
    (tmp_path / "turnpike.env").write_text(lines)
    process, _ = wait_ready(isolated(BINARY, "serve", "--env-file", "turnpike.env"), cwd=tmp_path)
    end(process)


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
        seen = []
        exec(text, dict.fromkeys(("OpenAI", "Anthropic"), lambda base_url: seen.append(base_url)))
        assert seen in (["http://127.0.0.1:8080/v1"], ["http://127.0.0.1:8080"]), text
    for text in blocks(name, "js"):
        (tmp_path / "sample.mjs").write_text(text)
        subprocess.run(["node", "--check", tmp_path / "sample.mjs"], check=True, timeout=60)
    for text in blocks(name, "ini"):  # the other kind is tried by tests/packaging
        assert "CODEX_ENDPOINT" in text or text.startswith("[Service]\n"), text
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


def test_the_picture_shows_the_page_as_it_is():
    """Drawn by hand as text: its titles and columns are the page's, in the same order."""
    page, script = text_of("server/admin/page/page.html"), text_of("server/admin/page/charts.js")
    drawn = re.findall(r"<text[^>]*>([^<]*)</text>", text_of("docs/status-page.svg"))
    titles = re.findall(r'<h2 id="[^"]*">([^<]+)</h2>', page)
    assert len(titles) >= 5 and [text for text in drawn if text in titles] == titles
    charts = re.findall(r'\bchart\("\w+", "([^"]+)"\)', script)
    assert len(charts) >= 4 and [text for text in drawn if text in charts] == charts
    columns = re.findall(r">([^<]+)</th>", page.split('id="providers-title"')[1].split("<tbody")[0])
    assert len(columns) >= 7 and drawn[drawn.index("Providers") + 1:][:len(columns)] == columns


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
