"""Turns arguments into the JSON of a JobSpec, or into options of the command line."""

from __future__ import annotations

import math
import numbers
import os
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import Error

Path = Union[str, "os.PathLike[str]"]
Sources = Union[Path, Sequence[Path]]
Operations = Union[str, Sequence[str]]
Pipelines = Mapping[str, Operations]
Grid = Union[str, Tuple[int, int], Sequence[int]]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def listed(one_or_more: Any, name: str) -> List[str]:
    """One or more texts or paths as a list of texts. Raises Error, which names the argument ``name``."""
    is_one = isinstance(one_or_more, (str, os.PathLike))
    try:
        several = [one_or_more] if is_one else list(one_or_more)
    except TypeError:
        raise wrong("a text, or a list of texts,", name, one_or_more) from None
    texts = []
    for one in several:
        # Only the wrong item is shown, because the others may hold passwords.
        if not isinstance(one, (str, os.PathLike)):
            raise wrong("a text, or a list of texts,", name, one)
        texts.append(os.fspath(one))
    return texts


def sources_of(sources: Any) -> List[str]:
    """The sources as a list. Raises Error if there is none."""
    found = [] if sources is None else listed(sources, "sources")
    if not found:
        raise Error('Expected a path or URI for sources but received none: run("photos")', field="sources")
    for i, one in enumerate(found):
        if not one:
            raise wrong("a path or URI", f"sources[{i}]", one)
    return found


def pipelines_of(op: Optional[Operations], pipelines: Optional[Pipelines]) -> Dict[str, List[str]]:
    """The kernels of each pipeline. Raises Error, also if ``op`` is given too."""
    if pipelines is None:
        return {}
    if op is not None:
        raise Error("Expected op or pipelines but received both", field="pipelines")
    if not isinstance(pipelines, Mapping) or not pipelines:
        raise wrong('kernels by names, such as {"codes": "lbp"},', "pipelines", pipelines)
    return {name: listed(ops, "pipelines") for name, ops in pipelines.items()}


def wrong(allowed: str, name: str, value: Any) -> Error:
    """The Error for a value that is not allowed."""
    return Error(f"Expected {allowed} for {name} but received {_short(value)}", field=name)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:199] + "…"


def absolute(path: str) -> str:
    """An absolute path; a URI stays as it is."""
    return path if _SCHEME.match(path) else os.path.abspath(path)


def grid_of(grid: Grid) -> Tuple[int, int]:
    """Rows and columns of a grid: (4, 6) or "4x6". Raises Error."""
    try:
        rows, columns = (int(side) for side in (grid.split("x") if isinstance(grid, str) else grid))
    except (TypeError, ValueError, OverflowError):
        rows = columns = 0
    if rows < 1 or columns < 1:
        raise Error(f"Expected (rows, columns) for grid, each 1 or more, but received {_short(grid)}", field="grid")
    return rows, columns


def job_spec(
    sources: Sources,
    op: Optional[Operations],
    pipelines: Optional[Pipelines],
    map_format: Optional[str],
    grid: Optional[Grid],
    out: Optional[Path],
    fields: Mapping[str, Any],
) -> Dict[str, Any]:
    """The JSON of a JobSpec; the coordinator chooses arguments that are None."""
    spec: Dict[str, Any] = {"sources": [absolute(source) for source in sources_of(sources)]}
    if op is not None:
        spec["op"] = listed(op, "op")
    named = pipelines_of(op, pipelines)
    if pipelines is not None:
        spec["pipelines"] = {"named": [{"name": name, "op": ops} for name, ops in named.items()]}
    if map_format is not None:
        spec["mapFormat"] = map_format
    if grid is not None:
        spec["grid"] = dict(zip(("rows", "columns"), grid_of(grid)))
    if out is not None:
        spec["out"] = absolute(listed(out, "out")[0])
    for name, value in fields.items():
        spec[_camel(name)] = _json_of(value, name)
    return spec


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def _json_of(value: Any, name: str) -> Any:
    """A value for JSON, with names in JSON's style: tile_px becomes tilePx. Raises Error if JSON cannot hold it."""
    if isinstance(value, Mapping):
        return {_camel(str(key)): _json_of(of, f"{name}.{key}") for key, of in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_of(one, f"{name}[{i}]") for i, one in enumerate(value)]
    is_number = isinstance(value, (int, float)) and math.isfinite(value)
    if value is None or is_number or isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise wrong("a text, a finite number, True or False", name, value)


def command_options(
    op: Optional[Operations],
    pipelines: Optional[Pipelines],
    map_format: Optional[str],
    grid: Optional[Grid],
    out: Optional[Path],
    options: Mapping[str, Any],
) -> List[str]:
    """Options of ``halogrid run``: tile=512 becomes --tile 512, fresh=True --fresh; a list repeats its option."""
    words: List[str] = []
    for operation in listed([] if op is None else op, "op"):
        words += ["--op", operation]
    for name, operations in pipelines_of(op, pipelines).items():
        words += ["--pipeline", f"{name}={'+'.join(operations)}"]
    if grid is not None:
        words += ["--grid", "{}x{}".format(*grid_of(grid))]
    for name, value in {"map_format": map_format, "out": out, **options}.items():
        option = "--map" if name == "map_format" else "--" + name.rstrip("_").replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if not (one is None or isinstance(one, (str, numbers.Number, os.PathLike))):
                raise wrong("a text, a number, True or False", name, value)
            if one is True:
                words.append(option)
            elif one is not None and one is not False:
                words.append(f"{option}={os.fspath(one) if isinstance(one, os.PathLike) else one}")
    return words
