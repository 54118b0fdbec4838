"""Reads bytes of a Parquet file from the front."""

from __future__ import annotations


class Malformed(Exception):
    """The file is damaged; the message is a clause."""


class Unsupported(Exception):
    """The file uses a feature that is not supported here; the message names it."""


class Cursor:
    """A position in bytes. Every read is checked: it raises Malformed if the bytes end too early."""

    __slots__ = ("data", "at", "end")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at
        self.end = len(data)

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return self.end - self.at

    def byte(self) -> int:
        """The next byte."""
        if self.at >= self.end:
            raise Malformed("it ends early")
        self.at += 1
        return self.data[self.at - 1]

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        if count < 0 or count > self.left:
            raise Malformed("it ends early")
        self.at += count
        return self.data[self.at - count : self.at]

    def varint(self) -> int:
        """A whole number from 0 to 2^64 - 1, seven bits per byte."""
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 63:
                raise Malformed("a number has more than ten bytes")
        if number >> 64:
            raise Malformed("a number has more than 64 bits")
        return number

    def zigzag(self) -> int:
        """A whole number with a sign, of 64 bits."""
        number = self.varint()
        return (number >> 1) ^ -(number & 1)
