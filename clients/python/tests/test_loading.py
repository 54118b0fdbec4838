"""Tests what is loaded from a folder, and the sentences if it cannot be loaded."""

import os
import tempfile
import unittest

import halogrid
from halogrid.loading import features_path, part_files


def touch(*path):
    os.makedirs(os.path.dirname(os.path.join(*path)), exist_ok=True)
    with open(os.path.join(*path), "wb"):
        pass
    return os.path.join(*path)


class Loading(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def refused(self, pattern, code, call, *given):
        with self.assertRaisesRegex(halogrid.Error, pattern) as raised:
            call(*given)
        self.assertEqual(raised.exception.code, code)

    def test_a_folder_has_one_file_or_one_a_pipeline(self):
        plain = touch(self.folder, "plain", "features.parquet")
        several = os.path.join(self.folder, "several")
        codes = touch(several, "pipelines", "codes", "features.parquet")
        os.makedirs(os.path.join(several, "pipelines", "edges"))
        self.assertEqual(features_path(os.path.dirname(plain)), plain)
        self.assertEqual(features_path(plain), plain)
        self.assertEqual(features_path(several, "codes"), codes)
        self.refused(
            "^Expected one of codes, edges for pipeline but received none$", "INVALID_ARGUMENT", features_path, several
        )
        self.refused("but received 'x'$", "INVALID_ARGUMENT", features_path, several, "x")
        self.refused("^Expected none, because", "INVALID_ARGUMENT", features_path, os.path.dirname(plain), "x")
        self.refused("the job is not complete, or", "NOT_FOUND", features_path, several, "edges")
        self.refused("folder of results does not exist", "NOT_FOUND", halogrid.load, os.path.join(self.folder, "none"))

    def test_parts_are_in_the_order_of_their_numbers(self):
        for name in ("part-10.parquet", "part-9.parquet", "part-0.parquet", ".part-1.tmp"):
            touch(self.folder, "features.parquet", name)
        path = features_path(self.folder)
        names = [os.path.basename(part) for part in part_files(path)]
        self.assertEqual(names, ["part-0.parquet", "part-9.parquet", "part-10.parquet"])
        os.makedirs(os.path.join(self.folder, "empty", "features.parquet"))
        self.refused(
            "has no files that end with .parquet", "NOT_FOUND", halogrid.load, os.path.join(self.folder, "empty")
        )

    def test_a_file_that_is_none_of_parquet_is_damaged(self):
        path = touch(self.folder, "features.parquet")
        self.refused(f"^'{path}' is damaged, or not of halogrid: ", "DATA_LOSS", halogrid.load, self.folder)


if __name__ == "__main__":
    unittest.main()
