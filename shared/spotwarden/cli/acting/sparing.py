"""`spotwarden keep` and `spotwarden extend`: a person's word against what governance would do."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import click

from spotwarden.cli.acting.job_file import change_job_file
from spotwarden.cli.completing import job_names
from spotwarden.cli.context import Context, default_owner, new_tick, open_context
from spotwarden.cli.interrupted import so_far
from spotwarden.cli.table import plain
from spotwarden.cli.times import MomentParam, SpanParam
from spotwarden.engine.context import SweepContext
from spotwarden.governance.answering import answered
from spotwarden.governance.cases.notices import name_of
from spotwarden.governance.cases.store import read_cases
from spotwarden.governance.signals.whose import owned_or_left, written_down
from spotwarden.layout import CaseRecord, NotInLayoutError, job_problem
from spotwarden.model.action import LabelInstance
from spotwarden.model.answer import Answer, Answered, AnswerRefused, Extend, Keep, Release
from spotwarden.model.case import Case, CaseState
from spotwarden.model.facts import JobFacts
from spotwarden.model.fleet import KEEP_LABEL, Machine
from spotwarden.model.jobfile import JobFile
from spotwarden.model.opening import zone_of
from spotwarden.model.outcome import Done
from spotwarden.model.policy import RULES
from spotwarden.model.tick import Tick
from spotwarden.model.values import written
from spotwarden.notify.links.sparing import raised
from spotwarden.notify.links.writing import write_answer
from spotwarden.recovery.folder.job_folder import look_at_job, read_job_file

why_option = click.option("--why", default="", help="Reason, for the audit.")


class CaseCommand(NamedTuple):
    """A person's word about one job or VM: what it is called, who gives it, and when."""

    context: Context
    tick: Tick
    by: str
    name: str


@click.command()
@click.argument("name", metavar="JOB|VM", shell_complete=job_names)
@click.option("--for", "span", type=SpanParam(), help="How long, such as 8h.")
@click.option("--until", type=MomentParam(), help="Until the end of a day (2026-12-31), or a time; UTC.")
@click.option("--off", is_flag=True, help="End the exemption.")
@why_option
def keep(name: str, *, span: timedelta | None, until: datetime | None, off: bool, why: str) -> None:
    """Exempt a job or a VM from all policy rules for a time.

    Open cases about it are kept until that time, up to the policy's limit. If none is open, it is exempt
    from all rules until the end of that day: a job through keep_until in its job.toml, which also covers
    later attempts; a VM through its label spotwarden-keep.

    \b
    Examples:
      spotwarden keep my-job --for 8h --why "debugging"
      spotwarden keep my-vm-2 --until 2026-12-31
      spotwarden keep my-job --off
    """
    if (span is not None) + (until is not None) + off != 1:
        raise click.UsageError("use one of --for, --until and --off")
    word = _open("keep", name)
    if off:
        _release(word, why)
        return
    end = word.tick.now + span if span else until or word.tick.now
    if end <= word.tick.now:
        raise click.ClickException(f"{end:%Y-%m-%d %H:%M} UTC is in the past")
    about = _about(word)
    if about:
        _answer(word, about, lambda _case: Keep(by=word.by, until=end, why=why))
        return
    _exempt(word, end)


