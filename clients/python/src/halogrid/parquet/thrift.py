"""The compact protocol of Thrift, in which a Parquet file describes itself."""

from __future__ import annotations

import struct
from typing import Any, Dict, List

from .cursor import Cursor, Malformed

Struct = Dict[int, Any]

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)

#: The deepest nesting of structures; Parquet's structures are six deep.
_DEEPEST = 16


def read_struct(cursor: Cursor, depth: int = 0) -> Struct:
    """Reads a structure: its fields by number. Byte strings stay bytes, lists become lists."""
    if depth > _DEEPEST:
        raise Malformed("its description is too deep")
    fields: Struct = {}
    number = 0
    while True:
        head = cursor.byte()
        if head == 0:
            return fields
        number = number + (head >> 4) if head >> 4 else cursor.zigzag()
        kind = head & 15
        fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else _read_value(cursor, kind, depth)


def _read_value(cursor: Cursor, kind: int, depth: int) -> Any:
    if kind in (_TRUE, _FALSE, _BYTE):
        return cursor.byte()
    if kind in (_I16, _I32, _I64):
        return cursor.zigzag()
    if kind == _DOUBLE:
        return struct.unpack("<d", cursor.take(8))[0]
    if kind == _BINARY:
        return cursor.take(cursor.varint())
    if kind in (_LIST, _SET):
        return _read_list(cursor, depth)
    if kind == _STRUCT:
        return read_struct(cursor, depth + 1)
    raise Malformed(f"its description has a value of the kind {kind}")


def _read_list(cursor: Cursor, depth: int) -> List[Any]:
    head = cursor.byte()
    size = cursor.varint() if head >> 4 == 15 else head >> 4
    # Each element takes at least one byte.
    if size > cursor.left or depth > _DEEPEST:
        raise Malformed("it ends early")
    return [_read_value(cursor, head & 15, depth + 1) for _ in range(size)]
