import pytest

pytest.register_assert_rewrite("harness.client", "harness.lab", "harness.turnpike", "harness.checks",
                            "harness.exposition", "harness.crowd")

from harness import turnpike  # noqa: E402
from harness.lab import Lab  # noqa: E402


def pytest_report_header(config):
    return "turnpike: " + turnpike.BINARY


def pytest_collection_modifyitems(session, config, items):
    """Which rows of each module were asked for: those run side by side."""
    for item in items:
        rows = getattr(item.module, "rows", None)
        call = getattr(item, "callspec", None)
        if rows is not None and call is not None and "row" in call.params:
            if not hasattr(rows, "asked"):
                rows.asked = []
            rows.asked.append(call.params["row"])


@pytest.fixture
def row_result(request):
    """Runs the asked rows of the module at its first row; gives the result of one."""
    rows = request.module.rows
    rows.start(rows.asked)
    return rows.result


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
