"""The harness against itself: the client talks to the provider directly, nothing in between."""

import json
import socket
import threading
import time

import pytest

from harness import client, credentials, provider, tls, turnpike
from harness.client import Client
from harness.provider import Provider


@pytest.fixture
def served():
    made = []

    def make(*steps, **how):
        made.append(Provider(*steps, **how))
        return made[-1]

    yield make
    for one in made:
        one.stop()
        assert not one.errors


def address(one):
    return (one.host, one.port)


@pytest.mark.parametrize("framing, end", [("length", "complete"), ("chunked", "complete"), ("close", "close")])
def test_an_answer_in_each_framing(served, framing, end):
    u = served(provider.status(503, {"X-A": "1"}, b'{"a":1}', framing=framing))
    answer = client.post(address(u))
    assert (answer.status, answer.body, answer.end, answer.header("x-a")) == (503, b'{"a":1}', end, "1")
    send, = u.sends
    assert send.method == "POST" and send.target == "/v1/chat/completions" and send.body_complete
    assert send.json()["messages"][0]["content"].startswith("prompt ")
    assert send.raw_head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    assert send.at <= send.answered_at and send.status == 503


@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize("cut", [0, 5, 40, 70, 95, 120])
def test_an_answer_cut_anywhere_is_never_complete(served, framing, cut):
    whole = provider.status(200, (), b"x" * 64, framing=framing)

    def step(x):
        x.answer(200, (), b"x" * 64, framing=framing, cut=cut)
        x.close()

    u = served(step, whole)
    assert client.post(address(u)).end == "cut"
    assert client.post(address(u)).end == "complete"


@pytest.mark.parametrize("step, end, read_all", [
    (provider.reset(), "reset", True), (provider.fin(), "cut", True),
    (provider.reset_inside(10), "reset", False), (provider.raw(b"HTTP/1.1 2"), "cut", True),
    (provider.raw(b"HTTP/1.1 2", then="reset"), "reset", True)])
def test_ends_of_a_connection(served, step, end, read_all):
    u = served(step)
    answer = client.post(address(u), body=b"x" * 100_000)
    assert answer.end == end and answer.status is None
    assert u.count == 1 and u.sends[0].body_complete == read_all
    if not read_all:
        assert 10 <= len(u.sends[0].body) < 100_000


def test_a_reset_before_anything_is_read_is_no_send(served):
    u = served(on_accept=lambda connection: connection.reset() or False)
    with pytest.raises(ConnectionError):
        answer = client.post(address(u))
        raise ConnectionResetError(answer.end)
    assert u.count == 0 and len(u.connections) == 1


def test_half_a_head_is_a_send(served):
    u = served()
    with Client(address(u)) as c:
        c.send(b"POST /v1/x HT")
        time.sleep(0.1)
    u.wait_sends(1)
    assert u.sends[0].raw_head == b"POST /v1/x HT" and u.sends[0].method == ""


def test_keep_alive_and_rows(served):
    u = served(provider.status(500), then=provider.ok())
    u.row("b", provider.status(404))
    with Client(address(u)) as c:
        assert [c.post().status, c.post(headers={"x-row": "b"}).status, c.post().status] == [500, 404, 200]
        assert c.post(headers={"x-row": "probe"}).json() == {"probe": True}
    assert [s.number for s in u.sends] == [0, 2] and u.rows["b"].count == 1
    assert len(u.connections) == 1 and u.count == 2


def test_chunked_requests_and_trailers(served):
    u = served()
    body = b"0123456789" * 1000
    with Client(address(u)) as c:
        c.send(client.request_bytes("POST", "/v1/x", {"Transfer-Encoding": "chunked"}) +
               client.chunk_bytes(body, 999, b";ext=1", b"X-T: 1\r\n"))
        assert c.response().status == 200
    assert u.sends[0].body == body and u.sends[0].trailers == [b"X-T: 1"]


def test_a_stream_is_driven_by_barriers(served):
    gate = threading.Event()
    u = served(provider.stream([b"data: 1\n\n", b"data: 2\n\n"], barriers={1: gate}))
    with Client(address(u)) as c:
        c.request("POST", "/v1/chat/completions", body=b"{}")
        answer = c.head()
        c.until(answer, b"data: 1\n\n")
        assert answer.end is None and answer.framing == "chunked"
        gate.set()
        c.rest(answer)
    assert [data for _, data in answer.pieces] == [b"data: 1\n\n", b"data: 2\n\n"]
    assert answer.end == "complete"


@pytest.mark.parametrize("end, seen", [("reset", "reset"), ("close", "cut")])
def test_a_stream_that_is_cut(served, end, seen):
    u = served(provider.stream([b"data: 1\n\n"], end=end))
    answer = client.post(address(u))
    assert answer.end == seen and answer.body == b"data: 1\n\n"


def test_the_provider_sees_that_its_peer_left(served):
    note = []
    u = served(provider.silent(note))
    with Client(address(u)) as c:
        c.request("POST", "/v1/x", body=b"{}")
        u.wait_sends(1)
        assert c.closed(0.1) is None
    turnpike.until(lambda: note == [True], 2, "the provider noticed")
    assert u.sends[0].peer_closed_at is not None and not u.sends[0].peer_reset


def test_idle_connections_are_closed(served):
    u = served(idle_close=0.2)
    with Client(address(u)) as c:
        assert c.post().status == 200
        assert c.closed(1.5) == "fin"
    assert u.connections[0].closed_at - u.sends[0].answered_at >= 0.2


