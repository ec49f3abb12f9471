"""What one question costs: sends of real clients at their default settings, counted at the provider.

    make bench-clients                    # the table; writes it into docs/performance.md
    /usr/bin/python3 tests/clients/bench.py [--only NAME] [--limit SECONDS] [--no-write]

Every client meets every fault twice, straight at `turnpike simulate` and through Turnpike in its default
configuration.  Straight at it some clients go on for minutes: those are stopped after --limit seconds, and what
they had sent until then stands in the table as "30+".  Exits with 1 when a row through Turnpike breaks its promise.
"""

import argparse
import concurrent.futures
import contextlib
import io
import json
import pathlib
import sys
import tempfile

import real_clients

# Column title, script of the simulator, mode of an SDK (agents always stream), most sends through Turnpike.
FAULTS = [
    ("reset after reading everything", "reset", "json", 1),
    ("always 503", "503", "json", 3),
    ("always 429", "429", "json", 4),
    ("stream cut after output", "reset-mid", "stream", 4),
    ("overload error as first event", "overload-200", "stream", 4),
    ("200 with an error (JSON)", "overload-200", "json", 4),
]
CLIENTS = [
    ("Codex CLI", "codex", "@openai/codex"),
    ("Claude Code", "claude_code", "@anthropic-ai/claude-code"),
    ("openai, Chat Completions", "openai-chat", "openai"),
    ("openai, Responses", "openai-responses", "openai"),
    ("@anthropic-ai/sdk", "anthropic-messages", "@anthropic-ai/sdk"),
    ("Vercel AI SDK, @ai-sdk/openai", "vercel-responses", "@ai-sdk/openai"),
    ("Vercel AI SDK, @ai-sdk/openai-compatible", "vercel-chat", "@ai-sdk/openai-compatible"),
    ("Vercel AI SDK, @ai-sdk/anthropic", "vercel-messages", "@ai-sdk/anthropic"),
    ("LangChain JS, ChatOpenAI", "langchain-chat", "@langchain/openai"),
]
AGENTS = ("codex", "claude_code")
THROUGH_LIMIT = 200  # seconds; nothing is to be cut short there
BEGIN, END = "<!-- bench-clients: begin -->\n", "<!-- bench-clients: end -->\n"
PAGE = real_clients.ROOT / "docs" / "performance.md"


def measure(directory, client, fault, through, limit):
    """How often the provider was asked, as text; None where the client has no such mode."""
    _, script, mode, _ = fault
    if client in AGENTS and mode == "json" and script == "overload-200":
        return None
    with tempfile.TemporaryDirectory(prefix="turnpike-bench-") as name, real_clients.simulator() as sim:
        folder = pathlib.Path(name)
        with (real_clients.proxy(sim, folder) if through else contextlib.nullcontext(sim.url + "/v1")) as url:
            clients = real_clients.Clients(directory, sim, folder)
            timeout = THROUGH_LIMIT if through else limit
            if client in AGENTS:
                ended = getattr(clients, client)("sim:" + script, url, timeout)[0] is not None
            else:
                ended = clients.sdk(client, "sim:" + script, mode, url, timeout) is not None
            return "%d%s" % (len(sim.sends()), "" if ended else "+")


def measure_all(directory, clients, limit):
    """{(client, fault title, through): text}; several at a time: most of it is waiting."""
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for through in (False, True):
            for _, client, _ in clients:
                for fault in FAULTS:
                    jobs[client, fault[0], through] = pool.submit(measure, directory, client, fault, through, limit)
        for key, job in jobs.items():
            sys.stderr.write("%s, %s, %s: %s\n" % (key[0], key[1], "through" if key[2] else "direct", job.result()))
    return {key: job.result() for key, job in jobs.items()}


def broken(found, clients):
    """The promises of the table that do not hold."""
    out = []
    for _, client, _ in clients:
        for title, _, _, most in FAULTS:
            text = found[client, title, True]
            if text is not None and (text.endswith("+") or not 1 <= int(text) <= most):
                out.append("%s, %s: %s sends through Turnpike, at most %d" % (client, title, text, most))
    return out


def table(found, clients, directory):
    rows = [["client"] + [fault[0] for fault in FAULTS], ["---"] + ["---:"] * len(FAULTS)]
    for title, client, package in clients:
        version = json.loads((directory / "node_modules" / package / "package.json").read_text())["version"]
        cells = [(found[client, fault[0], False], found[client, fault[0], True]) for fault in FAULTS]
        rows.append(["%s %s" % (title, version)] + ["–" if d is None else "%s → **%s**" % (d, t) for d, t in cells])
    return "".join("| %s |\n" % " | ".join(row) for row in rows)


def write(text):
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    PAGE.write_text(before + BEGIN + text + END + rest.split(END)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", help="this client alone: the name in the list, such as langchain-chat")
    parser.add_argument("--limit", type=int, default=240, help="seconds of a run without Turnpike")
    parser.add_argument("--no-write", action="store_true", help="leave docs/performance.md as it is")
    options = parser.parse_args()
    clients = [row for row in CLIENTS if options.only in (None, row[1])]
    directory = real_clients.install_clients()
    with contextlib.redirect_stdout(io.StringIO()):  # what the clients and the proxies say
        found = measure_all(directory, clients, options.limit)
    text = table(found, clients, directory)
    print(text, end="")
    if not options.only and not options.no_write:
        write(text)
    faults = broken(found, clients)
    print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
