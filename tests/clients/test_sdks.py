"""The openai and @anthropic-ai/sdk packages, straight at the simulator and through the proxy."""

import time

import pytest

SDKS = ["openai-chat", "openai-responses", "anthropic-messages"]
HELLO = "Hello from the Turnpike simulator."
LAST_EVENT = {
    "openai-chat": "chat.completion.chunk",
    "openai-responses": "response.completed",
    "anthropic-messages": "message_stop",
}


@pytest.mark.parametrize("script", ["200", "503,200", "429;retry-after=1,200"])
@pytest.mark.parametrize("mode", ["json", "stream"])
@pytest.mark.parametrize("client", SDKS)
def test_completes_a_turn(clients, simulator, road, client, mode, script):
    seen = clients.sdk(client, "sim:" + script, mode, road)

    assert seen["ok"], seen
    assert seen["text"] == HELLO
    if mode == "stream":
        assert seen["last"] == LAST_EVENT[client]
    steps = script.split(",")
    assert [e["step"] for e in simulator.sends()] == steps
    if simulator.url not in road:  # the proxy made all sends; the SDK itself sent once
        assert seen["turnpike_sends"] == str(len(steps))


@pytest.mark.parametrize("client", SDKS)
def test_told_wait_is_kept(clients, simulator, proxy, client):
    assert clients.sdk(client, "sim:429;retry-after=2,200", "json", proxy)["ok"]

    first, second = simulator.sends()
    assert second["time_ms"] - first["time_ms"] >= 2000


@pytest.mark.parametrize("client", SDKS)
def test_stream_arrives_event_by_event(clients, simulator, road, client):
    """The simulator sends the rest only when the client has told that it saw the beginning."""
    seen = clients.sdk(client, "sim:hold", "stream", road)

    assert seen["ok"], seen
    assert seen["released"] == 1
    assert seen["text"] == HELLO
    assert seen["last"] == LAST_EVENT[client]


@pytest.mark.parametrize("mode", ["json", "stream"])
@pytest.mark.parametrize("client", SDKS)
def test_always_503_costs_at_most_the_base(clients, simulator, proxy, client, mode):
    """By itself an SDK that is told to retry 5 times makes 6 sends."""
    seen = clients.sdk(client, "sim:503", mode, proxy, MAX_RETRIES="5")

    assert not seen["ok"]
    assert seen["error"]["status"] == 503, seen
    assert 2 <= len(simulator.sends()) <= 3


def test_always_429_costs_at_most_the_budget(clients, simulator, proxy):
    seen = clients.sdk("openai-chat", "sim:429;retry-after=1", "json", proxy, MAX_RETRIES="5")

    assert seen["error"]["status"] == 429, seen
    assert 2 <= len(simulator.sends()) <= 4


@pytest.mark.parametrize("script", ["reset", "close", "reset-after-head"])
@pytest.mark.parametrize("mode", ["json", "stream"])
@pytest.mark.parametrize("client", SDKS)
def test_lost_answer_is_not_sent_again(clients, simulator, proxy, client, mode, script):
    """The request may have run: one send, a refusal, and the SDK's own retries stop too."""
    began = time.monotonic()
    seen = clients.sdk(client, "sim:" + script, mode, proxy)

    assert not seen["ok"]
    assert seen["error"]["status"] == 429, seen
    assert seen["error"]["should_retry"] == "false"
    assert len(simulator.sends()) == 1
    assert time.monotonic() - began < 30
