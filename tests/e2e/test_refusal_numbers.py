"""`turnpike_refusals_total`: what Turnpike answers by itself is counted under its code."""

import pytest

from harness import turnpike
from harness.checks import local_error, relayed
from harness.client import body_for
from harness.combos import CHAT, ask, combo
from harness.lab import Rows
from harness.provider import silent, status

rows = Rows()


def refused(t):
    """Answers of Turnpike's own, by code."""
    return {name[len("refusals_"):]: n for name, n in t.final_stats().items() if name.startswith("refusals_") and n}


@rows("refusals-are-counted")
def _(lab):
    """An answer of Turnpike's own counts under its code, whatever it is; one of a provider does not."""
    rejects = lab.provider(status(404), then=status(401))
    t = lab.turnpike({"p": {"url": rejects.url(), "keys": ["K"]}}, probe=False)
    relayed(lab.post(t), 404)
    assert refused(t) == {}
    local_error(lab.post(t), 502, code="upstream_credential_rejected")
    assert refused(t) == {"upstream_credential_rejected": 1}

    t = lab.turnpike("http://127.0.0.1:%d/v1" % turnpike.refusing_port(), probe=False)
    local_error(lab.post(t), 502, code="upstream_unreachable")
    assert refused(t) == {"upstream_unreachable": 1}

    t = combo(lab, lab.provider(then=status(404)), "http://127.0.0.1:%d/v1" % turnpike.refusing_port())
    relayed(ask(lab, t), 404)  # an earlier answer is shown rather than that the next target cannot be reached
    local_error(ask(lab, t, model="combo/nope"), 404, code="model_not_found")
    assert refused(t) == {"model_not_found": 1}

    u = lab.provider(silent())
    t = lab.turnpike(u)
    named = {"x-turnpike-logical-id": "one"}
    with lab.client(t) as c:
        c.request("POST", CHAT, named, body_for(CHAT))
        u.wait_sends(1)
        local_error(lab.post(t, headers={**named, "X-Turnpike-Deadline": "300ms"}), 409, code="logical_request_in_flight")
    assert refused(t) == {"logical_request_in_flight": 1}


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
