"""What all calls to Compute Engine share: pages of lists, paths of instances, answers as data."""

import re
from collections.abc import Iterator, Mapping
from typing import Protocol, TypeVar

import msgspec

from spotwarden import typed
from spotwarden.gcp.rest import Rest
from spotwarden.gcp.retry_policy import RetryPolicy
from spotwarden.gcp.wire import Held, WirePage
from spotwarden.ports import UnansweredError

T = TypeVar("T")


class Paged(Protocol):
    """One page of any list."""

    @property
    def next_page_token(self) -> str:
        """What the next page is asked for by; "" for the last one."""


Page = TypeVar("Page", bound=Paged)

MOST = "500"
"""The most that a list gives at once (Google: "Method: instances.aggregatedList")."""

ID = r"[1-9][0-9]{0,19}"
"""A numeric id, which is never given twice."""

_NAME = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
ID_ONLY = re.compile(ID)
"""Matches an id and nothing else."""


class Calls:
    """Compute Engine in one project. Safe to use from several threads."""

    def __init__(
        self,
        *,
        project: str,
        endpoint: str = "",
        retry_policy: RetryPolicy = RetryPolicy(),
    ) -> None:
        self._project = project
        self._rest = Rest(endpoint=endpoint, retry_policy=retry_policy)

    def close(self) -> None:
        """Give the connections back; the next call opens new ones."""
        self._rest.close()

    def _pages(
        self, kind: str, fields: str, query: Mapping[str, str], form: type[WirePage[Held]]
    ) -> Iterator[WirePage[Held]]:
        asked = f"items/*/{fields},items/*/warning,nextPageToken,unreachables,warning"
        return self._listed(f"aggregated/{kind}", {**query, "fields": asked}, form)

    def _listed(self, path: str, query: Mapping[str, str], form: type[Page]) -> Iterator[Page]:
        """The pages of a list, one after the other."""
        path = f"/compute/v1/projects/{self._project}/{path}"
        query = {**query, "maxResults": MOST, "returnPartialSuccess": "true"}
        token = ""
        while True:
            answer = self._rest.get(path, {**query, "pageToken": token} if token else query)
            page = decode(answer, form)
            yield page
            token = page.next_page_token
            if not token:
                return

    def _instance(self, zone: str, instance_id: str) -> str:
        if not (_NAME.fullmatch(zone) and ID_ONLY.fullmatch(instance_id)):
            raise ValueError(f"Not an instance ID and a zone: {instance_id!r} in {zone!r}")
        return f"/compute/v1/projects/{self._project}/zones/{zone}/instances/{instance_id}"

    def _group(self, zone: str, name: str) -> str:
        if not (_NAME.fullmatch(zone) and _NAME.fullmatch(name)):
            raise ValueError(f"Not the name of a group and a zone: {name!r} in {zone!r}")
        return f"/compute/v1/projects/{self._project}/zones/{zone}/instanceGroupManagers/{name}"

    def _template(self, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(f"Not the name of an instance template: {name!r}")
        return f"/compute/v1/projects/{self._project}/global/instanceTemplates/{name}"


def decode(answer: bytes, kind: type[T]) -> T:
    """The answer as data; one that is cut short is no answer."""
    try:
        return typed.decode(answer, kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        raise UnansweredError(f"the answer is cut short or not JSON: {error}") from error
