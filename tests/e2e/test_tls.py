"""TLS on listeners and to providers."""

import os
import socket
import ssl
import threading
import time
import warnings

import pytest

from harness import tls
from harness.checks import local_error, refusal, served
from harness.client import Client, body_for
from harness.key_updates import Renewing
from harness.lab import Rows, quiet
from harness.provider import event, fin, good_body, good_events, ok, reset, silent, status, stream
from harness.turnpike import until

rows = Rows()
PATH = "/v1/chat/completions"


def front(ca):
    return {"listen": [{"address": "127.0.0.1:0", "tls": {"certificate": ca.certificate, "key": ca.key}}]}


def upstream(u, ca, name="localhost", **more):
    return {"p": {"url": "https://%s:%d/v1" % (name, u.port), "tls": dict({"ca": ca.ca}, **more)}}


@rows("front")
def _(lab):
    ca = tls.authority()
    u = lab.provider(status(503), ok())
    t = lab.turnpike(u, front(ca), probe=False)
    with Client(t.address, tls=ca.client(("h2", "http/1.1"))) as c:
        assert c.sock.selected_alpn_protocol() == "http/1.1"
        assert c.sock.version() in ("TLSv1.2", "TLSv1.3")
        served(c.post(), sends=2)
        served(c.post(), sends=1)
        answer = c.post(headers={"Connection": "close"})
        served(answer, sends=1)
        assert c.closed(3) == "fin", "ends with close_notify"


def old_versions(context):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    return context


def lax_openssl(lab):
    """An OpenSSL that knows no level of security: what is refused then is refused by Turnpike."""
    file = os.path.join(lab.folder, "openssl.cnf")
    with open(file, "w") as out:
        out.write("openssl_conf = a\n[a]\nssl_conf = b\n[b]\nsystem_default = c\n"
                  "[c]\nMinProtocol = TLSv1\nCipherString = ALL:@SECLEVEL=0\n")
    return {"OPENSSL_CONF": file}


