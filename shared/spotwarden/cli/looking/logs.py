"""`spotwarden logs`: what a job has said, over all of its attempts, and what it says now."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import click

from spotwarden import clock
from spotwarden.cli.completing import job_names
from spotwarden.cli.context import Context, open_context
from spotwarden.cli.interrupted import status_of
from spotwarden.cli.looking.reading import LinesWanted, LogReader
from spotwarden.cli.looking.saying import Teller
from spotwarden.cli.looking.sources import Glance, LogCloud, LogSources
from spotwarden.cli.table import plain
from spotwarden.cli.times import Since
from spotwarden.gcp.endpoint import is_loopback
from spotwarden.model.attempt import CLOSED, Attempt, AttemptState
from spotwarden.ports import UnansweredError

PAUSE, LOCAL_PAUSE = timedelta(seconds=5), timedelta(milliseconds=250)
"""Between two looks: of a project's log one may ask sixty times a minute, all together."""
LAST_WORDS = timedelta(seconds=10)
"""So long after a job's end its last lines are waited for."""
OVER = {AttemptState.STOPPED: 143, AttemptState.GAVE_UP: 75}
"""What following ends with where the job wrote no status: as if terminated, and EX_TEMPFAIL."""
MOST_STATUS = 255


@click.command()
@click.argument("job", shell_complete=job_names)
@click.option("-f", "--follow", "follows", is_flag=True, help="Follow until the job ends, over all attempts.")
@click.option("--node", default="", help="Only this VM.")
@click.option("--attempt", type=click.IntRange(1), default=None, help="Only this attempt.")
@click.option("--since", type=Since(), help="Only lines since: 2h, or 2026-11-21T08:00 (UTC).")
@click.option("--tail", type=click.IntRange(1), default=None, metavar="N", help="Only the last N lines.")
@click.option("-t", "--times", is_flag=True, help="Print the time of each line (UTC).")
@click.pass_context
def logs(
    ctx: click.Context,
    job: str,
    *,
    follows: bool,
    node: str,
    attempt: int | None,
    since: datetime | None,
    tail: int | None,
    times: bool,
) -> None:
    """Print a job's log, oldest lines first.

    Each attempt has its own heading. Lines come from Cloud Logging, or else from the copy that the job kit
    stores in the bucket. With -f, the log continues over preemptions until the job ends. The exit status is
    then the job's; 143 if it was stopped, 75 if Spotwarden gave up on it.

    \b
    Examples:
      spotwarden logs my-job
      spotwarden logs -f my-job && spotwarden download my-job
      spotwarden logs my-job --tail 20 --node my-job-2
      spotwarden logs my-job --attempt 2 --since 1h -t
    """
    context = open_context()
    wanted = LinesWanted(node=node, attempt=attempt or 0, since=since, tail=tail or 0)
    if follows:
        ctx.exit(follow(context, job, wanted, times=times))
    sources, reader = _open(context, job, wanted, times=times)
    glance = _glance(context, sources, job)
    _check(wanted, glance, job)
    reader.read(glance)
    if not reader.said:
        when = f" since {wanted.since:%Y-%m-%d %H:%M:%S} UTC" if wanted.since else " yet"
        _note(f"nothing has been logged{when}")


def follow(
    context: Context,
    job: str,
    wanted: LinesWanted = LinesWanted(),
    *,
    times: bool = False,
    pause: Callable[[float], None] = time.sleep,
) -> int:
    """Tell a job's log until it ends; give the exit status of the command that did so.

    That is the job's own; 143 where it was stopped, 75 where it was given up, 130 after Ctrl-C, 143 after
    SIGTERM.
    """
    news = LogNews()
    sources, reader = _open(context, job, wanted, times=times, before=news.introduce)
    local = is_loopback(context.settings.logging_endpoint)
    step = LOCAL_PAUSE if local else PAUSE
    try:
        glance = _glance(context, sources, job)
        while (status := ended(glance)) is None:
            with news.retrying():
                news.look(glance)
                reader.read(glance, again=True)
                news.tell()
            pause(step.total_seconds())
            with news.retrying(is_back=True):
                glance = _glance(context, sources, job)
        reader.read(glance)
        if not local and reader.said:
            pause(LAST_WORDS.total_seconds())
        reader.read(_glance(context, sources, job))
    except KeyboardInterrupt as interrupt:
        _note(f"the job keeps running; `spotwarden logs -f {job}` shows it again")
        return status_of(interrupt)
    _note(_farewell(glance))
    return status


