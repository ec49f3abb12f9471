"""What docs/threat-model.md promises and the tests of other subjects do not show."""

import pytest

from harness.client import body_for
from harness.lab import Rows
from harness.provider import ok, status

rows = Rows()
PATH = "/v1/chat/completions"


@rows("redirects-are-never-followed")
def _(lab):
    """A redirect could carry a credential to another host: it is shown, and nothing goes there."""
    elsewhere = lab.provider(ok())
    u = lab.provider(then=status(307, {"Location": elsewhere.url("/v1/chat/completions")}))
    t = lab.turnpike({"p": {"url": u.url(), "keys": ["own-key"]}})
    for call in (lab.post(t), lab.get(t)):
        assert call.status == 307 and call.header("location").startswith("http://127.0.0.1:")
        assert b"own-key" not in call.body
    assert u.count == 2 and elsewhere.connections == []


@rows("nothing-readable-is-kept")
def _(lab):
    """A failed request stays in the table for minutes, and the log tells all about it, but neither holds its words."""
    secrets = {"prompt": "swordfish-prompt", "key": "swordfish-key", "id": "swordfish-id", "own": "swordfish-own"}
    u = lab.provider(then=status(503, body=b'{"error":{"message":"swordfish-message"}}'))
    t = lab.turnpike({"p": {"url": u.url(), "keys": [secrets["own"]]}},
                     {"log": {"level": "debug"}, "clients": [{"name": "team", "key": secrets["key"]}]}, probe=False)
    body = body_for(PATH, secrets["prompt"])
    assert secrets["prompt"].encode() in body
    for _ in range(2):  # the second is answered without a send: the request is in the table
        lab.post(t, PATH + "?api_key=swordfish-query", body=body,
                 headers={"Authorization": "Bearer " + secrets["key"], "X-Turnpike-Logical-Id": secrets["id"]})
    assert u.count == 3
    with open("/dev/shm" + t.name, "rb") as table:
        assert b"swordfish" not in table.read()
    assert "debug worker" in t.log and "swordfish" not in t.log


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
