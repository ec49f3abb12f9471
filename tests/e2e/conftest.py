import pytest

pytest.register_assert_rewrite("harness.client", "harness.lab", "harness.turnpike", "harness.checks",
                            "harness.exposition", "harness.crowd", "harness.streams", "harness.combos", "harness.serving",
                            "harness.tokens")

from harness import turnpike  # noqa: E402
from harness.fixtures import lab, pytest_runtest_makereport  # noqa: E402, F401
from harness.serving import provider, serve  # noqa: E402, F401


def pytest_report_header(config):
    return "turnpike: " + turnpike.BINARY


# Files of 20 seconds and more, which are begun first: where several processes share the files, they end together.
# (The first one installs packages from npm.)
LONG = ("test_codex", "test_abuse", "test_sdks", "test_frameworks", "test_master", "test_stress", "test_alerts", "test_top",
        "test_crash", "test_admin", "test_prelude", "test_combo_bodies", "test_compression", "test_combos",
        "test_shared_waits")


def pytest_collection_modifyitems(session, config, items):
    """The order of the files, and which rows of each module were asked for: those run side by side."""
    items.sort(key=lambda item: LONG.index(item.path.stem) if item.path.stem in LONG else len(LONG))
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
