"""The output of many jobs is read by few lists, and says of each job what its own list would."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.settings import Settings
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.outputs import IN_A_LIST, ROWS_AT_MOST, with_output, with_outputs
from spotwarden.layout import Layout, Output
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from tests.fakes.cloud import MemoryCloud, memory_cloud
from tests.fakes.trouble import unanswered

START = datetime(2026, 1, 5, 12, tzinfo=UTC)
LAYOUT = Layout()
JOBS = [f"job-{number}" for number in range(IN_A_LIST + 5)]


@pytest.fixture
def cloud() -> MemoryCloud:
    """A bucket in which every job has some output, and others have as well."""
    cloud = memory_cloud()
    for number, job in enumerate([*JOBS, "job", "jobless"]):
        for part in range(number % 3):
            cloud.clock.advance(timedelta(minutes=1))
            cloud.store.put(LAYOUT.build(Output(job=job, path=f"part/{part}")), b"", {})
    GenerationCache.forget()
    return cloud


def opened(cloud: MemoryCloud) -> SweepContext:
    """A sweep of it."""
    settings = Settings(project="p", bucket="b", notices="n", policy_file=Path("policy.toml"), workers=1)
    tick = Tick(function="flag_idle_gpus", sweep="s", now=START)
    return SweepContext.open(cloud.ports(), settings, Policy(version="test"), tick)


def by_name(cloud: MemoryCloud) -> dict[str, JobRecord]:
    """What the list of each job by itself says."""
    return {job: with_output(opened(cloud), JobRecord(job=job)) for job in JOBS}


def test_one_list_says_what_those_of_each_job_say(cloud: MemoryCloud):
    """Nothing is listed by name."""
    expected = by_name(cloud)
    cloud.store.trouble.order("each_entry", unanswered(after_work=False), times=99)
    assert with_outputs(opened(cloud), [JobRecord(job=job) for job in JOBS]) == expected


def test_a_job_with_more_output_than_a_page_is_listed_by_itself(cloud: MemoryCloud):
    """And so are those behind it; what the page shows whole is not."""
    for part in range(ROWS_AT_MOST):
        cloud.store.put(LAYOUT.build(Output(job=JOBS[1], path=f"data/{part}")), b"", {})
    assert with_outputs(opened(cloud), [JobRecord(job=job) for job in JOBS]) == by_name(cloud)


def test_a_list_that_is_not_answered_leaves_each_job_to_its_own(cloud: MemoryCloud):
    """One outage of a list hides no progress."""
    cloud.store.trouble.order("entries", unanswered(after_work=False), times=99)
    assert with_outputs(opened(cloud), [JobRecord(job=job) for job in JOBS]) == by_name(cloud)


def test_a_job_whose_output_cannot_be_listed_ends_the_look(cloud: MemoryCloud):
    """It may have progressed."""
    for call in ("entries", "each_entry"):
        cloud.store.trouble.order(call, unanswered(after_work=False), times=99)
    with pytest.raises(ExceptionGroup, match="outputs of jobs"):
        with_outputs(opened(cloud), [JobRecord(job=job) for job in JOBS])
