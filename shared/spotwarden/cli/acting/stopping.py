"""`spotwarden stop` and `spotwarden restart`: a job ends, or goes on, by its owner's word."""

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import click
from msgspec.structs import replace

from spotwarden import clock
from spotwarden.cli.acting.asking import JobCommand, open_command, refuse, report, say
from spotwarden.cli.completing import job_names
from spotwarden.cli.context import Context
from spotwarden.cli.interrupted import so_far
from spotwarden.cli.launching.compliance import check_allowed
from spotwarden.cli.launching.priced import check_priced
from spotwarden.create_script.request.stored import with_launch
from spotwarden.engine.chain import newest_number
from spotwarden.model.action import WriteAttempt
from spotwarden.model.attempt import AttemptState
from spotwarden.model.launch import Launch
from spotwarden.model.notice import Way
from spotwarden.model.policy import Policy
from spotwarden.model.spans import moment
from spotwarden.notify.links.carrying import Carried, carry_out, look_at_rest
from spotwarden.notify.links.considering import consider
from spotwarden.notify.links.ending import end, restarted_since
from spotwarden.notify.links.launchable import overspent
from spotwarden.notify.links.offer_facts import look, look_at_all
from spotwarden.notify.links.reply import AnswerVerdict, OfferFacts, OfferStanding
from spotwarden.notify.links.restarting import stopped_since
from spotwarden.recovery import submission
from spotwarden.recovery.kinds.price_file import read_prices

WATCH = timedelta(seconds=30)
"""How long a create request that was under way when its job was closed is waited for; one that was not
answered by then is waited for until it cannot be sent any more, 5 min at most."""
EACH = timedelta(seconds=3)
JOB = click.argument("job", shell_complete=job_names)


@click.command()
@JOB
@click.option("--delete", is_flag=True, help="Delete its VMs, including stopped ones.")
@click.option("--why", default="", help="Reason, for the job's history.")
@click.option("--yes", is_flag=True, help="Don't ask for confirmation.")
def stop(job: str, *, delete: bool, why: str, yes: bool) -> None:
    """Stop all nodes of a job for good.

    The job is closed first, so that nothing restarts it; then its VMs are stopped. Their disks are kept
    and cost money, unless you add --delete. Data on local SSDs is lost. A job that waits for capacity is
    stopped, too; its VM that waits is deleted. The exit status is 1 if it wasn't stopped or we couldn't
    check.

    \b
    Examples:
      spotwarden stop my-job
      spotwarden stop my-job --yes --why "wrong learning rate"
      spotwarden stop my-job --delete
    """
    so_far("nothing was changed")
    command = open_command("stop", job, Way.STOP)
    offer_facts = look_at_all(command.sweep, command.offer)
    command.context.check_clock()
    ending = partial(_ending, policy=command.policy, delete=delete, why=why)
    verdict = ending(offer_facts)
    if verdict.standing is OfferStanding.BARRED:
        raise refuse(verdict)
    if verdict.standing is OfferStanding.OPEN:
        say(verdict)
        if not yes:
            click.confirm(f"Stop {job}?", abort=True)
    again = f"spotwarden stop {job}{' --delete' if delete else ''} --yes"
    so_far(f"we couldn't check whether {job} is stopped; `{again}` makes sure, and is safe to repeat")
    carried = end_job(command, offer_facts, ending)
    report(carried)
    if carried.hidden:
        raise click.ClickException(f"{carried.hidden}: a VM there may still run; run the command again")


def _ending(offer_facts: OfferFacts, *, policy: Policy, delete: bool, why: str) -> AnswerVerdict:
    return end(offer_facts, policy, clock.now(), delete=delete, why=why)


