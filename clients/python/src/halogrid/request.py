"""What is asked for, as JSON of a JobSpec and as options of the command line."""

from __future__ import annotations

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


def listed(one_or_more: Any) -> List[str]:
    """A text or path, or several, as texts."""
    is_one = isinstance(one_or_more, (str, os.PathLike))
    return [os.fspath(one) for one in ([one_or_more] if is_one else one_or_more)]


def absolute(path: str) -> str:
    """A path as any folder sees it; a URI as it is."""
    return path if _SCHEME.match(path) else os.path.abspath(path)


def grid_of(grid: Grid) -> Tuple[int, int]:
    """Rows and columns of a grid: (4, 6) or "4x6". Raises Error."""
    try:
        rows, columns = (int(side) for side in (grid.split("x") if isinstance(grid, str) else grid))
    except (TypeError, ValueError):
        rows = columns = 0
    if rows < 1 or columns < 1:
        raise Error(f"Expected (rows, columns) for grid, each 1 or more, but received {grid!r}", field="grid")
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
    """The JSON of a JobSpec; what is None is left to the coordinator."""
    if op is not None and pipelines is not None:
        raise Error("Expected op or pipelines but received both", field="pipelines")
    spec: Dict[str, Any] = {"sources": [absolute(source) for source in listed(sources)]}
    if op is not None:
        spec["op"] = listed(op)
    if pipelines is not None:
        spec["pipelines"] = {"named": [{"name": name, "op": listed(ops)} for name, ops in pipelines.items()]}
    if map_format is not None:
        spec["mapFormat"] = map_format
    if grid is not None:
        spec["grid"] = dict(zip(("rows", "columns"), grid_of(grid)))
    if out is not None:
        spec["out"] = absolute(os.fspath(out))
    spec.update(_lower_camel(fields))
    return spec


def _lower_camel(value: Any) -> Any:
    """Names of fields as JSON has them: tile_px becomes tilePx, in structures as well."""
    if isinstance(value, Mapping):
        return {re.sub(r"_([a-z])", lambda found: found[1].upper(), key): _lower_camel(of) for key, of in value.items()}
    return value


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
    for operation in listed(op or []):
        words += ["--op", operation]
    for name, operations in (pipelines or {}).items():
        words += ["--pipeline", f"{name}={'+'.join(listed(operations))}"]
    if grid is not None:
        words += ["--grid", "{}x{}".format(*grid_of(grid))]
    for name, value in {"map": map_format, "out": out, **options}.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(option)
            elif one is not None and one is not False:
                words.append(f"{option}={os.fspath(one) if isinstance(one, os.PathLike) else one}")
    return words
