"""A virtual model over scripted providers, and what of its targets cools."""

import hashlib
import json

from . import turnpike
from .client import body_for
from .provider import status

NAMES = "abcde"
CHAT = "/v1/chat/completions"


def combo(lab, *providers, config=None, models=None, allow=(), **settings):
    """Turnpike with combo `coder` over these providers, each with a key and a model of its own."""
    made = {}
    for name, u in zip(NAMES, providers):
        made[name] = dict({"url": u if isinstance(u, str) else u.url(), "keys": ["key-of-" + name]})
    targets = models or [{"provider": name, "model": "model-" + name} for name in made]
    over = {"workers": 4, "routes": [{"path": "/v1", "provider": "a"}],
            "combos": {"coder": dict({"targets": targets}, **settings)}}
    return lab.turnpike(made, turnpike.merge(over, config or {}), allow=allow)


def ask(lab, t, path=CHAT, **how):
    model = how.pop("model", "coder")
    return lab.post(t, path, body_for(path, model=model, stream=how.pop("stream", None)), **how)


def cooling(t):
    """{name: seconds left} of `turnpike cooldown list`."""
    done = turnpike.run("cooldown", "list", "--json", "--name", t.name)
    assert done.returncode == 0, done
    listing = json.loads(done.stdout)
    listing = listing if isinstance(listing, list) else listing["cooldowns"]
    return {row["name"]: row["left"] for row in listing}


def same_but_model(sent, got, model):
    assert len(got.all("content-length")) == 1 and got.all("transfer-encoding") == [], got.headers
    assert int(got.header("content-length")) == len(got.body) > 0
    expected = sent.replace(b'"model": "coder"', b'"model": "%s"' % model.encode(), 1)
    assert hashlib.sha256(expected).hexdigest() == got.sha256


def coded(code, kind, message="x"):
    """The provider's step: an error with this code."""
    return status(code, body=json.dumps({"error": {"message": message, "type": "t", "code": kind}}).encode())
