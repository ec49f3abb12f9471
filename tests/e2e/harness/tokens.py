"""A provider with `refresh`, its endpoint, and the tokens that they know."""

import json
import os
import urllib.parse

from .provider import ok, status

PATH = "/v1/chat/completions"
FIRST = "first-refresh-token-0001"
CANNOT = r"access token could not be renewed"


def refreshing(lab, u, endpoint, path="/oauth/token", **more):
    """Configuration of a provider with `refresh`, 4 workers."""
    section = dict({"url": endpoint.url(path) if hasattr(endpoint, "url") else endpoint, "refresh_token": FIRST,
                    "state_file": os.path.join(lab.folder, "token.json")}, **more.pop("refresh", {}))
    provider = dict({"url": u.url(), "refresh": section}, **more.pop("provider", {}))
    return {"p": provider}, dict({"workers": 4, "log": {"level": "debug"}}, **more)


def start(lab, u, endpoint, **more):
    allow, probe = more.pop("allow", ()), more.pop("probe", False)
    providers, config = refreshing(lab, u, endpoint, **more)
    return lab.turnpike(providers, config, allow=allow, probe=probe)


def pair(number, refresh=True, **more):
    """The endpoint's answer number `number`."""
    answer = dict({"access_token": "access-token-%04d" % number}, **more)
    if refresh:
        answer["refresh_token"] = "next-refresh-token-%04d" % number
    return ok(json.dumps(answer).encode())


def bearer(number):
    return "Bearer access-token-%04d" % number


def wants(*numbers):
    """Serves those who carry one of these access tokens; 401 for all others."""
    def step(x):
        good = x.send.header("authorization") in [bearer(n) for n in numbers]
        (ok() if good else status(401))(x)
    return step


def kept(lab):
    with open(os.path.join(lab.folder, "token.json")) as file:
        return json.load(file)["refresh_token"]


def no_secrets(t):
    for secret in ("access-token-", "next-refresh-token-", FIRST):
        assert secret not in t.log, [line for line in t.lines if secret in line]


def asked_with(send):
    """The refresh token of a question to the endpoint, in either form."""
    if send.header("content-type") == "application/json":
        return json.loads(send.body)["refresh_token"]
    return urllib.parse.parse_qs(send.body.decode(), strict_parsing=True)["refresh_token"][0]
