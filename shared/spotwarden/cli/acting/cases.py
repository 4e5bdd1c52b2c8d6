"""`spotwarden cases`: what governance has against whom, and a person's answer to it."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import click

from spotwarden import clock
from spotwarden.cli.context import Context, default_owner, new_tick, open_context
from spotwarden.cli.json_text import json_text
from spotwarden.cli.table import duration, plain, render
from spotwarden.cli.times import MomentParam, SpanParam
from spotwarden.governance.answering import answered
from spotwarden.governance.cases.deliveries import as_arrived
from spotwarden.governance.cases.history import history, is_kept, standing
from spotwarden.governance.cases.notices import name_of
from spotwarden.governance.cases.observation import acts_from
from spotwarden.governance.cases.store import OpenCases, read_cases
from spotwarden.governance.units import slices_in
from spotwarden.layout import CaseRecord
from spotwarden.model.answer import Answer, AnswerRefused, Approve, Extend, Keep, Release
from spotwarden.model.case import Case
from spotwarden.model.jobfile import JobFile
from spotwarden.model.policy import RULES
from spotwarden.notify.links.writing import write_answer
from spotwarden.recovery.folder.job_folder import read_job_file

HEAD = ("RULE", "CASE", "ABOUT", "OWNER", "STANDS", "FOR", "DUE", "REASON")
RULE = click.Choice(list(RULES))
why_option = click.option("--why", default="", help="Reason, for the case's history.")


@click.group()
def cases() -> None:
    """List and answer open policy cases.

    RULE and KEY are what `spotwarden cases list` shows under RULE and CASE.

    \b
    Examples:
      spotwarden cases list
      spotwarden cases show idle test-vm
      spotwarden cases keep idle test-vm --for 8h --why "debugging"
      spotwarden cases extend job_cap my-job --by 4h
      spotwarden cases approve job_cap my-gang
    """


@cases.command("list")
@click.option("--rule", type=RULE, help="Only cases of this rule.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one list.")
def list_(rule: str | None, *, as_json: bool) -> None:
    """List open cases, oldest first."""
    context = open_context()
    opened = _read(context, (rule,) if rule else tuple(RULES))
    found = sorted((_arrived(context, filed.case) for filed in opened.filed), key=lambda case: case.opened)
    now = clock.now()
    if as_json:
        click.echo(json_text(found))
    elif found:
        click.echo(render(HEAD, [_cells(case, now) for case in found]))
    elif not opened.broken:
        click.echo(f"no open cases in gs://{context.settings.bucket}")
    if opened.broken:
        raise click.ClickException(_broken(opened.broken.values()))


@cases.command()
@click.argument("rule", type=RULE, metavar="RULE")
@click.argument("key")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(rule: str, key: str, *, as_json: bool) -> None:
    """Show a case: evidence, warnings and actions so far.

    KEY can also be the name of a VM or job that has only one case.
    """
    context = open_context()
    case = _arrived(context, _find(context, rule, key))
    if as_json:
        click.echo(json_text(case))
        return
    now = clock.now()
    click.echo(plain(f"{case.rule} {case.key}: {name_of(case)}, {standing(case, now)}"))
    click.echo(plain(f"  {case.reason}"))
    for word, said in _facts(case, now):
        if said:
            click.echo(plain(f"  {word:<9} {said}"))
    for moment in history(case):
        click.echo(f"  {moment.at:%Y-%m-%d %H:%M:%S} UTC  {plain(moment.what)}")


@cases.command()
@click.argument("rule", type=RULE, metavar="RULE")
@click.argument("key")
@click.option("--for", "span", type=SpanParam(), help="How long, such as 8h.")
@click.option("--until", type=MomentParam(), help="Until the end of a day (2026-12-31), or a time; UTC.")
@why_option
def keep(rule: str, key: str, *, span: timedelta | None, until: datetime | None, why: str) -> None:
    """Take no action on a case for a time.

    The policy limits how long.
    """
    if (span is None) == (until is None):
        raise click.UsageError("use --for or --until, not both")
    _answer(rule, key, lambda by, now: Keep(by=by, until=now + span if span else until or now, why=why))


@cases.command()
@click.argument("rule", type=RULE, metavar="RULE")
@click.argument("key")
@why_option
def release(rule: str, key: str, *, why: str) -> None:
    """Stop keeping a case.

    Its owner is warned again before any action.
    """
    _answer(rule, key, lambda by, _now: Release(by=by, why=why))


@cases.command()
@click.argument("rule", type=RULE, metavar="RULE")
@click.argument("key")
@click.option("--by", "span", type=SpanParam(), required=True, help="How much more time, such as 4h.")
@why_option
def extend(rule: str, key: str, *, span: timedelta, why: str) -> None:
    """Give a job more time, up to the policy's ceiling."""
    _answer(rule, key, lambda by, _now: Extend(by=by, hours=span / timedelta(hours=1), why=why))


