"""A warning counts from when it has arrived: who could not be reached was not warned."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from spotwarden.layout import DeliveredRecord, notice_key, person_key
from spotwarden.model.case import CaseState
from spotwarden.model.delivery import Channel, Delivered, Recipient
from spotwarden.model.governance import Remedy
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.policy import Policy, Team
from spotwarden.model.rule_limits import IdleLimits
from tests.governance.made_up import RULE, MadeUp, Said

GRACE = timedelta(minutes=15)
STOP = IdleLimits(remedy=Remedy.STOP, grace=GRACE)
RIPE = Said(ripe=True)
MAILED = NotifyLimits(email=True)
ARRIVED = Delivered(
    notice="n",
    recipient=Recipient(channel=Channel.EMAIL, address="ada@x.org"),
    at=datetime(2026, 1, 5, tzinfo=UTC),
    message_id="m",
)


@pytest.fixture
def world() -> MadeUp:
    """A rule that stops VMs a quarter of an hour after its warning, whose notices are mailed."""
    return MadeUp(STOP, notify=MAILED)


def arrive(world: MadeUp, channel: Channel = Channel.EMAIL, to: str = "ada@x.org", **said: bool) -> None:
    """Write down that the newest notice arrived, as notify_developers does."""
    key = notice_key(world.notices()[-1].id)
    recipient = Recipient(channel=channel, address=to)
    record = Delivered(notice="n", recipient=recipient, at=world.now, message_id="m", **said)
    thing = DeliveredRecord(notice=key, channel=channel.value, person=person_key(to))
    world.store(thing, msgspec.json.encode(record))


def test_nothing_is_done_while_the_warning_has_not_arrived(world: MadeUp):
    """However long it takes; and it is not told again, for it is on its way."""
    vm = world.vm(said=RIPE)
    world.sweep_for(hours=5)
    assert world.asked() == []
    assert world.kinds() == ["idle_warning"]
    case = world.case(RULE, vm)
    assert case is not None
    assert case.state is CaseState.WARNED
    assert case.warnings[0].delivered is None


def test_a_warning_that_was_lost_is_told_anew(world: MadeUp):
    """Dropped by hand, or told while nobody brought notices to anybody: two days later it is tried again."""
    vm = world.vm(said=RIPE)
    world.sweep()
    first = world.notices()[0].at
    world.sweep_for(seconds=2 * MAILED.give_up.total_seconds() - 1, every=timedelta(minutes=30))
    assert world.kinds() == ["idle_warning"]
    world.wait(seconds=1)
    world.sweep()
    assert [one.at > first for one in world.notices()] == [False, True]
    arrive(world)
    world.wait(seconds=GRACE.total_seconds())
    world.sweep()
    assert world.asked() == [("stop", vm)]


def test_the_grace_begins_when_it_arrives(world: MadeUp):
    """A second short of it nothing is done, and then it is."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.sweep_for(hours=1)
    arrive(world)
    world.wait(seconds=GRACE.total_seconds() - 1)
    world.sweep()
    assert world.asked() == []
    world.wait(seconds=1)
    world.sweep()
    assert world.asked() == [("stop", vm)]


def test_a_record_of_another_notice_is_no_delivery(world: MadeUp):
    """It is looked for by the very warning."""
    world.vm(said=RIPE)
    world.sweep()
    other = DeliveredRecord(notice=notice_key("another"), channel="email", person="ada")
    world.store(other, b"{}")
    world.sweep_for(hours=1)
    assert world.asked() == []


