"""HTTP to the local cloud and to the machine's own metadata server."""

import http.client
import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn
from urllib.parse import quote, urlencode, urlsplit

Body = bytes | Iterable[bytes] | None

METADATA: Final = {"Metadata-Flavor": "Google"}
ERRORS_FROM: Final = 400


class CloudError(Exception):
    """The cloud refused. `status` is HTTP's, `message` the API's own words."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def give_up(message: str, status: int = 1) -> NoReturn:
    """Say why on standard error and end with this status."""
    sys.stderr.write(f"{message}\n")
    sys.exit(status)


def segment(name: str) -> str:
    """A name as one segment of a URL's path."""
    return quote(name, safe="")


class StorageTransport:
    """A kept connection to one server; every answer that is not success is raised as `CloudError`."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        _, self._host, self._base, _, _ = urlsplit(url)
        self._headers = headers
        self._connection: http.client.HTTPConnection | None = None

    def open(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Body = None,
        headers: Mapping[str, str] | None = None,
    ) -> http.client.HTTPResponse:
        """Make a call and give the answer for reading; it must be read to its end before the next call."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self._host)
        target = self._base + (f"{path}?{urlencode(query)}" if query else path)
        try:
            self._connection.request(method, target, body=body, headers={**self._headers, **(headers or {})})
            answer = self._connection.getresponse()
        except http.client.HTTPException as error:
            raise ConnectionError(f"{self._host} does not speak HTTP: {error!r}") from error
        if answer.status >= ERRORS_FROM:
            raise CloudError(answer.status, _words(answer.read()))
        return answer

    def call(
        self, method: str, path: str, *, query: Mapping[str, str] | None = None, body: object = None
    ) -> dict[str, Any]:
        """Make a JSON call; an empty answer is `{}`."""
        sent = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if sent else {}
        text = self.open(method, path, query=query, body=sent, headers=headers).read()
        answer: dict[str, Any] = json.loads(text) if text else {}
        return answer


def _words(body: bytes) -> str:
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace").strip() or "no reason given"


def metadata(path: str) -> str:
    """A value of the machine's own metadata, such as `instance/zone`."""
    return guest("GET", f"/computeMetadata/v1/{path}")


def guest(method: str, path: str, body: object = None) -> str:
    """A call to the machine's own metadata server."""
    door = StorageTransport(f"http://{_setting('GCE_METADATA_HOST')}", METADATA)
    sent = None if body is None else json.dumps(body).encode()
    return door.open(method, path, body=sent).read().decode()


def cloud() -> StorageTransport:
    """The local cloud, as the machine's service account."""
    try:
        token = json.loads(metadata("instance/service-accounts/default/token"))["access_token"]
        headers = {"Authorization": f"Bearer {token}"}
    except CloudError:
        headers = {}  # a machine without a service account may do only what nobody needs a permission for
    return StorageTransport(_setting("SPOTWARDEN_LOCAL_URL"), headers)


def _setting(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        give_up(f"This command works only inside a virtual machine of the local cloud: {name} is not set.")
    return value
