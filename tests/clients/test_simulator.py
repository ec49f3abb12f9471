"""The simulator itself, over raw sockets: what a script asks for is what happens on the wire."""

import json
import socket
import time
import urllib.request

import pytest

PATHS = ["/v1/chat/completions", "/v1/responses", "/v1/messages"]
TERMINAL = {PATHS[0]: b"data: [DONE]", PATHS[1]: b"event: response.completed", PATHS[2]: b"event: message_stop"}


def connect(sim):
    host, port = sim.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def request(script, path=PATHS[0], stream=False, method="POST", headers="", model="m", prompt="hi"):
    body = json.dumps({"model": model, "stream": stream, "input": prompt}).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: sim\r\nContent-Length: {len(body)}\r\n{headers}"
    if script:
        head += f"x-simulate: {script}\r\n"
    return head.encode() + b"\r\n" + body


def exchange(sim, *args, **kwargs):
    """All bytes until the end of the connection, and how it ended: "fin" or "reset"."""
    with connect(sim) as s:
        s.sendall(request(*args, headers="Connection: close\r\n", **kwargs))
        return read_all(s)


def read_all(s):
    data = b""
    try:
        while piece := s.recv(65536):
            data += piece
    except ConnectionResetError:
        return data, "reset"
    return data, "fin"


def parts(data):
    """Status, lower-case headers, body as sent."""
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), headers, body


def dechunk(body):
    """Content, and whether the last chunk came."""
    content = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        if int(size, 16) == 0:
            return content, True
        content += rest[: int(size, 16)]
        body = rest[int(size, 16) + 2 :]
    return content, False


def post(sim, path):
    with urllib.request.urlopen(urllib.request.Request(sim.url + path, method="POST"), timeout=10) as answer:
        return json.load(answer)


@pytest.mark.parametrize("path", PATHS)
def test_steps_go_by_logical_request(simulator, path):
    for prompt in ("a", "b"):
        seen = [parts(exchange(simulator, "503x2,429,200", path, prompt=prompt)[0]) for _ in range(5)]
        assert [s for s, _, _ in seen] == [503, 503, 429, 200, 200]
        assert [h["x-simulate-send"] for _, h, _ in seen] == ["1", "2", "3", "4", "5"]
    assert simulator.get("/__sim/count") == {"sends": 10, "logical_requests": 2, "most": 5}


def test_the_model_name_is_a_script_too(simulator):
    seen = [parts(exchange(simulator, None, model="sim:503,200")[0])[0] for _ in range(2)]
    assert seen == [503, 200]


def test_again_begins_anew(simulator):
    seen = [parts(exchange(simulator, "503,200;again")[0])[0] for _ in range(4)]
    assert seen == [503, 200, 503, 200]


def test_a_dropped_stream_member_is_the_same_request(simulator):
    assert parts(exchange(simulator, "503,200", stream=True)[0])[0] == 503
    assert parts(exchange(simulator, "503,200", stream=False)[0])[0] == 200


def test_identity_by_header(simulator):
    with connect(simulator) as s:
        for prompt, status in (("a", b"503"), ("b", b"200")):
            s.sendall(request("503,200", prompt=prompt, headers="x-simulate-id: my id\r\n"))
            assert s.recv(65536).startswith(b"HTTP/1.1 " + status)
    assert simulator.get("/__sim/count?id=my%20id") == {"sends": 2, "id": "my id"}
    assert [e["send"] for e in simulator.get("/__sim/log?id=my%20id")] == [1, 2]
    assert simulator.get("/__sim/log?id=another") == []


@pytest.mark.parametrize(
    "script, header, value",
    [
        ("429;retry-after=2", "retry-after", "2"),
        ("429;retry-after=soon%2C%20or%20not", "retry-after", "soon, or not"),
        ("503;retry-after-ms=700", "retry-after-ms", "700"),
        ("503;header.x-should-retry=false", "x-should-retry", "false"),
        ("503;header.Content-Type=text/odd", "content-type", "text/odd"),
    ],
)
def test_headers(simulator, script, header, value):
    assert parts(exchange(simulator, script)[0])[1][header] == value


