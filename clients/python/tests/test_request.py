"""Tests that arguments become a JobSpec, or options of the command line."""

import fractions
import os
import pathlib
import unittest

from halogrid import Error
from halogrid.request import command_options, job_spec


def spec(sources="s3://a/b", op=None, pipelines=None, map_format=None, grid=None, out=None, **fields):
    return job_spec(sources, op, pipelines, map_format, grid, out, fields)


def options(op=None, pipelines=None, map_format=None, grid=None, out=None, **more):
    return command_options(op, pipelines, map_format, grid, out, more)


class JobSpec(unittest.TestCase):
    def test_what_is_not_given_is_left_out(self):
        self.assertEqual(spec(), {"sources": ["s3://a/b"]})

    def test_fields_are_those_of_the_message(self):
        here = os.path.abspath("x")
        cases = [
            (
                spec(["x", pathlib.Path("/y"), "https://h/m.txt", "file:///z"]),
                "sources",
                [here, "/y", "https://h/m.txt", "file:///z"],
            ),
            (spec(op="lbp"), "op", ["lbp"]),
            (spec(op=["conv:kernel=box-3,as=u8", "lbp"]), "op", ["conv:kernel=box-3,as=u8", "lbp"]),
            (spec(pipelines={"a": "lbp"}), "pipelines", {"named": [{"name": "a", "op": ["lbp"]}]}),
            (spec(map_format="png"), "mapFormat", "png"),
            (spec(grid=(4, 6)), "grid", {"rows": 4, "columns": 6}),
            (spec(grid="4x6"), "grid", {"rows": 4, "columns": 6}),
            (spec(out=pathlib.Path("x")), "out", here),
            (spec(tile_px=512), "tilePx", 512),
            (spec(max_quarantined={"percent": 1}), "maxQuarantined", {"percent": 1}),
            (spec(video={"from_ms": 5}), "video", {"fromMs": 5}),
        ]
        for given, field, value in cases:
            with self.subTest(field):
                self.assertEqual(given[field], value)

    def test_what_cannot_be_is_refused_here(self):
        for grid in ("4", "4x", "x", "0x2", (1,), (1, 2, 3), 5, ("a", "b")):
            with self.assertRaisesRegex(Error, r"^Expected \(rows, columns\) for grid") as raised:
                spec(grid=grid)
            self.assertEqual((raised.exception.code, raised.exception.field), ("INVALID_ARGUMENT", "grid"))
        self.assertRaisesRegex(Error, "both", spec, op="lbp", pipelines={"a": "lbp"})
        for field, given in (
            ("tile_px", {"tile_px": float("nan")}),
            ("video.from_ms", {"video": {"from_ms": object()}}),
            ("max_quarantined[0]", {"max_quarantined": [b"1"]}),
            ("out", {"out": 5}),
            ("op", {"op": 5}),
        ):
            with self.subTest(field), self.assertRaisesRegex(Error, "^Expected .* but received ") as raised:
                spec(**given)
            self.assertEqual(raised.exception.field, field)

    def test_what_is_refused_of_a_list_tells_nothing_of_the_others(self):
        with self.assertRaises(Error) as raised:
            spec(sources=["https://user:secret@host/a.png", None])
        self.assertNotIn("secret", str(raised.exception))
        self.assertIn("None", str(raised.exception))


class Options(unittest.TestCase):
    def test_options_are_those_of_the_command(self):
        cases = [
            (options(), []),
            (options(op=["conv:kernel=box-3,as=u8", "lbp"]), ["--op", "conv:kernel=box-3,as=u8", "--op", "lbp"]),
            (options(pipelines={"a": "lbp", "b": ["lbp", "ldp"]}), ["--pipeline", "a=lbp", "--pipeline", "b=lbp+ldp"]),
            (options(map_format="png", grid=(2, 3), out="x"), ["--grid", "2x3", "--map=png", "--out=x"]),
            (options(fresh=True, checksum=False, tile=None), ["--fresh"]),
            (options(from_="0:10", captured_zone="-02:00"), ["--from=0:10", "--captured-zone=-02:00"]),
            (options(fps=fractions.Fraction(30000, 1001)), ["--fps=30000/1001"]),
            (options(exclude=["a", "b"]), ["--exclude=a", "--exclude=b"]),
        ]
        for given, words in cases:
            self.assertEqual(given, words)


if __name__ == "__main__":
    unittest.main()
