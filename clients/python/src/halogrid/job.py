"""A job of a coordinator."""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Union
from urllib.parse import quote

from .download import save
from .errors import Error
from .events import read_events
from .features import Features
from .http import Api, reaching
from .loading import features_path, load

_ENDED = ("complete", "failed", "cancelled")

#: Files of histograms; the group is the pipeline.
_FEATURES = re.compile(r"(?:pipelines/([A-Za-z0-9_-]+)/)?features\.parquet(?:/[^/]+\.parquet)?")

#: Seconds before a broken stream is requested again.
_PAUSE = 0.5


class File(NamedTuple):
    """A file of a complete job."""

    name: str
    """Its path in the folder of results."""
    bytes: int


class Job:
    """A job as the coordinator last reported it. Iterate over it for its progress."""

    def __init__(self, api: Api, status: Dict[str, Any]) -> None:
        self._api = api
        #: The JobStatus as JSON: ``counts``, ``error``, ``waiting``, ``times`` and so on.
        self.status = status

    @property
    def id(self) -> str:
        """Its id."""
        return self.status["jobId"]

    @property
    def state(self) -> str:
        """pending, running, finalising, complete, failed or cancelled."""
        return str(self.status.get("state", "")).rpartition("_")[2].lower()

    @property
    def owner(self) -> str:
        """Who submitted it; empty if the coordinator did not ask."""
        return self.status.get("owner", "")

    @property
    def is_paused(self) -> bool:
        """Whether it is paused."""
        return self.status.get("paused") is not None

    @property
    def digest(self) -> str:
        """The digest of its results once it is complete; empty before."""
        return self.status.get("digest", "")

    @property
    def has_ended(self) -> bool:
        """Whether it is complete, failed or cancelled."""
        return self.state in _ENDED

    def __repr__(self) -> str:
        return f"<halogrid.Job {self.id}: {self.state}>"

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        """Its status (a dict) now, and whenever it changes, until it has ended.

        Continues if the coordinator was unreachable for less than the client's timeout; else raises Error.
        """
        told: Optional[Dict[str, Any]] = None
        lost_at: Optional[float] = None
        while True:
            try:
                for status in self._watch():
                    lost_at = None
                    if status != told:
                        self.status = told = status
                        yield status
                if self.has_ended:
                    return
            except Error as error:
                lost_at = lost_at or time.monotonic()
                if error.code != "UNAVAILABLE" or time.monotonic() - lost_at > self._api.timeout:
                    raise
            time.sleep(_PAUSE)

    def _watch(self) -> Iterator[Dict[str, Any]]:
        with self._api.open("GET", f"/jobs/{quote(self.id, safe='')}/watch") as response:
            events = read_events(response)
            while True:
                # Only around the stream, so that errors of the caller's own code pass through.
                with reaching(self._api.url):
                    event = next(events, None)
                if event is None:
                    return
                try:
                    yield json.loads(event)["job"]
                except (ValueError, KeyError, TypeError):
                    raise Error("An event of the job is not JSON of a job", "INTERNAL") from None

    def refresh(self) -> Job:
        """Asks for its status once, and returns the job."""
        self.status = self._api.get(self._path())["job"]
        return self

    def wait(self) -> Job:
        """Waits until it is complete, failed or cancelled, and returns the job."""
        if not self.has_ended:
            for _ in self:
                pass
        return self

    def result(self) -> Dict[str, Any]:
        """Waits for its end and returns its job.json. Raises Error with the reason if it failed or was cancelled."""
        self._completed()
        return self._api.get(self._path("/results/job.json"))

    def pause(self) -> Job:
        """Has no more of it computed until ``resume``, and returns the job. What nodes compute now counts."""
        self.status = self._api.post(self._path("/pause"))["job"]
        return self

    def resume(self) -> Job:
        """Goes on with it if it is paused, and returns the job."""
        self.status = self._api.post(self._path("/resume"))["job"]
        return self

    def cancel(self) -> Job:
        """Stops it, and returns the job."""
        self.status = self._api.post(self._path("/cancel"))["job"]
        return self

    def remove(self, dry_run: bool = False) -> Dict[str, Any]:
        """Removes its results once it has ended, and forgets it. Returns what was, or with dry_run would be, removed."""
        return self._api.post(self._path("/remove"), query={"dryRun": str(dry_run).lower()})

    def files(self) -> List[File]:
        """The files that it wrote. Raises Error unless it is complete."""
        answer = self._api.get(self._path("/results"))
        return [File(file["name"], file["bytes"]) for file in answer["files"]]

    def download(self, path: str, to: Union[str, os.PathLike[str]] = ".") -> str:
        """Fetches one of its files, such as "histogram.json", and returns the path of the copy.

        ``to`` is an existing folder, in which the copy keeps its name, or the file to write. No copy is ever partial.
        """
        target = os.fspath(to)
        if os.path.isdir(target):
            target = os.path.join(target, os.path.basename(path))
        with self._api.open("GET", self._path(f"/results/{quote(path)}")) as response:
            save(response, target, self._api.url)
        return target

    def load(self, pipeline: Optional[str] = None) -> Features:
        """Waits for its end, fetches its histograms from the coordinator and returns them as ``halogrid.load`` does."""
        self._completed()
        with tempfile.TemporaryDirectory(prefix="halogrid-") as folder:
            for name, _ in self.files():
                found = _FEATURES.fullmatch(name)
                if found is None:
                    continue
                target = os.path.join(folder, *name.split("/"))
                os.makedirs(os.path.dirname(target), exist_ok=True)
                # The folders of all pipelines must exist, because ``load`` looks at their names, but only the files of
                # one.
                if found[1] == pipeline:
                    self.download(name, target)
            return load(features_path(folder, pipeline))

    def _completed(self) -> None:
        if self.wait().state != "complete":
            why = self.status.get("error")
            raise Error(f"Job {self.id} is {self.state}" + (f": {why}" if why else ""), "FAILED_PRECONDITION")

    def _path(self, below: str = "") -> str:
        return f"/jobs/{quote(self.id, safe='')}{below}"
