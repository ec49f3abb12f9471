"""Claude Code, the Vercel AI SDK and LangChain JS through the proxy, at their default settings.

What each of them does without the proxy is measured by bench.py.
"""

import pytest

HELLO = "Hello from the Turnpike simulator."
SDKS = ["vercel-responses", "vercel-chat", "vercel-messages", "langchain-chat"]


def steps(simulator):
    return [e["step"] for e in simulator.sends()]


# ---- Claude Code: it always streams

@pytest.mark.parametrize("script", ["200", "503,200", "429;retry-after=1,200", "overload-200,200"])
def test_claude_code_completes_a_turn(clients, simulator, proxy, script):
    status, result = clients.claude_code("sim:" + script, proxy)

    assert status == 0, result
    assert result["result"] == HELLO
    assert steps(simulator) == script.split(",")


@pytest.mark.parametrize("script", ["reset", "close"])
def test_claude_code_lost_answer_is_not_sent_again(clients, simulator, proxy, script):
    """11 sends without a proxy."""
    status, result = clients.claude_code("sim:" + script, proxy)

    assert status == 1, result
    assert result["api_error_status"] == 429 and "may have been carried out" in result["result"]
    assert steps(simulator) == [script]


def test_claude_code_always_503_costs_at_most_the_base(clients, simulator, proxy):
    status, result = clients.claude_code("sim:503", proxy)

    assert status == 1, result
    assert result["api_error_status"] == 503
    assert 2 <= len(simulator.sends()) <= 3


def test_claude_code_asking_again_after_a_cut_stream_stays_in_the_budget(clients, simulator, proxy):
    """It drops `stream` and asks once more: the same logical request."""
    clients.claude_code("sim:reset-mid", proxy)

    assert 1 <= len(simulator.sends()) <= 4
    assert len({e["id"] for e in simulator.sends()}) == 1


# ---- SDKs: some in one mode, some in the other; each run of Vercel's own retries takes 6 s

PAIRS = [("vercel-responses", "json"), ("vercel-chat", "stream"), ("vercel-messages", "stream"),
         ("langchain-chat", "json")]


@pytest.mark.parametrize("client, mode", PAIRS)
def test_completes_a_turn_after_a_503(clients, simulator, proxy, client, mode):
    seen = clients.sdk(client, "sim:503,200", mode, proxy)

    assert seen["ok"], seen
    assert seen["text"] == HELLO
    assert steps(simulator) == ["503", "200"]


@pytest.mark.parametrize("client", SDKS)
def test_stream_arrives_event_by_event(clients, simulator, proxy, client):
    """The simulator sends the rest only when the client has told that it saw the beginning."""
    seen = clients.sdk(client, "sim:hold", "stream", proxy)

    assert seen["ok"], seen
    assert seen["released"] == 1
    assert seen["text"] == HELLO


@pytest.mark.parametrize("client, mode", PAIRS)
def test_lost_answer_is_not_sent_again(clients, simulator, proxy, client, mode):
    """3 sends (Vercel) and 7 (LangChain) without a proxy; those that come back are answered from memory."""
    seen = clients.sdk(client, "sim:reset", mode, proxy)

    assert not seen["ok"]
    assert seen["error"]["status"] == 429, seen
    assert steps(simulator) == ["reset"]


@pytest.mark.parametrize("client", ["vercel-messages", "langchain-chat"])
def test_always_503_costs_at_most_the_base(clients, simulator, proxy, client):
    seen = clients.sdk(client, "sim:503", "json", proxy)

    assert not seen["ok"]
    assert 2 <= len(simulator.sends()) <= 3
