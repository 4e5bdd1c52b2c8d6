"""When a launch is done, and what is said of it."""

from datetime import UTC, datetime

import click
import pytest
from msgspec.structs import replace

from spotwarden.cli.launching.started import has_run, holders, refuse_if_over, told
from spotwarden.model.attempt import Attempt, AttemptState, Try
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance, Status
from spotwarden.model.launch import Choice, Launch

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


DENIED = "forbidden: Required 'compute.instances.create' permission (instances.insert: 403)"
QUOTA = "QUOTA_EXCEEDED: Quota 'NVIDIA_L4_GPUS' exceeded. Limit: 0.0 in region us-central1"


def words(state, error):
    """What a person reads of an attempt that ended so."""
    tried = Try(place="us-central1-a", request_id="r", at=AT, error=error)
    with pytest.raises(click.ClickException) as raised:
        refuse_if_over(attempt(state, tried))
    return raised.value.message


@pytest.mark.parametrize(
    ("error", "begins", "step"),
    [
        (
            DENIED,
            "Compute Engine denies permission to launch it: forbidden: Required",
            "Ask an administrator",
        ),
        (QUOTA, "the project's quota doesn't allow it right now: QUOTA_EXCEEDED", "compute regions describe"),
        (REFUSED.error, "Compute Engine has no capacity for it right now: ZONE_RESOURCE", "spotwarden show"),
    ],
    ids=["no permission", "no quota", "no capacity"],
)
def test_an_attempt_that_waits_says_what_for_and_what_to_type(error, begins, step):
    """A missing right and a quota are no lack of capacity; each is tried again, which is said, too."""
    said = words(AttemptState.BACKING_OFF, error)
    assert said.startswith(begins)
    assert step in said
    # The refusal may have stood on record before the command was typed.
    assert "It was refused at 00:00:00 UTC. Spotwarden tries again every minute." in said
    assert said.endswith("To see its status: spotwarden show boxed")


@pytest.mark.parametrize(
    ("error", "step"),
    [
        (DENIED, "Ask an administrator"),
        (QUOTA, "compute regions describe"),
        ("invalid: no image", "Fix the"),
    ],
    ids=["no permission", "no quota", "a faulty request"],
)
def test_an_attempt_that_was_given_up_says_how_to_launch_it_again(error, step):
    """By `restart`, once what Compute Engine named is in order."""
    said = words(AttemptState.GAVE_UP, error)
    assert said.startswith(f"Compute Engine refused the launch: {error}")
    assert step in said
    assert said.endswith("spotwarden restart boxed")


def test_a_refusal_says_no_step_that_does_not_help():
    """A quota is not asked of whoever grants roles, and the reverse."""
    assert "role" not in words(AttemptState.BACKING_OFF, QUOTA)
    assert "quota" not in words(AttemptState.BACKING_OFF, DENIED)


@pytest.mark.parametrize(("out", "said"), [(AT, ", the last one at 00:00:00 UTC"), (None, " a moment ago")])
def test_zones_that_need_not_be_asked_again_are_said_to_have_refused(out, said):
    """With when they did, which may be minutes ago."""
    with pytest.raises(click.ClickException) as raised:
        refuse_if_over(attempt(AttemptState.BACKING_OFF), out=out)
    assert f"each of its zones refused this machine type{said}. Spotwarden tries" in raised.value.message


def test_whoever_holds_the_name_is_named_and_whose_it_is():
    """A colleague's VM, and one of the job's own earlier attempts; no lack of capacity."""
    mine = Instance(id="5", name="boxed", zone="us-central1-a", status=Status.TERMINATED)
    theirs = Instance(id="9", name="boxed", zone="us-central1-a", status=Status.RUNNING)
    elsewhere = replace(theirs, id="11", zone="us-east1-b")
    facts = JobFacts(job="boxed", instances=(mine,), namesakes=(theirs, elsewhere))
    waits = attempt(AttemptState.BACKING_OFF)
    launch = Launch(nodes=("boxed",), choices=(Choice(place="us-central1-a", request=None),), script=None)
    held = holders(facts, waits, launch)
    assert held == (
        "VM boxed in us-central1-a (ID 9, RUNNING) has the name, and it is not one of boxed",
        "boxed's own earlier VM boxed in us-central1-a (ID 5, TERMINATED) still has the name",
    )
    with pytest.raises(click.ClickException) as raised:
        refuse_if_over(waits, held)
    assert raised.value.message.startswith(f"boxed waits for a name: {held[0]}; {held[1]}. Spotwarden tries")
    assert "capacity" not in raised.value.message


def test_a_place_that_was_passed_over_is_told_with_why():
    """A colleague's VM of that name, or no room: the job is elsewhere than its script says."""
    taken = replace(REFUSED, error="alreadyExists: The resource 'boxed' already exists")
    elsewhere = replace(ASKED, place="us-central1-b")
    running = attempt(AttemptState.RUNNING, taken, elsewhere, instances={"boxed": "17"})
    assert told(running).splitlines() == [
        "boxed: attempt 1 runs in us-central1-b as instance 17",
        "  us-central1-a already has a VM of that name: alreadyExists: The resource 'boxed' already exists",
    ]
    full = attempt(AttemptState.RUNNING, REFUSED, REFUSED, elsewhere, instances={"boxed": "17"})
    assert told(full).splitlines()[1:] == [
        "  us-central1-a has no capacity right now: ZONE_RESOURCE_POOL_EXHAUSTED"
    ]
    at_last = attempt(AttemptState.RUNNING, REFUSED, ASKED, instances={"boxed": "17"})
    assert told(at_last) == "boxed: attempt 1 runs in us-central1-a as instance 17"
