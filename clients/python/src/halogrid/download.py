"""Writes a file from a coordinator, completely or not at all."""

from __future__ import annotations

import os
import tempfile
from http.client import HTTPResponse

from .errors import Error
from .http import reaching

_PIECE_BYTES = 2**20


def save(response: HTTPResponse, target: str, url: str) -> None:
    """Writes the body of an answer of the coordinator at ``url``. Raises Error, and then leaves no file."""
    expected = response.length
    written = 0
    try:
        folder = os.path.dirname(os.path.abspath(target))
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".halogrid-", delete=False) as file:
            try:
                while True:
                    with reaching(url):
                        piece = response.read(_PIECE_BYTES)
                    if not piece:
                        break
                    written += file.write(piece)
                if expected is not None and written != expected:
                    raise Error(f"'{target}' ended after {written} of {expected} bytes", "UNAVAILABLE")
                file.close()
                os.replace(file.name, target)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise Error(f"'{target}' cannot be written: {error.strerror}", "UNAVAILABLE") from None
