"""What a developer may say about a job in its `job.toml`."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Annotated, Any

import msgspec

from spotwarden.model.ladder import Rung
from spotwarden.model.moment import Moment

MOST = 1e15
Amount = Annotated[float, msgspec.Meta(ge=0, le=MOST)]
"""Neither *not a number* nor without end: no limit could be held against them."""


class JobFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits and wishes of one job; what is left out follows the policy.

    `max_runtime` bounds the time that its VMs are up, over all attempts; `budget` the money, at
    `price_per_hour` of all nodes together (the currency is the developer's own). `work` is how long it
    needs in all, `deadline` when it must be done. `places` are zones or regions that it may move to; an
    empty list keeps it where its script puts it; `ladder` are the kinds of VM that it is asked for, and how
    long each. `keep_until` is the last day on which no rule of governance
    may do anything to it, `rules` are limits of those rules that are other than the policy's, within the
    policy's ceilings. `problem` says why the file could not be read.
    """

    owner: str = ""
    email: str = ""
    max_restarts: int | None = None
    max_preemptions: int | None = None
    max_runtime: timedelta | None = None
    budget: Amount | None = None
    price_per_hour: Amount | None = None
    work: timedelta | None = None
    deadline: Moment | None = None
    places: tuple[str, ...] | None = None
    on_demand_after: int | None = None
    ladder: tuple[Rung, ...] | None = None
    make_before_break: bool = False
    keep_until: date | None = None
    rules: Mapping[str, Mapping[str, Any]] = {}
    problem: str = ""

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
