"""Fixtures: the simulator, a proxy in front of it, and the installed client packages."""

import pytest

import real_clients


@pytest.fixture
def simulator():
    with real_clients.simulator() as made:
        yield made


@pytest.fixture
def proxy(simulator, tmp_path):
    """Base URL of a proxy whose only provider is the simulator."""
    with real_clients.proxy(simulator, tmp_path) as url:
        yield url


@pytest.fixture(params=["direct", "proxy"])
def road(request, simulator):
    """The base URL a client uses.  "direct" tells a fault of client or simulator from one of the proxy."""
    if request.param == "direct":
        return simulator.url + "/v1"
    return request.getfixturevalue("proxy")


@pytest.fixture(scope="session")
def clients_dir():
    return real_clients.install_clients()


@pytest.fixture
def clients(clients_dir, simulator, tmp_path):
    return real_clients.Clients(clients_dir, simulator, tmp_path)
