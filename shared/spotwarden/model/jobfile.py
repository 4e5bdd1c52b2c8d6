"""What a developer may say about a job in its `job.toml`."""

from collections.abc import Mapping
from datetime import date, timedelta
from enum import Enum
from typing import Annotated, Any

import msgspec

from spotwarden.model.ladder import Rung
from spotwarden.model.moment import Moment

MOST = 1e15
Amount = Annotated[float, msgspec.Meta(ge=0, le=MOST)]
"""Neither *not a number* nor without end: no limit could be held against them."""

Times = Annotated[int, msgspec.Meta(ge=0)]

NodeRange = Annotated[str, msgspec.Meta(pattern=r"^([1-9]\d{0,2}:[1-9]\d{0,2})?$")]


class MachineOrder(Enum):
    """In which order machine types are asked for: as they are written, or the cheapest VM first."""

    WRITTEN = "written"
    PRICE = "price"


class JobFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits and wishes of one job; what is left out follows the policy.

    `max_runtime` bounds the time that its VMs are up, over all attempts; `budget` the money, at
    `price_per_hour` of all nodes together (the currency is the developer's own). `work` is how long it
    needs in all, `deadline` when it must be done. `places` are zones or regions that it may move to; an
    empty list keeps it where its script puts it. Without `move` it stays where it runs until it is lost.
    `ladder` are the kinds of VM that it is asked for, and how long each; `machines` are machine types that it
    is asked for where there is no room for its script's own, in `machine_order`. `nodes` is how many nodes of
    a gang are enough, and how many it wants: "8:16" for one that bends. `handover` is None where the metadata
    in its script say whether its VMs hand over. `keep_until` is the last day on which
    no rule of governance may do anything to it, `rules` are limits of those rules that are other than the
    policy's, within the policy's ceilings. `problem` says why the file could not be read.
    """

    owner: str = ""
    email: str = ""
    max_restarts: Times | None = None
    max_preemptions: Times | None = None
    max_runtime: timedelta | None = None
    budget: Amount | None = None
    price_per_hour: Amount | None = None
    work: timedelta | None = None
    deadline: Moment | None = None
    places: tuple[str, ...] | None = None
    move: bool = True
    on_demand_after: Times | None = None
    machines: tuple[str, ...] = ()
    machine_order: MachineOrder = MachineOrder.WRITTEN
    ladder: tuple[Rung, ...] | None = None
    handover: bool | None = None
    nodes: NodeRange = ""
    keep_until: date | None = None
    rules: Mapping[str, Mapping[str, Any]] = {}
    problem: str = ""

    def __post_init__(self) -> None:
        """Refuse a range of nodes that no gang fits into, and a kind of VM that no wait ever reaches."""
        if self.nodes and not 1 <= self.fewest_nodes < self.most_nodes:
            raise ValueError(f"nodes = {self.nodes!r}: the first number must be less than the second")
        for rung in (self.ladder or ())[:-1]:
            if not rung.up_to:
                word = rung.model.value
                raise ValueError(f"ladder: {word!r} has no up_to, so nothing after it is asked for")

    @property
    def fewest_nodes(self) -> int:
        """How many nodes are enough; 0 where all are needed."""
        return int(self.nodes.partition(":")[0] or 0)

    @property
    def most_nodes(self) -> int:
        """How many nodes are wanted; 0 for those of the script."""
        return int(self.nodes.partition(":")[2] or 0)

    @property
    def is_bounded(self) -> bool:
        """Whether it has a limit of its own, in time or money."""
        return self.max_runtime is not None or self.budget is not None


class SavedProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a job has come: when something last moved, its newest checkpoint, the share done (0..1).

    `step` is the newest and `first_step` the first that `attempt` has told; None where it has not.
    """

    at: Moment | None = None
    checkpoint: str = ""
    share: float | None = None
    attempt: int | None = None
    step: float | None = None
    first_step: float | None = None
