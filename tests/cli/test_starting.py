"""When a launch is done, and what is said of it."""

from datetime import UTC, datetime

import pytest

from spotwarden.cli.launching.starting import has_run, told
from spotwarden.model.attempt import Attempt, AttemptState, Try

AT = datetime(2026, 11, 21, tzinfo=UTC)
ASKED = Try(place="us-central1-a", request_id="r", at=AT)
REFUSED = Try(place="us-central1-a", request_id="r", at=AT, error="ZONE_RESOURCE_POOL_EXHAUSTED")


def attempt(state, *tries, **more):
    """An attempt of the job `boxed`."""
    return Attempt(job="boxed", number=1, state=state, created=AT, updated=AT, tries=tries, **more)


@pytest.mark.parametrize(
    ("known", "run"),
    [
        (attempt(AttemptState.RUNNING, ASKED, instances={"boxed": "17"}), True),
        (attempt(AttemptState.ENDED, ASKED, instances={"boxed": "17"}), True),
        (attempt(AttemptState.ENDED, ASKED), True),
        (attempt(AttemptState.ENDED, REFUSED), False),
        (attempt(AttemptState.ENDED), False),
        (attempt(AttemptState.PLACING, ASKED), False),
        (attempt(AttemptState.STOPPED, ASKED), False),
    ],
)
def test_a_job_that_ends_at_once_was_launched_all_the_same(known, run):
    """Its status may be there before its instances are on record; one that was stopped is another matter."""
    assert has_run(known) is run


def test_it_is_said_that_it_has_ended_where_no_instance_is_on_record():
    """And where it ran."""
    assert told(attempt(AttemptState.ENDED, ASKED)) == "boxed: attempt 1 ran in us-central1-a and has ended"
    running = attempt(AttemptState.RUNNING, ASKED, instances={"boxed": "17"})
    assert told(running) == "boxed: attempt 1 runs in us-central1-a as instance 17"
