"""The notation of bytes in the tables of tests/data."""

import re

ESCAPES = {"r": b"\r", "n": b"\n", "t": b"\t", "\\": b"\\"}


def unescape(text):
    """\\r \\n \\t \\\\ \\xHH and {{N*text}}."""
    out, index = bytearray(), 0
    while index < len(text):
        repeat = re.match(r"\{\{(\d+)\*(.*?)\}\}", text[index:])
        if repeat:
            out += int(repeat[1]) * unescape(repeat[2])
            index += repeat.end()
        elif text[index] == "\\" and text[index + 1] == "x":
            out.append(int(text[index + 2:index + 4], 16))
            index += 4
        elif text[index] == "\\":
            out += ESCAPES[text[index + 1]]
            index += 2
        else:
            out += text[index].encode("latin-1")
            index += 1
    return bytes(out)
