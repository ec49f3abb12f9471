"""`make test-packages` builds both packages before. A machine of its own needs root, namespaces, and the network once."""

import sys

import pytest

from machine import ROOT, Lacking, Machine, make_base

sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/clients")]


def built(pattern):
    found = sorted((ROOT / "build").glob(pattern))
    assert len(found) == 1, f"want one build/{pattern}, found {found}: make test-packages"
    return found[0]


@pytest.fixture(scope="session")
def deb():
    return built("turnpike_*.deb")


@pytest.fixture(scope="session")
def rpm():
    return built("turnpike-*.rpm")


@pytest.fixture(scope="module")
def machine(deb):
    try:
        m = Machine(make_base(deb))
    except Lacking as why:
        pytest.skip(str(why))
    yield m
    m.close()
