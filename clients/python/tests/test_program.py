"""Tests `halogrid.run`, with a fake program in place of halogrid."""

import json
import os
import stat
import sys
import tempfile
import unittest
from unittest import mock

import halogrid

PROGRAM = """#!{python}
import json, sys
print("Plan: 2 sources", "", "halogrid: " + "é" * 3, sep="\\n", file=sys.stderr, flush=True)
print(json.dumps({{"out": "/out", "digest": "ab", "counts": {{"frames": 2}}, "words": sys.argv[1:], "x": "x" * 10**5}}))
sys.exit({code})
"""


class Program(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = os.path.join(temporary.name, "halogrid")
        patched = mock.patch.dict(os.environ, {"HALOGRID_BIN": self.path})
        patched.start()
        self.addCleanup(patched.stop)

    def ends_with(self, code, text=PROGRAM):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text.format(python=sys.executable, code=code))
        os.chmod(self.path, stat.S_IRWXU)

    def test_the_summary_and_the_lines_of_progress_are_given(self):
        for code in (0, 3):
            self.ends_with(code)
            lines = []
            run = halogrid.run(["a", "-b"], op="lbp", progress=lines.append, tile=5)
            self.assertEqual(run.summary["words"], ["run", "--json", "--op", "lbp", "--tile=5", "--", "a", "-b"])
            self.assertEqual((run.out, run.digest, run.counts), ("/out", "ab", {"frames": 2}))
            self.assertEqual(lines, ["Plan: 2 sources", ""])

    def test_its_last_line_is_why_it_failed(self):
        for code, name in ((2, "INVALID_ARGUMENT"), (1, "FAILED_PRECONDITION")):
            self.ends_with(code)
            with self.assertRaisesRegex(halogrid.Error, "^ééé$") as raised:
                halogrid.run("a", progress=lambda line: None)
            self.assertEqual(raised.exception.code, name)

    def test_a_refusal_has_the_names_of_arguments(self):
        parts = ["Expected a or b for ", "--captured-from", ", and not ", "--map", " of ", "SOURCE 3", ", but received '--map'"]
        answer = {"error": "".join(parts), "code": "NOT_FOUND", "field": "--captured-from", "parts": parts}
        text = "#!/bin/sh\necho 'halogrid: the sentence' >&2\ncat <<'END'\n" + json.dumps(answer) + "\nEND\nexit 2\n"
        self.ends_with(2, text.replace("{", "{{").replace("}", "}}"))
        lines = []
        said = "^Expected a or b for captured_from, and not map_format of sources\\[2\\], but received '--map'$"
        with self.assertRaisesRegex(halogrid.Error, said) as raised:
            halogrid.run("a", progress=lines.append)
        self.assertEqual((raised.exception.code, raised.exception.field, lines), ("NOT_FOUND", "captured_from", []))

    def test_what_is_no_argument_is_refused_here(self):
        for name, given in (
            ("sources", {"sources": None}),
            ("sources", {"sources": []}),
            ("sources", {"sources": 5}),
            ("op", {"op": [1]}),
            ("pipelines", {"pipelines": ["lbp"]}),
            ("grid", {"grid": (0, float("inf"))}),
            ("tile", {"tile": {}}),
            ("out", {"out": b"x"}),
        ):
            with self.subTest(given), self.assertRaisesRegex(halogrid.Error, f"^Expected .* for {name}\\b") as raised:
                halogrid.run(**{"sources": "a", **given})
            self.assertEqual((raised.exception.code, raised.exception.field), ("INVALID_ARGUMENT", name))

    def test_what_came_out_says_how_many_are_quarantined(self):
        counts = {"frames": 2, "quarantined": 3}
        run = halogrid.Run({"out": "/out", "digest": "ab", "counts": counts})
        self.assertEqual(repr(run), "<halogrid.Run: 2 frames, 3 quarantined in /out>")

    def test_no_program_or_another_one(self):
        with self.assertRaisesRegex(halogrid.Error, "is not on the path: .* HALOGRID_BIN") as raised:
            halogrid.run("a")
        self.assertEqual(raised.exception.code, "NOT_FOUND")
        self.ends_with(0, "#!/bin/sh\necho hello\n")
        self.assertRaisesRegex(halogrid.Error, "gave no summary", halogrid.run, "a")
        self.assertRaisesRegex(halogrid.Error, "both", halogrid.run, "a", op="lbp", pipelines={"a": "lbp"})

    def test_what_the_caller_raises_ends_it(self):
        self.ends_with(0, "#!/bin/sh\necho line >&2\nexec sleep 1000\n")

        def stop(line):
            raise KeyboardInterrupt(line)

        self.assertRaises(KeyboardInterrupt, halogrid.run, "a", progress=stop)


if __name__ == "__main__":
    unittest.main()
