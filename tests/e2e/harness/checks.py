"""What answers must look like."""

import json

from .bodies import family_of

FAMILIES = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages",
            "plain": "/v1/embeddings"}
MODELS = ("chat", "responses", "messages")
# What says of a body which one it is: of another one it does not hold.
VALIDATORS = {"ETag": '"v1"', "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Accept-Ranges": "bytes",
              "Content-Range": "bytes 0-4/5", "Content-MD5": "x", "Digest": "x", "Content-Digest": "x", "Repr-Digest": "x"}


def error_json(answer, family):
    """The body is an error in the family's shape; gives its error object."""
    assert (answer.header("content-type") or "").split(";")[0].strip() == "application/json", answer
    body = json.loads(answer.body)
    error = body["error"]
    if family == "messages":
        assert body["type"] == "error", body
    assert isinstance(error["message"], str) and error["message"], body
    assert isinstance(error["type"], str) and error["type"], body
    return error


def tells_body(answer):
    return [name for name in VALIDATORS if answer.all(name)]


def refusal(answer, code, family="chat"):
    """An answer that no client sends again for."""
    assert answer.status == 429, answer
    assert answer.end == "complete", answer
    error = error_json(answer, family)
    assert error["code"] == code, answer
    stopped(answer)
    assert answer.all("retry-after") == [] and answer.all("retry-after-ms") == [], answer
    assert error["type"] != "overloaded_error", answer
    assert "try again in" not in answer.body.decode().lower(), answer


def local_error(answer, status, family="chat", code=None):
    """An error that Turnpike makes itself."""
    assert answer.status == status and answer.end == "complete", answer
    error = error_json(answer, family)
    if code is not None:
        assert error["code"] == code, answer
    return error


def stopped(answer):
    assert answer.all("x-should-retry") == ["false"], answer


def not_stopped(answer):
    assert answer.all("x-should-retry") == [], answer


def relayed(answer, status, body=None):
    """The provider's own answer."""
    assert answer.status == status and answer.end == "complete", answer
    if body is not None:
        assert answer.body == body, answer


def served(answer, sends=None):
    assert answer.status == 200 and answer.end == "complete", answer
    if sends is not None:
        assert answer.sends == sends, answer


def family(path):
    return family_of(path)
