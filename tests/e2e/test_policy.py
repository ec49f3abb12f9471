"""Profiles, and gateways that are drowning or busy: design 5, the sends of case OV-16."""

import pytest

from harness.checks import relayed, stopped
from harness.lab import Rows
from harness.provider import status

rows = Rows()

FAST = {"overload": {"base": "1ms", "cap": "1ms"}, "transient": {"base": "1ms", "cap": "1ms"}}
PATIENT = {"profile": "patient", **FAST}


def fails_after(lab, provider, sends, code, **how):
    answer = lab.post(lab.turnpike(provider, **how))
    relayed(answer, code)
    stopped(answer)
    assert provider.count == sends == answer.sends


# A profile brings its budget along, set for all or for one provider; what is written wins.
@rows.table("profile", {
    "guarded-503": (FAST, {}, 503, 3),
    "patient-503": (PATIENT, {}, 503, 6),
    "patient-429": (PATIENT, {}, 429, 4),
    "patient-500": (PATIENT, {}, 500, 3),
    "patient-written": (PATIENT, {"budget": {"sends": 2}}, 503, 2),
})
def _(lab, case):
    retry, config, code, sends = case
    fails_after(lab, lab.provider(then=status(code)), sends, code, config={"retry": retry, **config}, probe=False)
    own = lab.provider(then=status(code))
    config = {"providers": {"p": {"retry": retry}}, **config}
    fails_after(lab, own, sends, code, config=config, probe=False)


@rows.table("load", {"drowning": ("X-Codex-System-Load", "95%", 2), "busy": ("X-Codex-Model-Capacity", "4/4", 4)})
def _(lab, case):
    name, value, sends = case
    u = lab.provider(then=status(429, headers=[(name, value)]))
    fails_after(lab, u, sends, 429, config={"retry": {"overload": {"base": "200ms"}}}, probe=False,
                allow=["alert system_load"])


@pytest.mark.parametrize("row", rows.names())
def test_row(row, row_result):
    row_result(row)
