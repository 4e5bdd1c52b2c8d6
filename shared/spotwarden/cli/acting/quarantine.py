"""`spotwarden quarantine`: what could not be used, and what becomes of it."""

from collections.abc import Sequence

import click
import msgspec

from spotwarden import clock, typed
from spotwarden.cli.context import Context, new_tick, open_context
from spotwarden.cli.json_text import json_text
from spotwarden.cli.table import duration, render
from spotwarden.layout import MarkerName, NotInLayoutError, Quarantined, node_problem
from spotwarden.model.action import Change, DropObject, StoreObject
from spotwarden.model.marker import Aside
from spotwarden.model.outcome import Done

typed.prepare(Aside)

HEAD = ("MARKER", "SINCE", "JOB", "REASON")


class QuarantinedMarker(msgspec.Struct, frozen=True, kw_only=True):
    """One object of the quarantine: its name, its generation, and what it says."""

    name: str
    generation: int
    aside: Aside


@click.group()
def quarantine() -> None:
    """List, retry or drop quarantined markers.

    \b
    Examples:
      spotwarden quarantine list
      spotwarden quarantine retry test-vm      once the create script is fixed
      spotwarden quarantine drop --all
    """


@quarantine.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one list.")
def list_(*, as_json: bool) -> None:
    """List quarantined markers with the reason, oldest first."""
    context = open_context()
    kept = _read(context)
    if as_json:
        click.echo(json_text([marker.aside for marker in kept]))
        return
    if not kept:
        click.echo(f"the quarantine of gs://{context.settings.bucket} is empty")
        return
    now = clock.now()
    rows = [
        (recorded.aside.marker, duration(now - recorded.aside.at), recorded.aside.job, recorded.aside.reason)
        for recorded in kept
    ]
    click.echo(render(HEAD, rows))


@quarantine.command()
@click.argument("markers", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All quarantined markers.")
@click.option("--empty", is_flag=True, help="Put back an empty marker; its name identifies the job.")
def retry(markers: Sequence[str], *, everything: bool, empty: bool) -> None:
    """Put markers back for the next sweep."""
    context = open_context()
    for marker in _chosen(context, markers, everything=everything):
        if problem := node_problem(marker.aside.marker):
            raise click.ClickException(f"{marker.aside.marker}: {problem}; it can only be dropped")
        put_back = StoreObject(
            reason="put back from the quarantine",
            job=marker.aside.job,
            name=context.settings.layout.build(MarkerName(node=marker.aside.marker)),
            data=b"" if empty else marker.aside.content.encode(),
            only_new=True,
        )
        _do(context, marker, put_back)
        click.echo(f"{marker.aside.marker}: put back")


@quarantine.command()
@click.argument("markers", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All quarantined markers.")
@click.option("--yes", is_flag=True, help="Don't ask for confirmation.")
def drop(markers: Sequence[str], *, everything: bool, yes: bool) -> None:
    """Delete quarantined markers; the audit keeps a record."""
    context = open_context()
    chosen = _chosen(context, markers, everything=everything)
    names = ", ".join(marker.aside.marker for marker in chosen)
    if not yes:
        click.confirm(f"Drop {names}? Their jobs won't restart", abort=True)
    for quarantined_marker in chosen:
        _do(context, quarantined_marker)
        click.echo(f"{quarantined_marker.aside.marker}: dropped")


def _read(context: Context) -> list[QuarantinedMarker]:
    """Everything in the quarantine, oldest first; an object that is none of ours is left alone."""
    store, layout = context.cloud.store, context.settings.layout
    found: list[QuarantinedMarker] = []
    for entry in store.entries(layout.quarantine()):
        try:
            ours = isinstance(layout.parse(entry.name), Quarantined)
        except NotInLayoutError:
            continue
        stored = store.read(entry.name) if ours else None
        if stored is not None:
            aside = typed.decode(stored.data, Aside)
            found.append(QuarantinedMarker(name=entry.name, generation=stored.generation, aside=aside))
    return sorted(found, key=lambda records: records.aside.at)


def _chosen(context: Context, markers: Sequence[str], *, everything: bool) -> list[QuarantinedMarker]:
    """Those that the user means: of several with one name the newest, unless all are meant."""
    kept = _read(context)
    if everything:
        return kept
    if not markers:
        raise click.UsageError("name a marker of `spotwarden quarantine list`, or add --all")
    by_name = {marker.aside.marker: marker for marker in kept}
    if unknown := [name for name in markers if name not in by_name]:
        known = f"it has {', '.join(sorted(by_name))}" if by_name else "it is empty"
        raise click.ClickException(f"{', '.join(unknown)}: not in the quarantine; {known}")
    return [by_name[name] for name in markers]


def _do(context: Context, marker: QuarantinedMarker, first: StoreObject | None = None) -> None:
    """The marker first, then its copy: killed between the two, nothing is lost."""
    executor = context.executor(new_tick("quarantine"))
    dropped = DropObject(
        reason="no longer in the quarantine",
        job=marker.aside.job,
        name=marker.name,
        generation=marker.generation,
    )
    steps: list[Change] = [first, dropped] if first else [dropped]
    for step in steps:
        outcome = executor.apply(step)
        if not isinstance(outcome, Done):
            raise click.ClickException(f"{marker.aside.marker}: {_why(step, outcome)}")


def _why(step: Change, outcome: object) -> str:
    if isinstance(step, StoreObject):
        return (
            "there is a newer marker of this name already; `spotwarden quarantine drop` deletes the old one"
        )
    return f"could not be deleted: {outcome}"
