"""Python's names for options of the command line and fields of the HTTP API."""

from __future__ import annotations

import keyword
import re
from typing import Any, Callable, Mapping, Optional

from .errors import Error


def of_option(option: str) -> str:
    """The argument for an option: ``max_quarantined`` for ``--max-quarantined``, ``sources[2]`` for ``SOURCE 3``."""
    source = re.fullmatch(r"SOURCE(?: (\d+))?", option)
    if source:
        return "sources" + (f"[{int(source[1]) - 1}]" if source[1] else "")
    name = option[2:].replace("-", "_") if option.startswith("--") else option
    return {"map": "map_format", "pipeline": "pipelines"}.get(name, name + "_" if keyword.iskeyword(name) else name)


def of_field(field: str) -> str:
    """The argument of ``submit`` for a field of JSON: ``map_format`` of ``mapFormat``, ``grid`` of ``grid.rows``."""
    name = re.sub(r"(?<=[a-z0-9])[A-Z]", lambda found: "_" + found[0].lower(), field)
    whole = re.match(r"(grid|pipelines)\.", name)
    return whole[1] if whole else name


def error_of(answer: Mapping[str, Any], code: str, name_of: Callable[[str], str]) -> Error:
    """The Error of an ErrorAnswer, with Python's names. Raises KeyError and the like if it is not an ErrorAnswer."""
    parts = answer.get("parts") or [answer["error"]]
    sentence = "".join(name_of(part) if i % 2 else part for i, part in enumerate(parts))
    field: Optional[str] = answer.get("field")
    return Error(sentence, answer.get("code", code), field and name_of(field))
