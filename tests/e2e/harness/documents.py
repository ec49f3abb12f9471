"""README and guide, as their tests read them: blocks, commands, and where each command is tried."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = ("README.md", "docs/guide.md")
# Each language has a test: sh below, the others in test_docs.py; ini has two kinds, drop-ins of units and variables.
LANGUAGES = {"sh", "yaml", "toml", "python", "js", "nginx", "ini"}
INLINE = r"`((?:sudo|kill|turnpike|build/turnpike|journalctl|curl|make|systemctl|ls|[A-Z_]+=[^\s`]+) [^`\n]+)`"

MACHINE = "machine"  # tests/packaging runs it in a system of its own
TARGET = "target"    # a target of the Makefile, which knows it; CI builds and tests
HERE = "here"        # test_docs.py runs it

# The first row that fits a whole command; what fits none is run here. Anything else is the reason why it is not run.
WHERE = [
    (r"make (run)", "test_docs.py runs etc/demo.sh, which is this target"),
    (r"make( (deb|rpm|test|deps|help|install))?", TARGET),
    (r"sudo dnf install .*", "needs an rpm system: tests/packaging unpacks that package and runs it"),
    (r"sudo systemctl enable --now turnpike", MACHINE),
    (r"sudo systemctl edit turnpike", "an editor: tests/packaging writes what is edited there"),
    (r"sudo (kill|tail|mv|ls|sh) .*", HERE),  # files, which are one's own in the tests
    (r"sudo .*", MACHINE),
    (r"turnpike .*\b(FILE|URL|COMMAND|BODY)\b.*", "a form with its placeholders: test_cli has every command"),
    (r"turnpike (help|serve|top|reload|check --connect|version|config|simulate).*", HERE),
    (r"ANTHROPIC_BASE_URL=.* claude", MACHINE),
]


def text_of(name):
    return (ROOT / name).read_text()


def blocks(name, *languages):
    """Texts of the fenced blocks in these languages."""
    return [m[2] for m in re.finditer(r"^```(\w*)\n(.*?)^```$", text_of(name), re.M | re.S) if m[1] in languages]


def strays(name):
    """What looks like a sample and is none that a test reads: a block of no known language, or an indented one."""
    text = text_of(name)
    fences = re.findall(r"^ *(?:```|~~~)(.*)$", text, re.M)
    unknown = [f"```{opened}" for opened in fences[::2] if opened not in LANGUAGES]
    rest = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return unknown + re.findall(r"(?<=\n\n)(?: {4}|\t)\S.*$", rest, re.M)


def commands(name):
    """All commands of a document, each once: lines of sh blocks, and what stands in `...` and begins like one."""
    text = text_of(name)
    lines = "\n".join(blocks(name, "sh")).replace("\\\n", " ").splitlines()
    lines += re.findall(INLINE, re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))
    lines = [re.sub(r"\s+# .*$", "", line).strip() for line in lines]
    return list(dict.fromkeys(line for line in lines if line))


def where(command):
    return next((place for pattern, place in WHERE if re.fullmatch(pattern, command)), HERE)


def every():
    return [(name, command) for name in DOCUMENTS for command in commands(name)]


def of(place):
    return list(dict.fromkeys(command for _, command in every() if where(command) == place))
