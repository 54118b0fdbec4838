"""Results of halogrid as arrays."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, List, Optional

from .errors import Error
from .table import Table

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Features:
    """The histograms of a job: a row for each image or frame and each cell of the grid.

    Numbers are NumPy arrays. Without NumPy, ``matrix`` is a memoryview with two dimensions, and the others are lists.
    """

    matrix: Any
    """Counts, rows x bins, whole numbers: the bins of all channels one after another."""
    sources: List[str]
    """The URI of each row's image or video."""
    names: Optional[List[str]]
    """The NAME of each row's files, such as ``preview/NAME.png``; None if an earlier version wrote no names."""
    frames: Any
    """The number of the frame in its video, from 0; 0 for an image."""
    timestamps_ms: Any
    """Milliseconds from the first frame of the video; NaN (without NumPy: None) for an image."""
    times: Any
    """When it was captured, in UTC: datetime64[ms], NaT if unknown (without NumPy: datetime or None)."""
    cameras: List[Optional[str]]
    """The camera that captured it; None if unknown."""
    cells: Any
    """Row and column of the cell in the grid, from 0: rows x 2."""
    counted: Any
    """Pixels that a histogram counts, in each channel; of matrices, the sum of the first."""
    statistics: Dict[str, Any]
    """Of matrices, by the name of the column, such as ``contrast_1_45``: NaN (without NumPy: None) without pairs."""
    about: Dict[str, Any]
    """The file's description of itself: ``pipeline``, ``grid``, ``histogram``, ``digest`` and so on."""

    def __init__(self, table: Table) -> None:
        """Raises Error if the table contradicts its own description."""
        self.matrix = table.matrix()
        columns = table.columns
        if table.rows == 0:
            columns = {name: [] for name in columns}
        missing = {"source", "frame", "cell_row", "cell_col", "counted"} - set(columns)
        if missing:
            raise Error(f"It has no column {', '.join(sorted(missing))}: halogrid did not write it", "DATA_LOSS")
        unknown = [None] * table.rows
        self.sources = columns["source"]
        self.names = columns.get("name")
        self.cameras = columns.get("camera", unknown)
        self.frames = _numbers(columns["frame"])
        self.timestamps_ms = _reals(columns.get("timestamp_ms", unknown))
        self.times = _moments(columns.get("captured_at", unknown))
        self.cells = _numbers([list(cell) for cell in zip(columns["cell_row"], columns["cell_col"])], 2)
        self.counted = _numbers(columns["counted"])
        kept = [name for name in table.statistics if name in columns]
        self.statistics = {name: _reals(columns[name]) for name in kept}
        self.about = _described(table.about)
        self._check_counts()

    def __len__(self) -> int:
        return len(self.sources)

    def __repr__(self) -> str:
        return f"<halogrid.Features: {len(self)} rows of {self.matrix.shape[-1]} bins>"

    @property
    def channels(self) -> List[str]:
        """Names of the channels, in the order of their bins; empty if the file does not say."""
        return [channel["name"] for channel in self.about.get("histogram", {}).get("channels", [])]

    @property
    def bins(self) -> int:
        """Bins of a channel; of all channels together if the file does not say."""
        return self.about.get("histogram", {}).get("binsPerChannel") or (self.matrix.shape[-1] if len(self) else 0)

    def to_pandas(self) -> Any:
        """A DataFrame with the columns of features.parquet. Raises Error if pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise Error("pandas is not installed: 'pip install pandas'", "FAILED_PRECONDITION") from None
        columns = {
            "source": self.sources,
            **({} if self.names is None else {"name": self.names}),
            **{"frame": self.frames, "timestamp_ms": self.timestamps_ms},
            **{"captured_at": pandas.to_datetime(self.times, utc=True), "camera": self.cameras},
            **{"cell_row": self.cells[:, 0], "cell_col": self.cells[:, 1], "counted": self.counted},
            **{"histogram": list(self.matrix), **self.statistics},
        }
        return pandas.DataFrame(columns)

    def _check_counts(self) -> None:
        """Raises Error unless each channel counts ``counted`` pixels, so that a wrong count is noticed."""
        bins = self.about.get("histogram", {}).get("binsPerChannel")
        if not bins or not len(self):
            return
        if not isinstance(bins, int) or self.matrix.shape[-1] % bins:
            raise Error(f"Rows have {self.matrix.shape[-1]} bins where a channel has {bins}", "DATA_LOSS")
        # Matrices count the pixels that have a partner at their own offset; ``counted`` is the sum of the first. Bands
        # count the pixels that have a value there; ``counted`` is what the first band counts.
        bands = self.about.get("bands", [0])
        if not isinstance(bands, list) or not bands or self.matrix.shape[-1] % (bins * len(bands)):
            raise Error(f"Rows have {self.matrix.shape[-1]} bins, which bands {bands} cannot have", "DATA_LOSS")
        end = bins if "levels" in self.about["histogram"] else self.matrix.shape[-1] // len(bands)
        for first in range(0, end, bins):
            if numpy is not None:
                wrong = numpy.flatnonzero(self.matrix[:, first : first + bins].sum(axis=1) != self.counted)
            else:
                rows = zip(self.matrix.tolist(), self.counted)
                wrong = [row for row, (counts, of) in enumerate(rows) if sum(counts[first : first + bins]) != of]
            if len(wrong):
                row = wrong[0]
                raise Error(f"Row {row} counts {self.counted[row]} pixels, and its bins others", "DATA_LOSS")


def _described(about: Dict[str, str]) -> Dict[str, Any]:
    try:
        described = json.loads(about.get("halogrid", "{}"))
    except ValueError:
        described = None
    if not isinstance(described, dict) or not isinstance(described.get("histogram", {}), dict):
        raise Error("What it says of itself is not JSON of halogrid", "DATA_LOSS")
    return described


def _numbers(values: List[Any], width: int = 0) -> Any:
    if numpy is None:
        return values
    return numpy.array(values, dtype=numpy.int64).reshape((len(values), width) if width else -1)


def _reals(values: List[Optional[float]]) -> Any:
    return values if numpy is None else numpy.array(values, dtype=numpy.float64)


def _moments(milliseconds: List[Optional[int]]) -> Any:
    if numpy is not None:
        least = numpy.iinfo(numpy.int64).min
        values = [least if ms is None else ms for ms in milliseconds]
        return numpy.array(values, dtype=numpy.int64).view("datetime64[ms]")
    try:
        return [None if ms is None else _EPOCH + timedelta(milliseconds=ms) for ms in milliseconds]
    except OverflowError:
        raise Error("A moment is beyond the year 9999", "DATA_LOSS") from None
