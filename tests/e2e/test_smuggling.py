"""tests/data/smuggling.tsv: messages that two readers could read in two ways.  For each the statuses that the client
got, what the provider received byte for byte, and whether the connection stayed open.

Each message has a second request behind it, where there is room for one: it runs only where the first was taken
whole.
"""

import os
import re
import select

import pytest

from harness.client import Client
from harness.lab import Lab
from harness.provider import PeerGone, Provider
from harness.tables import unescape
from harness.turnpike import ROOT, until

PATH = os.path.join(ROOT, "tests", "data", "smuggling.tsv")
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


def escape(data):
    text = "".join({"\r": "\\r", "\n": "\\n", "\t": "\\t", "\\": "\\\\"}.get(c) or (
        c if " " <= c < "\x7f" else "\\x%02x" % ord(c)) for c in data.decode("latin-1"))
    return re.sub(r"a{40,}", lambda run: "{{%d*a}}" % len(run[0]), text)


def table():
    with open(PATH, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in list(file)[1:]]


class Recorder:
    """Keeps what each connection brings, and answers each whole request."""

    def __init__(self):
        self.got = []
        self.provider = Provider(on_accept=self._serve)

    def _serve(self, connection):
        received = bytearray()
        self.got.append(received)
        answered = 0
        try:
            while True:
                data = connection.recv()
                if not data:
                    break
                received += data
                while answered < self.whole(bytes(received)):
                    answered += 1
                    connection.sock.sendall(ANSWER)
        except (PeerGone, TimeoutError, OSError):
            pass
        connection.close()
        return False

    @staticmethod
    def whole(data):
        """How many requests are complete. Turnpike writes one framing, in one form."""
        count = 0
        while b"\r\n\r\n" in data:
            head, _, rest = data.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
            n = int(length[1]) if length else 0
            if b"transfer-encoding: chunked" in head.lower():
                end = rest.find(b"0\r\n\r\n")
                n = end + 5 if end >= 0 else len(rest) + 1
            if len(rest) < n:
                break
            count, data = count + 1, rest[n:]
        return count


@pytest.fixture(scope="module")
def listener():
    lab = Lab("smuggling")
    recorder = Recorder()
    try:
        t = lab.turnpike(recorder.provider.url(), {"workers": 1, "allow_anonymous": True, "hosts": ["a"],
                                                   "limits": {"client_header": "1s", "client_body": "1s"},
                                                   "budget": {"sends": 1, "reserve": 0},
                                                   "blacklist": {"failures": 1000}})
        yield t, recorder
        recorder.provider.stop()
        lab.check()
    finally:
        recorder.provider.stop()
        lab.close()


def settle(c, quiet=0.25):
    """All that the client gets until nothing more comes; "open" or "closed"."""
    while True:
        if not select.select([c.sock], [], [], quiet)[0]:
            return "open"
        try:
            data = c.sock.recv(65536)
        except OSError:
            return "closed"
        if not data:
            return "closed"
        c.buffer += data


def experiment(t, recorder, request):
    before = [len(one) for one in recorder.got]
    with Client(t.address) as c:
        c.send(unescape(request))
        state = settle(c)
        statuses = re.findall(rb"HTTP/1\.[01] (\d\d\d) ", bytes(c.buffer))
    until(lambda: t.stats().gauges["clients"] == 0, 5, "the end of the connection")
    got = b"".join(bytes(one[n:]) for one, n in zip(recorder.got, before + [0] * len(recorder.got)))
    got = got.replace(b":%d" % recorder.provider.port, b":PORT")
    return " ".join(s.decode() for s in statuses) or "-", state, escape(got) or "-"


LINES = table() if os.path.exists(PATH) else []


@pytest.mark.parametrize("name, request_, statuses, connection, got", LINES, ids=[
    re.sub(r"\W+", "-", line[0]).strip("-") for line in LINES])
def test_line(listener, name, request_, statuses, connection, got):
    t, recorder = listener
    found = experiment(t, recorder, request_)
    assert found == (statuses, connection, got), name


def test_what_is_refused_reaches_no_provider():
    """Of the table itself: nothing behind a message that was not taken ever runs, and what is open was answered."""
    assert len(LINES) > 100
    for name, _, statuses, connection, got in LINES:
        codes = statuses.split()
        sent = Recorder.whole(unescape(got)) if got != "-" else 0
        assert sent == codes.count("200"), name
        # Our own answer to a target that leaves its route keeps the connection: the message itself was clear.
        if any(code >= "400" for code in codes) and "dot segments" not in name and name != "TRACE":
            assert connection == "closed" and codes[-1] >= "400", name
        assert connection == "closed" or codes, name
