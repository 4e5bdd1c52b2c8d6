"""A report that knows what other jobs went through, for commands that read it."""

from typing import Any

from spotwarden.recovery.forecast.pasts import past_of
from spotwarden.report.model.experiments import Experiment
from spotwarden.report.model.kept import IndexEntry, JobSpotPast, ReportIndex
from spotwarden.report.store import ReportStore
from tests.cli.logged import Speaker

HARSH = past_of((0.5,) * 40, (), (3.0,) * 40)
"""Lives of half an hour, and three hours until another VM was there."""


def report_past(speaker: Speaker, machine: str, *jobs: str) -> None:
    """Have the report know jobs with a harsh past on this machine type."""
    past = JobSpotPast(machine=machine, place="us-central1-a", past=HARSH)
    now = speaker.cloud.clock.now()
    entries = tuple(IndexEntry(row=Experiment(job=job), looked=now, past=past) for job in jobs)
    shelf = ReportStore(speaker.cloud.store, speaker.layout)
    _, generation = shelf.index()
    shelf.put_index(ReportIndex(at=now, entries=entries), generation)


def reads(speaker: Speaker) -> list[str]:
    """What is read from now on, in its order."""
    found: list[str] = []
    read = speaker.cloud.store.read

    def counted(name: str, **more: Any) -> object:
        found.append(name)
        return read(name, **more)

    vars(speaker.cloud.store)["read"] = counted
    return found
