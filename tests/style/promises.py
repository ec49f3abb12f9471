"""docs/threat-model.md: does each test that it names exist?"""

import glob
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def there(name, source):
    """As written, or put together of a table's prefix and a case."""
    name = name.rstrip("*").rstrip("-")
    if re.search(r"\b%s\b" % re.escape(name), source):
        return True
    parts = name.split("-")
    return any('"%s"' % "-".join(parts[:n]) in source for n in range(len(parts) - 1, 0, -1))


def faults():
    for row in text("docs/threat-model.md").split("\n"):
        cells = row.split(" | ")
        if not row.startswith("| ") or len(cells) < 2:
            continue
        for e2e, name, rest in re.findall(r"(e2e |unit )?\b(\w+): ((?:`[^`]+`(?:, )?)+)", cells[-1]):
            path = "tests/e2e/test_%s.py" % name if e2e.startswith("e2e") else "tests/unit/test_%s.c" % name
            if not os.path.exists(path):
                yield "%s is not there" % path
                continue
            for test in re.findall("`([^`]+)`", rest):
                if not there(test, text(path)):
                    yield "%s has no %s" % (path, test)
        for names in re.findall(r"fuzz targets? ((?:`\w+`(?:, )?)+)", cells[-1]):
            for name in re.findall(r"\w+", names):
                if not os.path.exists("tests/fuzz/fuzz_%s.c" % name):
                    yield "no fuzz target %s" % name
    for path in glob.glob("tests/fuzz/fuzz_*.c"):
        if not os.path.isdir("tests/fuzz/corpus/" + path[len("tests/fuzz/fuzz_"):-2]):
            yield "%s has no corpus" % path


found = list(faults())
for fault in found:
    print("docs/threat-model.md: " + fault, file=sys.stderr)
sys.exit(bool(found))
