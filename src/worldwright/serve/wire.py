"""How server and player process talk over pipes, and how a picture reaches the browser: a JSON head and bytes behind it.

A message is two unsigned 32-bit little-endian lengths, of the head and of the bytes, then both. A picture for the browser is one length, of
the head, then both: the socket knows where it ends.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

LENGTHS = struct.Struct("<II")
MOST_HEAD, MOST_BODY = 1 << 16, 64 << 20


def pack_message(head: Mapping[str, Any], body: bytes = b"") -> bytes:
    """A message as bytes."""
    text = json.dumps(head).encode()
    return LENGTHS.pack(len(text), len(body)) + text + body


def lengths_of(data: bytes) -> tuple[int, int]:
    """Bytes of head and body. Raises ValueError for a message that is too long: whoever writes is out of step."""
    head, body = LENGTHS.unpack(data)
    if head > MOST_HEAD or body > MOST_BODY:
        raise ValueError(f"a message of {head} and {body} bytes")
    return head, body


def read_message(file: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """The next message; None at the end."""
    start = file.read(LENGTHS.size)
    if len(start) < LENGTHS.size:
        return None
    head, body = lengths_of(start)
    data = file.read(head + body)
    return (json.loads(data[:head]), data[head:]) if len(data) == head + body else None


def pack_picture(head: Mapping[str, Any], picture: bytes) -> bytes:
    """A picture for the browser."""
    text = json.dumps(head).encode()
    return struct.pack("<I", len(text)) + text + picture