@cases.command()
@click.argument("rule", type=RULE, metavar="RULE")
@click.argument("key")
@why_option
def approve(rule: str, key: str, *, why: str) -> None:
    """Approve a remedy for more VMs than one sweep may act on.

    The approval covers only these VMs and this problem, for as long as the policy says. The next sweep that
    still finds the problem acts. Until then, `spotwarden cases keep` withdraws the approval.
    """
    _answer(rule, key, lambda by, _now: Approve(by=by, why=why))


def _answer(rule: str, key: str, say: Callable[[str, datetime], Answer]) -> None:
    """Write the answer; a refusal says why, and nothing was changed."""
    context = open_context()
    case = _find(context, rule, key)
    context.check_clock()
    policy, tick = context.agreed(), new_tick("cases")
    answer = say(default_owner(), tick.now)
    file = _file(context, case) if isinstance(answer, Extend) else JobFile()
    said = write_answer(
        context.cloud.store,
        context.settings.layout,
        context.executor(tick),
        CaseRecord(rule=case.rule, key=case.key),
        lambda now_on_record: answered(now_on_record, answer, policy=policy, now=tick.now, file=file),
    )
    if isinstance(said, AnswerRefused):
        raise click.ClickException(f"{name_of(case)}: {said.why}")
    click.echo(f"{name_of(case)}: {said.reason}")
    if said.note:
        click.echo(said.note, err=True)


def _file(context: Context, case: Case) -> JobFile:
    """What the job says of itself."""
    job = case.subject.job
    return read_job_file(context.cloud.store, context.settings.layout, job) if job else JobFile()


def _read(context: Context, rules: tuple[str, ...]) -> OpenCases:
    settings = context.settings
    return read_cases(context.cloud.store, settings.layout, rules, workers=settings.workers)


def _arrived(context: Context, case: Case) -> Case:
    """The case with the warnings that have arrived since a sweep has looked."""
    return as_arrived(context.cloud.store, context.settings.layout, case)


def _broken(problems: Iterable[Exception]) -> str:
    listed = "\n".join(f"  {problem}" for problem in problems)
    return f"these can't be read, so they are skipped; fix or remove them:\n{listed}"


def _find(context: Context, rule: str, key: str) -> Case:
    """The case that the user means: its key, or whatever else only one case goes by."""
    opened = _read(context, (rule,))
    if (rule, key) in opened.broken:
        raise click.ClickException(_broken([opened.broken[rule, key]]))
    found = [filed.case for filed in opened.filed]
    meant = [case for case in found if case.key == key] or [case for case in found if key in _names(case)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        keys = "\n".join(f"  {case.key}  {name_of(case)}" for case in meant)
        raise click.ClickException(f"{len(meant)} cases are about {key}; name one by its key:\n{keys}")
    raise click.ClickException(
        f"no open case of the rule {rule} is about {key!r}; see `spotwarden cases list`"
    )


def _names(case: Case) -> set[str]:
    """By what else than its key a case can be named."""
    subject = case.subject
    names = {
        subject.job,
        *(target.name for target in subject.targets),
        *(item.id for item in subject.targets),
        *(word for group in slices_in(subject) for word in (group.name, group.id)),
    }
    return (names | {subject.owner} if case.rule == "owner_cap" else names) - {""}


def _cells(case: Case, now: datetime) -> tuple[str, ...]:
    from_then = acts_from(case)
    due = f"{from_then:%Y-%m-%d %H:%M}" if from_then else ""
    since = duration(now - (case.since or case.opened))
    return (
        case.rule,
        case.key,
        name_of(case),
        case.subject.owner,
        standing(case, now),
        since,
        "" if is_kept(case, now) else due,
        case.reason,
    )


def _facts(case: Case, now: datetime) -> list[tuple[str, str]]:
    """What there is to know, word by word."""
    subject = case.subject
    kept = f"until {case.keep_until:%Y-%m-%d %H:%M} UTC by {case.kept_by}" if case.keep_until else ""
    return [
        ("job", subject.job),
        ("owner", subject.owner),
        *(("TPU slice", f"managed instance group {group.name} {group.id}") for group in slices_in(subject)),
        *((("VM", f"{target.name} {target.id} {target.zone}".rstrip())) for target in subject.targets),
        ("remedy", f"{case.remedy.value}" if subject.ours else "none: it isn't part of a job"),
        ("due", f"{acts:%Y-%m-%d %H:%M} UTC" if (acts := acts_from(case)) else ""),
        ("limit reached", f"{case.due:%Y-%m-%d %H:%M} UTC" if case.due else ""),
        ("kept", kept + ("" if is_kept(case, now) else ", which is over") if kept else ""),
        ("why", case.kept_why),
        ("extended", f"by {case.extended:g} h" if case.extended else ""),
        ("failures", str(case.failures) if case.failures else ""),
        *((key, value) for key, value in case.evidence.items()),
    ]
