"""When a job that was just launched ends and for how much, where its job.toml says how much work it is."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from spotwarden.cli.context import Context
from spotwarden.cli.other_jobs import others
from spotwarden.model.facts import JobFacts
from spotwarden.model.jobfile import JobFile, SavedProgress
from spotwarden.model.launch import Launch
from spotwarden.model.policy import Policy
from spotwarden.model.prices import PriceTable, VmKind
from spotwarden.recovery.forecast.course import SURE, Course
from spotwarden.recovery.forecast.forecast import Rates, holds_to_line, outlook
from spotwarden.recovery.forecast.table import chance_of, read_markets
from spotwarden.recovery.forecast.text import told
from spotwarden.recovery.kinds.machines import machine_key
from spotwarden.recovery.kinds.price_file import read_prices
from spotwarden.recovery.kinds.prices import price_of
from spotwarden.recovery.kinds.unpriced_budget import kind_of


def foretold(
    context: Context, launch: Launch, file: JobFile, *, done: float | None, now: datetime
) -> Iterator[str]:
    """The forecast, a line each; `done` is the share of the work that an earlier launch has done."""
    if not file.work:
        return
    policy = context.agreed()
    course = begun(launch, file, file.work * (1 - (done or 0.0)), policy, now)
    rates = rates_of([kind_of(launch)] * len(launch.nodes), read_prices(context.settings.prices_file))
    seen = outlook(
        course,
        read_markets(),
        policy.placement,
        rates,
        now=now,
        chance=chance_of(launch.job),
        others=others(context, course, now),
    )
    yield from (f"{word}: {said}" for word, said in told(seen, 0.0))


def begun(launch: Launch, file: JobFile, left: timedelta, policy: Policy, now: datetime) -> Course:
    """A job of which nothing is known but what it was launched as, and how much work is left.

    It is taken to tell its checkpoints, if it hands over.
    """
    hour = timedelta(hours=1)
    facts = JobFacts(job=launch.job, launch=launch, file=file, progress=SavedProgress(checkpoint="expected"))
    return Course(
        place=launch.place,
        machine=machine_key(launch),
        vms=len(launch.nodes),
        spot=launch.spot,
        places=() if launch.fixed else file.places,
        deadline=file.deadline,
        whole=(file.work or left) / hour,
        left=max(left, timedelta(0)) / hour,
        spread=SURE,
        since=now,
        began=now,
        returns=holds_to_line(facts, policy),
    )


def rates_of(kinds: Sequence[VmKind], table: PriceTable) -> Rates:
    """What an hour of VMs of these kinds costs: as spot VMs, and as what they are if they are none.

    Whoever takes on-demand VMs instead of spot VMs pays their price.
    """
    models = {kind.provisioning for kind in kinds} - {"SPOT"}
    other = models.pop() if len(models) == 1 else "STANDARD"
    return Rates(spot=_an_hour(kinds, "SPOT", table), other=_an_hour(kinds, other, table))


def _an_hour(kinds: Sequence[VmKind], provisioning: str, table: PriceTable) -> float | None:
    each = [price_of(replace(kind, provisioning=provisioning), table) for kind in kinds]
    return sum(price.per_hour for price in each if price) if all(each) and each else None