@rows("front-old-versions")
def _(lab):
    ca = tls.authority()
    t = lab.turnpike(lab.provider(), front(ca), probe=False, env=lax_openssl(lab))
    with pytest.raises(ssl.SSLError) as e:
        Client(t.address, tls=old_versions(ca.client()))
    assert e.value.reason == "TLSV1_ALERT_PROTOCOL_VERSION", e.value  # for want of a cipher: handshake failure
    with Client(t.address) as plain:
        plain.send(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert plain.closed(5) is not None
    with Client(t.address, tls=ca.client()) as c:
        served(c.post())


@rows("a-flood-of-new-keys-does-not-starve-others")
def _(lab):
    """Records that hold no data are no reason to stay with a connection.  By order, not by time: there are turns of the
    loop for all of the others' requests before the flood is through."""
    ca = tls.authority()
    t = lab.turnpike(lab.provider(then=ok()), dict(front(ca), workers=1), probe=False)
    flood = Renewing(socket.create_connection(t.address))
    data = flood.updates(20000, then=b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n")
    done, sender = threading.Event(), threading.Thread(target=flood.sock.sendall, args=(data,), daemon=True)

    def drain():
        """Key updates that answer ours are 27 bytes; the answer is longer, and the last."""
        got = 0
        while True:
            data = flood.sock.recv(65536)
            got += len(data)
            if not data or got > 20000 * 27 + 100:
                done.set()
                return

    flood.sock.settimeout(60)
    reader = threading.Thread(target=drain, daemon=True)
    with Client(t.address, tls=ca.client()) as c:
        served(c.post())
        reader.start()
        sender.start()
        for _ in range(30):
            served(c.post())
        assert not done.is_set()
    assert done.wait(60)
    sender.join(10)
    reader.join(10)
    flood.close()


@rows("front-slow-handshake")
def _(lab):
    """Silence instead of a handshake ends with the head's limit and takes no worker with it."""
    ca = tls.authority()
    config = dict(front(ca), limits={"client_header": "1s"})
    t = lab.turnpike(lab.provider(), config, probe=False)
    mute = [lab.client(t) for _ in range(20)]
    with Client(t.address, tls=ca.client()) as c:
        served(c.post())
    for c in mute:
        assert c.closed(4) is not None


@rows("front-large-both-ways")
def _(lab):
    ca = tls.authority()
    body = body_for(PATH, "t" * 5_000_000)
    big = b'{"choices":["' + b"T" * 5_000_000 + b'"]}'
    u = lab.provider(ok(big))
    t = lab.turnpike(u, front(ca), probe=False)
    with Client(t.address, tls=ca.client()) as c:
        answer = c.post(body=body)
    served(answer, sends=1)
    assert answer.body == big and u.sends[0].body == body


@rows("front-stream-and-gone")
def _(lab):
    ca = tls.authority()
    prelude, outputs, ending = good_events("chat")
    u = lab.provider(stream(prelude + outputs + ending, pause=0.05), stream(prelude + outputs, end="hold"))
    t = lab.turnpike(u, front(ca), probe=False)
    with Client(t.address, tls=ca.client()) as c:
        answer = c.post(stream=True)
    served(answer, sends=1)
    assert answer.body == b"".join(prelude + outputs + ending) and len(answer.pieces) >= len(outputs) + 2
    c = lab.client(t, tls=ca.client())
    c.request("POST", PATH, body=body_for(PATH, stream=True))
    c.until(c.head(), b"three")
    c.close()
    time.sleep(0.5)
    assert u.connections[-1].peer_closed_at is not None


@rows("front-cut-answer")
def _(lab):
    """A cut answer is seen as cut through TLS too."""
    ca = tls.authority()
    prelude, outputs, _ = good_events("chat")
    u = lab.provider(stream(prelude + outputs, end="reset"))
    t = lab.turnpike(u, front(ca), probe=False)
    with Client(t.address, tls=ca.client()) as c:
        answer = c.post(stream=True)
    assert answer.end in ("cut", "reset") and b'"error"' in answer.body


@rows("upstream")
def _(lab):
    ca, names = tls.authority(), []
    context = ca.server()
    context.sni_callback = lambda _sock, name, _context: names.append(name)
    u = lab.provider(status(503), ok(), ok(), tls=context)
    t = lab.turnpike(upstream(u, ca), {"workers": 1})
    served(lab.post(t), sends=2)
    served(lab.post(t), sends=1)
    assert names == ["localhost"] and len(u.connections) == 1, "one kept connection with its name"


@rows("upstream-old-versions")
def _(lab):
    ca = tls.authority()
    u = lab.provider(tls=old_versions(ca.server()))
    t = lab.turnpike(upstream(u, ca), probe=False, env=lax_openssl(lab))
    local_error(lab.post(t), 502, "chat", "upstream_unreachable")
    until(lambda: u.connections[0].tls_error is not None, 5, "the end of the handshake")
    assert u.connections[0].tls_error.reason == "UNSUPPORTED_PROTOCOL", u.connections[0].tls_error  # not: no shared cipher


@rows("upstream-address")
def _(lab):
    """The certificate names the address too; no name is indicated for one."""
    ca = tls.authority()
    u = lab.provider(tls=ca.server())
    served(lab.post(lab.turnpike(upstream(u, ca, "127.0.0.1"))), sends=1)


def refused(lab, t, u):
    answer = lab.post(t)
    local_error(answer, 502, "chat", "upstream_unreachable")
    assert answer.sends == 0
    quiet(u, 0.5, 0)
    stats = t.final_stats()
    assert stats["given_back"] == 1 and stats["possibly_billed"] == 0, stats


@rows("upstream-unknown-authority")
def _(lab):
    ca = tls.authority()
    u = lab.provider(tls=ca.server())
    refused(lab, lab.turnpike({"p": "https://localhost:%d/v1" % u.port}), u)


@rows("upstream-wrong-name")
def _(lab):
    ca = tls.authority()
    certificate, key = ca.issue("other", "DNS:other.example")
    u = lab.provider(tls=ca.server(certificate, key))
    refused(lab, lab.turnpike(upstream(u, ca)), u)


@rows("upstream-server-name")
def _(lab):
    ca = tls.authority()
    certificate, key = ca.issue("named", "DNS:named.example")
    u = lab.provider(tls=ca.server(certificate, key))
    served(lab.post(lab.turnpike(upstream(u, ca, server_name="named.example"))), sends=1)


@rows("upstream-not-verified")
def _(lab):
    ca = tls.authority()
    certificate, key = ca.issue("unverified", "DNS:other.example")
    u = lab.provider(tls=ca.server(certificate, key))
    t = lab.turnpike({"p": {"url": "https://localhost:%d/v1" % u.port, "tls": {"verify": False}}},
                     allow=[r"verif"])
    served(lab.post(t), sends=1)


@rows("upstream-plain-text-port")
def _(lab):
    ca = tls.authority()
    u = lab.provider(on_accept=lambda c: (c.recv(5), c.sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
                                          c.close(), False)[-1])
    refused(lab, lab.turnpike(upstream(u, ca)), u)


def by_close(body, notify, content_type="application/json"):
    def step(x):
        x.head(200, {"Content-Type": content_type, "Connection": "close"})
        x.write(body if isinstance(body, bytes) else body(x.send), answered=True)
        x.close(notify=notify)
    return step


@rows("upstream-end-with-goodbye")
def _(lab):
    ca = tls.authority()
    u = lab.provider(by_close(good_body, True), tls=ca.server())
    answer = lab.post(lab.turnpike(upstream(u, ca)))
    served(answer, sends=1)
    assert answer.body == good_body(u.sends[0])


@rows("upstream-end-without-goodbye")
def _(lab):
    """A close-delimited answer without close_notify is never a complete one, even if its JSON parses."""
    ca = tls.authority()
    u = lab.provider(by_close(good_body, False), then=ok(), tls=ca.server())
    t = lab.turnpike(upstream(u, ca))
    refusal(lab.post(t), "upstream_response_truncated")
    quiet(u, 0.5, 1)


@rows("upstream-length-without-goodbye")
def _(lab):
    """Where the framing tells the length, the end of the connection adds nothing."""
    ca = tls.authority()

    def step(x):
        x.answer(200, (), good_body(x.send))
        x.close()

    u = lab.provider(step, tls=ca.server())
    served(lab.post(lab.turnpike(upstream(u, ca))), sends=1)


@rows("upstream-stream-without-goodbye")
def _(lab):
    ca = tls.authority()
    prelude, outputs, _ = good_events("chat")
    u = lab.provider(by_close(b"".join(prelude + outputs), False, "text/event-stream"), tls=ca.server())
    t = lab.turnpike(upstream(u, ca))
    answer = lab.post(t, stream=True)
    assert answer.status == 200 and answer.end in ("cut", "reset")
    assert b'"error"' in answer.body and b"[DONE]" not in answer.body
    t.counted(turns_cut=1)


@rows("upstream-ambiguous-ends")
def _(lab):
    ca = tls.authority()
    u = lab.provider(tls=ca.server())
    t = lab.turnpike({"p": dict(upstream(u, ca)["p"], timeouts={"first_byte": "2s"})})
    cases = {"reset": (reset(), "upstream_reset_replay_refused"), "fin": (fin(), "upstream_closed_before_response"),
             "goodbye": (lambda x: x.close(notify=True), "upstream_closed_before_response"),
             "silence": (silent(), "upstream_no_response")}

    def one(name):
        row = u.row(name, cases[name][0], then=ok())
        refusal(lab.post(t, headers={"x-row": name}), cases[name][1])
        quiet(row, 0.5, 1)

    lab.side_by_side([lambda name=name: one(name) for name in cases])
    t.counted(possibly_billed=4)


@rows("upstream-idle-goodbye")
def _(lab):
    """A kept connection that said goodbye while idle is not used again."""
    ca, said = tls.authority(), threading.Event()

    def step(x):
        x.answer(200, (), good_body(x.send))
        x.sleep(0.1)
        x.close(notify=True)
        said.set()

    u = lab.provider(then=step, tls=ca.server())
    t = lab.turnpike(upstream(u, ca), {"workers": 1})
    for _ in range(5):
        said.clear()
        served(lab.post(t), sends=1)
        assert said.wait(20)
        time.sleep(0.2)
    assert u.count == 5


@rows("upstream-large-stream")
def _(lab):
    ca = tls.authority()
    pieces = [event({"choices": [{"index": 0, "delta": {"content": "%05d" % i * 400}}]}) for i in range(500)]
    u = lab.provider(stream(pieces + [event("[DONE]")]), tls=ca.server())
    answer = lab.post(lab.turnpike(upstream(u, ca)), stream=True)
    served(answer, sends=1)
    assert answer.body == b"".join(pieces) + event("[DONE]")


@rows("tunnel-both-ways")
def _(lab):
    """A goodbye on one side is one on the other; a cut is none."""
    ca = tls.authority()

    def step(notify):
        def run(x):
            x.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n" + b"a" * 15000,
                    answered=True)
            assert x.connection.recv(timeout=10) == b"from the client"
            x.write(b"b" * 100000)
            x.close(notify=notify)
        return run

    u = lab.provider(step(True), step(False), tls=ca.server())
    t = lab.turnpike({"p": dict(upstream(u, ca)["p"], upgrade="tunnel")}, front(ca))
    for end in ("fin", "reset"):
        with Client(t.address, tls=ca.client()) as c:
            answer = c.ask("GET", "/v1/responses", {"Connection": "Upgrade", "Upgrade": "websocket"})
            assert answer.status == 101
            c.sock.sendall(b"from the client")
            assert c.closed(10) == end
            assert end == "reset" or bytes(c.buffer) == b"a" * 15000 + b"b" * 100000


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
