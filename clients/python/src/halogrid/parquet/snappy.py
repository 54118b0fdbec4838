"""Snappy's blocks, the one compression that halogrid uses in Parquet."""

from __future__ import annotations

from .cursor import Cursor, Malformed


def decompress(data: bytes, size: int) -> bytes:
    """Decompresses to ``size`` bytes. Raises Malformed if the result would have another size."""
    cursor = Cursor(data)
    if cursor.varint() != size:
        raise Malformed("a compressed page has another size than its head says")
    out = bytearray()
    while cursor.left:
        tag = cursor.byte()
        if tag & 3 == 0:
            length = tag >> 2
            if length >= 60:
                length = int.from_bytes(cursor.take(length - 59), "little")
            out += cursor.take(length + 1)
        else:
            _copy(out, tag, cursor)
        if len(out) > size:
            raise Malformed("a compressed page is too long")
    if len(out) != size:
        raise Malformed("a compressed page ends early")
    return bytes(out)


def _copy(out: bytearray, tag: int, cursor: Cursor) -> None:
    """Appends a copy of earlier bytes. The copied range may overlap the bytes that it appends."""
    if tag & 3 == 1:
        length, offset = (tag >> 2 & 7) + 4, tag >> 5 << 8 | cursor.byte()
    else:
        length, offset = (tag >> 2) + 1, int.from_bytes(cursor.take(2 if tag & 3 == 2 else 4), "little")
    start = len(out) - offset
    if offset == 0 or start < 0:
        raise Malformed("a compressed page points at bytes before its first")
    piece = out[start : start + length]
    out += piece if offset >= length else (piece * (length // offset + 1))[:length]
