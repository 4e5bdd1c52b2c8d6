"""What a person reads of a job that is over or given up."""

from datetime import timedelta

import pytest

from spotwarden.model.attempt import AttemptState
from spotwarden.model.jobfile import JobFile
from spotwarden.recovery.telling.notices import closed, gave_up
from tests.recovery.facts import NOW


@pytest.mark.parametrize(
    ("number", "started", "what"),
    [
        (1, None, "test-vm couldn't be launched"),
        (1, NOW, "test-vm couldn't be restarted after attempt 1"),
        (2, None, "test-vm couldn't be restarted after attempt 2"),
    ],
)
def test_a_launch_of_which_no_vm_ever_ran_is_no_restart(some, tick, number, started, what):
    """Its owner has just submitted it, with a disk that is not there, say."""
    attempt = some.attempt(number, AttemptState.GAVE_UP, started=started).attempt
    assert gave_up(some.job(), attempt, "notFound", tick).what == what


@pytest.mark.parametrize(
    ("limits", "first"),
    [
        ({}, ""),
        ({"budget": 10.0}, ", after you have raised `budget` in its job.toml if that is used up"),
        (
            {"budget": 10.0, "max_runtime": timedelta(hours=8)},
            ", after you have raised `max_runtime` or `budget` in its job.toml if that is used up",
        ),
    ],
)
def test_who_continues_a_stopped_job_is_told_of_its_limits(some, tick, limits, first):
    """A restart is refused where one of them is used up."""
    facts = some.job(file=JobFile(**limits))
    told = closed(facts, facts.newest, "stopped", AttemptState.STOPPED, tick)
    assert told.todo == f"to continue the job, run `spotwarden restart test-vm`{first}"
