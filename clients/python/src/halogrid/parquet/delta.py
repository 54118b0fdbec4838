"""Parquet's encodings of differences: DELTA_BINARY_PACKED and DELTA_BYTE_ARRAY."""

from __future__ import annotations

from array import array
from typing import Any, List, NamedTuple, Tuple

from .cursor import Cursor, Malformed

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

#: The largest whole number: columns of halogrid hold numbers from 0 to this.
LARGEST = 2**53 - 1

#: The most bits of a packed difference that is accepted: differences of numbers up to LARGEST have at most 54.
_MOST_BITS = 56


class Blocks(NamedTuple):
    """Where the differences of consecutive numbers are, in blocks of ``size`` that are packed in equally many bits each."""

    size: int
    at: List[int]
    """The first byte of each block."""
    bits: List[int]
    least: List[int]
    """The number to add to each difference of a block."""


def unpack(cursor: Cursor, count: int, largest: int = LARGEST, quickly: bool = True) -> Any:
    """``count`` whole numbers from 0 to ``largest``, as an array of int64.

    With NumPy if that is installed, unless ``quickly`` is false.
    """
    first, blocks = _read_blocks(cursor, count)
    if count == 0:
        return array("q")
    if quickly and numpy is not None:
        return _sum_quickly(cursor.data, first, count, blocks, largest)
    return _sum(cursor.data, first, count, blocks, largest)


def _read_blocks(cursor: Cursor, count: int) -> Tuple[int, Blocks]:
    """The first number, and the blocks of the others; moves the cursor behind them."""
    whole, per_whole, stated = cursor.varint(), cursor.varint(), cursor.varint()
    first = cursor.zigzag()
    size = whole // per_whole if per_whole else 0
    if size == 0 or size % 32 or whole != size * per_whole or whole > 2**20 or stated != count or abs(first) > LARGEST:
        raise Malformed("the head of packed numbers is wrong")
    blocks = Blocks(size, [], [], [])
    left = count - 1
    while left > 0:
        least = cursor.zigzag()
        # Miniblocks after the last number have no bytes.
        widths = cursor.take(per_whole)[: (left + size - 1) // size]
        if abs(least) > LARGEST or max(widths) > _MOST_BITS:
            raise Malformed("a packed number is too large")
        at = cursor.at
        for bits in widths:
            blocks.at.append(at)
            blocks.bits.append(bits)
            blocks.least.append(least)
            at += bits * size // 8
        cursor.take(at - cursor.at)
        left -= whole
    return first, blocks


def _sum(data: bytes, first: int, count: int, blocks: Blocks, largest: int) -> array:
    numbers = [first]
    number = first
    for at, bits, least in zip(blocks.at, blocks.bits, blocks.least):
        size = min(blocks.size, count - len(numbers))
        packed = int.from_bytes(data[at : at + (bits * size + 7) // 8], "little")
        mask = (1 << bits) - 1
        for shift in range(0, bits * size, bits) if bits else [0] * size:
            number += least + (packed >> shift & mask)
            numbers.append(number)
    if min(numbers) < 0 or max(numbers) > largest:
        raise Malformed("a packed number is too large")
    return array("q", numbers)


def _sum_quickly(data: bytes, first: int, count: int, blocks: Blocks, largest: int) -> Any:
    at, bits, least = (numpy.array(of, dtype=numpy.int64)[:, None] for of in blocks[1:])
    bit = numpy.arange(blocks.size) * bits
    # A number has at most 56 bits and begins at one of the 8 bits of its first byte, so eight bytes hold it.
    words = numpy.ndarray(len(data) + 1, dtype="<u8", buffer=data + bytes(8), strides=(1,))
    packed = words[at + (bit >> 3)] >> (bit & 7).astype(numpy.uint64)
    deltas = (packed & ((1 << bits) - 1).astype(numpy.uint64)).astype(numpy.int64)
    deltas += least
    numbers = numpy.concatenate([numpy.array([first]), deltas.reshape(-1)[: count - 1]])
    numpy.cumsum(numbers, out=numbers)
    # No step exceeds 2^57, so before a sum overflows 2^63, a number is already too large, and this check finds it.
    if numbers.min() < 0 or numbers.max() > largest:
        raise Malformed("a packed number is too large")
    return numbers


def unpack_texts(cursor: Cursor, count: int) -> List[str]:
    """``count`` texts, each stored as the number of bytes that it shares with the one before, and its other bytes."""
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
