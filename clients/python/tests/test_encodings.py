"""Tests that readers return encoded numbers, levels, texts and compressed bytes exactly, or raise Malformed."""

import random
import unittest

from encoding import delta_pack, levels, snappy_pack, varint, zigzag

from halogrid.parquet.cursor import Cursor, Malformed
from halogrid.parquet.delta import LARGEST, unpack, unpack_texts
from halogrid.parquet.levels import read_levels
from halogrid.parquet.snappy import decompress
from halogrid.parquet.thrift import read_struct

READERS = (True, False)


def numbers_of(chosen):
    largest = chosen.choice([0, 1, 200, 2**15, 2**31 - 1, LARGEST])
    return [chosen.randint(0, largest) for _ in range(chosen.choice([0, 1, 2, 32, 33, 128, 129, 130, 500]))]


class Deltas(unittest.TestCase):
    def test_numbers_are_those_that_were_packed(self):
        chosen = random.Random(1)
        for _ in range(150):
            numbers = numbers_of(chosen)
            block, per_block = chosen.choice([(128, 4), (256, 8), (128, 1), (1024, 4)])
            packed = delta_pack(numbers, block, per_block, junk=chosen.choice([0, 7, 255]))
            for quickly in READERS:
                # The bytes before and after do not belong to the numbers.
                cursor = Cursor(b"abc" + packed + b"de", 3)
                self.assertEqual(unpack(cursor, len(numbers), quickly=quickly).tolist(), numbers)
                self.assertEqual(cursor.left, 2)

    def test_numbers_that_do_not_fit_are_refused(self):
        for numbers, largest in (([0, LARGEST + 1], LARGEST), ([5, -1, 5], LARGEST), ([0, 2**31], 2**31 - 1)):
            for quickly in READERS:
                with self.assertRaisesRegex(Malformed, "too large"):
                    unpack(Cursor(delta_pack(numbers)), len(numbers), largest, quickly)

    def test_whatever_is_wrong_is_malformed(self):
        packed = delta_pack([1, 5, 2] * 100)
        wrong = {
            "another count": (packed, 299),
            "no block": (varint(0) + packed[2:], 300),
            "blocks of odd size": (varint(100) + packed[2:], 300),
            "a first number beyond all": (varint(128) + varint(4) + varint(2) + zigzag(2**60) + bytes(5), 2),
            "a least difference beyond all": (
                varint(128) + varint(4) + varint(2) + bytes(1) + zigzag(2**60) + bytes(4),
                2,
            ),
            "64 bits": (varint(128) + varint(4) + varint(2) + bytes(2) + bytes([64, 0, 0, 0]) + bytes(256), 2),
        }
        for name, (data, count) in wrong.items():
            with self.subTest(name):
                for quickly in READERS:
                    self.assertRaises(Malformed, unpack, Cursor(data), count, quickly=quickly)
        for length in range(len(packed)):
            self.assertRaises(Malformed, unpack, Cursor(packed[:length]), 300)

    def test_both_readers_make_the_same_of_any_bytes(self):
        chosen = random.Random(2)
        for _ in range(300):
            numbers = numbers_of(chosen) or [3]
            data = bytearray(delta_pack(numbers))
            for _ in range(chosen.randint(1, 3)):
                data[chosen.randrange(len(data))] = chosen.randrange(256)
            found = []
            for quickly in READERS:
                try:
                    found.append(unpack(Cursor(bytes(data)), len(numbers), quickly=quickly).tolist())
                except Malformed as error:
                    found.append(str(error))
            self.assertEqual(*found)


class Texts(unittest.TestCase):
    def test_texts_are_those_that_were_shared(self):
        chosen = random.Random(3)
        for _ in range(60):
            texts = [
                "".join(chosen.choices("aé\U0001f600", k=chosen.randint(0, 9))) for _ in range(chosen.randint(1, 40))
            ]
            shared, rests, last = [], [], b""
            for one in (text.encode() for text in texts):
                same = 0
                while same < min(len(one), len(last)) and one[same] == last[same]:
                    same += 1
                shared.append(same)
                rests.append(one[same:])
                last = one
            packed = delta_pack(shared) + delta_pack([len(rest) for rest in rests]) + b"".join(rests)
            self.assertEqual(unpack_texts(Cursor(packed), len(texts)), texts)

    def test_what_cannot_be_is_malformed(self):
        for name, shared, rests in (("shares too much", [1], [b"a"]), ("no UTF-8", [0], [b"\xff"])):
            packed = delta_pack(shared) + delta_pack([len(rest) for rest in rests]) + b"".join(rests)
            with self.subTest(name):
                self.assertRaises(Malformed, unpack_texts, Cursor(packed), len(shared))


class Levels(unittest.TestCase):
    def test_levels_are_those_that_were_encoded(self):
        chosen = random.Random(4)
        for seed in range(100):
            bits = [int(chosen.random() < chosen.choice([0.02, 0.5])) for _ in range(chosen.randint(1, 200))]
            # Packed bits may end within a byte: the rest of that byte does not count.
            self.assertEqual(read_levels(levels(bits, seed), len(bits))[: len(bits)], bytes(bits))

    def test_others_are_malformed(self):
        for data, count in (
            (varint(3 << 1) + b"\2", 3),
            (varint(9 << 1) + b"\1", 8),
            (varint(2**40 << 1) + b"\1", 8),
            (b"", 1),
            (b"\3", 8),
        ):
            self.assertRaises(Malformed, read_levels, data, count)


class Snappy(unittest.TestCase):
    def test_bytes_are_those_that_were_compressed(self):
        chosen = random.Random(5)
        for seed in range(60):
            signs = chosen.choice([b"a", b"ab", bytes(range(256))])
            data = bytes(chosen.choices(signs, k=chosen.choice([0, 1, 50, 700, 5000])))
            self.assertEqual(decompress(snappy_pack(data, seed), len(data)), data)

    def test_others_are_malformed(self):
        packed = snappy_pack(b"halogrid" * 20, 1)
        for data, size in (
            (packed, 159),
            (packed[:-1], 160),
            (varint(4) + b"\1\0", 4),
            (varint(4) + b"\x0d\1", 4),
            (b"\xff" * 11, 1),
        ):
            self.assertRaises(Malformed, decompress, data, size)


class Thrift(unittest.TestCase):
    def test_any_bytes_are_a_structure_or_malformed(self):
        chosen = random.Random(6)
        for _ in range(3000):
            data = bytes(
                chosen.choices([0, 0x15, 0x19, 0x1C, 0x18, 0xFC, chosen.randrange(256)], k=chosen.randint(0, 40))
            )
            try:
                self.assertIsInstance(read_struct(Cursor(data)), dict)
            except Malformed:
                pass
        self.assertRaises(Malformed, read_struct, Cursor(b"\x1c" * 5000))
        self.assertRaises(Malformed, read_struct, Cursor(b"\x19" * 5000))


if __name__ == "__main__":
    unittest.main()
