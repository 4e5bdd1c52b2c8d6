"""The VMs of a project, as governance sees them: more than recovery needs, and many of them."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from spotwarden.model.instance import Status
from spotwarden.model.slices import SliceGroup

JOB_LABEL = "spotwarden-job"
ATTEMPT_LABEL = "spotwarden-attempt"
KEEP_LABEL = "spotwarden-keep"
"""Its value is the last day, as `2026-12-31`, on which nothing may be done to the VM."""
A_GROUP = "a managed instance group"
"""The `manager` of a VM that a group has made."""
OWNER_LABEL = "owner"
"""Who a VM is asked about, where its job names nobody."""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """One VM. `gpus` counts its accelerators, `gpu` is their type's short name, "" for none.

    `provisioning` is Compute Engine's provisioning model (`STANDARD`, `SPOT`, …); `started` is when it last
    began to run. `local_ssds` counts its local SSDs, whose data does not outlive a stop. `manager` is the
    Google service, or the managed instance group, that has made it and makes it anew; "" for nobody. `ends`
    is when Compute Engine will end it by the run time that it was launched with; None for no bound. `group`
    is the managed instance group of the TPU slice that it is a part of, where a job's chain has that: such a
    VM has no `manager`.
    """

    id: str
    name: str
    zone: str
    status: Status
    created: datetime | None = None
    started: datetime | None = None
    machine_type: str = ""
    gpus: int = 0
    gpu: str = ""
    provisioning: str = "STANDARD"
    local_ssds: int = 0
    labels: Mapping[str, str] = {}
    manager: str = ""
    ends: datetime | None = None
    group: SliceGroup | None = None

    @property
    def job(self) -> str:
        """The job that its label names; "" where it carries none, or where a Google service has made it."""
        return "" if self.manager else self.labels.get(JOB_LABEL, "")

    @property
    def spot(self) -> bool:
        """Whether Compute Engine may preempt it."""
        return self.provisioning == "SPOT"

    @property
    def attempt(self) -> int:
        """The attempt that its label names; 0 where it carries none."""
        said = self.labels.get(ATTEMPT_LABEL, "")
        return int(said) if said.isascii() and said.isdigit() else 0


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A VM as a list shows it, in Google's own words: what two lists of one fleet must agree on."""

    id: str
    name: str
    zone: str
    status: str
    machine_type: str = ""
    provisioning: str = "STANDARD"
    labels: Mapping[str, str] = {}


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """A list of VMs; with a scope (a zone, or `project`) in `unreachable`, what it lacks may be there."""

    items: tuple[Machine, ...] = ()
    unreachable: tuple[str, ...] = ()

    def hides(self, zone: str) -> bool:
        """Whether a VM of this zone that is not on the list may be there all the same."""
        return bool(self.unreachable) and (zone in self.unreachable or "project" in self.unreachable)


class Leftover(msgspec.Struct, frozen=True, kw_only=True):
    """A disk, address or snapshot that nothing uses and that carries a job's label.

    `kind` is `disk`, `address` or `snapshot`, `link` its path below `/compute/v1/`; an address has no size.
    `manager` is the Google service that has made it, "" for nobody. `origin` is the id of the disk that a
    snapshot is of, `address` the address itself.
    """

    kind: str
    name: str
    link: str
    job: str
    created: datetime | None = None
    size_gb: int = 0
    labels: Mapping[str, str] = {}
    manager: str = ""
    origin: str = ""
    address: str = ""

    @property
    def id(self) -> str:
        """Its numeric id, which its link ends with."""
        return self.link.rpartition("/")[2]
