"""What good providers answer: bodies and streams of each family, and a plain error."""

import json


def error_body(code):
    return json.dumps({"error": {"message": "provider says %d" % code, "type": "provider_error",
                                 "param": None, "code": None}}).encode()


def family_of(target):
    path = target.split("?")[0]
    for end, family in (("/chat/completions", "chat"), ("/responses", "responses"),
                        ("/messages", "messages")):
        if path.endswith(end):
            return family
    return "plain"


def good_body(send, text="Hello."):
    return json.dumps(GOOD[family_of(send.target)](text)).encode()


GOOD = {
    "chat": lambda text: {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1790000000, "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}},
    "responses": lambda text: {
        "id": "resp_1", "object": "response", "created_at": 1790000000, "status": "completed", "model": "m",
        "error": None,
        "output": [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": text, "annotations": []}]}],
        "usage": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}},
    "messages": lambda text: {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 2}},
    "plain": lambda text: {"object": "list", "data": [{"id": text}]},
}


def event(data, name=None):
    text = json.dumps(data, ensure_ascii=False) if not isinstance(data, str) else data
    return (("event: %s\n" % name if name else "") + "data: %s\n\n" % text).encode()


def good_events(family, texts=("one ", "two ", "three")):
    """(prelude, outputs, ending) of a good stream of the family."""
    if family == "chat":
        def delta(d, finish=None):
            return event({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                          "choices": [{"index": 0, "delta": d, "finish_reason": finish}]})
        return ([delta({"role": "assistant", "content": ""})],
                [delta({"content": t}) for t in texts],
                [delta({}, "stop"), event("[DONE]")])
    if family == "responses":
        base = {"id": "resp_1", "object": "response", "status": "in_progress", "model": "m", "output": []}
        done = GOOD["responses"]("".join(texts))
        return ([event({"type": "response.created", "sequence_number": 0, "response": base},
                       "response.created"),
                 event({"type": "response.in_progress", "sequence_number": 1, "response": base},
                       "response.in_progress")],
                [event({"type": "response.output_text.delta", "sequence_number": 2 + i, "item_id": "msg_1",
                        "output_index": 0, "content_index": 0, "delta": t}, "response.output_text.delta")
                 for i, t in enumerate(texts)],
                [event({"type": "response.completed", "sequence_number": 99, "response": done},
                       "response.completed")])
    if family == "messages":
        return ([event({"type": "message_start", "message": dict(GOOD["messages"](""), content=[],
                                                                 stop_reason=None)}, "message_start"),
                 event({"type": "content_block_start", "index": 0,
                        "content_block": {"type": "text", "text": ""}}, "content_block_start"),
                 event({"type": "ping"}, "ping")],
                [event({"type": "content_block_delta", "index": 0,
                        "delta": {"type": "text_delta", "text": t}}, "content_block_delta") for t in texts],
                [event({"type": "content_block_stop", "index": 0}, "content_block_stop"),
                 event({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                        "usage": {"output_tokens": 3}}, "message_delta"),
                 event({"type": "message_stop"}, "message_stop")])
    raise ValueError(family)
