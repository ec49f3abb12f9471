"""A new user with nothing but the package and README: real clients at the service, set up by README's own lines.

The clients are the host's (npm), in the machine's network; the simulator stands where the provider would be."""

import os
import shutil
import subprocess

import pytest

import real_clients
from harness import documents
from story import CONFIG, Documented, install

HELLO = "Hello from the Turnpike simulator."
CODEX = "node_modules/@openai/codex/bin/codex.js"
CLAUDE = "node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs"


@pytest.fixture(scope="module")
def packages():
    if shutil.which("npm") is None:
        pytest.skip("no npm here, which has the clients")
    try:
        return real_clients.install_clients()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"npm could not fetch the clients: {error}")


@pytest.fixture(scope="module")
def service(packages, machine, deb):
    """README's steps 1 and 2, with the simulator's address instead of the provider's."""
    install(machine, deb)
    machine.run("systemd-run", "--unit=simulator", "turnpike", "simulate", "--listen", "127.0.0.1:9099")
    (line,) = [text for text in documents.blocks("README.md", "yaml") if text.startswith("providers: { main:")]
    text = machine.path(CONFIG).read_text()
    machine.path(CONFIG).write_text(
        text.replace("providers: {}\n", line.replace("https://api.openai.com/v1", "http://127.0.0.1:9099/v1")))
    Documented(machine)("sudo systemctl reload turnpike")
    return machine


@pytest.fixture
def person(tmp_path):
    """Somebody's environment, with a home of its own."""
    return {**real_clients.offline(tmp_path), "OPENAI_API_KEY": "sk-test", "RUST_LOG": "error"}


def turns(machine):
    return int(machine.run("sh", "-c", "setpriv --reuid=turnpike --regid=turnpike --init-groups turnpike stats --json "
                           "| sed -n 's/.*\"turns_ok\": *\\([0-9]*\\).*/\\1/p'").stdout)


def test_codex(service, packages, person, tmp_path):
    (tmp_path / ".codex").mkdir()
    (toml,) = documents.blocks("README.md", "toml")
    (tmp_path / ".codex/config.toml").write_text(toml)
    before = turns(service)
    done = service.near("node", packages / CODEX, "exec", "--skip-git-repo-check", "-s", "read-only", "say hello",
                        env=person, cwd=tmp_path, stdin=subprocess.DEVNULL, timeout=180)
    assert HELLO in done.stdout, done.stdout
    assert turns(service) > before


def test_claude_code(service, packages, person, tmp_path):
    (command,) = [c for c in documents.of(documents.MACHINE) if c.endswith(" claude")]
    (tmp_path / "claude").write_text(f'#!/bin/sh\nexec node {packages / CLAUDE} "$@"\n')
    os.chmod(tmp_path / "claude", 0o755)
    person |= {"PATH": f"{tmp_path}:{person['PATH']}", "ANTHROPIC_API_KEY": "sk-ant-test", "IS_SANDBOX": "1",
               "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    done = service.near("sh", "-c", command + " -p 'say hello'", env=person, cwd=tmp_path, stdin=subprocess.DEVNULL,
                        timeout=180)
    assert HELLO in done.stdout, done.stdout


@pytest.mark.parametrize("how", ["variable", "code"])
def test_openai_sdk(service, packages, person, tmp_path, how):
    (line,) = documents.blocks("README.md", "js")
    if how == "variable":
        assert "`OPENAI_BASE_URL=http://127.0.0.1:8080/v1`" in documents.text_of("README.md")
        person["OPENAI_BASE_URL"], line = "http://127.0.0.1:8080/v1", "const client = new OpenAI();"
    (tmp_path / "node_modules").symlink_to(packages / "node_modules")
    (tmp_path / "ask.mjs").write_text(f"import OpenAI from 'openai';\n{line}\nconst answer = await client.chat.completions"
                                      ".create({ model: 'gpt-5', messages: [{ role: 'user', content: 'hello' }] });\n"
                                      "console.log(answer.choices[0].message.content);\n")
    done = service.near("node", "ask.mjs", env=person, cwd=tmp_path, timeout=120)
    assert HELLO in done.stdout, done.stdout


def test_curl_as_readme_has_it(service, person):
    (command,) = [c for n, c in documents.every() if n == "README.md" and "Bearer $OPENAI_API_KEY" in c]
    done = service.near("sh", "-c", command, env=person, timeout=60)
    assert HELLO in done.stdout, done.stdout