def test_a_record_that_cannot_be_read_stops_its_case_and_no_other(world: MadeUp):
    """Nobody can know then whether it was only a copy. The function says so; another record of it helps."""
    broken, sound = world.vm(said=RIPE), world.vm("other", said=RIPE)
    world.sweep()
    for one in world.notices():
        assert one.case is not None
        data = msgspec.json.encode(ARRIVED) if one.case.key == sound else b"{}"
        world.store(DeliveredRecord(notice=notice_key(one.id), channel="email", person="ada"), data)
    world.wait(seconds=GRACE.total_seconds())
    with pytest.raises(ExceptionGroup, match="sweep failed"):
        world.sweep()
    assert world.asked() == [("stop", sound)]
    (other,) = (one for one in world.notices() if one.case and one.case.key == broken)
    record = DeliveredRecord(notice=notice_key(other.id), channel="hook", person="ml-chat")
    world.store(record, msgspec.json.encode(ARRIVED))
    world.wait(seconds=GRACE.total_seconds())
    world.sweep()
    assert world.asked() == [("stop", sound), ("stop", broken)]


def test_a_copy_to_a_chat_is_no_delivery(world: MadeUp):
    """Where its owner is mailed, only his mail counts."""
    vm = world.vm(said=RIPE)
    world.sweep()
    arrive(world, Channel.HOOK, "ml-chat", copy=True)
    world.sweep_for(hours=1)
    assert world.asked() == []
    arrive(world)
    world.wait(seconds=GRACE.total_seconds())
    world.sweep()
    assert world.asked() == [("stop", vm)]


def test_where_nobody_is_mailed_the_hook_counts(world: MadeUp):
    """It is all that its owner has."""
    vm = world.vm(said=RIPE)
    world.sweep()
    arrive(world, Channel.HOOK, "ml-chat")
    world.wait(seconds=GRACE.total_seconds())
    world.sweep()
    assert world.asked() == [("stop", vm)]


def test_a_delivery_that_is_known_is_remembered(world: MadeUp):
    """The record may be tidied away, once the case has been written with it."""
    vm = world.vm(said=RIPE)
    world.sweep()
    arrive(world)
    world.sweep_for(minutes=10)
    world.wait(minutes=15)
    world.sweep()
    case = world.case(RULE, vm)
    assert case is not None
    assert case.warnings[0].delivered is not None
    assert world.asked() == [("stop", vm)]


def test_where_nobody_is_mailed_the_topic_counts(world: MadeUp):
    """A team whose own tools subscribe to the topic has said so by leaving mail off."""
    world.set_policy(notify=NotifyLimits())
    vm = world.vm(said=RIPE)
    world.sweep()
    world.wait(seconds=GRACE.total_seconds())
    world.sweep()
    assert world.asked() == [("stop", vm)]


def test_a_warning_that_counted_before_mail_was_switched_on_still_counts(world: MadeUp):
    """The topic had taken it, and that was telling then."""
    world.set_policy(notify=NotifyLimits())
    vm = world.vm(said=RIPE)
    world.sweep()
    world.set_policy(notify=MAILED)
    world.wait(seconds=GRACE.total_seconds())
    world.sweep()
    assert world.asked() == [("stop", vm)]


@pytest.mark.parametrize(
    ("changes", "tells"),
    [
        ({}, False),
        ({"notify": MAILED}, True),
        ({"notify": NotifyLimits(ops_hook="chat")}, True),
        ({"teams": {"a": Team(owners=("x",), hook="chat")}}, True),
        ({"teams": {"a": Team(owners=("x",), email="x@y.org")}}, False),
    ],
)
def test_any_channel_of_ours_means_that_notices_must_arrive(changes, tells):
    """By mail, or by a web hook of a team or of ops."""
    policy = msgspec.structs.replace(Policy(version="1"), **changes)
    assert policy.tells is tells
    assert not policy.untold().tells


def test_what_a_notice_about_a_case_can_be_answered_to_stands_in_it(world: MadeUp):
    """The case, its VMs, and how."""
    vm = world.vm(said=RIPE)
    world.sweep()
    (notice,) = world.notices()
    case = world.case(RULE, vm)
    assert notice.case is not None
    assert case is not None
    assert (notice.case.rule, notice.case.key, notice.case.opened) == (RULE, vm, case.opened)
    assert [one.id for one in notice.instances] == [vm]
    assert [way.value for way in notice.ways] == ["keep", "stop"]
