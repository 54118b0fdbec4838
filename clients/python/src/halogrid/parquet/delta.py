"""Parquet's encodings of differences: DELTA_BINARY_PACKED and DELTA_BYTE_ARRAY."""

from __future__ import annotations

from array import array
from typing import Any, List, NamedTuple, Tuple

from .cursor import Cursor, Malformed

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

#: Whole numbers are from 0 up to this: others are in no column of halogrid's.
LARGEST = 2**53 - 1

#: The most bits of a packed difference: those of numbers up to LARGEST have 54 and less.
_MOST_BITS = 56


class Miniblock(NamedTuple):
    """Differences that are packed in as many bits each."""

    at: int
    """The first byte."""
    bits: int
    count: int
    least: int
    """To be added to each."""


def unpack(cursor: Cursor, count: int, largest: int = LARGEST, quickly: bool = True) -> Any:
    """``count`` whole numbers from 0 to ``largest``: an array of int64, by NumPy where that is there unless not ``quickly``."""
    first, blocks = _miniblocks(cursor, count)
    if count == 0:
        return array("q")
    if quickly and numpy is not None:
        return _sum_quickly(cursor.data, first, blocks, largest)
    return _sum(cursor.data, first, blocks, largest)


def _miniblocks(cursor: Cursor, count: int) -> Tuple[int, List[Miniblock]]:
    """The first number, and where the differences to the one before are; the cursor is behind them then."""
    block, per_block, stated = cursor.varint(), cursor.varint(), cursor.varint()
    first = cursor.zigzag()
    size = block // per_block if per_block else 0
    if size == 0 or size % 32 or block != size * per_block or block > 2**20 or stated != count or abs(first) > LARGEST:
        raise Malformed("the head of packed numbers is wrong")
    blocks: List[Miniblock] = []
    left = count - 1
    while left > 0:
        least = cursor.zigzag()
        if abs(least) > LARGEST:
            raise Malformed("a packed number is too large")
        for bits in cursor.take(per_block):
            # What is behind the last number has no bytes.
            if left <= 0:
                break
            if bits > _MOST_BITS:
                raise Malformed("a packed number is too large")
            blocks.append(Miniblock(cursor.at, bits, min(size, left), least))
            cursor.take(bits * size // 8)
            left -= size
    return first, blocks


def _sum(data: bytes, first: int, blocks: List[Miniblock], largest: int) -> array:
    numbers = [first]
    number = first
    for at, bits, count, least in blocks:
        packed = int.from_bytes(data[at : at + (bits * count + 7) // 8], "little")
        mask = (1 << bits) - 1
        for shift in range(0, bits * count, bits) if bits else [0] * count:
            number += least + (packed >> shift & mask)
            numbers.append(number)
    if min(numbers) < 0 or max(numbers) > largest:
        raise Malformed("a packed number is too large")
    return array("q", numbers)


def _sum_quickly(data: bytes, first: int, blocks: List[Miniblock], largest: int) -> Any:
    table = numpy.array(blocks, dtype=numpy.int64).reshape(-1, 4)
    counts = table[:, 2]
    starts, bits, least = (numpy.repeat(table[:, column], counts) for column in (0, 1, 3))
    within = numpy.arange(len(starts)) - numpy.repeat(numpy.cumsum(counts) - counts, counts)
    bit = within * bits
    # Eight bytes from any place hold the at most 56 bits of a number and those before it in its first byte.
    padded = data + bytes(8)
    words = numpy.ndarray(len(data) + 1, dtype="<u8", buffer=padded, strides=(1,))
    packed = words[starts + (bit >> 3)] >> (bit & 7).astype(numpy.uint64)
    deltas = (packed & ((numpy.uint64(1) << bits.astype(numpy.uint64)) - numpy.uint64(1))).astype(numpy.int64)
    numbers = numpy.empty(len(deltas) + 1, dtype=numpy.int64)
    numbers[0] = first
    numpy.add(deltas, least, out=numbers[1:])
    numpy.cumsum(numbers, out=numbers)
    # No step is longer than 2^57, so that one beyond 2^63 is found at the number before.
    if numbers.min() < 0 or numbers.max() > largest:
        raise Malformed("a packed number is too large")
    return numbers


def unpack_texts(cursor: Cursor, count: int) -> List[str]:
    """``count`` texts, each stored as the bytes that it shares with the one before, and the others."""
    shared = unpack(cursor, count)
    rest = unpack(cursor, count)
    texts: List[str] = []
    last, text = b"", ""
    for same, more in zip(shared.tolist(), rest.tolist()):
        if same > len(last):
            raise Malformed("a text is longer than the one it begins like")
        if more or same != len(last):
            last = last[:same] + cursor.take(more)
            try:
                text = last.decode("utf-8")
            except UnicodeDecodeError:
                raise Malformed("a text is not UTF-8") from None
        texts.append(text)
    return texts
