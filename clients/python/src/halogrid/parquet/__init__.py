"""Reads the Parquet that halogrid writes, with the standard library alone."""

from .reader import read_features

__all__ = ["read_features"]
