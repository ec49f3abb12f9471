"""The schema for editors (`config --schema`): it has no complaint about a file that `check` finds good."""

import json
import re
import subprocess

import pytest

from harness.turnpike import BINARY

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "title", "description", "default", "type", "enum", "const", "pattern", "minLength", "minimum", "maximum",
         "minItems", "maxItems", "uniqueItems", "items", "minProperties", "propertyNames", "properties", "required",
         "additionalProperties", "anyOf"}


def is_a(value, name):
    if name in ("integer", "number"):
        return isinstance(value, (int, float) if name == "number" else int) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def fits(schema, value):
    """As JSON Schema 2020-12 has it, of what the schema uses."""
    assert set(schema) <= KNOWN, set(schema) - KNOWN
    types = schema.get("type", [])
    good = not types or any(is_a(value, name) for name in ([types] if isinstance(types, str) else types))
    good &= "anyOf" not in schema or any(fits(one, value) for one in schema["anyOf"])
    good &= "enum" not in schema or value in schema["enum"]
    good &= "const" not in schema or value == schema["const"]
    if isinstance(value, str):
        good &= len(value) >= schema.get("minLength", 0) and bool(re.search(schema.get("pattern", ""), value))
    elif isinstance(value, list):
        good &= schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        good &= not schema.get("uniqueItems") or len({json.dumps(item) for item in value}) == len(value)
        good &= all(fits(schema.get("items", {}), item) for item in value)
    elif isinstance(value, dict):
        known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        good &= len(value) >= schema.get("minProperties", 0) and set(schema.get("required", [])) <= set(value)
        good &= all(fits(schema.get("propertyNames", {}), name) for name in value)
        good &= all(fits(known[name], item) if name in known else others is True or (others is not False and fits(others, item))
                    for name, item in value.items())
    elif is_a(value, "number"):
        good &= schema.get("minimum", value) <= value <= schema.get("maximum", value)
    return good


P = {"url": "http://127.0.0.1:1/v1"}
MORE = [  # what stands beside `providers`; JSON is YAML
    {},
    {"listen": "127.0.0.1:0"},
    {"listen": ["127.0.0.1:0", {"address": "unix:/tmp/x.sock", "client_half_close": "serve"}]},
    {"workers": 2, "limits": {"body": "1MiB", "header": 4096, "client_idle": "1.5s", "connections": "${SOME}"}},
    {"retry": None, "log": {"level": "debug"}, "stats_file": None},
    {"retry": {"profile": "patient", "deadline": 0, "transient": {"statuses": [500, "502"]}}},
    # text that has no quotes is a number or a truth to who reads YAML without knowing the keys
    {"alerts": {"command": ["tell", "--port", 25, "-v", True]}},
    {"clients": [{"name": 7, "key": 12345}]},
    {"admin": {"listen": "127.0.0.1:0", "token": 99}},
    {"combos": {"c": {"targets": [{"provider": "p", "model": 4.1}]}}},
    {"combos": {"c": {"targets": [{"provider": 1, "model": "m"}]}}, "routes": [{"path": "/v1", "provider": "p", "models": [4]}],
     "providers": {"p": P, "1": P}},
    {"combos": None},
    {"allow_anonymous": "Yes"},
    {"retry": {"share_waits": "OFF"}},
]
WRONG = [
    {"lisen": "127.0.0.1:0"}, {"workers": 0}, {"workers": None}, {"providers": None}, {"log": {"level": "loud"}}, {"listen": []},
    {"clients": [{"name": "a"}]}, {"budget": {"ttl": "soon"}}, {"allow_anonymous": "perhaps"}, {"retry": {"deadline": 5}},
    {"alerts": {"command": [["a"]]}}, {"combos": {"a b": {"targets": [{"provider": "p", "model": "m"}]}}},
]


@pytest.fixture(scope="module")
def schema():
    return json.loads(subprocess.run([BINARY, "config", "--schema"], capture_output=True, check=True, timeout=20).stdout)


def found_good(config):
    done = subprocess.run([BINARY, "check", "-c", "/dev/stdin"], input=json.dumps(config), env={"SOME": "3"},
                          capture_output=True, text=True, timeout=20)
    assert done.returncode == 0 or "/dev/stdin:1:" in done.stderr, done.stderr
    return done.returncode == 0


@pytest.mark.parametrize("more", MORE, ids=json.dumps)
def test_what_check_finds_good_fits(schema, more):
    config = {"providers": {"p": P}, **more}
    assert found_good(config) and fits(schema, config)


@pytest.mark.parametrize("more", WRONG, ids=json.dumps)
def test_what_is_wrong_by_its_form_does_not(schema, more):
    config = {"providers": {"p": P}, **more}
    assert not found_good(config) and not fits(schema, config)
