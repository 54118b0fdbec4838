"""Runs the program halogrid on this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from typing import Any, Callable, Dict, Optional

from .errors import Error
from .features import Features
from .loading import load
from .names import error_of, of_option
from .request import Grid, Operations, Path, Pipelines, Sources, command_options, sources_of

#: The beginning of the line that says why the program failed.
_OWN = "halogrid: "


class Run:
    """A job that ``run`` ran to its end."""

    def __init__(self, summary: Dict[str, Any]) -> None:
        #: Everything that ``halogrid run --json`` prints.
        self.summary = summary
        #: The folder of its results.
        self.out: str = summary["out"]
        #: The digest of its results.
        self.digest: str = summary["digest"]
        #: Sources, frames, shards, pixels, and ``quarantined``: inputs that could not be read; errors.jsonl says why.
        self.counts: Dict[str, int] = summary["counts"]

    def load(self, pipeline: Optional[str] = None) -> Features:
        """Its histograms, as ``halogrid.load`` does."""
        return load(self.out, pipeline)

    def __repr__(self) -> str:
        quarantined = self.counts.get("quarantined", 0)
        aside = f", {quarantined} quarantined" if quarantined else ""
        return f"<halogrid.Run: {self.counts['frames']} frames{aside} in {self.out}>"


def run(
    sources: Sources,
    op: Optional[Operations] = None,
    pipelines: Optional[Pipelines] = None,
    map_format: Optional[str] = None,
    grid: Optional[Grid] = None,
    out: Optional[Path] = None,
    progress: Optional[Callable[[str], None]] = None,
    **options: Any,
) -> Run:
    """Runs a job on this machine to its end, with the program ``halogrid`` of the path (or the file HALOGRID_BIN).

    Arguments are as for ``Client.submit``; ``options`` are other options of ``halogrid run``: ``tile=512``,
    ``device="cpu"``, ``from_="0:10"``. ``progress`` is called with each line that the program prints; without it,
    lines go to stderr.

    Raises Error: INVALID_ARGUMENT for wrong usage, FAILED_PRECONDITION if the job failed, NOT_FOUND if a source or the
    program does not exist.
    """
    words = [*command_options(op, pipelines, map_format, grid, out, options), "--", *sources_of(sources)]
    command = [_program(), "run", "--json", *words]
    last: deque[str] = deque(maxlen=20)
    # A pipe that is not read would block the program.
    with tempfile.TemporaryFile() as stdout:
        with subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, text=True, encoding="utf-8") as child:
            try:
                for line in child.stderr or ():
                    last.append(line.rstrip("\n"))
                    # The reason of a failure is raised as an Error instead.
                    if last[-1].startswith(_OWN):
                        continue
                    (progress or _to_stderr)(last[-1])
            except BaseException:
                # The program stops in order, and continues if the same job is run again.
                child.terminate()
                raise
        stdout.seek(0)
        said = stdout.read()
    if child.returncode not in (0, 3):
        raise _refusal(said, last) if child.returncode == 2 else Error(_reason(last), "FAILED_PRECONDITION")
    try:
        return Run(json.loads(said))
    except (ValueError, KeyError):
        raise Error(f"'{command[0]}' gave no summary of a job: is it halogrid?", "INTERNAL") from None


def _program() -> str:
    name = os.environ.get("HALOGRID_BIN") or "halogrid"
    found = shutil.which(name)
    if found is None:
        how = "install it with npm, or name its file in HALOGRID_BIN"
        raise Error(f"The program '{name}' is not on the path: {how}", "NOT_FOUND")
    return found


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _reason(lines: deque[str]) -> str:
    told = [line for line in lines if line]
    return told[-1].replace(_OWN, "", 1) if told else "halogrid ended without a word"


def _refusal(said: bytes, lines: deque[str]) -> Error:
    try:
        return error_of(json.loads(said), "INVALID_ARGUMENT", of_option)
    except (ValueError, KeyError, TypeError, AttributeError):
        # The program is of another version.
        return Error(_reason(lines))
