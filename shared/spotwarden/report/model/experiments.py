"""The report's experiment table: one row for each job, and the figures that all views share.

Times are `timedelta`, exact to the microsecond, so that the rows of a table add up to its total. What is not
known is None, never 0. Texts come from the bucket and from people: whoever shows them escapes them.
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta

import msgspec

from spotwarden.model.heartbeat import Measured
from spotwarden.model.moment import Moment
from spotwarden.model.standing import Standing

MILLION = 1_000_000
NOTHING = timedelta(0)


OVER = frozenset((Standing.ENDED, Standing.FAILED, Standing.GAVE_UP, Standing.STOPPED))
"""A job that stands so is over."""


class Money(msgspec.Struct, frozen=True, kw_only=True):
    """What VMs cost by the hour, without disks, network and discounts.

    `micros` are millionths of a US dollar, whole ones, so that sums are exact. `unpriced` is the VM time of
    which nobody knows the price: it is not in the sum. `oldest` is the day of the oldest price in it.
    """

    micros: int = 0
    priced: timedelta = NOTHING
    unpriced: timedelta = NOTHING
    oldest: date | None = None

    @property
    def usd(self) -> float | None:
        """US dollars; None where VMs ran and the price of none of them is known."""
        return None if self.unpriced and not self.priced else self.micros / MILLION

    @property
    def partial(self) -> bool:
        """Whether the sum is only a part: some VM time has no known price."""
        return bool(self.unpriced and self.priced)


class MetricSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of a job's heartbeats over all attempts.

    `last` is the newest value, at `at` and `step`. `lowest` and `highest` leave out what is no number; `best`
    is one of the two: the lowest where the name says that less is better (loss, error, perplexity, …).
    """

    name: str
    last: Measured
    at: Moment | None = None
    step: float | None = None
    lowest: float | None = None
    highest: float | None = None
    best: float | None = None


class Advance(msgspec.Struct, frozen=True, kw_only=True):
    """How far a job is: `at` is when it last said anything; `share` is 0..1. None, "": it does not say."""

    at: Moment | None = None
    step: float | None = None
    steps: float | None = None
    share: float | None = None
    checkpoint: str = ""


class JobLinks(msgspec.Struct, frozen=True, kw_only=True):
    """Where a job's things are, as `gs://…`; "" where there is none. `logs` and `output` are folders."""

    code: str = ""
    script: str = ""
    output: str = ""
    logs: str = ""


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the experiment table.

    `exit_code` is what the job wrote as its end, "" while it is open. `attempts` counts launches, `nodes` the
    VMs of one of them, `gpus` their GPUs together. `zones`, `machines` (types), `instances` (ids) are those
    it ever had, oldest first. `ended` is None while the job is open. `runtime` is from `started` to `ended`,
    or to now; `up_time` is how long its VMs were up, added over all of them, and `gpu_time` the same times
    the GPUs of each. `on_demand` is what `cost` would have been without spot, `saved` the
    difference, over those VMs of which both prices are known. `metrics` are in the order of names. `tags` are
    what its developer gave it. `problem` says what of the job could not be read.
    """

    job: str
    owner: str = ""
    team: str = ""
    standing: Standing = Standing.UNKNOWN
    exit_code: str = ""
    attempts: int = 0
    nodes: int = 0
    gpus: int | None = None
    zones: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()
    started: Moment | None = None
    ended: Moment | None = None
    runtime: timedelta | None = None
    up_time: timedelta | None = None
    gpu_time: timedelta | None = None
    cost: Money = Money()
    on_demand: Money = Money()
    saved: Money = Money()
    preemptions: int = 0
    advance: Advance = Advance()
    metrics: tuple[MetricSummary, ...] = ()
    links: JobLinks = JobLinks()
    tags: Mapping[str, str] = {}
    problem: str = ""


class Experiments(msgspec.Struct, frozen=True, kw_only=True):
    """The whole table, by job, as it was at `at`; None where no sweep has made a report yet.

    `prices` says what the sums rest on: the day of the prices, or why there are none.
    """

    at: datetime | None
    rows: tuple[Experiment, ...] = ()
    prices: str = ""
