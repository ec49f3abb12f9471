"""TLS sessions are resumed: clients by any worker and over reloads, providers by the next connection."""

import os
import signal
import ssl

import pytest

from harness import tls
from harness.checks import local_error, served
from harness.client import Client, ask
from harness.lab import Rows
from harness.provider import good_body, ok
from harness.turnpike import ShiftedClock, until

rows = Rows()
VERSIONS = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)
HALF_DAY = 12 * 60 * 60


def front(ca, **more):
    return dict({"listen": [{"address": "127.0.0.1:0", "tls": {"certificate": ca.certificate, "key": ca.key}}]}, **more)


def context_of(ca, version, pair=None):
    context = ca.client(pair=pair)
    context.minimum_version = context.maximum_version = version
    return context


def session_of(t, context):
    """Of a connection that has read an answer: under TLS 1.3 tickets come behind the handshake."""
    with Client(t.address, tls=context) as c:
        served(c.post())
        assert not c.sock.session_reused
        return c.sock.session


def resumes(t, context, session):
    with Client(t.address, tls=context, session=session) as c:
        served(c.post())
        return c.sock.session_reused


@rows("all-workers")
def _(lab):
    ca = tls.authority()
    t = lab.turnpike(lab.provider(then=ok()), front(ca, workers=2), probe=False)
    for version in VERSIONS:
        context = context_of(ca, version)
        session = session_of(t, context)
        # each connection is a draw among the workers: 24 of them do not all meet the one that gave the ticket
        assert all(resumes(t, context, session) for _ in range(24))
    t.counted(tls_handshakes=50, tls_resumed=48, tls_failed=0)


@rows("a-new-worker-and-a-reload")
def _(lab):
    ca = tls.authority()
    config = front(ca, workers=1, admin=lab.admin()["admin"])
    t = lab.turnpike(lab.provider(then=ok()), config, probe=False, allow=[r"worker"])
    context = ca.client()
    session = session_of(t, context)
    assert ask(t.admins[0], "POST", "/reload").status == 200
    assert resumes(t, context, session)
    os.kill(t.workers()[0], signal.SIGKILL)
    until(lambda: "is back" in t.log, 10, "a new worker")
    assert resumes(t, context, session)


@rows("keys-change")
def _(lab):
    """A ticket of the key before is taken and replaced; one of the key before that is not."""
    ca = tls.authority()
    clock = ShiftedClock(lab.folder)
    t = lab.turnpike(lab.provider(then=ok()), front(ca), probe=False, env=clock.env, allow=[r"heartbeat|worker"])
    for version in VERSIONS:
        context = context_of(ca, version)
        session = session_of(t, context)
        clock.shift(HALF_DAY)
        assert resumes(t, context, session), version
        clock.shift(HALF_DAY)
        assert not resumes(t, context, session), version


@rows("a-certificate-is-looked-at-again")
def _(lab):
    """2 hours after it was shown, however often its owner came back meanwhile, and at its own end."""
    ca = tls.authority()
    lasting, ending = ca.issue("lasting", "DNS:c.example"), ca.issue("ending", "DNS:c.example", ends_in=3600)
    config = front(ca)
    config["listen"][0]["tls"]["client_ca"] = ca.ca
    for version in VERSIONS:
        clock = ShiftedClock(lab.folder)
        t = lab.turnpike(lab.provider(then=ok()), config, probe=False, env=clock.env)
        context, short = (context_of(ca, version, pair=pair) for pair in (lasting, ending))
        session, end = session_of(t, context), session_of(t, short)
        for _ in range(2):
            clock.shift(0, wall=50 * 60)
            with Client(t.address, tls=context, session=session) as c:
                served(c.post())
                assert c.sock.session_reused
                session = c.sock.session
        with pytest.raises(ssl.SSLError):
            with Client(t.address, tls=short, session=end) as c:
                c.sock.recv(1)
        clock.shift(0, wall=50 * 60)
        assert not resumes(t, context, session)


@rows("not-at-another-listener")
def _(lab):
    """A listener that asks for a certificate does not take the tickets of one that asks for none."""
    ca = tls.authority()
    pair = {"certificate": ca.certificate, "key": ca.key}
    listen = [{"address": "127.0.0.1:0", "tls": pair}, {"address": "[::1]:0", "tls": dict(pair, client_ca=ca.ca)}]
    t = lab.turnpike(lab.provider(then=ok()), {"listen": listen}, probe=False)
    for version in VERSIONS:
        context = context_of(ca, version)
        session = session_of(t, context)
        with pytest.raises(ssl.SSLError):
            with Client(t.addresses[1], tls=context, session=session) as c:
                c.sock.recv(1)
        assert resumes(t, context, session)


def noted(resumed):
    """Answers, and says goodbye; each handshake is noted first."""
    def step(x):
        resumed.append(x.connection.sock.session_reused)
        x.answer(200, {"Connection": "close"}, good_body(x.send))
        x.close(notify=True)
    return step


@rows("of-providers")
def _(lab):
    ca = tls.authority()
    for version in VERSIONS:
        server = ca.server()
        server.minimum_version = server.maximum_version = version
        resumed = []
        u = lab.provider(then=noted(resumed), tls=server)
        provider = {"p": {"url": "https://localhost:%d/v1" % u.port, "tls": {"ca": ca.ca}}}
        t = lab.turnpike(provider, {"workers": 1})
        for _ in range(5):
            served(lab.post(t), sends=1)
        assert resumed == [False] + [True] * 4
        t.counted(provider_tls_handshakes=5, provider_tls_resumed=4)


@rows("a-certificate-of-a-provider-is-looked-at-again")
def _(lab):
    ca = tls.authority()
    for version in VERSIONS:
        clock, resumed = ShiftedClock(lab.folder), []
        server = ca.server(*ca.issue("ending", "DNS:localhost", ends_in=3 * 3600))
        server.minimum_version = server.maximum_version = version
        u = lab.provider(then=noted(resumed), tls=server)
        provider = {"p": {"url": "https://localhost:%d/v1" % u.port, "tls": {"ca": ca.ca}}}
        t = lab.turnpike(provider, {"workers": 1}, probe=False, env=clock.env)
        for minutes in (0, 50, 50, 50, 20):
            clock.shift(0, wall=minutes * 60)
            served(lab.post(t), sends=1)
        assert resumed == [False, True, True, False, True]
        clock.shift(0, wall=20 * 60)
        local_error(lab.post(t), 502, "chat", "upstream_unreachable")


@rows("of-providers-forgotten")
def _(lab):
    """A provider that has lost its ticket keys gets a whole handshake, and nobody notices."""
    ca = tls.authority()
    resumed = []
    u = lab.provider(then=noted(resumed), tls=ca.server())
    provider = {"p": {"url": "https://localhost:%d/v1" % u.port, "tls": {"ca": ca.ca}}}
    t = lab.turnpike(provider, {"workers": 1})
    for _ in range(3):
        served(lab.post(t), sends=1)
    u.tls = ca.server()
    for _ in range(3):
        served(lab.post(t), sends=1)
    assert resumed == [False, True, True, False, True, True]


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
