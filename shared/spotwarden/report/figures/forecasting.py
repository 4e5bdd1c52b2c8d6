"""What a job's records and metrics say → what its forecast needs."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from spotwarden.model.attempt import Attempt
from spotwarden.model.heartbeat import Beat
from spotwarden.model.jobfile import JobFile
from spotwarden.recovery.forecast.course import Course, JobPast, Stretch, course
from spotwarden.report.model.kept import NodeMetrics


def course_of(
    attempts: Sequence[Attempt],
    file: JobFile,
    lines: Sequence[NodeMetrics],
    *,
    beat: Beat | None,
    moved: datetime | None,
    now: datetime,
) -> Course:
    """How the job goes; `moved` is when its program last made progress by `beat`."""
    said = beat or Beat()
    newest = attempts[-1].number if attempts else None
    return course(
        JobPast(
            now=now,
            attempts=attempts,
            file=file,
            step=said.step,
            steps=said.steps,
            first_step=said.first_step if said.attempt == newest else None,
            moved=moved,
            stretches=tuple(_stretches(lines)),
            saves=tuple(tuple(at for at, _ in line.saved) for line in lines),
        )
    )


def _stretches(lines: Sequence[NodeMetrics]) -> Iterator[Stretch]:
    """Of each attempt the steps of the node that tells most of them: nodes of a gang tell the same."""
    longest: dict[int, tuple[int, Stretch]] = {}
    for line in lines:
        for curve in line.curves:
            told = [(point.at, point.step) for point in curve.points if point.step is not None]
            if len(told) > max(1, longest.get(line.attempt, (0, None))[0]):
                (since, first), (until, last) = told[0], told[-1]
                found = Stretch(attempt=line.attempt, since=since, until=until, first=first, last=last)
                longest[line.attempt] = len(told), found
    return (stretch for _, stretch in longest.values())
