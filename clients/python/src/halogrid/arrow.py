"""Reads a features.parquet that another program has rewritten, with pyarrow if that is installed."""

from __future__ import annotations

from typing import Any, List

from .errors import Error
from .table import Table, statistic_columns


def read_features_with_arrow(paths: List[str]) -> Table:
    """All rows of files, in order. Raises Error if one cannot be read, ImportError without pyarrow or NumPy."""
    import numpy  # noqa: F401
    import pyarrow
    import pyarrow.parquet as parquet

    path = paths[0]
    try:
        files = [parquet.ParquetFile(path) for path in paths]
        is_wide = any(file.schema_arrow.field("histogram").type.value_type == pyarrow.int64() for file in files)
        statistics = statistic_columns(files[0].schema_arrow.names)
        table = Table(sum(file.metadata.num_rows for file in files), is_wide, statistics)
        table.about = _about(files[0])
        for path, file in zip(paths, files):
            if _about(file) != table.about:
                raise Error("it is of another job than the part before")
            for group in range(file.num_row_groups):
                _add(file.read_row_group(group), table)
    except FileNotFoundError as error:
        raise Error(f"'{path}' cannot be read: {error.strerror or error}", "NOT_FOUND") from None
    except (Error, pyarrow.ArrowException, KeyError, OSError) as error:
        raise Error(f"'{path}' is damaged, or not of halogrid: {error}", "DATA_LOSS") from None
    return table


def _about(file: Any) -> dict:
    pairs = file.schema_arrow.metadata or {}
    return {key.decode(): value.decode() for key, value in pairs.items() if key != b"ARROW:schema"}


def _add(rows: Any, table: Table) -> None:
    import pyarrow

    columns = {name: rows.column(name) for name in table.columns if name in rows.column_names}
    if "captured_at" in columns:
        columns["captured_at"] = columns["captured_at"].cast(pyarrow.timestamp("ms", "UTC")).cast(pyarrow.int64())
    lists = rows.column("histogram").combine_chunks()
    counts = lists.flatten().to_numpy(zero_copy_only=False)
    bins = len(counts) // max(len(rows), 1)
    lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
    if bins == 0 or (lengths != bins).any():
        raise Error("its histograms have not as many bins each")
    table.add({name: column.to_pylist() for name, column in columns.items()}, counts, bins)
