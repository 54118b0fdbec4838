"""Levels: which values are null, and where lists begin."""

from __future__ import annotations

from .cursor import Cursor, Malformed

#: The eight levels in each possible byte, the lowest bit first.
_BITS = [bytes(byte >> bit & 1 for bit in range(8)) for byte in range(256)]


def read_levels(data: bytes, count: int) -> bytes:
    """``count`` levels of 0 and 1, one byte each, from runs and packed bits (RLE) that fill ``data``."""
    cursor = Cursor(data)
    levels = bytearray()
    while cursor.left:
        head = cursor.varint()
        if head & 1:
            levels += b"".join([_BITS[byte] for byte in cursor.take(head >> 1)])
        else:
            level, times = cursor.byte(), head >> 1
            if level > 1 or times > count - len(levels):
                raise Malformed("levels of a column are wrong")
            levels += bytes([level]) * times
    # Packed bits fill whole bytes, so there may be up to 7 too many.
    if not count <= len(levels) < count + 8:
        raise Malformed("levels of a column are not as many as its values")
    return bytes(levels[:count])
