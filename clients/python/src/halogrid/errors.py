"""The one error of this package."""

from __future__ import annotations

from typing import Optional


class Error(Exception):
    """Says in one sentence what went wrong.

    ``code`` is a name of gRPC's codes: INVALID_ARGUMENT, NOT_FOUND, UNAUTHENTICATED, PERMISSION_DENIED,
    FAILED_PRECONDITION, UNAVAILABLE, DATA_LOSS (a damaged file), INTERNAL and so on. ``field`` is the field of the
    call that is wrong, such as ``grid`` or ``sources[2]``; None if it is not a single field.
    """

    def __init__(self, sentence: str, code: str = "INVALID_ARGUMENT", field: Optional[str] = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.field = field