@click.command()
@click.argument("job", shell_complete=job_names)
@click.option("--by", "span", type=SpanParam(), required=True, help="How much more time, such as 4h.")
@why_option
def extend(job: str, *, span: timedelta, why: str) -> None:
    """Give a job more time than its limit.

    After a warning about the limit, the time is added to it, as far as the policy allows. Before one,
    max_runtime in its job.toml is raised, up to the policy's limit.

    \b
    Examples:
      spotwarden extend my-job --by 4h
      spotwarden extend my-job --by 1d --why "two more epochs"
    """
    word = _open("extend", job)
    so_far(
        f"we couldn't check whether {job} has more time now; `spotwarden policy explain {job}` shows"
        " it. The same command may add it twice"
    )
    about = [case for case in _about(word) if case.rule == "job_cap"]
    if about:
        _answer(word, about, lambda _case: Extend(by=word.by, hours=span / timedelta(hours=1), why=why))
        return
    facts = _job(word)
    if facts is None:
        raise click.ClickException(_unknown(word))
    longer = raised(facts, span, word.context.agreed())
    if isinstance(longer, AnswerRefused):
        raise click.ClickException(f"{job}: {plain(longer.why)}")
    change_job_file(word.context, word.tick, job, by=word.by, max_runtime=written(longer))
    click.echo(f"{job} may be up for {written(longer)} over all attempts: max_runtime in its job.toml")
    click.echo("a VM that runs now keeps its own limit (maxRunDuration)", err=True)


def _open(command: str, name: str) -> CaseCommand:
    if (problem := job_problem(name)) and not name.isdecimal():
        raise click.ClickException(f"{plain(problem)}; a VM is named by its ID")
    return CaseCommand(open_context(), new_tick(command), default_owner(), name)


def _about(word: CaseCommand) -> list[Case]:
    """The open cases about this job or VM that can still be answered."""
    settings = word.context.settings
    opened = read_cases(word.context.cloud.store, settings.layout, tuple(RULES), workers=settings.workers)
    word.context.check_clock()
    for broken in opened.broken.values():
        click.echo(f"skipped, since it can't be read: {plain(str(broken))}", err=True)
    cases = [
        filed.case for filed in opened.filed if filed.case.state not in {CaseState.UNKNOWN, CaseState.ACTED}
    ]
    sure = [case for case in cases if word.name in {case.subject.job, *_ids(case)}]
    if sure:
        return sure
    named = [case for case in cases if word.name in {target.name for target in case.subject.targets}]
    _refuse_many(
        word,
        {
            target.id: target.zone
            for case in named
            for target in case.subject.targets
            if target.name == word.name
        },
    )
    return named


def _ids(case: Case) -> set[str]:
    return {item for target in case.subject.targets for item in (target.id, target.unit)}


def _refuse_many(word: CaseCommand, zones: Mapping[str, str]) -> None:
    """A name is unique only in its zone: of several VMs of one name all but one may be somebody else's."""
    if len(zones) > 1:
        listed = "\n".join(f"  {vm}  in {zone}" for vm, zone in zones.items())
        raise click.ClickException(
            f"{len(zones)} VMs are named {word.name}, and nothing was changed. Name one by its ID:\n{listed}"
        )


def _answer(word: CaseCommand, cases: Sequence[Case], say: Callable[[Case], Answer]) -> None:
    """Answer each of the cases; what one refuses keeps the others from nothing."""
    refused = []
    policy, executor = word.context.agreed(), word.context.executor(word.tick)
    store, layout = word.context.cloud.store, word.context.settings.layout
    for case in cases:
        answer = say(case)
        file = read_job_file(store, layout, case.subject.job) if case.subject.job else JobFile()

        def decide(now: Case, answer: Answer = answer, file: JobFile = file) -> Answered:
            return answered(now, answer, policy=policy, now=word.tick.now, file=file)

        said = write_answer(store, layout, executor, CaseRecord(rule=case.rule, key=case.key), decide)
        if isinstance(said, AnswerRefused):
            refused.append(f"{case.rule} of {name_of(case)}: {said.why}")
            continue
        click.echo(plain(f"{case.rule} of {name_of(case)}: {said.reason}"))
        if said.note:
            click.echo(plain(said.note), err=True)
    if refused:
        raise click.ClickException("\n".join(plain(name) for name in refused))


