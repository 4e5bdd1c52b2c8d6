"""`spotwarden jobs` where there are too many to read them all: the report knows those that are over."""

from datetime import UTC, datetime

import pytest

from spotwarden import clock
from spotwarden.cli.looking import jobs as command
from spotwarden.cli.looking import remembered
from spotwarden.cli.main import main
from spotwarden.layout import OpenJob
from spotwarden.model.standing import Standing
from spotwarden.report.model.experiments import Experiment as Reported
from spotwarden.report.model.kept import IndexEntry, ReportIndex
from spotwarden.report.store import ReportStore
from tests.cli.logged import Speaker, four_jobs


@pytest.fixture
def four(monkeypatch) -> Speaker:
    """Four jobs: one runs, one recovers, one failed, one ended."""
    speaker = Speaker()
    monkeypatch.setattr(clock, "now", speaker.cloud.clock.now)
    monkeypatch.setattr(command, "open_context", lambda: speaker.context)
    four_jobs(speaker)
    return speaker


@pytest.fixture
def run(capsys):
    """Run `spotwarden jobs …` and give its output, line by line."""

    def run(*words: str) -> list[str]:
        main(["jobs", *words], standalone_mode=False)
        return capsys.readouterr().out.splitlines()

    return run


def reported(speaker, *entries: IndexEntry) -> None:
    """Have the report know these jobs, as of now."""
    ReportStore(speaker.cloud.store, speaker.layout).put_index(
        ReportIndex(at=speaker.cloud.clock.now(), entries=entries), generation=None
    )


def over(job: str, **more: object) -> IndexEntry:
    """A job that the report has as over, with a status that is not the bucket's."""
    row = Reported(
        job=job,
        standing=Standing.FAILED,
        exit_code="7",
        attempts=3,
        nodes=1,
        owner="report@example.com",
        instances=("1", "2", "3"),
        zones=("us-east1-b", "us-west1-a"),
        started=datetime(2026, 1, 5, 8, tzinfo=UTC),
        ended=datetime(2026, 1, 5, 9, tzinfo=UTC),
        tags={"team": "vision"},
    )
    return IndexEntry(row=row, looked=datetime(2026, 1, 5, 9, tzinfo=UTC), **{"settled": True, **more})


@pytest.fixture
def few_are_many(monkeypatch) -> None:
    """Four jobs are too many to read them all."""
    monkeypatch.setattr(remembered, "MANY", 4)


@pytest.mark.usefixtures("few_are_many")
def test_of_many_jobs_those_that_are_over_are_taken_from_the_report(four, run, capsys):
    """They are not read; how old that is stands beside the table, and --exact reads them all the same."""
    reported(four, over("other-c"), over("other-d"))
    four.wait(120)
    reads = []
    read = four.cloud.store.read
    four.cloud.store.read = lambda name, **more: reads.append(name) or read(name, **more)
    main(["jobs"], standalone_mode=False)
    said = capsys.readouterr()
    assert [" ".join(line.split()[1:7]) for line in said.out.splitlines()[3:]] == [
        "failed (7) 3 3 us-west1-a report@example.com"
    ] * 2
    assert said.err == "2 jobs that are over are shown as of 2m00s ago; --exact reads them\n"
    assert not [name for name in reads if name.startswith("other-")]
    assert "failed (2)" in run("--exact")[3]


@pytest.mark.usefixtures("few_are_many")
def test_what_may_have_begun_anew_is_read(four, run):
    """It is open again, has a VM, or the report did not know it to be over."""
    reported(four, over("exp-a"), over("exp-b"), over("other-c", settled=False), over("other-d"))
    four.put(OpenJob(job="exp-b"), "{}")
    assert [" ".join(row.split()[1:2]) for row in run()[1:]] == ["running", "recovering", "failed", "failed"]
    assert "failed (2)" in run()[3]


@pytest.mark.usefixtures("few_are_many")
def test_an_old_report_is_not_believed(four, run):
    """It is made every ten minutes: whoever has none for long has none."""
    reported(four, over("other-d"))
    four.wait(30 * 60)
    assert "failed (7)" in run()[4]
    four.wait(1)
    assert "ended" in run()[4]


def test_of_few_jobs_all_are_read(four, run):
    """That is quick enough, and always right."""
    reported(four, over("other-d"))
    assert "ended" in run()[4]
