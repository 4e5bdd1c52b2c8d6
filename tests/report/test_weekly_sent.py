"""The weekly report on its way: published once, brought once, and not at all to who declines it."""

import contextlib
from datetime import timedelta
from functools import partial

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import PreferenceRecord, ReportPart, person_key
from spotwarden.model.delivery import Pace, Preference
from spotwarden.model.notice import WEEKLY
from spotwarden.model.policy import Mode
from spotwarden.report.figures.weekly import due_week, weekly
from spotwarden.report.model.kept import ReportIndex
from spotwarden.report.weekly_mail import tell_weekly
from tests.fakes.trouble import unanswered
from tests.notify.outbox.outbox_world import ADA, BOB, OPS, OutboxWorld
from tests.recovery.test_exactly_once import KilledError, die, watched
from tests.report.test_weekly import PRICES, job

MARK = ReportPart(path="weekly/2026-W01.json")


@pytest.fixture
def room():
    """A Monday morning after eight, after a week in which Ada and Bob had a job each."""
    return OutboxWorld()


def told(room, cloud=None, *, index=None):
    """A tick of the report, and what failed of it. It goes by the room's clock and policy."""
    monday = room.now.date() - room.now.weekday() * timedelta(days=1)
    day = monday - timedelta(days=3)
    index = index or ReportIndex(at=room.now, entries=(job("a", ADA, day), job("b", BOB, day)))
    context = room.context(cloud)
    return tell_weekly(
        context,
        due_week,
        partial(weekly, index, policy=room.policy, prices=PRICES, now=room.now),
    )


def published(room):
    """The ids of what stands on the topic, each as often as it does."""
    return sorted(one.attributes["id"] for one in room.cloud.notices.messages)


def brought(room):
    """Have all of the topic taken in and sent; how many messages each person has."""
    for one in room.cloud.notices.messages:
        room.message(one.data)
    room.wait(minutes=1)
    room.tick()
    return {who: len(room.mails(who)) for who in (ADA, BOB, OPS)}


EACH = {ADA: 1, BOB: 1, OPS: 1}
IDS = [f"{WEEKLY}/2026-W01/{who}" for who in ("all", f"owner/{ADA}", f"owner/{BOB}")]


def test_everybody_gets_one_message(room):
    """Its subject is the sum; each owner's table has his jobs, ops have all."""
    assert told(room) == []
    assert brought(room) == EACH
    (mail,) = room.mails(ADA)
    assert mail.subject == "Your week Dec 29\u2013Jan 4: 1 job, $0.40, $0.00 wasted"
    assert ">a<" in mail.html
    assert ">b<" not in mail.html
    assert all(f">{name}<" in room.mails(OPS)[0].html for name in ("a", "b", ADA, BOB))


def test_later_ticks_of_the_week_tell_nothing(room):
    """Nor does a tick at any other time: then not even the bucket is asked."""
    told(room)
    for _ in range(3):
        room.wait(minutes=10)
        told(room)
    assert published(room) == IDS
    room.wait(days=3)
    room.cloud.store.trouble.order("read", unanswered(after_work=False))
    assert told(room) == []


def test_the_next_monday_tells_the_next_week(room):
    """Under ids of its own."""
    told(room)
    room.wait(days=7)
    told(room)
    assert len(set(published(room))) == 6


def test_nothing_to_tell_is_told_to_nobody_and_not_looked_for_again(room):
    """A week without jobs."""
    told(room, index=ReportIndex(at=room.now))
    told(room)
    assert published(room) == []


def test_a_message_that_could_not_be_published_is_by_a_later_tick(room):
    """All of them go once more, and those that arrived already are known by their ids."""
    room.cloud.notices.trouble.order("publish", unanswered(after_work=False), about=f"owner/{BOB}")
    told(room)
    assert brought(room) == {**EACH, BOB: 0}
    assert room.cloud.store.read(room.layout.build(MARK)) is None
    told(room)
    assert brought(room) == EACH


