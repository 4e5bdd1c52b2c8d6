"""From how much of a limit is used to what is said about it."""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from spotwarden.governance.caps.facts import JobAttempts
from spotwarden.governance.caps.measures import LimitUse, is_full, passed, percent, reached, told_from, worst
from spotwarden.governance.signals.text import target
from spotwarden.model.brief import Brief
from spotwarden.model.exemptions import exempt
from spotwarden.model.finding import Finding, Reading, Target
from spotwarden.model.fleet import Machine

NEVER = datetime.min.replace(tzinfo=UTC)


def judged(
    plain: Finding, measures: Sequence[LimitUse], warn: Sequence[float], brief: Brief, name: str
) -> Finding | None:
    """Fill in a finding by the measure that is nearest to its limit; None where there is nothing to say.

    One that was extended stays found, at level 0, for as long as it would be found without: its case, and
    with it what was granted, must not be closed.
    """
    first, now = worst(measures), brief.tick.now
    told = _is_told(first.share, warn)
    if not told and not any(_is_told(measure.share_before, warn) for measure in measures):
        obscure = next((measure for measure in measures if measure.unknown), None)
        if obscure is None:
            return None
        why = f"we couldn't check how much of {obscure.allowed} {name} has used: {obscure.unknown}"
        return unknown(plain, why, _evidence(measures))
    dues = [due for measure in measures if (due := reached(measure, now)) is not None]
    return replace(
        plain,
        reason=f"{name} has used {percent(first.share)} of a limit: {first.what}, {first.said}"
        f" of {first.allowed}",
        evidence=_evidence(measures),
        level=max(1, passed(first.share, warn)) if told else 0,
        ripe=is_full(first.share),
        since=reached(first, now, at=told_from(warn)),
        due=min(dues, default=None),
    )


def _evidence(measures: Sequence[LimitUse]) -> dict[str, str]:
    return {
        measure.what: f"{measure.said} of {measure.allowed} ({percent(measure.share)})"
        for measure in measures
    }


def _is_told(share: float, warn: Sequence[float]) -> bool:
    return passed(share, warn) > 0 or is_full(share)


def unknown(plain: Finding, why: str, evidence: dict[str, str] | None = None) -> Finding:
    """The same finding as one that nobody can be sure of."""
    return replace(plain, reading=Reading.UNKNOWN, reason=why, evidence=evidence or {})


def unread(plain: Finding, records: JobAttempts) -> Finding:
    """The same finding as one about a job whose records cannot be read; told where that will not pass."""
    why = f"the records of {plain.subject.job} can't be read: {records.problem}"
    return unknown(replace(plain, exempt="" if records.lasting else why), why)


def targets(machines: Sequence[Machine]) -> tuple[Target, ...]:
    """The VMs as a remedy is addressed to them."""
    return tuple(map(target, machines))


def up_since(machine: Machine) -> datetime:
    """When it last began to run; `misdated` says where nobody knows."""
    return machine.started or machine.created or NEVER


def misdated(machines: Sequence[Machine], brief: Brief) -> str:
    """Why the times of these VMs cannot be judged by; "" where they can."""
    latest = brief.tick.now + brief.policy.governance.clock_skew
    for machine in machines:
        began = up_since(machine)
        if began is NEVER:
            return f"we don't know when {machine.name} started"
        if began > latest:
            return (
                f"{machine.name} began at {began:%Y-%m-%d %H:%M} UTC, which is in the future: a clock is"
                " wrong"
            )
    return ""


def spare(
    found: Finding | None, machines: Sequence[Machine], records: JobAttempts, brief: Brief
) -> Finding | None:
    """The finding with the reason why nothing may be done, if there is one."""
    if found is None:
        return None
    return replace(found, exempt=spared(found.rule, machines, records, brief))


def spared(rule: str, machines: Sequence[Machine], records: JobAttempts, brief: Brief) -> str:
    """Why nothing may be done to these VMs of one job, or of none; "" where it may."""
    if records.problem:
        return f"the records of its job can't be read: {records.problem}"
    for machine in machines:
        why = exempt(
            brief.policy,
            rule,
            brief.tick,
            labels=machine.labels,
            owner=records.owner,
            job_file=records.file,
        )
        if why:
            return why
    return ""
