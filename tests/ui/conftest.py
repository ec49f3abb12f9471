import os
import sys

import pytest

E2E = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e")
sys.path.insert(0, E2E)

from browser import Browser  # noqa: E402
from harness.fixtures import lab, pytest_runtest_makereport  # noqa: E402, F401


@pytest.fixture
def browser():
    made = Browser()
    yield made
    made.close()
