"""The Codex CLI, straight at the simulator and through the proxy.  It always streams."""

import pytest

HELLO = "Hello from the Turnpike simulator."


def messages(events):
    return [e["item"]["text"] for e in events
            if e["type"] == "item.completed" and e["item"]["type"] == "agent_message"]


@pytest.mark.parametrize("script", ["200", "503,200"])
def test_completes_a_turn(clients, simulator, road, script):
    status, events = clients.codex("sim:" + script, road)

    assert status == 0
    assert messages(events) == [HELLO]
    assert [e["step"] for e in simulator.sends()] == script.split(",")


def test_completes_a_turn_after_a_429(clients, simulator, proxy):
    """Codex itself never sends again after a 429: behind the proxy the turn is served all the same."""
    status, events = clients.codex("sim:429;retry-after=1,200", proxy)

    assert status == 0
    assert messages(events) == [HELLO]
    assert len(simulator.sends()) == 2


def test_always_503_costs_at_most_the_base(clients, simulator, proxy):
    """30 sends without a proxy.  Codex ends with an error instead of hanging."""
    status, events = clients.codex("sim:503", proxy, timeout=180)

    assert status != 0
    assert any(e["type"] == "turn.failed" for e in events)
    assert 2 <= len(simulator.sends()) <= 3


@pytest.mark.parametrize("script", ["reset", "close"])
def test_lost_answer_is_not_sent_again(clients, simulator, proxy, script):
    status, events = clients.codex("sim:" + script, proxy)

    assert status != 0
    assert any(e["type"] == "turn.failed" for e in events)
    assert len(simulator.sends()) == 1