def test_error_text_is_free(simulator):
    error = json.loads(parts(exchange(simulator, "500;code=c;type=t;message=a%3B%20%22b%22")[0])[2])["error"]
    assert (error["code"], error["type"], error["message"]) == ("c", "t", 'a; "b"')


# script, how the connection ends, bytes of answer expected: none, part of a head, a head, a head and some body
BREAKS = [
    ("reset", "reset", "none"),
    ("close", "fin", "none"),
    ("reset-in-head", "reset", "part"),
    ("close-in-head", "fin", "part"),
    ("reset-after-head", "reset", "head"),
    ("close-after-head", "fin", "head"),
    ("reset-mid", "reset", "body"),
    ("close-mid", "fin", "body"),
    ("truncate=20", "fin", "body"),
    ("error-mid;after=1", "fin", "body"),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("script, end, extent", BREAKS)
def test_breaks(simulator, script, end, extent, path, stream):
    data, ended = exchange(simulator, script, path, stream)
    assert ended == end
    if extent == "none":
        assert data == b""
    elif extent == "part":
        assert data.startswith(b"HTTP/1.1 200") and b"\r\n\r\n" not in data
    else:
        status, _, body = parts(data)
        assert status == 200
        assert (len(body) > 0) == (extent == "body")
        assert TERMINAL[path] not in body
    if not script.startswith("error"):
        assert simulator.log()[0]["end"] == "broken"


@pytest.mark.parametrize("path", PATHS)
def test_truncate_is_exact(simulator, path):
    _, _, body = parts(exchange(simulator, "truncate=137", path)[0])
    assert len(body) == 137
    content, complete = dechunk(parts(exchange(simulator, "truncate=137", path, stream=True)[0])[2])
    assert len(content) == 137 and not complete


@pytest.mark.parametrize("path", PATHS)
def test_end_mid_is_a_clean_end_of_cut_content(simulator, path):
    content, complete = dechunk(parts(exchange(simulator, "end-mid", path, stream=True)[0])[2])
    assert complete and content and TERMINAL[path] not in content
    _, headers, body = parts(exchange(simulator, "end-mid", path)[0])
    assert len(body) == int(headers["content-length"])
    with pytest.raises(ValueError):
        json.loads(body)


@pytest.mark.parametrize("script", ["stall", "stall-in-head", "stall-after-head", "stall-mid"])
def test_stall_lasts_until_the_client_leaves(simulator, script):
    with connect(simulator) as s:
        s.sendall(request(script, stream=True))
        s.settimeout(0.3)
        with pytest.raises(TimeoutError):
            while s.recv(65536):
                pass
        assert simulator.log()[0]["end"] == "open"
    until(lambda: simulator.log()[0]["end"] == "client_gone")


def until(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("path", PATHS)
def test_hold_and_release(simulator, path):
    with connect(simulator) as s:
        s.sendall(request("hold", path, stream=True, headers="Connection: close\r\nx-simulate-id: h\r\n"))
        first = s.recv(65536)
        until(lambda: b"Hello" in first or more(s))
        assert post(simulator, "/__sim/release?id=other") == {"released": 0}
        assert post(simulator, "/__sim/release?id=h") == {"released": 1}
        assert TERMINAL[path] in read_all(s)[0]


def more(s):
    return b"Hello" in s.recv(65536)


def test_capacity(simulator):
    busy = [connect(simulator) for _ in range(2)]
    for n, s in enumerate(busy):
        s.sendall(request("capacity=2;first=400ms", prompt=str(n)))
    until(lambda: len(simulator.log()) == 2)
    status, headers, _ = parts(exchange(simulator, "capacity=2", prompt="third")[0])
    assert (status, headers["x-codex-model-capacity"]) == (429, "2/2")
    for s in busy:
        assert s.recv(65536).startswith(b"HTTP/1.1 200")
        s.close()
    assert parts(exchange(simulator, "capacity=2", prompt="fourth")[0])[0] == 200


@pytest.mark.parametrize("path", PATHS)
def test_overload_inside_a_200(simulator, path):
    for stream in (False, True):
        status, _, body = parts(exchange(simulator, "overload-200", path, stream)[0])
        assert status == 200 and b"overloaded" in body and b"Hello" not in body


def test_waits(simulator):
    began = time.monotonic()
    exchange(simulator, "200;first=200ms;every=50ms;tokens=3", stream=True)  # 6 events, 5 waits between them
    assert 0.45 <= time.monotonic() - began < 5
    began = time.monotonic()
    exchange(simulator, "slow;first=0.2s;every=100ms;tokens=2")
    assert 0.4 <= time.monotonic() - began < 5


@pytest.mark.parametrize(
    "script, named",
    [
        ("bogus", "bogus"),
        ("200,teapot", "teapot"),
        ("600", "600"),
        ("503x0", "503x0"),
        ("truncate", "truncate"),
        ("truncate=x", "truncate=x"),
        ("reset=1", "reset=1"),
        ("503;colour=red", "colour"),
        ("503;again;colour", "colour"),
        ("reset;retry-after=1", "retry-after"),
        ("503;tokens=2", "tokens"),
        ("200;tokens=0", "tokens=0"),
        ("slow;first=soon", "first=soon"),
        ("200;again,503", "again"),
        ("503;header.Content-Length=1", "Content-Length"),
        ("503;code=%0d%0ax", "%0d%0ax"),
        ("503,", "''"),
        (",".join(["503"] * 33), "steps"),
    ],
)
def test_unknown_faults_are_named(simulator, script, named):
    status, _, body = parts(exchange(simulator, script)[0])
    assert status == 400
    assert named in json.loads(body)["error"]["message"]
    assert simulator.log() == []


@pytest.mark.parametrize(
    "method, path, status",
    [
        ("GET", "/v1/models", 200),
        ("HEAD", "/", 200),
        ("GET", "/health", 200),
        ("POST", "/v1/messages/count_tokens?beta=true", 200),
        ("POST", "/v1/nothing", 404),
        ("GET", "/v1/responses", 405),
        ("GET", "/__sim/nothing", 404),
    ],
)
def test_other_paths(simulator, method, path, status):
    with connect(simulator) as s:
        s.sendall(request(None, path, method=method, headers="Connection: close\r\n"))
        data = read_all(s)[0]
    assert parts(data)[0] == status
    assert (parts(data)[2] == b"") == (method == "HEAD")


def test_a_web_socket_is_refused(simulator):
    with connect(simulator) as s:
        s.sendall(b"GET /v1/responses HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        assert s.recv(65536).startswith(b"HTTP/1.1 426")


def test_pipelined_chunked_and_expecting_requests(simulator):
    body = b'{"model":"m"}'
    chunked = (
        b"POST /v1/responses HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"".join(b"1\r\n%c\r\n" % c for c in body) + b"0\r\n\r\n"
    )
    expecting = (
        b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\n"
        b"Content-Length: %d\r\n\r\n" % len(body)
    )
    with connect(simulator) as s:
        s.sendall(chunked + chunked + expecting)
        data = b""
        while b"100 Continue\r\n\r\n" not in data:
            data += s.recv(65536)
        s.sendall(body)
        data += read_all(s)[0]
    assert data.count(b"HTTP/1.1 200") == 3
    assert data.index(b"resp_sim1") < data.index(b"resp_sim2") < data.index(b"msg_sim3")


def test_the_answer_to_broken_framing(simulator):
    with connect(simulator) as s:
        s.sendall(b"POST /v1/responses HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")
        assert read_all(s)[0].startswith(b"HTTP/1.1 400")


def test_reset_forgets(simulator):
    exchange(simulator, "503,200")
    assert post(simulator, "/__sim/reset") == {"reset": True}
    assert simulator.log() == []
    assert simulator.get("/__sim/count") == {"sends": 0, "logical_requests": 0, "most": 0}
    assert parts(exchange(simulator, "503,200")[0])[0] == 503
