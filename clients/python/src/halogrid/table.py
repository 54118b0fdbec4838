"""The rows of features.parquet, collected by any of the readers."""

from __future__ import annotations

import re
from array import array
from typing import Any, Dict, Iterable, List, Optional

from .errors import Error

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

#: Columns with one value per row. Files of earlier versions may lack some.
FLAT_COLUMNS = ("source", "name", "frame", "timestamp_ms", "captured_at", "camera", "cell_row", "cell_col", "counted")

_STATISTIC = re.compile(r"(contrast|dissimilarity|homogeneity|asm|energy|correlation|entropy)_\d+_\d+")


def statistic_columns(names: Iterable[str]) -> List[str]:
    """The names of the columns that are statistics of matrices, such as ``contrast_1_45``."""
    return [name for name in names if _STATISTIC.fullmatch(name)]


class Table:
    """Collects rows and their histograms.

    ``rows`` is how many will be added. ``is_wide``: counts may need 64 bits. ``statistics``: the columns of
    statistics of matrices.
    """

    def __init__(self, rows: int, is_wide: bool, statistics: List[str]) -> None:
        self.rows = rows
        #: The file's key-value metadata.
        self.about: Dict[str, str] = {}
        #: By name, without columns that some rows lack.
        self.columns: Dict[str, List[Any]] = {name: [] for name in (*FLAT_COLUMNS, *statistics)}
        self.statistics = statistics
        self.bins: Optional[int] = None
        self._is_wide = is_wide
        self._added = 0
        self._counts: Any = array("q")

    def add(self, columns: Dict[str, List[Any]], counts: Any, bins: int) -> None:
        """Adds rows with ``bins`` counts each. Raises Error if they do not fit the others."""
        if self.bins not in (None, bins):
            raise Error(f"Some rows have {self.bins} bins and others {bins}: they are not of one job", "DATA_LOSS")
        rows = len(counts) // bins
        if self._added + rows > self.rows or any(len(values) != rows for values in columns.values()):
            raise Error("There are more rows than the file says", "DATA_LOSS")
        for name in list(self.columns):
            if name in columns:
                self.columns[name] += columns[name]
            else:
                del self.columns[name]
        if numpy is None:
            self._counts.extend(counts)
        else:
            if self.bins is None:
                self._counts = numpy.empty((self.rows, bins), numpy.int64 if self._is_wide else numpy.int32)
            self._counts[self._added : self._added + rows] = numpy.reshape(counts, (rows, bins))
        self.bins = bins
        self._added += rows

    def matrix(self) -> Any:
        """The counts, rows x bins: a NumPy array or a memoryview. Raises Error if rows are missing."""
        if self._added != self.rows:
            raise Error("There are fewer rows than the file says", "DATA_LOSS")
        if self.rows == 0 or self.bins is None:
            return memoryview(array("q")) if numpy is None else numpy.empty((0, 0), numpy.int32)
        if numpy is not None:
            return self._counts
        return memoryview(self._counts).cast("B").cast("q", (self.rows, self.bins))
