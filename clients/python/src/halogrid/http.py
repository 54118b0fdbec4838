"""Requests to a coordinator's HTTP API."""

from __future__ import annotations

import http.client
import json
import os
import ssl
from contextlib import contextmanager
from typing import Any, Dict, Iterator, Optional
from urllib.parse import urlencode, urlsplit

from .access import open_tls, read_token
from .errors import Error
from .names import error_of, of_field

_BASE = "/api/v1"

#: Codes by status, for answers without a code.
_CODES = {
    **{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"},
    **{
        409: "FAILED_PRECONDITION",
        410: "FAILED_PRECONDITION",
        416: "OUT_OF_RANGE",
        429: "RESOURCE_EXHAUSTED",
        503: "UNAVAILABLE",
    },
}


class Api:
    """Asks one coordinator. Each request has its own connection, so that threads may share this object."""

    def __init__(
        self, url: str, token: Optional[str], token_file: Optional[str], ca_file: Optional[str], timeout: float
    ) -> None:
        """Raises Error if an option is wrong; nothing is sent."""
        self.timeout = timeout
        self._token, self._token_file = token, token_file
        try:
            parts = urlsplit(url)
            self._host, self._port = parts.hostname, parts.port
        except ValueError:
            self._host = None
        if not self._host or parts.scheme not in ("http", "https") or parts.path not in ("", "/") or parts.query:
            raise Error(f"Expected http://HOST:PORT or https://HOST:PORT for url but received '{url}'", field="url")
        self.url = url.rstrip("/")
        is_tls = parts.scheme == "https"
        self._tls: Optional[ssl.SSLContext] = open_tls(ca_file) if is_tls else None
        if ca_file is not None and not is_tls:
            raise Error(f"Expected https:// for url, because ca_file is given, but received '{url}'", field="url")
        read_token(token, token_file)

    def get(self, path: str, query: Optional[Dict[str, Any]] = None) -> Any:
        """The JSON answer of a path below /api/v1."""
        with self.open("GET", path, query) as response:
            return _json(_read(response, self.url))

    def post(self, path: str, body: Any = None, query: Optional[Dict[str, Any]] = None) -> Any:
        """Sends JSON, or bytes as they are, and returns the JSON of the answer."""
        is_raw = isinstance(body, bytes)
        content = body if is_raw else json.dumps({} if body is None else body).encode()
        kind = "application/octet-stream" if is_raw else "application/json"
        with self.open("POST", path, query, content, kind) as response:
            return _json(_read(response, self.url))

    @contextmanager
    def open(
        self,
        method: str,
        path: str,
        query: Optional[Dict[str, Any]] = None,
        body: Optional[bytes] = None,
        kind: Optional[str] = None,
    ) -> Iterator[http.client.HTTPResponse]:
        """The answer, as long as its body is to be read. Raises Error if there is no answer, or it is a refusal."""
        headers = {"Accept": "application/json, */*"}
        token = read_token(self._token, self._token_file)
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if kind is not None:
            headers["Content-Type"] = kind
        connection = self._connect()
        try:
            with reaching(self.url):
                connection.request(method, _BASE + path + _query(query), body, headers)
                response = connection.getresponse()
            if response.status >= 300:
                raise _refusal(response.status, _read(response, self.url))
            yield response
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        assert self._host is not None
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=self.timeout)
        return http.client.HTTPSConnection(self._host, self._port, timeout=self.timeout, context=self._tls)


@contextmanager
def reaching(url: str) -> Iterator[None]:
    """Turns failures of a connection into an Error."""
    try:
        yield
    except ssl.SSLError as error:
        why = getattr(error, "verify_message", "") or error.reason or error
        raise Error(
            f"The coordinator {url} is not trusted: {why}; ca_file names who signed its certificate", "UNAVAILABLE"
        ) from None
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, http.client.BadStatusLine) and not isinstance(error, http.client.RemoteDisconnected):
            raise Error(
                f"What answers at {url} speaks no HTTP, as a coordinator does at its --listen: give the address of its "
                "--http (port 9464 unless it was told otherwise)",
                "UNAVAILABLE",
            ) from None
        why = (os.strerror(error.errno) if isinstance(error, ConnectionError) and error.errno else str(error)) or repr(
            error
        )
        raise Error(f"The coordinator {url} does not answer: {why}", "UNAVAILABLE") from None


def _query(query: Optional[Dict[str, Any]]) -> str:
    given = {name: value for name, value in (query or {}).items() if value is not None}
    texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}
    return f"?{urlencode(texts)}" if texts else ""


def _read(response: http.client.HTTPResponse, url: str) -> bytes:
    with reaching(url):
        return response.read()


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        raise Error("The answer is not JSON: is this a coordinator of halogrid?", "INTERNAL") from None


def _refusal(status: int, body: bytes) -> Error:
    code = _CODES.get(status, "INTERNAL")
    try:
        return error_of(json.loads(body), code, of_field)
    except (ValueError, KeyError, TypeError, AttributeError):
        return Error(f"The coordinator answered with the status {status}", code)
