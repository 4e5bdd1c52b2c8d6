"""What a job has cost so far, as far as prices are known where the command runs."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import msgspec

from spotwarden.cli.context import Context
from spotwarden.cli.launching.foretold import rates_of
from spotwarden.cli.looking.details import Details
from spotwarden.governance.caps.facts import JobAttempts
from spotwarden.governance.caps.job_usage import AttemptStay, spent, stays
from spotwarden.governance.costs import basis, words
from spotwarden.model.instance import Status
from spotwarden.model.placement import region_of
from spotwarden.model.prices import VmKind
from spotwarden.recovery.forecast.forecast import Rates
from spotwarden.recovery.kinds.price_file import read_prices
from spotwarden.recovery.kinds.ran_as import provisioned

OLD = timedelta(days=180)


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """`hours` are those that the job was up; the cost and what it rests on are in words.

    `usd` is the cost where all of it is known, `rates` what another hour costs.
    """

    hours: float
    cost: str = ""
    basis: str = ""
    usd: float | None = None
    rates: Rates = Rates()


def costs(context: Context, details: Details, now: datetime) -> Costs:
    """Taken from its ledger, and from its VMs or from how it was asked for."""
    facts = details.facts
    ids = tuple(facts.newest.instances.values()) if facts.newest else ()
    fleet = context.cloud.compute.fleet(ids=ids) if ids and facts.status_code is None else None
    machines = [machine for machine in fleet.items if machine.status is Status.RUNNING] if fleet else []
    records = JobAttempts(
        attempts=tuple(recorded.attempt for recorded in facts.ledger), ended=facts.status_code is not None
    )
    ran = _until_end(stays(records, machines, now), details, now)
    if not any(stay.kinds for stay in ran):
        ran = list(_as_asked(ran, details))
    hours = sum(stay.hours for stay in ran)
    if not any(stay.kinds for stay in ran):
        return Costs(hours=hours)
    table = read_prices(context.settings.prices_file)
    bill = spent(ran, table)
    return Costs(
        hours=hours,
        cost=words(bill),
        basis=basis(bill, table, now, OLD),
        usd=None if bill.hours else bill.amount,
        rates=rates_of(ran[-1].kinds, table),
    )


def _until_end(ran: list[AttemptStay], details: Details, now: datetime) -> list[AttemptStay]:
    """A job that has written its end was not up after it, whatever its ledger says yet."""
    over = details.facts.ended
    if over is None or not ran or details.facts.newest is None or details.facts.newest.started is None:
        return ran
    last = ran[-1]
    began = details.facts.newest.started
    if began + timedelta(hours=last.hours) < now - timedelta(seconds=1):
        return ran
    hours = max(0.0, (over - began) / timedelta(hours=1))
    return [*ran[:-1], msgspec.structs.replace(last, hours=min(last.hours, hours))]


def _as_asked(ran: list[AttemptStay], details: Details) -> Iterator[AttemptStay]:
    """The kinds of VM that the job was asked for with, where none of them is there to be looked at."""
    run = details.run
    if run is None or not run.machine:
        yield from ran
        return
    gpu, _, count = run.gpus.partition(":")
    attempts = {recorded.attempt.number: recorded.attempt for recorded in details.facts.ledger}
    for stay in ran:
        attempt = attempts.get(stay.number)
        if attempt is None:
            continue
        asked = attempt.tries[-1] if attempt.tries else None
        scripted = "SPOT" if run.spot else "STANDARD"
        other = asked.machine if asked else ""
        kind = VmKind(
            machine_type=other or run.machine,
            gpu="" if other else gpu,
            gpus=int(count) if count.isdecimal() and not other else 0,
            region=region_of(asked.place if asked else run.place),
            provisioning=provisioned(asked, scripted) if asked else scripted,
        )
        vms = len(attempt.instances) if attempt.bent else run.nodes
        yield msgspec.structs.replace(stay, kinds=(kind,) * vms)