def test_an_answer_that_was_lost_doubles_no_message(room):
    """It was published; the next tick publishes it again."""
    room.cloud.notices.trouble.order("publish", unanswered(after_work=True), about=f"owner/{BOB}")
    told(room)
    told(room)
    assert len(published(room)) == 6
    assert brought(room) == EACH


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after"])
def test_a_kill_between_any_two_calls_loses_and_doubles_no_message(after_work):
    """For every n: killed at its n-th call, the next tick tells the rest."""
    for calls in range(1, 100):
        room = OutboxWorld()
        room.settings = replace(room.settings, workers=1)
        cloud, count = watched(room.cloud.ports(), calls, die, after_work=after_work)
        with contextlib.suppress(KilledError):
            told(room, cloud)
        told(room)
        assert brought(room) == EACH, calls
        if count[0] > 0:
            assert calls > 5
            return
    raise AssertionError("the tick never came to its end")


@pytest.mark.parametrize("after_work", [False, True], ids=["before", "after"])
def test_another_tick_between_any_two_calls_doubles_no_message(after_work):
    """For every n: a whole tick around its n-th call."""
    for calls in range(1, 100):
        room = OutboxWorld()
        room.settings = replace(room.settings, workers=1)

        def other(room=room):
            told(room)

        cloud, count = watched(room.cloud.ports(), calls, other, after_work=after_work)
        assert told(room, cloud) == []
        assert brought(room) == EACH, calls
        if count[0] > 0:
            return
    raise AssertionError("the tick never came to its end")


def test_deleting_the_report_tells_nobody_twice(room):
    """It is made anew, the mark with it; the outbox remembers whom it has told."""
    told(room)
    assert brought(room) == EACH
    room.cloud.store.delete(room.layout.build(MARK), generation=None)
    told(room)
    assert brought(room) == EACH


def test_observing_tells_people_too(room):
    """Figures change nothing."""
    room.policy = replace(room.policy, mode=Mode.OBSERVE)
    told(room)
    assert brought(room) == EACH


def wishes(room, who, data):
    """Store what somebody has asked for."""
    room.store(PreferenceRecord(person=person_key(who)), data)


@pytest.mark.parametrize(("wants", "messages"), [(True, 1), (False, 0)])
def test_who_declines_the_message_gets_none(room, wants, messages):
    """The others do; whoever has only chosen a pace has not declined it."""
    said = Preference(pace=Pace.DAILY, weekly=wants, at=room.now)
    wishes(room, ADA, msgspec.json.encode(said))
    told(room)
    assert brought(room) == {**EACH, ADA: messages}
    assert room.waiting() == []
    assert room.undelivered() == []


def test_a_wish_from_before_there_were_such_messages_declines_nothing(room):
    """Its record does not know the word."""
    wishes(room, ADA, b'{"pace": "daily", "at": "2026-01-01T00:00:00Z"}')
    told(room)
    assert brought(room) == EACH


def test_a_wish_that_cannot_be_read_is_none(room, capsys):
    """The message comes, and the log says why."""
    wishes(room, ADA, b"{")
    told(room)
    assert brought(room) == EACH
    assert "preferences/" in capsys.readouterr().out


def test_who_cannot_be_reached_is_no_trouble(room, capsys):
    """An owner who is only a name: ops have the figures already, and nothing is put aside."""
    day = room.now.date() - timedelta(days=3)
    told(room, index=ReportIndex(at=room.now, entries=(job("a", "carl", day),)))
    assert brought(room) == {ADA: 0, BOB: 0, OPS: 1}
    assert room.undelivered() == []
    assert "ERROR" not in capsys.readouterr().out


def test_the_message_leads_to_the_report(room):
    """Where the policy says, or by the command."""
    told(room)
    brought(room)
    assert "gcloud run services proxy report-jobs" in room.mails(ADA)[0].text
    room.set_limits(report="https://report.example.com/")
    room.wait(days=7)
    told(room)
    brought(room)
    mail = room.mails(ADA)[-1]
    assert "Open the report: https://report.example.com/" in mail.text
    assert 'href="https://report.example.com/"' in mail.html
    assert "gcloud" not in mail.text


def test_a_message_whose_record_could_not_be_written_is_told_once_more(room):
    """The tick says what failed, marks nothing as told, and the next one has nothing to double."""
    room.cloud.store.trouble.order("write", unanswered(after_work=False), about="audit/")
    assert len(told(room)) == 1
    assert room.cloud.store.read(room.layout.build(MARK)) is None
    assert told(room) == []
    assert brought(room) == EACH
