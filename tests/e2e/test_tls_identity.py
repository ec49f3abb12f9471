"""Who is who under TLS: certificates of clients, ours for providers, and the choice among those of a listener."""

import os
import select
import socket
import ssl
import struct
import subprocess
import threading

import pytest

from harness import tls
from harness.checks import local_error, refusal, served
from harness.client import Client, ask, body_for
from harness.lab import Rows, quiet
from harness.provider import ok
from harness.turnpike import merge, run, until, yaml

rows = Rows()


def listener(ca, **more):
    return {"listen": [{"address": "127.0.0.1:0", "tls": dict({"certificate": ca.certificate, "key": ca.key}, **more)}]}


def upstream(u, authority, **more):
    return {"p": {"url": "https://localhost:%d/v1" % u.port, "tls": dict({"ca": authority.ca}, **more)}}


def reload(t, config):
    t.config = merge(t.config, config)
    with open(t.file, "w") as out:
        out.write(yaml(t.config))
    answer = ask(t.admins[0], "POST", "/reload")
    assert answer.status == 200, (answer.body, t.log[-2000:])


def turned_away(t, context, says=None):
    """By an alert, in the handshake: under TLS 1.3 the client hears of it with its first read."""
    with pytest.raises(ssl.SSLError) as e:
        with Client(t.address, tls=context) as c:
            c.sock.sendall(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n" + b"x" * 30000)
            c.sock.recv(1)
    assert "alert" in str(e.value).lower() and (says is None or says in str(e.value).lower()), e.value


def versions(context):
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1_2, version
        yield context


# ---- clients

@rows("client-certificate")
def _(lab):
    ca, other = tls.authority(), tls.new_authority()
    pair = ca.issue("client", "DNS:client.example")
    u = lab.provider(then=ok())
    t = lab.turnpike(u, listener(ca, client_ca=ca.ca), probe=False)
    for context in versions(ca.client(pair=pair)):
        with Client(t.address, tls=context) as c:
            served(c.post(), sends=1)
            served(c.post(), sends=1)
    bad = [(None, None), (other.issue("stranger", "DNS:client.example"), "unknown ca"),
           (ca.issue("stale", "DNS:client.example", expired=True), "expired")]
    for pair, says in bad:
        for context in versions(ca.client(pair=pair)):
            turned_away(t, context, says)
    assert u.count == 4
    t.counted(tls_handshakes=2, tls_failed=6)  # and not one line of the log above debug: the lab looks


@rows("client-certificate-revoked")
def _(lab):
    ca = tls.new_authority()
    good, bad = ca.issue("good", "DNS:c.example"), ca.issue("bad", "DNS:c.example")
    t = lab.turnpike(lab.provider(then=ok()), listener(ca, client_ca=ca.revoke(bad[0])), probe=False)
    with Client(t.address, tls=ca.client(pair=good)) as c:
        served(c.post())
    turned_away(t, ca.client(pair=bad), "revoked")


@rows("client-ca-reloaded")
def _(lab):
    """Another authority: neither a connection nor a session of the one before gets in."""
    first, second = tls.authority(), tls.new_authority()
    old, new = first.issue("old", "DNS:c.example"), second.issue("new", "DNS:c.example")
    t = lab.turnpike(lab.provider(then=ok()), lab.admin(listener(first, client_ca=first.ca)), probe=False)
    context = first.client(pair=old)
    kept = lab.client(t, tls=context)
    served(kept.post())
    session = kept.sock.session
    with Client(t.address, tls=context, session=session) as c:
        served(c.post())
        assert c.sock.session_reused
    reload(t, listener(first, client_ca=second.ca))
    assert kept.closed(5) is not None
    turned_away(t, context)
    with pytest.raises(ssl.SSLError):
        with Client(t.address, tls=context, session=session) as c:
            c.sock.recv(1)
    with Client(t.address, tls=first.client(pair=new)) as c:
        served(c.post())
    reload(t, listener(first, client_ca=second.ca))
    reload(t, listener(first, client_ca=""))
    with Client(t.address, tls=first.client()) as c:
        served(c.post())


@rows("ciphers")
def _(lab):
    """Neither RSA key exchange nor CBC."""
    ca = tls.authority()
    t = lab.turnpike(lab.provider(then=ok()), listener(ca), probe=False)
    context = ca.client()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    for weak in ("ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA", "AES128-GCM-SHA256"):
        context.set_ciphers(weak)
        turned_away(t, context, "handshake failure")
    context.set_ciphers("ECDHE-ECDSA-AES128-GCM-SHA256")
    with Client(t.address, tls=context) as c:
        served(c.post())


# ---- providers

def demanding(ca):
    context = ca.server()
    context.load_verify_locations(ca.ca)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


@rows("presented-to-a-provider")
def _(lab):
    ca = tls.authority()
    pair = ca.issue("turnpike", "DNS:turnpike.example")
    for context in versions(demanding(ca)):
        u = lab.provider(ok(), ok(), tls=context)
        t = lab.turnpike(upstream(u, ca, certificate=pair[0], key=pair[1]), {"workers": 1})
        served(lab.post(t), sends=1)
        served(lab.post(t), sends=1)
        subject = dict(x[0] for x in u.connections[0].sock.getpeercert()["subject"])
        assert subject["commonName"] == "turnpike" and len(u.connections) == 1


@rows("not-presented")
def _(lab):
    ca = tls.authority()
    context = demanding(ca)
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # else the refusal comes after the handshake
    u = lab.provider(tls=context)
    t = lab.turnpike(upstream(u, ca))
    local_error(lab.post(t), 502, "chat", "upstream_unreachable")
    quiet(u, 0.3, 0)


class Refusing:
    """A server whose handshake fails at its end for want of a certificate, as it tells behind the request (TLS 1.3).
    `alert`: it has read all that came before it closes, so that no reset takes the alert away."""

    def __init__(self, context, alert=True):
        self.context, self.alert, self.requests, self.connections = context, alert, 0, 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            try:
                c, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            with c:
                c.settimeout(10)
                self.serve(c)

    def serve(self, c):
        come, go = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls_end = self.context.wrap_bio(come, go, server_side=True)
        while True:
            try:
                tls_end.do_handshake()
                self.requests += 1  # then it would read one
                return
            except ssl.SSLWantReadError:
                c.sendall(go.read())
                come.write(c.recv(65536))
                # what comes behind the handshake: our certificate, or none, and the request
                if select.select([c], [], [], 0.3)[0]:
                    come.write(c.recv(65536))
            except ssl.SSLError:
                break
        if not self.alert:
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        c.sendall(go.read())
        c.shutdown(socket.SHUT_WR)
        while c.recv(65536):
            pass

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


@rows("not-presented-1.3")
def _(lab):
    """There the refusal comes behind the request: the alert proves that nothing ran, a reset proves nothing."""
    ca = tls.authority()
    for alert in (True, False):
        u = Refusing(demanding(ca), alert)
        t = lab.turnpike({"p": {"url": "https://localhost:%d/v1" % u.port, "tls": {"ca": ca.ca}}}, probe=False)
        answer = lab.post(t)
        if alert:
            local_error(answer, 502, "chat", "upstream_unreachable")
            assert t.final_stats()["given_back"] == 1 and answer.sends == 0, answer
        else:
            refusal(answer, "upstream_reset_replay_refused")
        assert (u.connections, u.requests) == (1, 0)
        u.close()


@rows("not-presented-next-target")
def _(lab):
    """What provably did not run goes on to the next target of a combo, on one budget."""
    ca = tls.authority()
    u, other = Refusing(demanding(ca)), lab.provider(then=ok())
    t = lab.turnpike({"p": {"url": "https://localhost:%d/v1" % u.port, "tls": {"ca": ca.ca}, "keys": ["key-p-0001"]},
                      "other": {"url": other.url(), "keys": ["key-o-0001"]}},
                     {"routes": [{"path": "/v1", "provider": "p"}], "combos": {"c": {"targets": [
                         {"provider": "p", "model": "a"}, {"provider": "other", "model": "b"}]}}}, probe=False)
    served(lab.post(t, body=body_for("/v1/chat/completions", model="c")), sends=1)
    assert (u.connections, u.requests, other.count) == (1, 0, 1)
    u.close()


@rows("not-presented-to-openssl")
def _(lab):
    """openssl s_server -Verify: whichever of the two comes through, no answer and no second send."""
    ca = tls.authority()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server = subprocess.Popen(["openssl", "s_server", "-accept", "127.0.0.1:%d" % port, "-cert", ca.certificate, "-key", ca.key,
                               "-CAfile", ca.ca, "-Verify", "1", "-verify_return_error", "-tls1_3", "-www"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        def listens():
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", port)) == 0
        until(listens, 5, "openssl listens")
        t = lab.turnpike({"p": {"url": "https://localhost:%d/v1" % port, "tls": {"ca": ca.ca}}}, probe=False)
        for number in range(5):
            answer = lab.post(t, body=body_for("/v1/chat/completions", str(number)))
            if answer.status == 502:
                local_error(answer, 502, "chat", "upstream_unreachable")
            else:
                refusal(answer, "upstream_reset_replay_refused")
        assert t.sends_counted() == 5
    finally:
        server.kill()
        server.wait(5)


@rows("expired-provider")
def _(lab):
    ca = tls.authority()
    u = lab.provider(tls=ca.server(*ca.issue("expired", "DNS:localhost", expired=True)))
    local_error(lab.post(lab.turnpike(upstream(u, ca))), 502, "chat", "upstream_unreachable")
    quiet(u, 0.3, 0)


# ---- names

@rows("certificate-by-name")
def _(lab):
    ca = tls.authority()
    named = {name: ca.issue(name, names) for name, names in
             (("wild", "DNS:*.example.net,DNS:example.org"), ("exact", "DNS:api.example.net"))}
    more = [{"certificate": c, "key": k} for c, k in named.values()]
    t = lab.turnpike(lab.provider(then=ok()), lab.admin(listener(ca, more=more)), probe=False)
    context = ca.client()

    def shown(name):
        context.check_hostname = name in expected
        with Client(t.address, tls=context, server_name=name) as c:
            served(c.post())
            return dict(x[0] for x in c.sock.getpeercert()["subject"])["commonName"]

    expected = {"localhost": "server", "api.example.net": "exact", "API.example.net": "exact",
                "other.example.net": "wild", "example.org": "wild"}
    assert {name: shown(name) for name in expected} == expected
    assert shown("api.example.net.") == "exact", "with the dot of the root"
    others = ("example.net", "a.b.example.net", "unknown.example", "127.0.0.1")
    assert {shown(name) for name in others} == {"server"}
    # a change of one of them is taken by a reload
    pair = ca.issue("renewed", "DNS:api.example.net")
    reload(t, listener(ca, more=[{"certificate": pair[0], "key": pair[1]}]))
    assert shown("api.example.net") == "renewed" and shown("localhost") == "server"


# ---- mistakes

def broken_files(lab, ca):
    def path(name):
        return os.path.join(lab.folder, name)

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    def write(name, lines):
        with open(path(name), "w") as out:
            out.write("\n".join([*lines, ""]))
        return path(name)

    openssl("ec", "-in", ca.key, "-aes128", "-passout", "pass:word", "-out", path("encrypted"))
    openssl("pkcs8", "-topk8", "-in", ca.key, "-passout", "pass:word", "-out", path("encrypted-pkcs8"))
    openssl("genrsa", "-out", path("rsa"), "2048")
    openssl("pkey", "-in", ca.key, "-outform", "DER", "-out", path("der"))
    with open(ca.key) as key, open(ca.certificate) as certificate:
        key, certificate = key.read().splitlines(), certificate.read().splitlines()
    bad = [certificate[0], "!!!!" + certificate[1][4:], *certificate[2:]]
    write("empty", ())
    write("damaged-key", [key[0], "ZZ" + key[1][2:], *key[2:]])
    write("second-damaged", [*certificate, *bad])
    names = ("encrypted", "encrypted-pkcs8", "rsa", "der", "empty", "damaged-key", "second-damaged")
    return dict({name: path(name) for name in names}, lines=2 * len(certificate))


@rows("check-tells-the-place")
def _(lab):
    ca = tls.authority()
    other = ca.issue("mismatch", "DNS:localhost")
    u = lab.provider()
    good = {"certificate": ca.certificate, "key": ca.key}
    unnamed = ca.issue("unnamed", "IP:127.0.0.1")
    broken = broken_files(lab, ca)
    cases = [
        (listener(ca, key=broken["encrypted"]), "it is encrypted"),
        (listener(ca, key=broken["encrypted-pkcs8"]), "it is encrypted"),
        (listener(ca, key=broken["rsa"]), "it is of another kind than that of the certificate"),
        (listener(ca, key=broken["damaged-key"]), "it is damaged"),
        (listener(ca, key=broken["der"]), "it holds none in PEM form"),
        (listener(ca, key=ca.ca), "it holds none in PEM form"),
        (listener(ca, key=broken["empty"]), "it holds none in PEM form"),
        (listener(ca, certificate=broken["empty"]), "it holds none in PEM form"),
        (listener(ca, certificate=broken["second-damaged"]), "bad base64 decode (in the block that ends at line %d)" % broken["lines"]),
        (listener(ca, more=[{"certificate": unnamed[0], "key": unnamed[1]}]), "would never be shown: it has no DNS name"),
        ({"providers": upstream(u, ca, ca=broken["second-damaged"])}, "bad base64 decode (in the block that ends at line %d)" % broken["lines"]),
        (listener(ca, key=other[1]), "key values mismatch"),
        (listener(ca, certificate=ca.key), "cannot be used as a certificate"),
        (listener(ca, client_ca=ca.key), "cannot be used for authorities"),
        (listener(ca, more=[good, {"certificate": other[0], "key": ca.key}]), "key values mismatch"),
        (listener(ca, more=[{"certificate": ca.certificate}]), "`key` is missing"),
        ({"listen": [{"address": "127.0.0.1:0", "tls": {"client_ca": ca.ca}}]}, "`certificate` is missing"),
        ({"providers": upstream(u, ca, certificate=other[0], key=ca.key)}, "key values mismatch"),
        ({"providers": upstream(u, ca, certificate=other[0])}, "`key` is missing"),
        ({"providers": upstream(u, ca, ca=ca.key)}, "cannot be used for authorities"),
        ({"providers": {"p": {"url": u.url(), "tls": good}}}, "has no meaning for an http:// url"),
    ]
    for config, says in cases:
        file = os.path.join(lab.folder, "wrong.yaml")
        with open(file, "w") as out:
            out.write(yaml(merge({"providers": {"p": {"url": u.url()}}}, config)))
        done = run("check", "-c", file)
        lines = (done.stderr + done.stdout).splitlines()
        assert done.returncode != 0 and len(lines) == 1 and says in lines[0], (says, lines)
        assert lines[0].startswith(file + ":") and lines[0][len(file) + 1:].split(":")[1].isdigit(), lines


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
