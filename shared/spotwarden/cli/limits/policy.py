"""`spotwarden policy`: whether the limits can be used, and which of them hold for a job."""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import click
import msgspec
from msgspec.structs import replace

from spotwarden import clock
from spotwarden.cli.completing import job_names
from spotwarden.cli.context import Context, new_tick, open_context
from spotwarden.cli.json_text import json_text
from spotwarden.cli.table import plain, render
from spotwarden.engine.policy_file.reading import PolicyError, read_policy
from spotwarden.governance.calendar import open_at
from spotwarden.layout import NotInLayoutError
from spotwarden.model.exemptions import exempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.fleet import Machine
from spotwarden.model.jobfile import JobFile
from spotwarden.model.opening import zone_of
from spotwarden.model.policy import RULES, Mode, Policy
from spotwarden.model.precedence import EffectiveLimit, LimitSource, explain, team_of
from spotwarden.model.values import written
from spotwarden.recovery.folder.chain import as_told
from spotwarden.recovery.folder.job_folder import look_at_job

HEAD = ("RULE", "VALUE", "HOLDS", "FROM", "CEILING", "NOTE")
DEFAULT_FILE = "infra/policy.toml"
NO_LABELS: dict[str, str] = {}


class LimitRow(NamedTuple):
    """A value of a rule as it holds for a job, in the words of the policy."""

    rule: str
    value: str
    holds: str
    source: str
    ceiling: str
    note: str


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """All that holds for a job. `exempt` says why nothing is done to it, or to one of its VMs."""

    job: str
    owner: str
    team: str
    mode: str
    limits: tuple[LimitRow, ...]
    exempt: tuple[str, ...]
    opening: str


@click.group()
def policy() -> None:
    """Check a policy, or explain a job's limits.

    \b
    Examples:
      spotwarden policy check infra/policy.toml
      spotwarden policy explain test-vm --rule idle
    """


@policy.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
def check(file: Path | None) -> None:
    """Check a policy file for errors.

    FILE is SPOTWARDEN_POLICY by default, or else infra/policy.toml. If it has errors, the exit status is 1.
    """
    file = file or Path(os.environ.get("SPOTWARDEN_POLICY") or DEFAULT_FILE)
    known = _read(file)
    teams = ", ".join(sorted(known.teams)) or "none"
    ceilings = ", ".join(f"{rule}.{name}" for rule, said in known.ceilings.items() for name in said) or "none"
    click.echo(f"{file}: no fault; version {known.version}, {known.mode.value}")
    click.echo(f"teams: {teams}; ceilings: {ceilings}")


@policy.command("explain")
@click.argument("job", shell_complete=job_names)
@click.option("--rule", type=click.Choice(list(RULES)), help="Only this rule.")
@click.option(
    "--policy", "file", type=click.Path(path_type=Path), help="Policy file [default: SPOTWARDEN_POLICY]."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain_(job: str, rule: str | None, file: Path | None, *, as_json: bool) -> None:
    """Explain a job's limits and exemptions."""
    context = open_context()
    known = _read(file or context.settings.policy_file, context.settings.mode)
    said = _explained(context, known, job, (rule,) if rule else tuple(RULES))
    if as_json:
        click.echo(json_text(said))
        return
    team = f", of the team {said.team}" if said.team else ", of no team"
    click.echo(plain(f"{job}: owner {said.owner or 'unknown'}{team if known.teams else ''}"))
    click.echo(render(HEAD, said.limits))
    click.echo("\n".join(("", *(plain(f"exempt: {item}") for item in said.exempt or ("nothing",)))))
    click.echo(f"remedies: {said.opening}")
    if said.mode == Mode.OBSERVE.value:
        click.echo("mode: the policy only observes: Spotwarden decides and notifies, and changes nothing")


def _read(file: Path, mode: Mode | None = None) -> Policy:
    try:
        return read_policy(file, mode)
    except PolicyError as error:
        raise click.ClickException(str(error)) from error


def _explained(context: Context, known: Policy, job: str, rules: tuple[str, ...]) -> Explained:
    facts = _facts(context, job)
    now = clock.now()
    return Explained(
        job=job,
        owner=facts.owner,
        team=team_of(known, facts.owner),
        mode=known.mode.value,
        limits=tuple(row for rule in rules for row in _rows(known, rule, facts)),
        exempt=tuple(_exemptions(context, known, rules, facts)),
        opening=_opening(known, now),
    )


def _rows(known: Policy, rule: str, facts: JobFacts) -> Iterator[LimitRow]:
    for limit in explain(known, rule, owner=facts.owner, job_file=facts.file):
        held = _with_own(limit, facts.file) if rule == "job_cap" else limit
        yield LimitRow(
            rule=rule,
            value=held.name,
            holds=written(held.value),
            source=held.source.value,
            ceiling="" if held.ceiling is None else written(held.ceiling),
            note=held.note,
        )


def _with_own(held: EffectiveLimit, file: JobFile) -> EffectiveLimit:
    """A job's own time and budget count beside the policy's: the lower one holds.

    A budget at a price of the job's own can't be compared with one in USD; both hold.
    """
    own = {"max_runtime": file.max_runtime, "budget": file.budget}.get(held.name)
    if own is None:
        return held
    note = ""
    if held.name == "budget" and file.price_per_hour:
        note = f"at its price_per_hour of {file.price_per_hour:g}"
        if held.value is not None:
            return replace(held, note=f"job.toml says {written(own)} {note}; both hold")
    if held.value is not None and own > held.value:
        return replace(held, note=f"job.toml says {written(own)}")
    return replace(held, value=own, source=LimitSource.JOB, note=note)


def _exemptions(context: Context, known: Policy, rules: tuple[str, ...], facts: JobFacts) -> Iterator[str]:
    """What keeps all of the job, each reason once with its rules; then what keeps one of its VMs alone."""
    tick = new_tick("explain")
    by_why: dict[str, list[str]] = {}
    for rule in rules:
        why = exempt(known, rule, tick, labels=NO_LABELS, owner=facts.owner, job_file=facts.file)
        by_why.setdefault(why, []).append(rule)
    for why, kept in by_why.items():
        if why:
            yield f"{why} (from {'every rule' if len(kept) == len(RULES) else ', '.join(kept)})"
    for machine in _machines(context, facts):
        why = exempt(known, rules[0], tick, labels=machine.labels, owner="", job_file=JobFile())
        if why:
            yield f"{machine.name} in {machine.zone}: {why} (from every rule)"


def _machines(context: Context, facts: JobFacts) -> tuple[Machine, ...]:
    """The VMs that carry the job's label, or whose id is its newest attempt's."""
    listed, newest = context.cloud.compute.instances(job=facts.job).items, as_told(facts).newest
    ids = {instance.id for instance in listed} | set(newest.instances.values() if newest else ())
    return context.cloud.compute.fleet(ids=ids).items if ids else ()


def _opening(known: Policy, now: datetime) -> str:
    calendar = known.governance.calendar
    if closed := open_at(calendar, now):
        return f"not now: {closed}"
    return f"may be applied now, {now.astimezone(zone_of(calendar.timezone)):%a %Y-%m-%d %H:%M %Z}"


def _facts(context: Context, job: str) -> JobFacts:
    try:
        facts = look_at_job(context.cloud.store, context.settings.layout, job)
    except NotInLayoutError as error:
        raise click.ClickException(error.reason) from error
    if not (facts.script or facts.ledger or facts.ended or facts.registrations):
        raise click.ClickException(context.unknown_job(job))
    return facts
