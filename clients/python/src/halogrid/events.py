"""Reads server-sent events as the HTML specification defines them."""

from __future__ import annotations

import io
from typing import BinaryIO, Iterator, List


def read_events(body: BinaryIO) -> Iterator[str]:
    """The data of each event, as soon as it has arrived. Other fields, and an incomplete last event, are left out."""
    data: List[str] = []
    # Lines may end with CR LF, LF or CR: Python's text mode reads all three.
    for line in io.TextIOWrapper(body, "utf-8-sig", "replace"):
        if not line.endswith("\n"):
            return
        name, _, value = line[:-1].partition(":")
        if name == "data":
            data.append(value[1:] if value.startswith(" ") else value)
        elif name == "" and line == "\n":
            if data:
                yield "\n".join(data)
            data = []
