"""Whom TLS trusts, and for which name: chains, authorities, revocation lists, names of providers."""

import os
import re
import ssl
import subprocess

import pytest

from harness import tls
from harness.checks import local_error, served
from harness.client import Client
from harness.lab import Rows, quiet
from harness.provider import ok
from harness.turnpike import until

rows = Rows()
AUTHORITY = ("basicConstraints=critical,CA:TRUE,pathlen:0", "keyUsage=keyCertSign,cRLSign")


def listener(ca, **more):
    return {"listen": [{"address": "127.0.0.1:0", "tls": dict({"certificate": ca.certificate, "key": ca.key}, **more)}]}


def chain(ca, name, names="DNS:localhost", more=()):
    """An intermediate, and a pair with a certificate below it, its file holding both."""
    middle = ca.issue(name + "-authority", None, more=AUTHORITY)
    own = ca.issue(name, names, issuer=middle, more=more)
    return middle, (ca.together(name + "-chain.pem", own[0], middle[0]), own[1]), own


def comes_in(t, context):
    with Client(t.address, tls=context) as c:
        served(c.post())


def turned_away(t, context, says):
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # the alert comes inside the handshake
    with pytest.raises(ssl.SSLError) as e:
        Client(t.address, tls=context)
    assert says in str(e.value).lower(), e.value


# ---- clients

@rows("chain-of-a-client")
def _(lab):
    ca = tls.authority()
    middle, whole, own = chain(ca, "team")
    t = lab.turnpike(lab.provider(then=ok()), listener(ca, client_ca=ca.ca), probe=False)
    comes_in(t, ca.client(pair=whole))
    below = ca.issue("too-deep-authority", None, more=("basicConstraints=critical,CA:TRUE",), issuer=middle)
    deep = ca.issue("too-deep", None, issuer=below)
    made_up = ca.issue("made-up", None, issuer=own)
    for label, pair, says in (
            ("without the intermediate", own, "unknown ca"),
            ("longer than the intermediate may", (ca.together("deep.pem", deep[0], below[0], middle[0]), deep[1]), "unknown ca"),
            ("below one that is no authority", (ca.together("made-up.pem", made_up[0], own[0], middle[0]), made_up[1]), "unknown ca"),
            ("for servers", ca.issue("server-only", None, more=("extendedKeyUsage=serverAuth",)), "unsupported certificate")):
        try:
            turned_away(t, ca.client(pair=pair), says)
        except BaseException as error:
            error.add_note(label)
            raise
    only = lab.turnpike(lab.provider(then=ok()), listener(ca, client_ca=middle[0]), probe=False)
    comes_in(only, ca.client(pair=own))


@rows("revoked-intermediate")
def _(lab):
    ca = tls.new_authority()
    middle, whole, own = chain(ca, "team")
    list_of_middle = ca.empty_list(middle)
    other = ca.issue("direct", "DNS:c.example")

    def asks(name, *files):
        return lab.turnpike(lab.provider(then=ok()), listener(ca, client_ca=ca.together(name, ca.ca, *files)), probe=False)

    t = asks("of-middle.pem", list_of_middle)
    comes_in(t, ca.client(pair=whole))
    turned_away(t, ca.client(pair=other), "unknown ca")  # in reach of no list
    turned_away(asks("old.pem", ca.old_list()), ca.client(pair=other), "certificate expired")  # a list that is past its date lets nobody in
    ca.revoke(middle[0])
    with_both = asks("both.pem", os.path.join(ca.folder, "crl.pem"), list_of_middle)
    turned_away(with_both, ca.client(pair=whole), "revoked")
    comes_in(with_both, ca.client(pair=other))


@rows("more-authorities-than-can-be-told")
def _(lab):
    """Their names do not fit into a handshake."""
    ca = tls.new_authority()
    one = os.path.join(ca.folder, "many.key")
    subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", one], check=True, capture_output=True)
    files = []
    for i in range(8):
        files.append(os.path.join(ca.folder, "many-%d.pem" % i))
        subject = "/OU=%s" % ("u" * 60) * 150 + "/CN=%d" % i
        subprocess.run(["openssl", "req", "-x509", "-new", "-key", one, "-subj", subject, "-days", "2", "-out", files[-1]],
                       check=True, capture_output=True)
    t = lab.turnpike(lab.provider(then=ok()), listener(ca, client_ca=ca.together("many.pem", ca.ca, *files)), probe=False)
    pair = ca.issue("one-of-many", None)
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = ca.client(pair=pair)
        context.minimum_version = context.maximum_version = version
        comes_in(t, context)


