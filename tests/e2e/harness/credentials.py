"""Whose credential reached whom: looked at behind every test, in what its providers saw.

* A provider with keys of its own gets one of these, and none that a client sent.
* A key is seen by the providers it was configured for, and by no other.
* The key of a `clients` entry is seen by no provider.

Providers without keys get what the client sent: nothing is asked of them but the last two.  A server whose file
the harness did not write itself (`text=`, a reload) is left out: its keys are not known here.
"""

import os
import re
import urllib.parse

FIELDS = ("authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "x-auth-token",
          "openai-organization", "openai-project", "chatgpt-account-id", "anthropic-organization-id",
          "anthropic-workspace-id")
PARAMETERS = ("key", "api_key", "api-key", "access_token")
SENT = re.compile(rb"^(%s):[ \t]*(.*?)[ \t]*\r?$" % b"|".join(f.encode() for f in FIELDS), re.I | re.M)
WHOLE = 8  # a shorter secret is looked for as a word of its own only: it may be part of anything


def in_request(data):
    """The credentials in the head of a request that a client writes, as words."""
    head = bytes(data[:65536]).partition(b"\r\n\r\n")[0]
    out = {word(value.decode("latin-1")) for _, value in SENT.findall(head)}
    line = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
    out |= {value for _, value in _query(line[1] if len(line) == 3 else "")}
    return out - {""}


def word(value):
    """A credential without its scheme."""
    return value.split(" ")[-1]


def _query(target):
    pairs = urllib.parse.parse_qsl(target.partition("?")[2], keep_blank_values=True, encoding="latin-1")
    return [(name, value) for name, value in pairs if name.lower() in PARAMETERS]


def carries(value, secret):
    return word(value) == secret or (len(secret) >= WHOLE and secret in value)


class Server:
    """What one Turnpike was configured with."""

    def __init__(self, made):
        self.env = made.env
        self.providers = [conf for conf in made.config["providers"].values() if isinstance(conf, dict)]
        self.clients = {self.text(entry.get("key", "")) for entry in made.config.get("clients") or ()} - {""}

    def text(self, value):
        return re.sub(r"\$\{(\w+)\}", lambda name: self.env.get(name[1], ""), str(value))

    def keys(self, conf):
        return {self.text(key) for key in conf.get("keys") or ()}

    def of(self, provider):
        """Sections that lead to this provider."""
        return [conf for conf in self.providers if _port(self.text(conf.get("url", ""))) == provider.port]


def _port(url):
    match = re.match(r"https?://[^/]*:(\d+)(?:/|$)", url)
    return int(match[1]) if match else None


def _written(made):
    """The harness knows what the file says."""
    if made.written is None or not os.path.exists(made.file):
        return False
    with open(made.file) as file:
        return file.read() == made.written


def check(providers, turnpikes, sent):
    """sent: what clients of these servers carried.  Raises AssertionError."""
    if not all(_written(made) for made in turnpikes):
        return
    servers = [Server(made) for made in turnpikes]
    every = {key for s in servers for conf in s.providers for key in s.keys(conf)}
    opening = {key for s in servers for key in s.clients}
    for provider in providers:
        sections = [(s, conf) for s in servers for conf in s.of(provider)]
        if not sections:
            continue
        own = {key for s, conf in sections for key in s.keys(conf)}
        keyed = all(conf.get("keys") or conf.get("refresh") for _, conf in sections)
        known = own if keyed and not any(conf.get("refresh") for _, conf in sections) else None
        strange = (every | opening) - own
        for connection in provider.connections:
            for send in connection.sends:
                check_send(send, strange | (set(sent) - own if keyed else set()), known)


def check_send(send, strange, known):
    """strange: what it must not carry.  known: the keys one of which it must, None: whatever."""
    query = _query(send.target)
    for name, value in send.headers + query:
        for secret in strange:
            assert not carries(value, secret), \
                "%s: %r is no credential for this provider: %r" % (name, secret, send)
    if known is None or not send.headers:
        return
    assert not query, "a provider with keys was shown the parameter %r: %r" % (query, send)
    given = [(name, value) for name, value in send.headers if name.lower() in FIELDS]
    for name, value in given:
        assert word(value) in known, "a provider with keys was shown %s: %r: %r" % (name, value, send)
    assert len(given) == 1, "one key and nothing beside it, not %r: %r" % (given, send)
