"""Packages are built by `make deb rpm` before; the tests need root, and the network once, for the base system."""

import os

import pytest

from machine import BUILD, ROOT, Machine, make_base


def built(pattern):
    found = sorted((ROOT / "build").glob(pattern))
    assert len(found) == 1, f"want one build/{pattern}, found {found}: make deb rpm"
    return found[0]


@pytest.fixture(scope="session")
def deb():
    return built("turnpike_*.deb")


@pytest.fixture(scope="session")
def rpm():
    return built("turnpike-*.rpm")


@pytest.fixture(scope="session")
def base(deb):
    assert os.geteuid() == 0, "a system of its own needs root"
    return make_base(deb)


@pytest.fixture(scope="module")
def machine(base):
    BUILD.mkdir(parents=True, exist_ok=True)
    m = Machine(base)
    yield m
    m.close()