def test_interim_answers_and_bodiless_ones(served):
    def step(x):
        x.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        x.answer(200, {"Content-Length": "7"}, b"")

    u = served(step, provider.status(204, (), b"", framing="none"))
    with Client(address(u)) as c:
        head = c.ask("HEAD", "/v1/models")
        assert head.status == 200 and head.body == b"" and [s for s, _ in head.interim] == [103]
        assert c.ask("GET", "/v1/models").status == 204


def test_tls_both_ways_and_a_missing_goodbye(served):
    ca = tls.authority()

    def rude(x):
        x.head(200, {"Connection": "close"})
        x.write(b"half", answered=True)
        x.close()

    def polite(x):
        x.head(200, {"Connection": "close"})
        x.write(b"all", answered=True)
        x.close(notify=True)

    u = served(provider.ok(), rude, polite, tls=ca.server())
    ends = []
    for _ in range(3):
        with Client(address(u), tls=ca.client()) as c:
            ends.append(c.post().end)
    assert ends == ["complete", "cut", "close"]


def test_ipv6_provider(served):
    u = served(host="::1")
    assert client.post(("::1", u.port)).status == 200
    assert u.url() == "http://[::1]:%d/v1" % u.port


def test_gaps_start_before_the_answer_is_written(served):
    u = served(provider.status(500, after=0.1), provider.ok())
    client.post(address(u))
    time.sleep(0.2)
    client.post(address(u))
    gap, = u.gaps()
    assert 0.2 <= gap < 0.6


def test_good_answers_are_of_their_family(served):
    u = served()
    for path, member in (("chat/completions", "choices"), ("responses", "output"), ("messages", "content"),
                         ("models", "data")):
        assert member in client.post(address(u), "/v1/" + path).json()
    for family in ("chat", "responses", "messages"):
        for part in provider.good_events(family):
            assert part and all(piece.endswith(b"\n\n") for piece in part)


def test_yaml_is_block_style():
    text = turnpike.yaml({"a": {"b": [1, "x: y"], "c": {}, "d": []}, "e": [{"k": "v"}], "f": True})
    assert text == 'a:\n  b:\n    - 1\n    - "x: y"\n  c: {}\n  d: []\ne:\n  - {"k": "v"}\nf: true\n'
    assert turnpike.merge({"a": {"b": 1}, "c": 1}, {"a": {"d": 2}, "c": 3}) == {"a": {"b": 1, "d": 2}, "c": 3}


def test_addresses_of_the_ready_line():
    assert turnpike._address("http://127.0.0.1:81") == ("127.0.0.1", 81)
    assert turnpike._address("https://[::1]:82/") == ("::1", 82)
    assert turnpike._address("unix:/run/x.sock") == "/run/x.sock"


def test_each_prompt_is_new():
    one, two = client.body_for("/v1/messages"), client.body_for("/v1/messages")
    assert one != two and json.loads(one)["max_tokens"] == 64


def test_a_socket_to_a_port_that_is_closed_is_refused():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(ConnectionRefusedError):
        client.post(("127.0.0.1", port))


KEYED, PLAIN, OTHER = {"keys": ["own-key"]}, {}, {"keys": ["key-of-other"]}
BEARER = ("Authorization", "Bearer own-key")


@pytest.mark.parametrize("section, headers, target, complaint", [
    (KEYED, [BEARER], "", None),
    (KEYED, [("x-api-key", "own-key")], "?a=key", None),
    (KEYED, [], "", "one key and nothing beside it"),
    (KEYED, [("Authorization", "Bearer mine")], "", "is no credential for this provider"),
    (KEYED, [BEARER, ("Cookie", "session=mine")], "", "is no credential for this provider"),
    (KEYED, [BEARER, ("x-api-key", "own-key")], "", "one key and nothing beside it"),
    (KEYED, [BEARER, ("X-Strange", "mine mine-too-long")], "", None),
    (KEYED, [BEARER], "?key=mine", "is no credential for this provider"),
    (KEYED, [BEARER], "?%6bey=mine", "is no credential for this provider"),
    (KEYED, [BEARER, ("X-Any", "opens-turnpike")], "", "is no credential for this provider"),
    (KEYED, [("Authorization", "Bearer key-of-other")], "", "is no credential for this provider"),
    (PLAIN, [("Authorization", "Bearer mine"), ("Cookie", "a=b")], "?key=mine", None),
    (PLAIN, [("X-Any", "a key-of-other b")], "", "is no credential for this provider"),
    (PLAIN, [("Authorization", "Bearer opens-turnpike")], "", "is no credential for this provider"),
])
@pytest.mark.parametrize("noted", [True, False])
def test_a_credential_at_the_wrong_provider_is_seen(tmp_path, served, section, headers, target, complaint,
                                                    noted):
    """A client that talks to the provider itself is a proxy that takes nothing away. noted: what it sent is
    known, as it is of a client of the proxy."""
    u, other = served(), served()
    made = turnpike.Turnpike({"p": dict(section, url=u.url()), "q": dict(OTHER, url=other.url())},
                             {"clients": [{"name": "t", "key": "opens-turnpike"}]}, folder=str(tmp_path))
    client.post(address(u), "/v1/chat/completions" + target, headers=headers)
    sent = client.carried[address(u)] if noted else set()
    if complaint is None:
        credentials.check([u, other], [made], sent)
        return
    with pytest.raises(AssertionError, match=complaint if noted else None):
        credentials.check([u, other], [made], sent)


def test_a_credential_in_an_unknown_header_is_seen(tmp_path, served):
    u = served()
    made = turnpike.Turnpike({"p": dict(KEYED, url=u.url())}, folder=str(tmp_path))
    client.post(address(u), headers=[BEARER, ("X-New", "mine")])
    credentials.check([u], [made], set())
    with pytest.raises(AssertionError, match="X-New"):
        credentials.check([u], [made], {"mine"})
