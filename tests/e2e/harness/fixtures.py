"""Fixtures of every folder whose tests run Turnpike as a process; a conftest.py imports them by name."""

import pytest

from .lab import Lab


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.when == "call":
        item.passed = report.passed


@pytest.fixture
def lab(request):
    """A lab of its own for a test that is to run alone; looked after when the test has passed."""
    made = Lab(request.node.name)
    try:
        yield made
        if getattr(request.node, "passed", False):
            made.check()
        else:
            print(made.logs())
    finally:
        made.close()
