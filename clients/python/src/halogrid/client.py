"""Speaks to a coordinator."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Union

from .errors import Error
from .http import Api
from .job import Job
from .request import Grid, Operations, Path, Pipelines, Sources, job_spec


def connect(
    url: Optional[str] = None,
    token: Optional[str] = None,
    token_file: Optional[str] = None,
    ca_file: Optional[str] = None,
    timeout: float = 30,
) -> Client:
    """A coordinator that serves HTTP at ``url``. Nothing is sent yet.

    Without ``url``, the URL is HALOGRID_URL of the environment, else http://127.0.0.1:9464. The token is ``token``,
    else it comes from ``token_file``, else from HALOGRID_TOKEN_FILE or HALOGRID_TOKEN. Over https, ``ca_file`` (PEM)
    has the authority that signed the server's certificate. ``timeout``: seconds that a part of an answer may take.

    Raises Error if one of them is wrong. Each call raises Error with the coordinator's sentence, code and field.
    """
    return Client(
        Api(url or os.environ.get("HALOGRID_URL") or "http://127.0.0.1:9464", token, token_file, ca_file, timeout)
    )


class Client:
    """A coordinator. Answers that have no class here are dicts, as the HTTP API gives them."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def submit(
        self,
        sources: Sources,
        op: Optional[Operations] = None,
        pipelines: Optional[Pipelines] = None,
        map_format: Optional[str] = None,
        grid: Optional[Grid] = None,
        out: Optional[Path] = None,
        **fields: Any,
    ) -> Job:
        """Submits a job and returns it; it runs by itself.

        ``sources``: one or more paths and URIs, as the coordinator sees them; a relative path begins where this
        process runs. ``op``: "lbp", or several that are applied in turn. ``pipelines``: in place of ``op``, several
        by name, each like ``op``. ``map_format``: none, tiff, tiff:deflate, zarr, zarr:zstd,
        png or dzi. ``grid``: (rows, columns) of cells. ``out``: the folder of results. ``fields``: other fields of a
        JobSpec, such as ``tile_px=512`` or ``video={"every": 2}``. The coordinator chooses what is not given.
        """
        spec = job_spec(sources, op, pipelines, map_format, grid, out, fields)
        return Job(self._api, self._api.post("/jobs", spec)["job"])

    def plan(
        self,
        sources: Sources,
        op: Optional[Operations] = None,
        pipelines: Optional[Pipelines] = None,
        map_format: Optional[str] = None,
        grid: Optional[Grid] = None,
        out: Optional[Path] = None,
        **fields: Any,
    ) -> Dict[str, Any]:
        """What a job with the arguments of ``submit`` would need: sources, pixels, shards, bytes. Nothing is computed."""
        return self._api.post("/plan", job_spec(sources, op, pipelines, map_format, grid, out, fields))

    def jobs(
        self,
        state: Optional[str] = None,
        since: Optional[str] = None,
        limit: Optional[int] = None,
        owner: Optional[str] = None,
        mine: bool = False,
    ) -> List[Job]:
        """Jobs, newest first, at most ``limit``.

        ``state``: one, or several with commas; ``since``: submitted since a time, or within an age such as "2h";
        ``owner``: submitted by that name; ``mine``: by the name of the own token.
        """
        query = {"state": state, "since": since, "limit": limit, "owner": owner, "mine": mine or None}
        answer = self._api.get("/jobs", query)
        return [Job(self._api, status) for status in answer["jobs"]]

    def job(self, id: str) -> Job:
        """A job by its id, or by a unique beginning or ending of it. Raises Error with NOT_FOUND."""
        return Job(self._api, {"jobId": id}).refresh()

    def nodes(self) -> List[Dict[str, Any]]:
        """The attached nodes."""
        return self._api.get("/nodes")["nodes"]

    def kernels(self) -> List[Dict[str, Any]]:
        """The kernels with their parameters, defaults and allowed values."""
        return self._api.get("/kernels")["kernels"]

    def indexes(self) -> List[Dict[str, Any]]:
        """The indexes in which ``search`` finds frames."""
        return self._api.get("/indexes")["indexes"]

    def search(self, image: Union[Path, bytes, None] = None, **parameters: Any) -> Dict[str, Any]:
        """Frames that are most similar to a picture, best first.

        The picture is ``image``, a file of this machine or its bytes, or a frame of the index: ``uri`` and ``frame``,
        or ``row``.
        Other parameters are ``index``, ``top``, ``distance``, ``camera``, ``region`` and so on.
        """
        if image is None:
            return self._api.get("/search", parameters)
        if not isinstance(image, bytes):
            try:
                with open(image, "rb") as file:
                    image = file.read()
            except OSError as error:
                raise Error(f"'{image!s}' cannot be read: {error.strerror}", "NOT_FOUND", "image") from None
        return self._api.post("/search", image, parameters)

    def changes(self, **parameters: Any) -> Dict[str, Any]:
        """When something changed in front of the cameras of a job (``job_id``) or of a folder of results (``out``)."""
        return self._api.get("/changes", parameters)
