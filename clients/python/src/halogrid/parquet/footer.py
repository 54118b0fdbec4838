"""The footer of a Parquet file, which describes it."""

from __future__ import annotations

from typing import Any, BinaryIO, Dict, List, NamedTuple, Tuple, Type

from .cursor import Cursor, Malformed, Unsupported
from .thrift import Struct, read_struct

TYPES = ["BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"]
CODECS = ["UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"]
REQUIRED, OPTIONAL, REPEATED = range(3)

_MAGIC = b"PAR1"


class Chunk(NamedTuple):
    """A column of a row group."""

    path: Tuple[str, ...]
    type: str
    codec: str
    values: int
    at: int
    """Its first byte in the file."""
    size: int
    is_optional: bool


class Group(NamedTuple):
    """Rows that are stored together."""

    rows: int
    chunks: Dict[str, Chunk]
    """By the name of the column."""


class Footer(NamedTuple):
    """The row groups of a file, and its key-value metadata."""

    groups: List[Group]
    about: Dict[str, str]


def read_footer(file: BinaryIO, size: int) -> Footer:
    """The footer of a file of ``size`` bytes. Raises Malformed or Unsupported."""
    if size < 12:
        raise Malformed("it ends early")
    file.seek(0)
    head = file.read(4)
    file.seek(size - 8)
    end = file.read(8)
    if head != _MAGIC or end[4:] != _MAGIC:
        raise Malformed("it does not begin and end as such a file does")
    length = int.from_bytes(end[:4], "little")
    if length > size - 12:
        raise Malformed("its footer is longer than the file")
    file.seek(size - 8 - length)
    cursor = Cursor(file.read(length))
    described = read_struct(cursor)
    if cursor.left:
        raise Malformed("its footer is longer than what it says")
    leaves = _leaves([_element(one) for one in field(described, 2, list)])
    groups = [_group(group, leaves, size) for group in field(described, 4, list)]
    if sum(group.rows for group in groups) != field(described, 3, int):
        raise Malformed("its row groups do not have as many rows as the file")
    pairs = [(field(pair, 1, bytes), pair.get(2, b"")) for pair in field(described, 5, list, [])]
    return Footer(groups, {text(key): text(value) for key, value in pairs})


def field(of: Any, number: int, kind: Type, *otherwise: Any) -> Any:
    """A field of a structure, of type ``kind``. If it is missing, the default, or Malformed without one."""
    if isinstance(of, dict):
        if number not in of and otherwise:
            return otherwise[0]
        value = of.get(number)
        if isinstance(value, kind) and not (kind is int and value < 0):
            return value
    raise Malformed("its description is wrong")


def text(value: Any) -> str:
    """Decodes UTF-8."""
    try:
        return bytes.decode(value, "utf-8")
    except (TypeError, UnicodeDecodeError):
        raise Malformed("its description is wrong") from None


class _Element(NamedTuple):
    name: str
    children: int
    repetition: int
    type: int


def _element(of: Struct) -> _Element:
    return _Element(text(field(of, 4, bytes)), field(of, 5, int, 0), field(of, 3, int, REQUIRED), field(of, 1, int, -1))


def _leaves(elements: List[_Element]) -> List[Tuple[Tuple[str, ...], str, Tuple[int, ...]]]:
    """Path, type and repetitions of each column, in order."""
    leaves: List[Tuple[Tuple[str, ...], str, Tuple[int, ...]]] = []
    rest = iter(elements)

    def walk(children: int, path: Tuple[str, ...], repetitions: Tuple[int, ...]) -> None:
        if len(path) > 8:
            raise Malformed("its schema is too deep")
        for _ in range(children):
            element = next(rest, None)
            if element is None:
                raise Malformed("its schema ends early")
            names, kinds = (*path, element.name), (*repetitions, element.repetition)
            if element.children:
                walk(element.children, names, kinds)
            else:
                leaves.append((names, name_of(TYPES, element.type), kinds))

    root = next(rest, None)
    walk(root.children if root else 0, (), ())
    if next(rest, None) is not None or not leaves:
        raise Malformed("its schema is wrong")
    return leaves


def name_of(names: List[str], number: int) -> str:
    """The name that stands for a number in the format."""
    if not 0 <= number < len(names):
        raise Malformed("its description is wrong")
    return names[number]


def _group(of: Struct, leaves: List[Any], size: int) -> Group:
    columns = field(of, 1, list)
    if len(columns) != len(leaves):
        raise Malformed("a row group has not the columns of the schema")
    chunks: Dict[str, Chunk] = {}
    for column, (path, kind, repetitions) in zip(columns, leaves):
        about = field(column, 3, dict)
        names = tuple(text(name) for name in field(about, 3, list))
        if names != path or name_of(TYPES, field(about, 1, int)) != kind or path[0] in chunks:
            raise Malformed("a row group has not the columns of the schema")
        if repetitions not in ((REQUIRED,), (OPTIONAL,), (REQUIRED, REPEATED, REQUIRED)):
            raise Unsupported(f"the nested column '{'.'.join(path)}'")
        if 11 in about:
            raise Unsupported(f"dictionary pages of the column '{path[0]}'")
        chunk = Chunk(
            *(path, kind, name_of(CODECS, field(about, 4, int))),
            *(field(about, 5, int), field(about, 9, int), field(about, 7, int)),
            is_optional=repetitions == (OPTIONAL,),
        )
        if chunk.at + chunk.size > size:
            raise Malformed(f"the column '{path[0]}' lies beyond its end")
        chunks[path[0]] = chunk
    return Group(field(of, 3, int), chunks)
