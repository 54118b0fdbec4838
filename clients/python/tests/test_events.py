"""Tests server-sent events that arrive in pieces of any size."""

import io
import unittest

from halogrid.events import read_events


class Pieces(io.RawIOBase):
    """A body that arrives in pieces of ``size`` bytes."""

    def __init__(self, data, size):
        self.data, self.size = data, size

    def readable(self):
        return True

    def readinto(self, buffer):
        piece, self.data = self.data[: min(self.size, len(buffer))], self.data[min(self.size, len(buffer)) :]
        buffer[: len(piece)] = piece
        return len(piece)


CASES = {
    "one": (b"data: a\n\n", ["a"]),
    "several lines": (b"data: a\ndata:b\ndata\n\n", ["a\nb\n"]),
    "other fields and comments": (b": hello\nid: 7\nevent: job\ndata: a\nretry: 5\n\n:\n\n", ["a"]),
    "every end of lines": (b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["a", "b", "c"]),
    "a colon and a second blank": (b"data:  a: b\n\n", [" a: b"]),
    "no data": (b"event: a\n\n\n", []),
    "cut short": (b"data: a\n\ndata: b\n", ["a"]),
    "cut within a line": (b"data: a\n\ndata: b", ["a"]),
    "a mark of order": (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
    "letters of several bytes": ("data: é\U0001f600\n\n".encode(), ["é\U0001f600"]),
}


class Events(unittest.TestCase):
    def test_events_are_the_same_whatever_the_pieces(self):
        for name, (body, expected) in CASES.items():
            for size in (1, 2, 3, 1000):
                with self.subTest(name, size=size):
                    self.assertEqual(list(read_events(io.BufferedReader(Pieces(body, size)))), expected)


if __name__ == "__main__":
    unittest.main()
