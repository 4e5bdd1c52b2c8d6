"""The limits of each rule that a team agreed on; `infra/policy.toml` says why these defaults."""

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum

from spotwarden.model.governance import Lenient, Limits, Remedy


def _lenient(**more: Lenient) -> Mapping[str, Lenient]:
    """Which values of a rule's limits are laxer, besides what all rules have."""
    return {**Limits.LENIENT, **more}


class OrphanLimits(Limits, frozen=True, kw_only=True):
    """A VM whose job is over or unknown: `after` is how long it may take to delete itself.

    With `foreign` also one that only has our label: its job has no folder, and no request of ours made it.
    """

    RULE = "orphan"
    TITLE = "is no longer needed by its job"
    WORKS = "it was a job's again"
    LENIENT = _lenient(after=Lenient.HIGHER, foreign=Lenient.FIXED)

    remedy: Remedy = Remedy.DELETE
    foreign: bool = False
    after: timedelta = timedelta(minutes=10)
    looks: int = 2


class LeftoverLimits(Limits, frozen=True, kw_only=True):
    """A disk, address or snapshot of a job that nothing uses, for `after`."""

    RULE = "leftover"
    TITLE = "is an unused leftover of a job"
    REMEDIES = (Remedy.NONE, Remedy.DELETE)
    LENIENT = _lenient(after=Lenient.HIGHER)

    after: timedelta = timedelta(days=1)
    grace: timedelta = timedelta(days=1)
    looks: int = 2


class Proof(Enum):
    """Whose silence proves that a job hangs; any other sign of life proves only that it does not."""

    HEARTBEAT = "heartbeat"
    OUTPUT = "output"
    ANY = "any"


class StallLimits(Limits, frozen=True, kw_only=True):
    """A job of which nothing moves for `after`; below `cpu_at_rest` percent a CPU does nothing.

    It must have given a sign of the kind `proof` before: a heartbeat, or that or an output, or any.
    """

    RULE = "stall"
    TITLE = "has stopped making progress"
    WORKS = "it was active again"
    LENIENT = _lenient(after=Lenient.HIGHER, proof=Lenient.HIGHER, cpu_at_rest=Lenient.LOWER)

    remedy: Remedy = Remedy.STOP
    after: timedelta = timedelta(hours=2)
    proof: Proof = Proof.HEARTBEAT
    grace: timedelta = timedelta(minutes=30)
    cpu_at_rest: float = 3.0


class Goal(Enum):
    """Which way a metric gets better."""

    MIN = "min"
    MAX = "max"


class EarlyStopLimits(Limits, frozen=True, kw_only=True):
    """A training that cannot come to anything any more, by what its heartbeats measure; off where unset.

    `unreal`: any metric is not a number, or infinite. `over` and `under` are bounds by metric. The `metric`
    with its `goal` must get better by more than `min_delta` within `patience` steps. Bounds and patience are
    held against nothing before the step `warmup`.
    """

    RULE = "early_stop"
    TITLE = "meets a condition for an early stop"
    WORKS = "its metrics were in order again"
    REMEDIES = (Remedy.NONE, Remedy.STOP)
    LENIENT = _lenient(
        unreal=Lenient.OWN,
        over=Lenient.OWN,
        under=Lenient.OWN,
        metric=Lenient.OWN,
        goal=Lenient.OWN,
        patience=Lenient.OWN,
        min_delta=Lenient.OWN,
        warmup=Lenient.OWN,
    )

    remedy: Remedy = Remedy.STOP
    grace: timedelta = timedelta(minutes=5)
    unreal: bool = False
    over: Mapping[str, float] = {}
    under: Mapping[str, float] = {}
    metric: str = ""
    goal: Goal = Goal.MIN
    patience: float | None = None
    min_delta: float = 0.0
    warmup: float = 0.0


