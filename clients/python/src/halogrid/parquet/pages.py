"""Pages: the values of a column of a row group."""

from __future__ import annotations

import sys
from array import array
from typing import Any, Iterator, List, NamedTuple

from .cursor import Cursor, Malformed, Unsupported
from .delta import LARGEST, unpack, unpack_texts
from .footer import Chunk, field, name_of
from .levels import read_levels
from .snappy import decompress
from .thrift import read_struct

_PAGES = ["DATA_PAGE", "INDEX_PAGE", "DICTIONARY_PAGE", "DATA_PAGE_V2"]
_ENCODINGS = [
    *("PLAIN", "GROUP_VAR_INT", "PLAIN_DICTIONARY", "RLE", "BIT_PACKED", "DELTA_BINARY_PACKED"),
    *("DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "RLE_DICTIONARY", "BYTE_STREAM_SPLIT"),
]


class Page(NamedTuple):
    """A page with its values still encoded."""

    rows: int
    values: int
    """How many, including nulls."""
    nulls: int
    encoding: str
    repetition: bytes
    definition: bytes
    """Encoded levels."""
    data: bytes


def read_pages(data: bytes, chunk: Chunk) -> Iterator[Page]:
    """The pages of a column. Raises Malformed or Unsupported."""
    cursor = Cursor(data)
    while cursor.left:
        head = read_struct(cursor)
        kind = name_of(_PAGES, field(head, 1, int))
        if kind != "DATA_PAGE_V2":
            raise Unsupported(f"{kind} in the column '{chunk.path[0]}'")
        v2 = field(head, 8, dict)
        body = cursor.take(field(head, 3, int))
        repetition, definition = field(v2, 6, int), field(v2, 5, int)
        levels = repetition + definition
        if levels > len(body):
            raise Malformed("levels of a page are longer than the page")
        content = body[levels:]
        if chunk.codec != "UNCOMPRESSED" and field(v2, 7, bool, True):
            if chunk.codec != "SNAPPY":
                raise Unsupported(f"{chunk.codec} in the column '{chunk.path[0]}'")
            content = decompress(content, field(head, 2, int) - levels)
        elif len(body) != field(head, 2, int):
            raise Malformed("a page has another size than its head says")
        yield Page(
            *(field(v2, 3, int), field(v2, 1, int), field(v2, 2, int), name_of(_ENCODINGS, field(v2, 4, int))),
            *(body[:repetition], body[repetition:levels], content),
        )


def flat_values(page: Page, chunk: Chunk) -> List[Any]:
    """The values of a page of a column without lists; None for a null."""
    if page.values != page.rows or page.repetition:
        raise Malformed(f"the column '{chunk.path[0]}' has not a value a row")
    known = page.values - page.nulls
    if not chunk.is_optional:
        if page.nulls or page.definition:
            raise Malformed(f"the column '{chunk.path[0]}' has nulls")
        return listed(decode(page, chunk, known))
    levels = read_levels(page.definition, page.values)
    if levels.count(1) != known:
        raise Malformed(f"the column '{chunk.path[0]}' has not as many nulls as it says")
    values = iter(listed(decode(page, chunk, known)))
    return [next(values) if level else None for level in levels]


def listed(values: Any) -> List[Any]:
    """Values of an array as a list."""
    return values if isinstance(values, list) else values.tolist()


def decode(page: Page, chunk: Chunk, count: int) -> Any:
    """The ``count`` values of a page that are not null."""
    cursor = Cursor(page.data)
    values = _decode(cursor, page.encoding, chunk, count)
    if cursor.left:
        raise Malformed(f"the column '{chunk.path[0]}' is longer than its values")
    return values


def _decode(cursor: Cursor, encoding: str, chunk: Chunk, count: int) -> Any:
    if chunk.type == "BYTE_ARRAY" and (encoding == "DELTA_BYTE_ARRAY" or count == 0):
        return unpack_texts(cursor, count) if count else []
    if chunk.type in ("INT32", "INT64") and encoding == "DELTA_BINARY_PACKED":
        return unpack(cursor, count, 2**31 - 1 if chunk.type == "INT32" else LARGEST)
    if chunk.type in ("INT64", "DOUBLE") and encoding == "PLAIN":
        plain = array("q" if chunk.type == "INT64" else "d", cursor.take(8 * count))
        if sys.byteorder == "big":
            plain.byteswap()
        # The optional column holds times, which may be before 1970.
        if chunk.type == "INT64" and count and (max(plain) > LARGEST or min(plain) < -LARGEST * chunk.is_optional):
            raise Malformed(f"a number in the column '{chunk.path[0]}' is too large")
        return plain
    raise Unsupported(f"{encoding} for {chunk.type} in the column '{chunk.path[0]}'")
