"""Deadlines that are past or far off, and limits that leave nothing: told before anything is sent."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest

from spotwarden.cli.launching.timely import FAR, check_timely
from spotwarden.layout import JobFileName
from spotwarden.model.jobfile import JobFile

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
RUN = ("run", "--job", "job", "--machine", "e2-small", "--zone", "us-central1-a", "--no-code")


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (JobFile(deadline=NOW), "the deadline 2026-11-28 12:00 UTC is 0s ago: write a later one"),
        (JobFile(deadline=NOW - 30 * HOUR), "the deadline 2026-11-27 06:00 UTC is 1d06h ago"),
        (JobFile(work=timedelta(0)), "`work` of job.toml is 0: write a duration such as 8h"),
        (JobFile(max_runtime=timedelta(0)), "`max_runtime` of job.toml is 0"),
        (JobFile(budget=0.0), "`budget` of job.toml is 0, which pays for no VM"),
    ],
)
def test_what_leaves_no_time_is_refused(file, says):
    """With what to write instead."""
    with pytest.raises(click.UsageError) as refused:
        check_timely(file, NOW)
    assert refused.value.message.startswith(says)
    assert refused.value.message.endswith("Nothing was sent.")


@pytest.mark.parametrize(
    "file",
    [
        JobFile(),
        JobFile(deadline=NOW + SECOND),
        JobFile(deadline=NOW + FAR),
        JobFile(deadline=NOW + HOUR, work=HOUR),
        JobFile(work=SECOND, max_runtime=SECOND, budget=0.01),
    ],
)
def test_what_can_be_is_no_word_worth(capsys, file):
    """Up to the last second."""
    check_timely(file, NOW)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (JobFile(deadline=NOW + FAR + SECOND), "2027-11-29 12:00 UTC is 366 days away. Is the year right?"),
        (JobFile(deadline=NOW + HOUR, work=HOUR + SECOND), "is 1h00m away, and `work` is 1h00m: it can't"),
    ],
)
def test_a_deadline_that_is_hardly_meant_is_told(capsys, file, says):
    """The job may be launched all the same."""
    check_timely(file, NOW)
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--dry-run", "--script-only", "--no-follow"])
def test_run_refuses_a_deadline_that_is_past(workstation, monkeypatch, tmp_path, option):
    """Also where it would only be written: nothing is."""
    monkeypatch.chdir(tmp_path)
    said = workstation.refused(*RUN, option, "--deadline", "2020-01-01", "--", "true")
    assert "the deadline 2020-01-02 00:00 UTC is" in said
    assert not Path(".spotwarden").exists()
    assert workstation.store.entries("") == []


def test_submit_refuses_a_deadline_that_is_stored_and_past(workstation, world, monkeypatch, tmp_path):
    """In the job.toml of an earlier launch."""
    monkeypatch.setenv("SPOTWARDEN_COMPUTE_ENDPOINT", world.url)
    script = tmp_path / "create-instance.sh"
    script.write_text("gcloud compute instances create job --zone=us-central1-a --machine-type=e2-small\n")
    name = workstation.layout.build(JobFileName(job="job"))
    workstation.store.write(name, b"deadline = 2020-01-01T00:00:00Z\n", generation=None)
    assert "the deadline 2020-01-01 00:00 UTC is" in workstation.refused("submit", str(script))
    assert [entry.name for entry in workstation.store.entries("")] == [name]