def end_job(
    command: JobCommand,
    offer_facts: OfferFacts,
    ending: Callable[[OfferFacts], AnswerVerdict],
    pause: Callable[[float], None] = time.sleep,
) -> Carried:
    """Close the job and stop its VMs, those that a request under way still makes included."""
    newest = offer_facts
    closed = 0

    def again() -> AnswerVerdict:
        nonlocal newest
        newest = look_at_all(command.sweep, command.offer)
        return restarted_since(newest, closed, command.sweep.tick.now) or ending(newest)

    executor, head = command.sweep.executor, _head(command)
    carried = carry_out(executor, ending(offer_facts), again, head)
    closed = max((step.record.number for step in carried.done if isinstance(step, WriteAttempt)), default=0)
    if carried.done:
        so_far(
            f"{carried.verdict.done}; we couldn't check whether a pending request creates another VM."
            " Run the same command again to check"
        )
    done, left = (
        carried.verdict.done,
        WATCH if _is_placing(offer_facts) else EACH if carried.done else timedelta(0),
    )
    told = False
    while not carried.unsure and carried.verdict.standing is not OfferStanding.BARRED:
        until = submission.unsent_until(newest.job, clock.now()) if newest.job else None
        if left <= timedelta(0) and until is None:
            break
        if left <= timedelta(0) and until and not told:
            click.echo(
                f"a request for its VMs may still be sent until {until:%H:%M:%S} UTC: waiting", err=True
            )
            told = True
        # A sweep that was under way may have asked for VMs, or begun another attempt, before it saw the end.
        pause(EACH.total_seconds())
        left -= EACH
        carried = carry_out(executor, again(), again, head)
        if carried.done:
            done = f"{done}; {carried.verdict.done}"
        if any(isinstance(step, WriteAttempt) for step in carried.done):
            # Somebody has opened the job meanwhile, and what was started may run only by now.
            left = EACH
    if carried.verdict.standing is OfferStanding.BARRED:
        return carried
    hidden = newest.job.unsure if newest.job else ""
    return carried._replace(verdict=replace(carried.verdict, done=done), hidden=hidden)


def _head(command: JobCommand) -> Callable[[], int]:
    """What lists the number of the job's newest record."""
    sweep = command.sweep
    return partial(newest_number, sweep.cloud.store, sweep.settings.layout, command.offer.job)


def _is_placing(offer_facts: OfferFacts) -> bool:
    newest = offer_facts.job.newest if offer_facts.job else None
    return newest is not None and newest.state is AttemptState.PLACING


@click.command()
@JOB
def restart(job: str) -> None:
    """Restart a job that is over, as its next attempt.

    The job starts again from its stored create script, and finds its earlier output. Its VMs are created
    within about a minute. If it can't be restarted, the exit status is 1 and the reason is printed.

    \b
    Examples:
      spotwarden restart my-job
      spotwarden restart my-job && spotwarden logs -f my-job
    """
    so_far("nothing was changed")
    command = open_command("restart", job, Way.RESTART)

    def looked() -> OfferFacts:
        return look_at_rest(partial(look, command.sweep, command.offer), command.sweep.tick.now, time.sleep)

    first = looked()
    command.context.check_clock()

    def again() -> AnswerVerdict:
        offer_facts = looked()
        return stopped_since(first, offer_facts) or consider(offer_facts, command.policy, clock.now())

    verdict = consider(first, command.policy, clock.now())
    if verdict.standing is OfferStanding.BARRED:
        raise refuse(verdict)
    if verdict.standing is OfferStanding.OPEN:
        _check_launch(command.context, first)
        for note in verdict.notes:
            click.echo(note)
    so_far(
        f"we couldn't check whether the next attempt of {job} is on record; the same command makes"
        f" sure, and creates no second one. `spotwarden show {job}` shows its status"
    )
    report(carry_out(command.sweep.executor, verdict, again))


def _check_launch(context: Context, offer_facts: OfferFacts) -> None:
    """Refuse what compliance stops, what nobody can price, and what has used up its budget.

    A script that can't be read is told by recovery, which may launch what ran before.
    """
    if offer_facts.job is None:
        return
    facts = with_launch(offer_facts.job, context.settings.project, context.agreed().recovery.gcloud_version)
    if isinstance(facts.launch, Launch):
        check_allowed(context, facts.launch, facts.file, facts.owner)
        check_priced(context, facts.launch, facts.file, facts.owner)
        table = read_prices(context.settings.prices_file)
        if over := overspent(facts, facts.launch, table, clock.now()):
            raise refuse(over)
    if facts.file.deadline is not None and facts.file.deadline <= clock.now():
        click.echo(f"warning: its deadline, {moment(facts.file.deadline)}, is past", err=True)
