"""Server-sent events, as the specification of HTML tells how they are read."""

from __future__ import annotations

import io
from typing import BinaryIO, Iterator, List


def read_events(body: BinaryIO) -> Iterator[str]:
    """The data of each event, as soon as it is there. Other fields are left out, and an event that is cut short."""
    data: List[str] = []
    # Lines end with CR LF, LF or CR, as text of Python may.
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
