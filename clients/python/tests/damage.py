"""Damages files of features byte by byte: each must then still give the same counts, or an Error.

Arguments: the seed; N, to change one byte in N each time; the files.
"""

import os
import random
import sys
import tempfile
import unittest

import halogrid
from halogrid.parquet import read_features


def loaded(path):
    features = halogrid.Features(read_features([path]))
    return features.matrix.tolist(), list(features.counted)


class Damage(unittest.TestCase):
    def test_every_byte_matters_or_is_seen(self):
        seed, step, *paths = sys.argv[1:]
        chosen = random.Random(int(seed))
        refused = 0
        with tempfile.TemporaryDirectory() as folder:
            target = os.path.join(folder, "features.parquet")
            for path in paths:
                with open(path, "rb") as file:
                    whole = file.read()
                expected = loaded(path)
                for at in range(chosen.randrange(int(step)), len(whole), int(step)):
                    pieces = [self.changed(whole, at, chosen)]
                    if chosen.random() < 0.2:
                        pieces.append(whole[:at])
                    for piece in pieces:
                        with open(target, "wb") as file:
                            file.write(piece)
                        with self.subTest(path=path, at=at, seed=seed):
                            try:
                                found = loaded(target)
                            except halogrid.Error as error:
                                refused += 1
                                self.assertIn(error.code, ("DATA_LOSS", "UNIMPLEMENTED", "RESOURCE_EXHAUSTED"))
                                self.assertNotIn("\n", str(error))
                            else:
                                self.assertEqual(found, expected)
        self.assertGreater(refused, 0)

    @staticmethod
    def changed(whole, at, chosen):
        return whole[:at] + bytes([whole[at] ^ chosen.randint(1, 255)]) + whole[at + 1 :]


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
