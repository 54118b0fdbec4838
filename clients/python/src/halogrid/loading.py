"""Finds and reads features.parquet."""

from __future__ import annotations

import os
import re
from typing import Any, List, Optional, Union

from .arrow import read_features_with_arrow
from .errors import Error
from .features import Features
from .parquet import read_features
from .table import Table

_FILE = "features.parquet"


def load(results: Union[str, os.PathLike[str], Any], pipeline: Optional[str] = None) -> Features:
    """The histograms of a job.

    ``results`` is the folder that a job wrote, a features.parquet, a Job of ``connect`` or the result of ``run``;
    ``pipeline`` is the name of one if the job had several. A file that another program has rewritten is read with
    pyarrow, if that is installed.

    Raises Error: NOT_FOUND if there are no histograms, INVALID_ARGUMENT for a wrong ``pipeline``, DATA_LOSS if a
    file is damaged.
    """
    if hasattr(results, "load"):
        return results.load(pipeline)
    paths = part_files(features_path(os.fspath(results), pipeline))
    table = _read(paths)
    try:
        return Features(table)
    except Error as error:
        raise Error(f"'{paths[0]}' is damaged: {error}", error.code) from None


def features_path(results: str, pipeline: Optional[str] = None) -> str:
    """The path of features.parquet in a folder of results, or of one of its pipelines."""
    if os.path.isfile(results) or os.path.basename(os.path.normpath(results)) == _FILE:
        return results
    if not os.path.isdir(results):
        raise Error(f"The folder of results does not exist: '{results}'", "NOT_FOUND")
    names = sorted(entry.name for entry in _entries(os.path.join(results, "pipelines")))
    if pipeline is None and not names:
        path = os.path.join(results, _FILE)
    elif pipeline in names:
        path = os.path.join(results, "pipelines", pipeline, _FILE)  # type: ignore[arg-type]
    elif pipeline is None:
        raise Error(f"Expected one of {', '.join(names)} for pipeline but received none", field="pipeline")
    else:
        allowed = f"one of {', '.join(names)}" if names else "none, because the job had one alone,"
        raise Error(f"Expected {allowed} for pipeline but received '{pipeline}'", field="pipeline")
    if not os.path.exists(path):
        raise Error(f"'{path}' does not exist: the job is not complete, or computed no histograms", "NOT_FOUND")
    return path


def part_files(path: str) -> List[str]:
    """The files of a features.parquet: itself or, if it is a folder, its parts in order."""
    if not os.path.isdir(path):
        return [path]
    names = [entry.name for entry in _entries(path) if entry.name.endswith(".parquet")]
    if not names:
        raise Error(f"The folder '{path}' has no files that end with .parquet", "NOT_FOUND")
    # Numeric order: part-10 comes after part-9.
    names.sort(key=lambda name: [int(word) if word.isdecimal() else word for word in re.split(r"([0-9]+)", name)])
    return [os.path.join(path, name) for name in names]


def _entries(folder: str) -> List[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Error(f"'{folder}' cannot be read: {error.strerror}", "UNAVAILABLE") from None


def _read(paths: List[str]) -> Table:
    try:
        return read_features(paths)
    except Error as error:
        if error.code != "UNIMPLEMENTED":
            raise
        try:
            return read_features_with_arrow(paths)
        except ImportError:
            raise error from None
