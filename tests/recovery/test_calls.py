"""What a storm asks of the bucket: nothing twice, and nothing that a listing has said."""

from collections import Counter

import pytest

from tests.recovery.crowd_world import Crowded, Slow

JOBS = 30


@pytest.fixture
def asked(world):
    """Preempt many jobs, sweep until all run; gives the calls by what they are about, and the sweeps."""
    crowd = Crowded(world)
    names = crowd.jobs(JOBS)
    crowd.preempt(*names)
    world.wait(minutes=1)
    slow = Slow(world.cloud.ports())
    sweeps = 0
    while sweeps == 0 or world.names("preempted-jobs/"):
        world.sweep_over(slow.cloud)
        world.wait(minutes=1)
        sweeps += 1
    assert len(world.instances()) == JOBS + 1
    return Counter((call, kind_of(str(what))) for call, what, _ in slow.made)


def kind_of(name):
    """What kind of object a name is of, for the kinds that are counted here."""
    kinds = ("status-code", "create-instance.sh", "instance-id", "spotwarden/open/", "metadata/attempts/")
    return next((kind for kind in kinds if kind in name), "")


def test_the_list_of_open_jobs_is_read_no_second_time(asked):
    """A job's entry is the one that the list has given."""
    assert asked["read", "spotwarden/open/"] == 0


def test_a_job_without_a_status_is_not_asked_for_one(asked):
    """The listing of its folder says that there is none."""
    assert asked["read", "status-code"] == 0


def test_what_this_process_has_read_or_written_is_not_read(asked):
    """Scripts, ids, and records of attempts."""
    for kind in ("create-instance.sh", "instance-id", "metadata/attempts/"):
        assert asked["read", kind] == 0


def test_a_record_is_written_three_times_from_the_claim_to_the_end(asked):
    """With the first try, with the operation, with the ids."""
    assert asked["write", "metadata/attempts/"] == 3 * JOBS
