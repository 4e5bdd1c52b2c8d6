"""What the judge asks of the world that it judges."""

from typing import TYPE_CHECKING, Protocol

from spotwarden.layout import Layout
from tests.fakes.cloud import MemoryCloud
from tests.simulation.plane.google import PlaneCompute, PlaneMetrics
from tests.simulation.plane.guests import Guests
from tests.simulation.plane.jobs import PlaneJob
from tests.simulation.plane.mailroom import Mailroom

if TYPE_CHECKING:
    from datetime import datetime

    from tests.simulation.plane.oracle import Oracle


class JudgedWorld(Protocol):
    """The record of what befell each VM and of what people said; the judge may close and reopen its jobs."""

    cloud: MemoryCloud
    compute: PlaneCompute
    metrics: PlaneMetrics
    guests: Guests
    layout: Layout
    mailroom: Mailroom
    jobs: list[PlaneJob]
    mine: dict[str, PlaneJob]
    launched: dict[str, PlaneJob]
    oracle: "Oracle"
    verbose: bool

    def note(self, what: str) -> None:
        """Keep a line for whoever reads this history."""

    def now(self) -> "datetime":
        """The moment, by the cloud's clock."""

    def close(self, job: PlaneJob, why: str) -> None:
        """From this moment on the job is over."""

    def reopen(self, job: PlaneJob, *, ended: bool = False) -> None:
        """From now on the job is open again, by a person's word."""
