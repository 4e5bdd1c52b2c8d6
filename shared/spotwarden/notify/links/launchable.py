"""What a restart by link is asked before it claims an attempt: as commands are, by what is in the bucket."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from spotwarden.engine.context import SweepContext
from spotwarden.model.facts import JobFacts
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import Launch
from spotwarden.model.prices import PriceTable
from spotwarden.model.spans import moment
from spotwarden.notify.links.reply import AnswerVerdict
from spotwarden.notify.links.standing import barred
from spotwarden.recovery.kinds.allowed import as_allowed, where_allowed, with_records
from spotwarden.recovery.kinds.becoming import unpriced
from spotwarden.recovery.kinds.complying import acting
from spotwarden.recovery.kinds.disallowed import left_out, refused
from spotwarden.recovery.kinds.machines import launches, machine_key
from spotwarden.recovery.kinds.price_file import kept_prices, of_launches
from spotwarden.recovery.kinds.prices import price_of
from spotwarden.recovery.kinds.unpriced_budget import kind_of, uncounted, unenforced, ways
from spotwarden.recovery.kinds.used_budget import used_budget
from spotwarden.recovery.places.place_records import read_record


def check_launch(context: SweepContext, facts: JobFacts, verdict: AnswerVerdict) -> AnswerVerdict:
    """The verdict; barred where compliance would stop the job, or its budget can't be enforced or is used up.

    What a script that can't be read comes to is told by recovery, which may launch what ran before.
    """
    launch, policy = facts.launch, context.policy
    if not isinstance(launch, Launch):
        return verdict
    file = replace(facts.file, owner=facts.owner)
    held = acting(launch, policy, context.tick, owner=facts.owner, file=file)
    if held is not None and (reasons := refused(launch, file, policy.placement, held)):
        return _stopped(facts.job, reasons)
    notes = left_out(launch, file, policy.placement, held) if held is not None else []
    cost = _cost(context, launch, file)
    if isinstance(cost, AnswerVerdict):
        return cost
    if cost:
        notes.append(cost)
    if over := overspent(facts, launch, kept_prices(context.settings.prices_file), context.tick.now):
        return over
    if file.deadline is not None and file.deadline <= context.tick.now:
        notes.append(f"its deadline, {moment(file.deadline)}, is past")
    return replace(verdict, notes=(*map(_sentence, notes), *verdict.notes))


def overspent(facts: JobFacts, launch: Launch, table: PriceTable, now: datetime) -> AnswerVerdict | None:
    """The verdict on a job whose budget is used up, by the prices of this table; None where it isn't."""
    budget = used_budget(facts, launch, table, now)
    if budget is None:
        return None
    return barred(
        f"{facts.job} was not restarted",
        f"It has used ${budget.used:.2f} of its budget of ${budget.limit:.2f}. Nothing was changed.",
        instead=f"Raise `budget` in {facts.job}/metadata/job.toml, then try again.",
    )


def _stopped(job: str, reasons: Sequence[str]) -> AnswerVerdict:
    return barred(
        f"{job} was not restarted",
        f"The policy would stop it: {'; '.join(reasons)}. Nothing was changed.",
        instead="Change its script or job.toml, or ask ops to allow it. Then run:",
        command=f"spotwarden submit --again --job {job} create-instance.sh",
    )


def _cost(context: SweepContext, launch: Launch, file: JobFile) -> str | AnswerVerdict:
    """What to know of what the job costs, or the verdict that its budget can't be enforced."""
    kind = kind_of(launch)
    if not kind.machine_type or file.price_per_hour is not None:
        return ""
    table = kept_prices(context.settings.prices_file)
    if file.budget is None:
        return uncounted(kind) if not table.problem and price_of(kind, table) is None else ""
    if table.problem:
        return f"the budget can't be checked: {table.problem}"
    facts = _with_all(context, JobFacts(job=launch.job, launch=launch, file=file))
    found = [*unpriced(facts, context.policy.placement, of_launches(table, facts))]
    if not found:
        return ""
    changes = " ".join((
        *ways(found, facts),
        f"Or set `max_runtime` instead of `budget` in {launch.job}/metadata/job.toml, then try again.",
        "Ops can add the price: python infra/pricing/write_prices.py --key API_KEY",
    ))  # fmt: skip
    says = f"{unenforced(found, file.budget)}. Nothing was changed."
    return barred(f"{launch.job} was not restarted", says, instead=changes)


def _with_all(context: SweepContext, facts: JobFacts) -> JobFacts:
    """The job as all that it may become, in the places that recovery remembers."""
    store, layout = context.cloud.store, context.settings.layout
    facts = as_allowed(facts, context.policy, context.tick, context.settings.project)
    records = {each.machine: read_record(store, layout, machine_key(each))[0] for each in launches(facts)}
    return where_allowed(with_records(facts, records), context.policy, context.tick)


def _sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:]}."
