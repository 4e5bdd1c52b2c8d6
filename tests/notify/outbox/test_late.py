"""A message that is late: the moment that it names is the one that holds when it is sent."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from spotwarden.governance.cases.observation import graced
from spotwarden.layout import DeliveredRecord, notice_key, person_key
from spotwarden.model.case import Warned
from spotwarden.model.delivery import Pending
from spotwarden.model.message import Mail
from spotwarden.model.notice import Notice
from spotwarden.model.policy import Team
from spotwarden.model.spans import moment
from spotwarden.notify.outbox.late import as_of
from spotwarden.notify.templates.text import clock
from tests.fakes.trouble import rejected
from tests.notify.outbox.outbox_world import ADA, OutboxWorld, mailed, notice

GRACE = timedelta(minutes=30)
QUIET = "22:00-08:00"
VISION = Team(owners=("*@example.com",), hook="vision")


def warning(room: OutboxWorld, *, due: timedelta = GRACE, latest: datetime | None = None) -> Notice:
    """A warning as governance publishes it now."""
    at = (room.now + due).replace(second=0, microsecond=0)
    then = f"it will be stopped, not before {moment(at)}"
    return notice("warning", then=then, due=at, grace=GRACE, latest=latest, todo="look at it")


def says(message: Mail, at: datetime) -> bool:
    """Whether the message names this moment wherever it names one."""
    told = f"not before {clock(at, at)}"
    return told in message.text and told in message.html


def down(room: OutboxWorld, **span: float) -> None:
    """The mail server answers nobody for so long; then it is there again."""
    room.cloud.mailer.trouble.order("send", rejected("unsent", "421 busy"), times=1_000)
    room.tick_for(**span)
    room.cloud.mailer.trouble.calm()


@pytest.fixture
def room() -> OutboxWorld:
    """A deployment that mails."""
    return OutboxWorld()


def test_a_warning_whose_mail_server_was_down_for_three_hours_names_the_moment_that_holds_now(room):
    """What it said when it was written is long over; nothing is done before the grace after its arrival."""
    late = warning(room)
    room.publish(late)
    down(room, hours=3)
    assert room.mails() == []
    room.tick_for(hours=1)
    (message,) = room.mails()
    (record,) = room.delivered(late)
    holds = (record.at + GRACE).replace(second=0, microsecond=0)
    assert late.due is not None
    assert holds > late.due + timedelta(hours=3) - GRACE
    assert says(message, holds)
    assert f"{late.due:%H:%M}" not in message.text


def test_a_warning_in_quiet_hours_does_not_wait_and_names_its_moment(room):
    """What names a moment is sent at once, whatever the hour."""
    room.set_limits(quiet=QUIET)
    room.wait(hours=23 - room.now.hour)
    told = warning(room)
    room.told(told)
    (message,) = room.mails()
    assert says(message, (room.now + GRACE).replace(second=0, microsecond=0))


def test_a_moment_further_off_than_the_grace_stays_what_it_was(room):
    """The rule's own limit comes later than any grace: a late message changes nothing about it."""
    late = warning(room, due=timedelta(hours=9))
    room.publish(late)
    down(room, hours=3)
    room.tick_for(hours=1)
    (message,) = room.mails()
    assert says(message, late.due)


def test_a_late_warning_names_no_moment_after_that_which_an_earlier_one_has_named(room):
    """The remedy does not wait for this message, so the message does not say that it does."""
    latest = room.now + timedelta(hours=2)
    late = warning(room, latest=latest)
    room.publish(late)
    down(room, hours=3)
    room.tick_for(hours=1)
    (message,) = room.mails()
    assert f"not before {clock(latest, latest)}. This message was delayed past that time" in message.text


def test_a_copy_that_is_late_names_what_holds_since_the_owner_was_told():
    """The grace began when the mail arrived, whenever the team's channel hears of it."""
    room = OutboxWorld(teams={"vision": VISION})
    told = warning(room)
    room.publish(told)
    room.cloud.mailer.trouble.order("send", rejected("unsent"), about="vision", times=1_000)
    room.tick_for(hours=3)
    (mail,) = room.mails()
    assert room.posts() == []
    room.cloud.mailer.trouble.calm()
    room.tick_for(hours=1)
    (mailer,) = room.posts()
    at = (mail.at + GRACE).replace(second=0, microsecond=0)
    assert f"not before {moment(at)}" in mailer.body.decode()


def test_a_record_of_arrival_that_cannot_be_read_holds_no_message_up(room):
    """Nothing is done meanwhile; the message says what would hold from now."""
    told = warning(room)
    broken = DeliveredRecord(notice=notice_key(told.id), channel="hook", person=person_key("vision"))
    room.store(broken, b"{")
    room.told(told)
    (message,) = room.mails()
    assert says(message, (room.now + GRACE).replace(second=0, microsecond=0))


@pytest.mark.parametrize("late", [timedelta(seconds=one) for one in (0, 1, 59, 60, 1799, 1800, 1801, 10_000)])
def test_a_message_names_what_governance_goes_by(late):
    """To the minute, and never a moment after the one from which the remedy may follow."""
    at = datetime(2026, 1, 5, 9, 0, 40, tzinfo=UTC)
    due = (at + GRACE).replace(second=0, microsecond=0)
    written = replace(notice("warning", due=due, grace=GRACE), at=at)
    said = as_of(Pending(notice=written, recipient=mailed(ADA), since=at), at + late, None).notice.due
    warned = Warned(level=1, at=at, notice=written.id, due=due, delivered=at + late)
    holds = graced(warned, GRACE)
    assert said is not None
    assert holds is not None
    assert timedelta(0) <= holds - said < timedelta(minutes=1)
