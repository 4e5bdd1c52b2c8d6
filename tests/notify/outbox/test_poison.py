"""Notices and records that are not as they should be: they harm nobody but themselves."""

import base64
from datetime import UTC, datetime

import msgspec
import pytest

from spotwarden.layout import DeliveredRecord, DeliveryRound, OutboxEntry, notice_key, person_key
from spotwarden.model.delivery import Batch, Delivered, Round
from spotwarden.model.notice import CaseRef, Way
from spotwarden.notify.links.tokens import Keys
from spotwarden.notify.outbox.renderer import Renderer
from tests.notify.outbox.outbox_world import ADA, OPS, OutboxWorld, mailed, notice

KEYS = Keys.read("k1:" + base64.urlsafe_b64encode(b"k" * 32).decode(), "here")


class LinkedRoom(OutboxWorld):
    """One whose messages hold links; a notice whose words are `unwritable` stops their writer."""

    def _message(self, own, pendings, name, at, again):
        if any(one.notice.why == "unwritable" for one in pendings):
            raise ValueError("nobody can write this")
        self.tells[name] = tuple(one.notice.id for one in pendings)
        renderer = Renderer(limits=self.limits, own=own, answers="https://answers.example", keys=KEYS)
        return renderer.render(pendings, name, at, again)


def odd(**said):
    """A notice as somebody else publishes it: whatever JSON can hold."""
    return msgspec.json.encode({**msgspec.to_builtins(notice("odd", ways=tuple(Way))), **said})


@pytest.fixture
def room():
    """A deployment that mails."""
    return LinkedRoom()


def told(room):
    """Which notices Ada was told, by their ids' ends."""
    return [one.removeprefix("made-up/") for mail in room.mails(ADA) for one in room.tells[mail.message_id]]


@pytest.mark.parametrize(
    "said",
    [
        {"at": "9998-01-01T00:00:00Z"},
        {"at": "0001-01-01T00:00:00+14:00"},
        {"due": "9999-12-31T23:59:59-14:00"},
        {"latest": "9999-12-31T23:59:59-14:00"},
        {"case": {"rule": "idle", "key": "1", "opened": "0001-01-01T00:00:00+14:00"}},
    ],
    ids=["late", "before time", "after time", "at the latest after time", "a case before time"],
)
def test_a_moment_that_nobody_can_reckon_with_holds_up_nobody(room, said):
    """Such a notice is put aside as one that cannot be read; what else waits for the same person goes."""
    room.message(odd(**said))
    room.told(notice("sound"))
    assert told(room) == ["sound"]
    assert [one.pending.notice.kind for one in room.undelivered()] == ["unreadable"]
    assert room.waiting() == []


def test_a_case_whose_names_fit_into_no_link_is_told_without_one(room):
    """A link that is too long cannot be signed; the message goes all the same, and the next one, too."""
    room.message(odd(case={"rule": "r" * 900, "key": "k", "opened": "2026-01-05T09:00:00Z"}))
    room.told(notice("sound"))
    assert sorted(told(room)) == ["odd", "sound"]


def test_a_moment_of_another_time_zone_is_told_in_ours(room):
    """The message says UTC, so it is to be that."""
    room.message(odd(due="2026-01-05T12:00:00+02:00"))
    room.wait(seconds=5)
    room.tick()
    assert "Due at 10:00 UTC" in room.mails(ADA)[0].text


@pytest.mark.parametrize("flood", [1, 9], ids=["one message", "each by itself"])
def test_what_stops_the_writer_of_messages_is_put_aside_and_stops_nothing_else(flood, capsys):
    """It cannot be told to ops either; everything else goes, and no second time."""
    room = LinkedRoom(flood=flood)
    room.told(notice("a"), notice("b", why="unwritable"), notice("c"))
    room.wait(minutes=1)
    room.tick()
    assert sorted(told(room)) == ["a", "c"]
    assert len(room.mails()) == (1 if flood == 1 else 2)
    assert {one.pending.recipient.address for one in room.undelivered()} == {ADA, OPS}
    assert all("nobody can write this" in one.reason for one in room.undelivered())
    assert room.waiting() == []
    assert '"severity":"ERROR"' in capsys.readouterr().out


@pytest.mark.parametrize("grace", ["P36500000D", "-PT1H"])
def test_a_grace_that_nobody_can_mean_is_none(room, grace):
    """The message names the moment that the notice names."""
    room.message(odd(due="2026-01-05T12:00:00Z", grace=grace, todo="look"))
    room.wait(seconds=5)
    room.tick()
    assert "Due at 12:00 UTC" in room.mails()[0].text


@pytest.mark.parametrize("data", [b"{}", b"x" * 5_000_000], ids=["no record", "5 MB"])
def test_a_record_of_an_arrival_that_cannot_be_read_is_one_all_the_same(room, data):
    """Nobody is told twice for it, whenever it is found, and nobody else waits."""
    early, late = notice("early"), notice("late")
    _arrived(room, early, data)
    room.publish(early, late)
    _arrived(room, late, data)
    room.told(notice("sound"))
    assert told(room) == ["sound"]
    assert room.waiting() == []


def _arrived(room, one, data):
    room.store(DeliveredRecord(notice=notice_key(one.id), channel="email", person=person_key(ADA)), data)


def test_a_message_of_which_one_notice_is_written_down_and_waits_no_more_has_arrived(room):
    """Its sender died between the first notice's records and the second's."""
    pair, at = (notice("a"), notice("b")), room.now
    room.publish(pair[1])
    batch = Batch(notices=tuple(notice_key(one.id) for one in pair), message_id="m@x", sent_at=at)
    held = Round(holder="dead", until=at, sending=batch)
    room.store(DeliveryRound(channel="email", person=person_key(ADA)), msgspec.json.encode(held))
    record = Delivered(notice=pair[0].id, recipient=mailed(ADA), at=at, message_id="m@x")
    _arrived(room, pair[0], msgspec.json.encode(record))
    room.wait(minutes=1)
    room.tick()
    assert room.mails() == []
    assert [len(room.delivered(one)) for one in pair] == [1, 1]
    assert room.waiting() == []


@pytest.mark.parametrize("person", ["%FF", person_key("a" * 200 + "@example.com")], ids=["no text", "cut"])
def test_a_broken_record_for_somebody_whose_name_tells_no_address_is_put_aside_once(room, person, capsys):
    """By the name that it has."""
    room.store(OutboxEntry(channel="email", person=person, notice=notice_key("x")), b"{")
    room.tick()
    capsys.readouterr()
    room.tick()
    assert room.waiting() == []
    assert len(room.undelivered()) == 1
    assert capsys.readouterr().out == ""


def test_a_moment_without_a_time_zone_is_meant_in_utc(room):
    """As everything of ours is."""
    room.message(odd(at="2026-01-05T09:00:00", case=msgspec.to_builtins(CASE), due="2026-01-05T12:00:00"))
    (waiting,) = room.waiting()
    assert waiting.notice.due == datetime(2026, 1, 5, 12, tzinfo=UTC)


CASE = CaseRef(rule="idle", key="1", opened=datetime(2026, 1, 5, 8, tzinfo=UTC))
