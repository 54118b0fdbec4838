"""Reads the Parquet files that halogrid writes, with only the standard library."""

from .reader import read_features

__all__ = ["read_features"]
