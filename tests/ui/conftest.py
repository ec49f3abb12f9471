import os
import sys

import pytest

E2E = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e")
sys.path.insert(0, E2E)

from browser import Browser  # noqa: E402
from harness.lab import Lab  # noqa: E402


@pytest.fixture
def browser():
    made = Browser()
    yield made
    made.close()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.when == "call":
        item.passed = report.passed


@pytest.fixture
def lab(request):
    made = Lab(request.node.name)
    try:
        yield made
        if getattr(request.node, "passed", False):
            made.check()
        else:
            print(made.logs())
    finally:
        made.close()