class LogNews:
    """Says once what befalls a job between its lines."""

    def __init__(self) -> None:
        self._newest: Attempt | None = None
        self._said: tuple[int, AttemptState] | None = None
        self._silent = False

    @contextmanager
    def retrying(self, *, is_back: bool = False) -> Iterator[None]:
        """A job runs for weeks: a bucket that does not answer is asked again, and that is said once.

        What always asks it tells that it `is_back`.
        """
        try:
            yield
            self._silent = self._silent and not is_back
        except UnansweredError as error:
            if not self._silent:
                _note(f"{error}; asking again")
            self._silent = True

    def look(self, glance: Glance) -> None:
        """Know how the job stands now; what it was at the first look is no news where it runs."""
        self._newest = glance.ledger[-1] if glance.ledger else None
        if self._said is None and self._newest and self._newest.state is AttemptState.RUNNING:
            self._said = (self._newest.number, self._newest.state)

    def introduce(self, attempt: int) -> None:
        """Say what brought an attempt about before its first line, where its lines are there so soon."""
        if self._newest and self._newest.number == attempt:
            self.tell()

    def tell(self) -> None:
        """Say it, if it is new: that an attempt runs only of a later one of which nothing was said before."""
        newest = self._newest
        if newest is None or self._said == (newest.number, newest.state):
            return
        is_known = newest.number == 1 or (self._said is not None and self._said[0] == newest.number)
        self._said = (newest.number, newest.state)
        if newest.state is not AttemptState.RUNNING or not is_known:
            _note(_standing(newest))


def ended(glance: Glance) -> int | None:
    """The exit status that a job's end comes to; None while it goes on."""
    if glance.status is not None:
        own = glance.status
        return int(own) if own.isdecimal() and len(own) < 4 and int(own) <= MOST_STATUS else 1  # noqa: PLR2004 — three digits
    newest = glance.ledger[-1] if glance.ledger else None
    if newest is None or newest.state not in CLOSED:
        return None
    return OVER.get(newest.state, 0)


def _farewell(glance: Glance) -> str:
    if glance.status is not None:
        return f"the job ended with status {glance.status}"
    newest = glance.ledger[-1]
    return f"the job is over: {newest.state.value}{f', {newest.reason}' if newest.reason else ''}"


def _standing(attempt: Attempt) -> str:
    refused = next((tried.error for tried in reversed(attempt.tries) if tried.error), "")
    later = f"; next try at {attempt.not_before:%H:%M:%S} UTC" if attempt.not_before else ""
    why = refused if attempt.state is AttemptState.BACKING_OFF else attempt.reason
    return f"attempt {attempt.number}: {attempt.state.value}{f', {why}' if why else ''}{later}"


def _open(
    context: Context,
    job: str,
    wanted: LinesWanted,
    *,
    times: bool,
    before: Callable[[int], None] = lambda _: None,
) -> tuple[LogSources, LogReader]:
    sources = LogSources(context.cloud.store, context.settings.layout, job)
    teller = Teller(times=times, before=before)
    return sources, LogReader(sources, LogCloud(context.logs()), teller, wanted, _note)


def _glance(context: Context, sources: LogSources, job: str) -> Glance:
    glance = sources.glance(clock.now())
    if not glance.exists:
        raise click.ClickException(context.unknown_job(job))
    return glance


def _check(wanted: LinesWanted, glance: Glance, job: str) -> None:
    """Say what there is where what was asked for is not."""
    if not glance.stays or wanted.of(glance.stays):
        return
    known = sorted({f"attempt {stay.attempt}, node {stay.node}" for stay in glance.stays})
    raise click.ClickException(f"{job} has no such VM; there are:\n  " + "\n  ".join(known))


def _note(text: str) -> None:
    click.echo(f"-- {plain(text)} --", err=True)
