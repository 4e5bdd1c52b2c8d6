"""`spotwarden zones`: which zones no job is launched in for a while, and why."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

import click
import msgspec

from spotwarden import clock
from spotwarden.cli.context import Context, default_owner, new_tick, open_context
from spotwarden.cli.json_text import json_text
from spotwarden.cli.launching.near import check_places
from spotwarden.cli.table import render
from spotwarden.cli.times import MomentParam, SpanParam
from spotwarden.layout import AvoidedZones
from spotwarden.model.action import StoreObject
from spotwarden.model.outcome import Done
from spotwarden.model.placement import AvoidedPlace, AvoidedPlaces
from spotwarden.model.spans import moment
from spotwarden.ports import BrokenError
from spotwarden.recovery.places.avoiding import current
from spotwarden.recovery.places.memory import KeptAvoided, read_avoided

HEAD = ("ZONE", "UNTIL", "BY", "REASON")
PLACE = re.compile(r"[a-z]+(?:-[a-z0-9]+)+")


@click.group()
def zones() -> None:
    """Keep all jobs away from a zone for a time.

    VMs that run there stay. A job whose zones are all avoided waits.

    \b
    Examples:
      spotwarden zones avoid us-central1-a --for 6h --why "host errors"
      spotwarden zones list
      spotwarden zones allow us-central1-a
    """


@zones.command()
@click.argument("names", metavar="ZONE|REGION...", nargs=-1, required=True)
@click.option("--for", "span", type=SpanParam(), help="How long, such as 6h.")
@click.option("--until", type=MomentParam(), help="Until the end of a day (2026-12-31), or a time; UTC.")
@click.option("--why", default="", help="Reason, for people who wait.")
def avoid(names: Sequence[str], *, span: timedelta | None, until: datetime | None, why: str) -> None:
    """Launch no job in these zones, from the next sweep on."""
    if (span is None) == (until is None):
        raise click.UsageError("use one of --for and --until")
    if unreal := [name for name in names if not PLACE.fullmatch(name)]:
        raise click.ClickException(f"{unreal[0]!r} is not a zone or a region; write us-central1-a")
    context = open_context()
    check_places(context.cloud.compute, names)
    kept, now = _kept(context, anew=True), clock.now()
    context.check_clock()
    end = now + span if span else until or now
    if end <= now:
        raise click.ClickException(f"{moment(end)} is in the past")
    added = [AvoidedPlace(zone=name, until=end, reason=why, by=default_owner()) for name in names]
    others = [entry for entry in current(kept.places, now) if entry.zone not in names]
    _write(context, kept, (*others, *added))
    click.echo(f"no job is launched in {', '.join(names)} until {moment(end)}; VMs that run there stay")


@zones.command()
@click.argument("names", metavar="ZONE|REGION...", nargs=-1, required=True)
def allow(names: Sequence[str]) -> None:
    """Launch jobs in these zones again."""
    context = open_context()
    kept, now = _kept(context), clock.now()
    known = {entry.zone for entry in current(kept.places, now)}
    by_policy = {entry.zone for entry in current(context.agreed().placement.avoid, now)}
    if unknown := [name for name in names if name not in known]:
        where = (
            "the policy avoids it: change [placement] avoid"
            if unknown[0] in by_policy
            else "it is not avoided"
        )
        raise click.ClickException(f"{unknown[0]}: {where}. To see what is: spotwarden zones list")
    _write(context, kept, [entry for entry in current(kept.places, now) if entry.zone not in names])
    click.echo(f"jobs may be launched in {', '.join(names)} again")


@zones.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one list.")
def list_(*, as_json: bool) -> None:
    """List the avoided zones, the policy's too."""
    context, now = open_context(), clock.now()
    by_policy = [
        msgspec.structs.replace(entry, by="the policy") for entry in context.agreed().placement.avoid
    ]
    named = _kept(context).places
    found = current((*by_policy, *named), now)
    if as_json:
        click.echo(json_text(found))
        return
    if not found:
        click.echo("no zone is avoided")
        return
    rows = [(entry.zone, moment(entry.until) or "for good", entry.by, entry.reason) for entry in found]
    click.echo(render(HEAD, rows))


def _kept(context: Context, *, anew: bool = False) -> KeptAvoided:
    """What is avoided by command; a list that cannot be read is written anew where that is wished.

    Raises:
        ClickException: it cannot be read; says what to type.
    """
    try:
        return read_avoided(context.cloud.store, context.settings.layout)
    except BrokenError as problem:
        if anew:
            click.echo(f"{problem}; it is replaced", err=True)
            return KeptAvoided(generation=None)
        raise click.ClickException(
            f"{problem}. No zone is avoided by command until you write it again: spotwarden zones avoid"
        ) from problem


def _write(context: Context, kept: KeptAvoided, places: Sequence[AvoidedPlace]) -> None:
    """Write the list anew, unless somebody else has meanwhile."""
    stored = StoreObject(
        reason="zones to avoid were changed",
        job="",
        name=context.settings.layout.build(AvoidedZones()),
        data=msgspec.json.format(msgspec.json.encode(AvoidedPlaces(places=tuple(places)))),
        content_type="application/json",
        generation=kept.generation,
    )
    outcome = context.executor(new_tick("zones")).apply(stored)
    if not isinstance(outcome, Done):
        raise click.ClickException("somebody else changed the list at the same moment; run the command again")
