"""Streams that are open while something happens to the server."""

from .checks import served
from .client import body_for
from .provider import event, stream

PATH = "/v1/chat/completions"


def gated(gate, text="chat"):
    """The provider's step: a stream with its first output now, and the rest when the gate opens."""
    first = event({"choices": [{"index": 0, "delta": {"content": text}}]})
    return stream([first, first, event("[DONE]")], barriers={1: gate})


def open_stream(lab, t):
    """A client whose answer has begun; (client, answer)."""
    c = lab.client(t)
    c.request("POST", PATH, body=body_for(PATH, stream=True))
    return c, c.until(c.head(), b"content")


def finish(c, answer):
    """The rest of it, whole."""
    c.rest(answer)
    served(answer, sends=1)
    assert answer.body.endswith(event("[DONE]")), answer
