"""The files of an attempt that is on record become the job's: by whoever holds the record, and nobody else.

First goes what other launches have sent and not put in place. A command that was overtaken, and wakes up
later, has then nothing left to copy; so it cannot replace what is put in place here.
"""

from collections.abc import Iterable
from contextlib import suppress

import click
from msgspec.structs import replace

from spotwarden.cli.context import Context
from spotwarden.cli.launching.staging import AT_ONCE, StagedList, staged_list
from spotwarden.cli.launching.storing import look
from spotwarden.engine.executor import Executor
from spotwarden.engine.fan_out import Each, each
from spotwarden.layout import StagedFile
from spotwarden.model.action import WriteAttempt
from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.outcome import Lost, Unanswered
from spotwarden.model.tick import Tick
from spotwarden.ports import HeldObject, Transfers, UnansweredError
from spotwarden.recovery.steps.leasing import lease


def put_in_place(context: Context, executor: Executor, facts: JobFacts, tick: Tick) -> None:
    """Copy what the newest attempt's command has sent to where the job's VMs look for it, and record that.

    Doing it twice, or two at once, comes to the same: each file's place is named by its content.

    Raises:
        ClickException: the job was stopped or launched by somebody else, or the files are gone.
    """
    attempt = facts.ledger[-1].attempt
    files, layout = context.files(), context.settings.layout
    there = {held.name: held for held in files.held(layout.staged(facts.job))}
    found = staged_list(context, attempt)
    # Only who is still the newest on the chain may let go of what others have sent.
    if _is_settled(context, attempt):
        return
    sources = _sources(context, attempt, found or StagedList(), there)
    if found is None or sources is None:
        raise _gone(attempt)
    ours = {source.name for source in sources.values()} | {
        layout.build(StagedFile(job=facts.job, digest=attempt.staged))
    }
    _drop(files, [held for held in there.values() if held.name not in ours])
    try:
        _copy(files, sources, found)
    except UnansweredError:
        if _is_settled(context, attempt):
            return
        raise
    _record(context, executor, facts, tick)
    # All is in place: what is not deleted now goes with the next launch.
    with suppress(UnansweredError):
        _drop(files, [held for held in there.values() if held.name in ours])


def _sources(
    context: Context, attempt: Attempt, found: StagedList, there: dict[str, HeldObject]
) -> dict[str, HeldObject] | None:
    """Where each object's content lies; None where some of it is gone."""
    build = context.settings.layout.build
    places = {
        name: there.get(build(StagedFile(job=attempt.job, digest=digest)))
        for name, digest in found.files.items()
    }
    known = {name: held for name, held in places.items() if held is not None}
    return known if len(known) == len(places) else None


def _copy(files: Transfers, sources: dict[str, HeldObject], found: StagedList) -> None:
    copied: Each[None] = each(sources.items(), lambda pair: files.copy(pair[1], pair[0]), AT_ONCE)
    for failure in copied.failures:
        raise failure
    _drop(
        files,
        [
            HeldObject(name=name, generation=generation, size=0, crc32c="")
            for name, generation in found.outdated.items()
            if name not in sources
        ],
    )


def _drop(files: Transfers, held: Iterable[HeldObject]) -> None:
    for failure in each(held, files.drop, AT_ONCE).failures:
        raise failure


def _record(context: Context, executor: Executor, facts: JobFacts, tick: Tick) -> None:
    """Write that the files are in place, with the generation that the script has there."""
    attempt = facts.ledger[-1].attempt
    script = look(context, facts.job, script=True).script
    version = attempt.script and replace(attempt.script, generation=script.generation if script else 0)
    settled = replace(
        attempt, staged="", script=version, lease=lease(context.policy.recovery, tick), updated=tick.now
    )
    outcome = executor.apply(
        WriteAttempt(reason="its files are in place", record=settled, generation=facts.head)
    )
    if isinstance(outcome, Unanswered):
        raise UnansweredError(outcome.detail)
    if isinstance(outcome, Lost) and not _is_settled(context, attempt):
        raise _gone(attempt)


def _is_settled(context: Context, attempt: Attempt) -> bool:
    """Whether somebody else has put this attempt's files in place; `ClickException` where it is over."""
    newest = look(context, attempt.job).ledger[-1].attempt
    if newest.number != attempt.number or newest.closed:
        raise overtaken(attempt, newest)
    return not newest.staged


def overtaken(attempt: Attempt, newest: Attempt) -> click.ClickException:
    """What is told where an attempt is the newest no more."""
    return click.ClickException(
        f"{attempt.job} was launched or stopped by somebody else meanwhile: attempt"
        f" {newest.number} is {newest.state.value}. Nothing was launched here. `spotwarden show"
        f" {attempt.job}` shows its status"
    )


def _gone(attempt: Attempt) -> click.ClickException:
    return click.ClickException(
        f"the files sent for attempt {attempt.number} of {attempt.job} are gone, so nothing was launched."
        f" Run `spotwarden stop {attempt.job}`, then the same command with --again"
    )
