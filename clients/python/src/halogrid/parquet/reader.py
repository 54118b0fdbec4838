"""Reads a features.parquet as halogrid writes it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import Any, BinaryIO, Dict, Iterator, List, Optional, Tuple

from ..errors import Error
from ..table import Table, statistic_columns
from .cursor import Malformed, Unsupported
from .footer import Chunk, Footer, Group, read_footer
from .levels import read_levels
from .pages import Page, decode, flat_values, read_pages

_TYPES = {
    **dict.fromkeys(("source", "name", "camera"), "BYTE_ARRAY"),
    **dict.fromkeys(("frame", "cell_row", "cell_col"), "INT32"),
    **{"timestamp_ms": "DOUBLE", "captured_at": "INT64", "counted": "INT64"},
}


def read_features(paths: List[str]) -> Table:
    """All rows of files, in order. Raises Error with one sentence if a file is damaged or not as halogrid writes it."""
    footers: List[Footer] = []
    for path in paths:
        with _reading(path) as file:
            footers.append(read_footer(file, os.fstat(file.fileno()).st_size))
    groups = [group for footer in footers for group in footer.groups]
    is_wide = any(group.chunks["histogram"].type == "INT64" for group in groups if "histogram" in group.chunks)
    statistics = statistic_columns(groups[0].chunks) if groups else []
    table = Table(sum(group.rows for group in groups), is_wide, statistics)
    table.about = footers[0].about
    lists = _Lists()
    for path, footer in zip(paths, footers):
        with _reading(path) as file:
            if footer.about != table.about:
                raise Malformed("it is of another job than the part before")
            for group in footer.groups:
                _read_group(file, group, table, lists)
    return table


@contextmanager
def _reading(path: str) -> Iterator[BinaryIO]:
    """The open file. Turns failures with it into an Error with one sentence."""
    try:
        with open(path, "rb") as file:
            yield file
    except OSError as error:
        code = "NOT_FOUND" if isinstance(error, FileNotFoundError) else "UNAVAILABLE"
        raise Error(f"'{path}' cannot be read: {error.strerror or error}", code) from None
    except (Malformed, Error) as error:
        raise Error(f"'{path}' is damaged, or not of halogrid: {error}", "DATA_LOSS") from None
    except (MemoryError, OverflowError):
        raise Error(f"'{path}' is larger than memory, or damaged", "RESOURCE_EXHAUSTED") from None
    except Unsupported as error:
        sentence = f"'{path}' has {error}, which only pyarrow reads: 'pip install pyarrow', then load it again"
        raise Error(sentence, "UNIMPLEMENTED") from None


def _read_group(file: BinaryIO, group: Group, table: Table, lists: _Lists) -> None:
    histogram = group.chunks.get("histogram")
    if histogram is None or len(histogram.path) != 3:
        raise Malformed("it has no histograms")
    # Read first, because histograms have bytes for every row: so other columns cannot claim more rows than there are.
    pages = list(lists.read(_bytes_of(file, histogram), histogram, group.rows))
    columns: Dict[str, List[Any]] = {}
    for name in table.columns:
        chunk = group.chunks.get(name)
        if chunk is None:
            continue
        if chunk.type != _TYPES.get(name, "DOUBLE") or len(chunk.path) != 1:
            raise Unsupported(f"{chunk.type} in the column '{name}'")
        values: List[Any] = []
        for page in read_pages(_bytes_of(file, chunk), chunk):
            if page.rows > group.rows - len(values):
                raise Malformed(f"the column '{name}' has more rows than others")
            values += flat_values(page, chunk)
        if len(values) != group.rows:
            raise Malformed(f"the column '{name}' has not a value a row")
        columns[name] = values
    first = 0
    for counts, bins in pages:
        end = first + len(counts) // bins
        table.add({name: values[first:end] for name, values in columns.items()}, counts, bins)
        first = end


def _bytes_of(file: BinaryIO, chunk: Chunk) -> bytes:
    file.seek(chunk.at)
    return file.read(chunk.size)


class _Lists:
    """Reads lists of equal length, none of them empty or null."""

    def __init__(self) -> None:
        #: Levels that were found to be right. Most pages have the same levels, which are then not checked again.
        self._known: Optional[Tuple[int, int, bytes, bytes]] = None

    def read(self, data: bytes, chunk: Chunk, rows: int) -> Iterator[Tuple[Any, int]]:
        """For each page, the counts of its rows, one row after another, and how many a row has. ``rows`` rows in all."""
        if chunk.type not in ("INT32", "INT64"):
            raise Unsupported(f"{chunk.type} in the column 'histogram'")
        left = rows
        for page in read_pages(data, chunk):
            if page.rows > left:
                raise Malformed("the column 'histogram' has more rows than others")
            yield self._counts(page, chunk)
            left -= page.rows
        if left:
            raise Malformed("the column 'histogram' has not a list a row")

    def _counts(self, page: Page, chunk: Chunk) -> Tuple[Any, int]:
        bins = page.values // max(page.rows, 1)
        if page.nulls or bins == 0 or bins * page.rows != page.values:
            raise Malformed("its histograms have not as many bins each")
        counts = decode(page, chunk, page.values)
        asked = (page.rows, bins, page.repetition, page.definition)
        if asked != self._known:
            begins = read_levels(page.repetition, page.values)
            if begins != (b"\0" + b"\1" * (bins - 1)) * page.rows or 0 in read_levels(page.definition, page.values):
                raise Malformed("its histograms have not as many bins each")
            self._known = asked
        return counts, bins