def _exempt(word: CaseCommand, end: datetime) -> None:
    """Nothing is open about it: exempt it, to the end of a day of the policy's calendar."""
    zone = zone_of(word.context.agreed().governance.calendar.timezone)
    # The very end of a day is that day's, not the next one's.
    day = (end - timedelta(microseconds=1)).astimezone(zone).date()
    if _job(word) is not None:
        change_job_file(word.context, word.tick, word.name, by=word.by, keep_until=day)
        click.echo(
            f"no case is open; {word.name} is exempt from every rule to the end of {day}"
            " (keep_until in its job.toml)"
        )
        return
    _label(word, _vm(word), day.isoformat())
    click.echo(
        f"no case is open; {word.name} is exempt from every rule to the end of {day}"
        " (its label spotwarden-keep)"
    )


def _release(word: CaseCommand, why: str) -> None:
    """Whatever keeps it: vetoes, its job.toml, its label."""
    kept = [case for case in _about(word) if case.keep_until and case.keep_until > word.tick.now]
    if kept:
        _answer(word, kept, lambda _case: Release(by=word.by, why=why))
    facts = _job(word)
    if facts is not None and facts.file.keep_until is not None:
        change_job_file(word.context, word.tick, word.name, by=word.by, keep_until=None)
        click.echo(f"{word.name}: its job.toml no longer keeps it")
    labelled = [machine for machine in _machines(word) if KEEP_LABEL in machine.labels]
    # Another VM of the name is somebody else's, and so is what keeps it.
    labelled = _own(word, labelled) if facts is not None else _only_one(word, labelled)
    if labelled:
        _label(word, labelled, "")
        click.echo(f"{', '.join(instance.name for instance in labelled)}: its label no longer keeps it")
    if not (kept or labelled or (facts and facts.file.keep_until)):
        click.echo(f"nothing keeps {word.name}")


def _job(word: CaseCommand) -> JobFacts | None:
    """The job of this name; None where there is none."""
    if word.name.isdecimal():
        return None
    try:
        facts = look_at_job(word.context.cloud.store, word.context.settings.layout, word.name)
    except NotInLayoutError as error:
        raise click.ClickException(str(error)) from error
    known = facts.script or facts.ledger or facts.ended or facts.registrations
    return facts if known else None


def _machines(word: CaseCommand) -> list[Machine]:
    """Every VM of this name, in whichever zone, or the one of this ID."""
    fleet = word.context.cloud.compute.fleet()
    return [machine for machine in fleet.items if word.name in {machine.name, machine.id}]


def _own(word: CaseCommand, machines: Sequence[Machine]) -> list[Machine]:
    """Those that are this job's, by its records."""
    if not machines:
        return []
    context = SweepContext.open(word.context.cloud, word.context.settings, word.context.agreed(), word.tick)
    whose = owned_or_left(context, machines, written_down(context)).jobs
    return [machine for machine in machines if whose.get(machine.id) == word.name]


def _only_one(word: CaseCommand, machines: Sequence[Machine]) -> list[Machine]:
    """The VM that is meant."""
    _refuse_many(word, {machine.id: machine.zone for machine in machines})
    return [*machines]


def _vm(word: CaseCommand) -> list[Machine]:
    found = _only_one(word, _machines(word))
    if not found:
        raise click.ClickException(_unknown(word))
    return found


def _unknown(word: CaseCommand) -> str:
    where = f"gs://{word.context.settings.bucket}"
    return f"unknown job or VM {word.name!r} in {where}. To list jobs: spotwarden jobs"


def _label(word: CaseCommand, machines: Sequence[Machine], value: str) -> None:
    executor = word.context.executor(word.tick)
    for machine in machines:
        outcome = executor.apply(
            LabelInstance(
                reason=f"{word.by} {'keeps it' if value else 'no longer keeps it'}",
                job=machine.job,
                node=machine.name,
                zone=machine.zone,
                instance_id=machine.id,
                labels={KEEP_LABEL: value},
            )
        )
        if not isinstance(outcome, Done):
            raise click.ClickException(f"{machine.name} in {machine.zone} could not be labeled: {outcome}")