# ---- providers

def reason(t):
    """Of the one failed turn, out of its line in the log."""
    until(lambda: 'reason="' in t.log, 5, "the line of the turn")
    return re.search(r'reason="(.*?): provably', t.log)[1]


def asked(lab, pair, host="localhost", **settings):
    """"served", or the reason in the log of a Turnpike to which a provider shows `pair`."""
    u = lab.provider(then=ok(), tls=tls.authority().server(*pair))
    t = lab.turnpike({"p": {"url": "https://%s:%d/v1" % (host, u.port), "tls": settings}}, probe=False)
    answer = lab.post(t)
    if answer.status == 200:
        return "served"
    local_error(answer, 502, "chat", "upstream_unreachable")
    quiet(u, 0, 0)
    return reason(t)


def no_name(what, name):
    return "certificate: %s mismatch: its alternative names do not hold %s" % (what, name)


NAMES = {
    # alternative names, host of the url, server_name; what comes of it
    "exact": ("DNS:localhost", "localhost", None, "served"),
    "upper-case": ("DNS:localhost", "LOCALHOST", None, "served"),
    "dot-behind-the-name": ("DNS:a.example", "localhost", "a.example.", "served"),
    "wildcard": ("DNS:*.example.org", "localhost", "a.example.org", "served"),
    "wildcard-two-labels": ("DNS:*.example.org", "localhost", "a.b.example.org", no_name("hostname", "a.b.example.org")),
    "wildcard-for-itself": ("DNS:*.example.org", "localhost", "example.org", no_name("hostname", "example.org")),
    "wildcard-in-a-label": ("DNS:a*.example.org", "localhost", "ab.example.org", no_name("hostname", "ab.example.org")),
    "address": ("IP:127.0.0.1", "127.0.0.1", None, "served"),
    "address-as-a-name": ("DNS:127.0.0.1", "127.0.0.1", None, no_name("IP address", "127.0.0.1")),
    "name-for-an-address": ("DNS:localhost", "127.0.0.1", None, no_name("IP address", "127.0.0.1")),
    "only-in-the-subject": (None, "localhost", None, no_name("hostname", "localhost")),
}


@rows.table("name-of-a-provider", NAMES)
def _(lab, case):
    names, host, server_name, comes = case
    ca = tls.authority()
    pair = ca.issue("localhost", names)
    settings = {"server_name": server_name} if server_name else {}
    assert asked(lab, pair, host, ca=ca.ca, **settings) == comes


@rows("sni-has-no-dot-behind")
def _(lab):
    ca, names = tls.authority(), []
    context = ca.server()
    context.sni_callback = lambda _sock, name, _context: names.append(name)
    u = lab.provider(then=ok(), tls=context)
    served(lab.post(lab.turnpike({"p": {"url": "https://127.0.0.1:%d/v1" % u.port,
                                        "tls": {"ca": ca.ca, "server_name": "localhost."}}}, probe=False)))
    assert names == ["localhost"]


@rows("chain-of-a-provider")
def _(lab):
    ca = tls.authority()
    middle, whole, own = chain(ca, "far")
    assert asked(lab, whole, ca=ca.ca) == "served"
    assert asked(lab, own, ca=ca.ca) == "certificate: unable to get local issuer certificate"
    assert asked(lab, own, ca=middle[0]) == "served", "an intermediate in the file is an authority"
    assert asked(lab, own, ca=own[0]) == "served", "so is the certificate itself"
    client = ca.issue("client-only", "DNS:localhost", more=("extendedKeyUsage=clientAuth",))
    assert asked(lab, client, ca=ca.ca) == "certificate: unsuitable certificate purpose"
    other = tls.new_authority()
    assert "self-signed certificate" in asked(lab, (other.ca, os.path.join(other.folder, "ca.key")), ca=ca.ca)


@rows("reason-of-a-provider-that-is-not-verified")
def _(lab):
    """What its certificate is like is not what failed."""
    ca, other = tls.authority(), tls.new_authority()
    context = other.server()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.load_verify_locations(ca.ca)
    context.verify_mode = ssl.CERT_REQUIRED
    u = lab.provider(tls=context)
    t = lab.turnpike({"p": {"url": "https://localhost:%d/v1" % u.port, "tls": {"verify": False}}}, probe=False, allow=[r"verif"])
    local_error(lab.post(t), 502, "chat", "upstream_unreachable")
    assert "alert handshake failure" in reason(t)


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