class IdleLimits(Limits, frozen=True, kw_only=True):
    """GPUs all below `threshold` percent: told at each of `warn`, acted upon at `act`.

    A metric may be late by `lag`; `coverage` is the share of its points that must be there.
    """

    RULE = "idle"
    TITLE = "has idle GPUs"
    WORKS = "a GPU was busy again"
    REMEDIES = (Remedy.NONE, Remedy.STOP)
    LENIENT = _lenient(
        threshold=Lenient.LOWER,
        act=Lenient.HIGHER,
        warn=Lenient.FIXED,
        lag=Lenient.FIXED,
        coverage=Lenient.FIXED,
    )

    threshold: float = 5.0
    warn: tuple[timedelta, ...] = (timedelta(minutes=60), timedelta(minutes=105))
    act: timedelta = timedelta(minutes=120)
    lag: timedelta = timedelta(minutes=7)
    coverage: float = 0.8


class JobCap(Limits, frozen=True, kw_only=True):
    """How long a job's VMs may be up over all attempts, and what they may cost; None for no bound.

    A job's own limits may be lower; its owner may extend them up to `longest` and `dearest`. `warn` are
    shares of the limit.
    """

    RULE = "job_cap"
    TITLE = "is near or over its time or cost limit"
    REMEDIES = (Remedy.NONE, Remedy.STOP)
    LENIENT = _lenient(
        max_runtime=Lenient.HIGHER,
        budget=Lenient.HIGHER,
        longest=Lenient.FIXED,
        dearest=Lenient.FIXED,
        warn=Lenient.FIXED,
    )

    remedy: Remedy = Remedy.STOP
    max_runtime: timedelta | None = None
    budget: float | None = None
    longest: timedelta | None = None
    dearest: float | None = None
    warn: tuple[float, ...] = (0.8, 0.95)


class InstanceCap(Limits, frozen=True, kw_only=True):
    """How long one VM may be up since it was last started; None for no bound."""

    RULE = "instance_cap"
    TITLE = "is near or over its time limit"
    REMEDIES = (Remedy.NONE, Remedy.STOP)
    LENIENT = _lenient(max_uptime=Lenient.HIGHER, warn=Lenient.FIXED)

    max_uptime: timedelta | None = None
    warn: tuple[float, ...] = (0.8, 0.95)


class OwnerCap(Limits, frozen=True, kw_only=True):
    """What the VMs of one owner may use a day, a week (from Monday) and a month, UTC; None: no bound."""

    RULE = "owner_cap"
    TITLE = "is near or over its owner's limit"
    REMEDIES = (Remedy.NONE, Remedy.STOP)
    LENIENT = _lenient(
        gpu_hours_day=Lenient.HIGHER,
        gpu_hours_week=Lenient.HIGHER,
        gpu_hours_month=Lenient.HIGHER,
        money_day=Lenient.HIGHER,
        money_week=Lenient.HIGHER,
        money_month=Lenient.HIGHER,
        concurrent_gpus=Lenient.HIGHER,
        warn=Lenient.FIXED,
    )

    gpu_hours_day: float | None = None
    gpu_hours_week: float | None = None
    gpu_hours_month: float | None = None
    money_day: float | None = None
    money_week: float | None = None
    money_month: float | None = None
    concurrent_gpus: int | None = None
    warn: tuple[float, ...] = (0.8, 0.95)


class ComplianceLimits(Limits, frozen=True, kw_only=True):
    """What a job's VM must be; an empty list allows everything. Patterns are globs."""

    RULE = "compliance"
    TITLE = "violates the policy"
    REMEDIES = (Remedy.NONE, Remedy.STOP)
    LENIENT = _lenient(
        labels=Lenient.FIXED,
        machine_types=Lenient.FIXED,
        regions=Lenient.FIXED,
        provisioning=Lenient.FIXED,
        most_vms_per_job=Lenient.HIGHER,
        most_gpus_per_job=Lenient.HIGHER,
    )

    grace: timedelta = timedelta(hours=1)
    labels: tuple[str, ...] = ()
    machine_types: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    provisioning: tuple[str, ...] = ()
    most_vms_per_job: int | None = None
    most_gpus_per_job: int | None = None
