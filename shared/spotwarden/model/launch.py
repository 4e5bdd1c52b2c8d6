"""What a stored create script comes to."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from spotwarden.model.attempt import Script
from spotwarden.model.request import Request
from spotwarden.model.slices import SliceParts


class StoredScript(msgspec.Struct, frozen=True, kw_only=True):
    """A create script as it stands in the bucket, with the files stored beside it by relative path.

    `problem` says why it was not read, and then there is neither text nor file. `stored` is when the create
    script was stored, by the bucket's clock.
    """

    name: str
    text: bytes
    generation: int
    files: Mapping[str, bytes] = {}
    problem: str = ""
    stored: datetime | None = None


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A place that may be asked, a zone (a region for a request that leaves the zone to Compute Engine)."""

    place: str
    request: Request


class Launch(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The request that launches all nodes of a job, for each place that may be asked; home comes first.

    `gang` is true for a bulk request, `part` where its script takes fewer VMs than it asks for. `machine`
    and `accelerators` are what a place must offer (names without their paths), `gpus` how many of the
    latter it attaches. `fixed` says why it cannot move from where its script puts it, empty where it can.
    `script` is None where the request was made from what ran before, for want of a usable script.
    `flexible` says that it asks for Flex-start VMs. `instead` are the launches on other machine types
    that its owner allows, in their order; such a one has none itself. `slice` are the parts of a TPU slice
    of several hosts, whose one choice has the request for its group.
    """

    nodes: tuple[str, ...]
    choices: tuple[Choice, ...]
    script: Script | None
    machine: str = ""
    accelerators: tuple[str, ...] = ()
    gpus: int = 0
    spot: bool = False
    flexible: bool = False
    gang: bool = False
    part: bool = False
    fixed: tuple[str, ...] = ()
    instead: tuple["Launch", ...] = ()
    slice: SliceParts | None = None

    @property
    def job(self) -> str:
        """The job that it is of, unless somebody names another: the node's name, a gang's without numbers."""
        return self.nodes[0].rstrip("0123456789").rstrip("-") if self.gang else self.nodes[0]

    @property
    def properties(self) -> Mapping[str, Any]:
        """What it says of its machines, whichever way they are made."""
        if self.slice is not None:
            found: Mapping[str, Any] = self.slice.template.body["properties"]
            return found
        body = self.request.body
        own: Mapping[str, Any] = body.get("instanceProperties", body)
        return own

    @property
    def place(self) -> str:
        """Where the script puts it."""
        return self.choices[0].place

    @property
    def request(self) -> Request:
        """The request for that place."""
        return self.choices[0].request


class NoLaunch(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Why the script cannot be re-run, for a person: file, line and reason."""

    reason: str
