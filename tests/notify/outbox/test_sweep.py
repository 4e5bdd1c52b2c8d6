"""From a notice on the topic to a message: to whom, once, and what is left where it cannot be."""

import contextlib
import re
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import (
    DeliveredRecord,
    DeliveryRound,
    PreferenceRecord,
    UndeliveredRecord,
    notice_key,
    person_key,
)
from spotwarden.model.delivery import Batch, Channel, Delivered, Pace, Pending, Recipient, Round
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.message import HookPost, Mail, Shape
from spotwarden.model.notice import CaseRef, Severity, Way
from spotwarden.model.offer import Unfit
from spotwarden.model.policy import Policy, Team
from spotwarden.model.threads import Threads
from spotwarden.notify.channels import ChannelSettings
from spotwarden.notify.links.audience import audience
from spotwarden.notify.links.tokens import Keys, read
from spotwarden.notify.outbox.intake import take_in
from spotwarden.notify.outbox.renderer import Renderer
from spotwarden.ports import ConflictError, UnansweredError
from tests.fakes.trouble import rejected, unanswered
from tests.notify.outbox.outbox_world import ADA, BOB, OPS, OutboxWorld, entry, mailed, notice

MANY = [notice(f"n{number:02}") for number in range(4)]
VISION = Team(owners=("*@example.com",), hook="vision")


@pytest.fixture
def room():
    """A deployment that mails."""
    return OutboxWorld()


def tos(room):
    """To whom messages went, in order."""
    return [one.to if isinstance(one, Mail) else one.hook for one in room.messages()]


def test_a_notice_reaches_its_owner_and_waits_no_longer(room):
    """Taken in, sent, written down; the outbox is empty."""
    room.told(notice())
    assert tos(room) == [ADA]
    assert room.waiting() == []
    (record,) = room.delivered(notice())
    assert record.message_id == room.mails()[0].message_id
    assert record.answer == "250 kept as 1"


def test_nothing_is_sent_before_it_has_settled(room):
    """A second short of it nothing goes; what belongs together has time to come together."""
    room.publish(notice())
    room.wait(seconds=4)
    room.tick()
    assert tos(room) == []
    room.wait(seconds=1)
    room.tick()
    assert tos(room) == [ADA]


def test_a_message_that_comes_again_tells_nobody_twice(room):
    """While it waits, and after it has arrived."""
    room.publish(notice(), notice())
    assert len(room.waiting()) == 1
    room.told()
    room.told(notice())
    assert room.waiting() == []
    assert tos(room) == [ADA]


def test_a_message_that_comes_again_while_its_message_is_written_down_tells_nobody_twice(room):
    """It looked before the record of arrival was there, and wrote after the notice had left the outbox."""
    room.publish(notice())
    (late,) = room.waiting()
    room.told()
    room.store(entry(notice()), msgspec.json.encode(late))
    room.tick_for(minutes=10)
    assert tos(room) == [ADA]
    assert room.waiting() == []


@pytest.mark.parametrize(("count", "messages"), [(3, 3), (4, 1)])
def test_more_than_a_few_at_once_become_one_message(room, count, messages):
    """Up to `flood` a message each; one more, and all of them are one."""
    room.told(*MANY[:count])
    assert len(room.mails(ADA)) == messages
    assert all(len(room.delivered(one)) == 1 for one in MANY[:count])
    assert room.waiting() == []


def test_a_team_gets_a_copy_where_it_looks():
    """By mail to the owner, and to the hook of the team."""
    room = OutboxWorld(teams={"vision": VISION})
    room.told(notice())
    assert sorted(tos(room)) == [ADA, "vision"]
    assert len(room.delivered(notice())) == 2


def test_job_toml_names_who_is_told(room):
    """Its `email` wins over the owner."""
    room.job_says(f'email = "{BOB}"')
    room.told(notice())
    assert tos(room) == [BOB]


def test_a_job_toml_that_cannot_be_read_costs_no_notice(room):
    """Then the owner is told."""
    room.job_says("email = [")
    room.told(notice())
    assert tos(room) == [ADA]


@pytest.mark.parametrize("job", ["", "no such/job", "preempted-jobs", "x" * 70, "train\nBcc: a@b"])
def test_a_notice_about_no_job_of_ours_is_told_all_the_same(room, job):
    """A name that is none is nobody's folder."""
    room.told(notice(job=job))
    assert tos(room) == [ADA]


def test_a_job_without_an_owner_is_told_to_ops_with_how_to_set_one(room):
    """The message says why it goes there."""
    room.publish(notice(owner=""))
    (pending,) = room.waiting()
    assert "job has no known owner" in pending.because
    assert "job.toml" in pending.because
    room.told()
    assert tos(room) == [OPS]
    assert "has no known owner" in room.mails()[0].text


def test_with_neither_mail_nor_hooks_the_topic_is_all_there_is():
    """Who subscribes to it reads it; nothing waits for ever."""
    room = OutboxWorld(email=False)
    room.told(notice())
    assert room.waiting() == []
    assert room.undelivered() == []


def test_a_notice_that_nobody_can_get_is_kept_and_told_in_the_log(capsys):
    """Nobody's job, and no ops: the record says so, once."""
    room = OutboxWorld(ops="")
    room.told(notice(owner=""), notice(owner=""))
    (kept,) = room.undelivered()
    assert kept.pending.notice == notice(owner="")
    assert "no one to notify" in kept.reason
    assert "has no known owner" in kept.reason
    assert capsys.readouterr().out.count('"severity":"ERROR"') == 1


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"{}",
        b"[" * 100_000,
        b'{"id": 3}',
        msgspec.json.encode(notice(id="")),
        b"x" * 5_000_000,
    ],
    ids=["nothing", "no text", "no notice", "deep", "another kind", "no id", "5 MB"],
)
def test_what_nobody_can_read_is_put_aside_and_acknowledged(room, data, capsys):
    """It would be no better the next time; it is kept as far as it helps to find who wrote it."""
    room.message(data)
    room.message(data)
    (kept,) = room.undelivered()
    assert kept.pending.notice.kind == "unreadable"
    assert len(msgspec.json.encode(kept)) < 20_000
    assert room.waiting() == []
    assert capsys.readouterr().out.count('"severity":"ERROR"') == 1
    (named,) = (one.name for one in room.cloud.store.entries(room.layout.undelivered()))
    assert isinstance(room.layout.parse(named), UndeliveredRecord)
    assert "/topic/unreadable/" in named


def test_a_message_without_data_is_no_notice(room):
    """Such as a tick that lost its attribute."""
    take_in(room.context(patient=False), {"messageId": "1"})
    take_in(room.context(patient=False), {"data": "no base64!"})
    assert {one.pending.notice.kind for one in room.undelivered()} == {"unreadable"}


def test_evidence_of_five_megabytes_becomes_a_message(room):
    """What is cut says so; everything else is told."""
    room.told(notice(evidence={"log": "x" * 5_000_000, **{f"row{n}": "y" for n in range(100)}}))
    assert tos(room) == [ADA]
    assert len(room.mails()[0].html) < 200_000


def test_a_recipient_that_refuses_is_never_tried_again_and_ops_stand_in(room):
    """The message to ops says in whose place and why; for a warning that counts as told."""
    room.cloud.mailer.trouble.order("send", rejected("refused", "550 no such user"), about=ADA, times=9)
    room.told(notice())
    (kept,) = room.undelivered()
    assert kept.pending.recipient == mailed(ADA)
    assert "550 no such user" in kept.reason
    (stand_in,) = room.waiting()
    assert (stand_in.recipient, stand_in.stands_in) == (mailed(OPS), ADA)
    room.told(notice())
    assert tos(room) == [OPS]
    assert ADA in room.mails()[0].text
    assert [one.recipient for one in room.delivered(notice())] == [mailed(OPS)]


def test_where_ops_refuse_it_is_kept_and_nobody_is_asked_any_more(room):
    """Nobody stands in for ops."""
    room.cloud.mailer.trouble.order("send", rejected("refused"), times=9)
    room.told(notice())
    room.told()
    assert [one.pending.recipient for one in room.undelivered()] == [mailed(ADA), mailed(OPS)]
    assert room.waiting() == []
    assert tos(room) == []


def test_a_team_hook_that_refuses_costs_ops_one_notice_a_day():
    """Its owners have their mails; ops hear that the hook is broken, not what it would have said."""
    room = OutboxWorld(teams={"vision": VISION}, apart=timedelta(0))
    room.cloud.mailer.trouble.order("send", rejected("refused", "404"), about="vision", times=9)
    room.told(*MANY[:3])
    room.told()
    assert sorted(tos(room)) == [ADA, ADA, ADA, OPS]
    assert room.mails(OPS)[0].headers["X-Spotwarden-Kind"] == "unreachable"
    assert len(room.undelivered()) == 3


def test_without_mails_ops_stand_in_for_a_hook_as_well():
    """The hook was the only way to its owner."""
    room = OutboxWorld(teams={"vision": VISION}, email=False, ops_hook="ops")
    room.cloud.mailer.trouble.order("send", rejected("refused"), about="vision")
    room.told(notice())
    (stand_in,) = room.waiting()
    assert (stand_in.notice, stand_in.stands_in) == (notice(), "vision")
    room.told()
    assert tos(room) == ["ops"]


def test_what_certainly_was_not_sent_is_tried_again_after_a_pause_that_doubles(room):
    """One minute, then two; nothing else is tried for this recipient meanwhile, and nobody is told twice."""
    room.cloud.mailer.trouble.order("send", rejected("unsent", "421 busy"), times=2)
    room.told(notice("a"))
    assert room.round().failures == 1
    room.publish(notice("b"))
    room.wait(seconds=59)
    room.tick()
    assert room.round().failures == 1
    room.wait(seconds=1)
    room.tick()
    assert room.round().failures == 2
    room.wait(seconds=119)
    room.tick()
    assert tos(room) == []
    room.wait(seconds=1)
    room.tick()
    assert tos(room) == [ADA, ADA]
    assert room.round() == Round(last=room.now)
    assert not any("already have this message" in one.text for one in room.mails())


def test_one_recipients_trouble_never_delays_another(room):
    """Bob's message goes while Ada's server is down."""
    room.cloud.mailer.trouble.order("send", rejected("unsent"), about=ADA, times=99)
    room.told(notice(), notice("b", owner=BOB))
    assert tos(room) == [BOB]


def test_what_cannot_be_sent_for_a_day_goes_to_ops(room):
    """A minute short of it, it still waits for its recipient."""
    room.cloud.mailer.trouble.order("send", rejected("unsent", "421 busy"), about=ADA, times=999)
    room.told(notice())
    room.tick_for(hours=23, minutes=50, every=timedelta(minutes=10))
    assert room.undelivered() == []
    room.tick_for(hours=2, every=timedelta(minutes=10))
    (kept,) = room.undelivered()
    assert "could not be sent" in kept.reason
    assert "421 busy" in kept.reason
    assert tos(room) == [OPS]


def test_a_daily_digest_that_fails_once_is_not_given_up_for_its_age(room):
    """It waited for its hour, not for a server: a day counts from the first failure."""
    room.prefers(ADA, Pace.DAILY)
    room.publish(notice(severity=Severity.INFO))
    room.cloud.mailer.trouble.order("send", rejected("unsent"))
    room.tick_for(hours=25, every=timedelta(minutes=30))
    assert room.undelivered() == []
    assert tos(room) == [ADA]


@pytest.mark.parametrize("arrived", [False, True])
def test_a_message_of_which_nobody_knows_is_sent_once_more_and_says_so(room, arrived):
    """With the same message id, after a pause; so a recipient gets it twice at most, and one says so."""
    room.cloud.mailer.trouble.order("send", unanswered(after_work=arrived))
    room.told(notice())
    assert room.round().sending is not None
    room.wait(seconds=60)
    room.tick()
    first, *_ = messages = room.mails(ADA)
    assert len(messages) == (2 if arrived else 1)
    assert {one.message_id for one in messages} == {first.message_id}
    assert "already have this message" in messages[-1].text
    assert room.waiting() == []


def test_after_a_second_unknown_it_is_kept_and_ops_are_told(room):
    """A third copy is never sent."""
    room.cloud.mailer.trouble.order("send", unanswered(after_work=True), about=ADA, times=9)
    room.told(notice())
    room.tick_for(hours=1)
    assert len(room.mails(ADA)) == 2
    (kept,) = room.undelivered()
    assert "delivery couldn't be confirmed" in kept.reason
    assert len(room.mails(OPS)) == 1


def test_an_unknown_that_then_surely_is_not_sent_stays_one(room):
    """The first may have arrived; being turned away since does not count as a second."""
    room.cloud.mailer.trouble.order("send", unanswered(after_work=False))
    room.told(notice())
    room.cloud.mailer.trouble.order("send", rejected("unsent"), times=3)
    room.tick_for(minutes=30)
    assert tos(room) == [ADA]
    assert "already have this message" in room.mails()[0].text


def test_trials_go_each_by_itself_at_once_to_whom_they_name():
    """Whatever they are about, whoever the job's owner is, and at night."""
    room = OutboxWorld(quiet="00-24", teams={"vision": VISION})
    room.job_says(f'email = "{BOB}"')
    room.told(*(notice(id=f"test/1/{n}", severity=Severity.INFO) for n in range(7)))
    assert tos(room) == [ADA] * 7


def test_a_digest_tells_all_that_waits_an_hour_after_the_first(room):
    """One message; a minute before the hour there is none."""
    room.publish(notice("a", severity=Severity.INFO))
    room.tick_for(minutes=50)
    room.publish(notice("b", severity=Severity.INFO))
    room.tick_for(minutes=9)
    assert tos(room) == []
    room.tick_for(minutes=1)
    assert tos(room) == [ADA]
    assert room.waiting() == []


def test_who_prefers_to_hear_at_once_does(room):
    """And who said nothing waits for the digest."""
    room.prefers(ADA, Pace.NOW)
    room.told(notice(severity=Severity.INFO), notice("b", severity=Severity.INFO, owner=BOB))
    assert tos(room) == [ADA]


def test_a_preference_that_cannot_be_read_is_none(room):
    """Then the policy's digest holds."""
    room.store(PreferenceRecord(person=person_key(ADA)), b"{")
    room.publish(notice(severity=Severity.INFO))
    room.tick_for(minutes=61)
    assert tos(room) == [ADA]


@pytest.mark.parametrize(("zone", "said"), [("Asia/Tokyo", "JST"), ("", "CET"), ("Mars/Olympus", "CET")])
def test_a_person_s_own_choice_of_a_clock_comes_first(zone, said):
    """Before the policy's for them; one that nobody knows counts for nothing, and holds up no message."""
    room = OutboxWorld(timezones={ADA: "Europe/Berlin"})
    room.prefers(ADA, Pace.DAILY, zone)
    room.told(notice(then="it will be stopped at 2026-01-05 14:30 UTC"))
    assert f" {said} on Mon, Jan 5" in room.mails(ADA)[0].text


@pytest.mark.parametrize(
    ("own", "team", "everybody", "subject"),
    [
        (None, None, Threads.NEWS, "train: running again"),
        (None, None, Threads.JOB, "train: job updates"),
        (None, Threads.JOB, Threads.NEWS, "train: job updates"),
        (None, Threads.NEWS, Threads.JOB, "train: running again"),
        (Threads.NEWS, Threads.JOB, Threads.JOB, "train: running again"),
        (Threads.JOB, None, Threads.NEWS, "train: job updates"),
    ],
)
def test_what_subjects_say_is_the_reader_s_choice_then_the_team_s_then_the_policy_s(
    own, team, everybody, subject
):
    """Each may differ from the next; a team without a word of its own says nothing."""
    room = OutboxWorld(teams={"vision": replace(VISION, hook="", threads=team)}, threads=everybody)
    room.prefers(ADA, Pace.NOW, threads=own)
    room.told(notice(kind="recovered"))
    assert room.mails(ADA)[0].subject == subject


def test_a_message_does_not_wait_to_know_its_reader_s_clock(room):
    """Where the wish cannot be read now, times are in the policy's zone."""
    room.prefers(ADA, Pace.DAILY, "Asia/Tokyo")
    room.cloud.store.trouble.order("read", unanswered(after_work=False), about="preferences/", times=9)
    room.told(notice(then="it will be stopped at 2026-01-05 14:30 UTC"))
    assert "14:30 UTC on Mon, Jan 5" in room.mails(ADA)[0].text


def test_while_another_sweep_writes_to_somebody_nobody_else_does(room):
    """Until its lease is over; then what it was about to send is sent once more."""
    room.publish(notice())
    batch = Batch(notices=(notice_key(notice().id),), message_id="m@x", sent_at=room.now)
    held = Round(holder="another", until=room.now + timedelta(minutes=2), sending=batch)
    name = room.layout.build(_round())
    room.cloud.store.write(name, msgspec.json.encode(held), generation=0)
    room.wait(seconds=119)
    assert room.tick().waiting
    assert tos(room) == []
    room.wait(seconds=1)
    room.tick()
    assert [one.message_id for one in room.mails(ADA)] == ["m@x"]
    assert "already have this message" in room.mails()[0].text


def _round(address=ADA):
    return DeliveryRound(channel="email", person=person_key(address))


@pytest.mark.parametrize(("name", "copies"), [("m@x", [[], []]), ("another@x", [[], [True]])])
def test_a_message_that_is_written_down_in_part_has_arrived(name, copies):
    """Its sender could not change the round any more; another message's record says nothing of this one."""
    room, pair, at = OutboxWorld(), MANY[:2], OutboxWorld().now
    room.publish(*pair)
    batch = Batch(notices=tuple(notice_key(one.id) for one in pair), message_id="m@x", sent_at=at)
    room.store(_round(), msgspec.json.encode(Round(holder="dead", until=at, sending=batch)))
    record = Delivered(notice=pair[0].id, recipient=mailed(ADA), at=at, message_id=name)
    thing = DeliveredRecord(notice=batch.notices[0], channel="email", person=person_key(ADA))
    room.store(thing, msgspec.json.encode(record))
    room.wait(minutes=1)
    room.tick()
    assert [room.copies(one, ADA) for one in pair] == copies
    assert [len(room.delivered(one)) for one in pair] == [1, 1]
    assert room.waiting() == []
    assert room.round() == Round(last=room.now if any(copies) else at)


def test_a_message_that_comes_again_while_its_notice_is_given_up_changes_nothing(room):
    """It looked before the record of the failure was there, and wrote after the notice had left."""
    room.cloud.mailer.trouble.order("send", rejected("refused"), about=ADA)
    room.publish(notice())
    (late,) = room.waiting()
    room.told()
    room.store(entry(notice()), msgspec.json.encode(late))
    room.tick_for(minutes=10)
    assert tos(room) == [OPS]
    assert room.waiting() == []


def test_a_lease_of_a_clock_gone_wrong_holds_nobody_up(room):
    """Beyond twice the lease it is none."""
    room.publish(notice())
    held = Round(holder="another", until=room.now + timedelta(days=365))
    room.store(_round(), msgspec.json.encode(held))
    room.told()
    assert tos(room) == [ADA]


def test_a_round_that_cannot_be_read_holds_nobody_up(room, capsys):
    """Nobody knows what was under way, so the message says that it may be a second copy."""
    room.store(_round(), b"{")
    room.told(notice())
    assert "already have this message" in room.mails(ADA)[0].text
    assert '"severity":"ERROR"' in capsys.readouterr().out
    room.told(notice("b"))
    assert "already have this message" not in room.mails(ADA)[1].text


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"x" * 5_000_000,
        msgspec.json.encode(Pending(notice=notice("b"), recipient=mailed(ADA), since=notice().at)),
        msgspec.json.encode(Pending(notice=notice(), recipient=mailed(BOB), since=notice().at)),
    ],
    ids=["no record", "5 MB", "another notice's", "another person's"],
)
def test_a_broken_record_is_put_aside_and_stops_nothing(room, data, capsys):
    """What else waits for the same person goes."""
    room.store(entry(notice()), data)
    room.told(notice("b"))
    assert len(room.mails(ADA)) == 1
    assert room.waiting() == []
    (kept,) = room.undelivered()
    assert kept.pending.notice.kind == "unreadable"
    assert '"severity":"ERROR"' in capsys.readouterr().out


def test_objects_that_are_nobodys_notices_are_left_alone(room):
    """Somebody may put anything into a bucket."""
    name = f"{room.layout.outbox()}pigeon/ada/{'0' * 32}.json"
    room.cloud.store.write(name, b"", generation=0)
    room.cloud.store.write(f"{room.layout.outbox()}README", b"", generation=0)
    room.told(notice())
    assert tos(room) == [ADA]


def test_what_a_person_has_sent_once_more_is_sent(room):
    """The record of the failure is older than the wish."""
    room.cloud.mailer.trouble.order("send", rejected("refused"), about=ADA)
    room.told(notice())
    (kept,) = room.undelivered()
    room.wait(hours=1)
    again = replace(kept.pending, since=room.now)
    room.store(entry(notice()), msgspec.json.encode(again))
    room.told()
    assert ADA in tos(room)


def test_where_the_bucket_does_not_answer_the_message_comes_again(room):
    """It is not acknowledged, so Pub/Sub brings it once more."""
    room.cloud.store.trouble.order("write", unanswered(after_work=False), about="outbox")
    with pytest.raises(ExceptionGroup) as failed:
        room.publish(notice())
    assert failed.group_contains(UnansweredError)
    room.told(notice())
    assert tos(room) == [ADA]


def test_the_audit_keeps_each_message_and_not_its_words(room):
    """To whom, which notices, and what the server said."""
    room.told(notice())
    (name,) = (one.name for one in room.cloud.store.entries("spotwarden/audit/"))
    (record,) = msgspec.json.decode(room.cloud.store.read(name).data)
    assert record["detail"]["to"] == ADA
    assert record["detail"]["notices"] == ["made-up/one"]
    assert "html" not in str(record)


def test_a_sweep_ends_in_time_and_the_next_begins_with_others(room):
    """No message is begun after a minute; who had to wait comes first another time."""
    people = [f"p{number}@example.com" for number in range(6)]
    room.publish(*(notice(str(n), owner=person) for n, person in enumerate(people)))
    room.wait(seconds=5)
    slow = iter(range(0, 10_000, 7))

    def now():
        return room.now + timedelta(seconds=next(slow))

    swept = room.tick(now=now)
    first = len(tos(room))
    assert 0 < first < 6
    assert len(swept.waiting) >= 6 - first - 1
    room.wait(minutes=1)
    room.tick()
    assert sorted(tos(room)) == people


def test_hooks_get_their_posts_under_the_same_id_when_sent_once_more():
    """A receiver can tell by it."""
    room = OutboxWorld(email=False, teams={"vision": VISION})
    room.cloud.mailer.trouble.order("send", unanswered(after_work=True))
    room.told(notice())
    room.wait(minutes=1)
    room.tick()
    first, second = room.posts("vision")
    assert isinstance(first, HookPost)
    assert first.id == second.id
    assert room.round("vision", Channel.HOOK).sending is None


def test_messages_of_the_function_hold_links_that_only_this_deployment_signs(room):
    """From its own environment: the answers' URL, the keys, and the sender's domain."""
    key = "k1:" + "QUFB" * 11
    environ = {"SPOTWARDEN_ANSWERS": "https://answers.example.com/", "SPOTWARDEN_SIGNING_KEYS": key}
    said = ChannelSettings.read(
        {"SPOTWARDEN_SMTP": "smtps://mail.example.com:465", "SPOTWARDEN_MAIL_FROM": "S <s@mail.example.com>"}
    )
    context = room.context()
    renderer = Renderer.open(context.settings, context.policy, said, environ)
    case = CaseRef(rule="idle", key="1", opened=room.now)
    one = Pending(notice=notice(case=case, ways=(Way.KEEP,)), recipient=mailed(ADA), since=room.now)
    message = renderer.render([one], f"1@{renderer.domain}", room.now, False)
    assert message.message_id == "1@mail.example.com"
    tokens = re.findall(r"https://answers\.example\.com/\?t=([\w.-]+)", message.text)
    keys = Keys.read(key, audience(context.settings))
    offer, wish = (read(token, keys, room.now) for token in dict.fromkeys(tokens))
    assert (offer.way, offer.to, offer.notice) == (Way.KEEP, ADA, "made-up/one")
    assert wish.to == ADA
    assert "Keep for 8 h" in message.text
    assert message.unsubscribe.startswith("https://answers.example.com/?t=")
    other = Keys.read(key, audience(replace(context.settings, bucket="another")))
    assert read(tokens[0], other, room.now) is Unfit.FOREIGN


def test_without_the_answers_url_messages_hold_no_links_and_need_no_keys(room):
    """And without a mail server there is no domain but one that cannot exist."""
    policy = Policy(version="test", notify=room.limits)
    renderer = Renderer.open(room.settings, policy, ChannelSettings.read({}), {})
    one = Pending(notice=notice(ways=(Way.RESTART,)), recipient=mailed(ADA), since=room.now)
    message = renderer.render([one], "1@x", room.now, False)
    assert "?t=" not in message.text + message.html
    assert renderer.domain == "spotwarden.invalid"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("ada@example.com", "23:30 JST on Mon, Jan 5"),
        ("Ada@Example.com", "23:30 JST on Mon, Jan 5"),
        ("bob@example.com", "15:30 CET on Mon, Jan 5"),
        ("vision", "15:30 CET on Mon, Jan 5"),
        ("eve@elsewhere.com", "09:30 EST on Mon, Jan 5"),
    ],
)
def test_times_are_on_the_clock_of_the_reader(address, said):
    """A person's own zone counts before the team's, and that before the deployment's."""
    limits = NotifyLimits(timezone="America/New_York", timezones={"ada@*": "Asia/Tokyo"})
    vision = replace(VISION, timezone="Europe/Berlin")
    due = datetime(2026, 1, 5, 14, 30, tzinfo=UTC)
    channel = Channel.EMAIL if "@" in address else Channel.HOOK
    one = Pending(
        notice=notice(due=due, then="it will be stopped at 2026-01-05 14:30 UTC"),
        recipient=Recipient(channel=channel, address=address),
        since=due,
    )
    renderer = Renderer(limits=limits, teams={"vision": vision}, shapes={"vision": Shape.SLACK})
    message = renderer.render([one], "1@x", due, False)
    assert said in (message.text if isinstance(message, Mail) else message.body.decode())


class HinderedRound:
    """A bucket whose n-th write of a round fails, and that is otherwise as it is."""

    def __init__(self, store, count, error):
        self._store, self._left, self._error = store, count, error

    def __getattr__(self, name):
        return getattr(self._store, name)

    def write(self, name, data, **how):
        """As `Store.write`."""
        self._left -= "/rounds/" in name
        if "/rounds/" in name and self._left == 0:
            raise self._error
        return self._store.write(name, data, **how)


@pytest.mark.parametrize("error", [UnansweredError("?"), ConflictError("?")], ids=["no answer", "taken over"])
def test_a_message_that_went_is_written_down_whoever_has_the_round_by_then(room, error):
    """Nothing else is sent by a sweep that does not have it any more; the next sends only the rest."""
    room.publish(*MANY[:2])
    room.wait(seconds=5)
    ports = room.cloud.ports()
    with contextlib.suppress(ExceptionGroup):
        room.tick(replace(ports, store=HinderedRound(ports.store, 2, error)))
    assert len(room.messages()) == 1
    room.tick_for(minutes=5)
    assert [room.copies(one, ADA) for one in MANY[:2]] == [[False], [False]]
    assert room.round().sending is None


class Frozen(HinderedRound):
    """The store of a function that is frozen for so many seconds once it has written that it will send."""

    def __init__(self, room: OutboxWorld, seconds: float) -> None:
        super().__init__(room.cloud.store, 0, None)
        self._room, self._seconds = room, seconds

    def write(self, name, data, **how):
        """As `Store.write`."""
        written = self._store.write(name, data, **how)
        span, self._seconds = self._seconds, 0.0
        self._room.wait(seconds=span)
        return written


@pytest.mark.parametrize(("seconds", "sent"), [(59, [ADA]), (60, []), (90, []), (600, [])])
def test_a_message_that_has_lain_for_a_minute_is_not_handed_over(room, seconds, sent):
    """It names moments that count from its arrival: the next sweep writes it anew, as one that never went."""
    room.publish(notice())
    room.wait(seconds=5)
    room.tick(replace(room.cloud.ports(), store=Frozen(room, seconds)))
    assert tos(room) == sent
    room.tick()
    assert room.copies(notice(), ADA) == [False]


def test_a_message_that_goes_again_and_has_lain_too_long_may_still_have_gone_once(room):
    """That it came too late this time says nothing of the first try."""
    room.cloud.mailer.trouble.order("send", unanswered(after_work=False))
    room.told(notice())
    room.wait(minutes=2)
    room.tick(replace(room.cloud.ports(), store=Frozen(room, 90)))
    assert tos(room) == []
    room.tick()
    assert room.copies(notice(), ADA) == [True]


def test_a_sweep_that_was_held_up_leaves_a_round_that_another_has_to_it(room):
    """What that one has written down stays."""
    room.publish(notice())
    room.wait(seconds=5)

    class Overtaken(Frozen):
        def write(self, name, data, **how):
            written = super().write(name, data, **how)
            if not room.messages():
                room.tick()
            return written

    room.tick(replace(room.cloud.ports(), store=Overtaken(room, 130)))
    assert tos(room) == [ADA]
    assert room.round().last is not None
    room.tick_for(minutes=5)
    assert room.copies(notice(), ADA) == [True]


def test_a_sweep_ends_in_time_between_two_messages_to_one_person(room):
    """What is left goes with the next."""
    room.publish(*MANY[:3])
    room.wait(seconds=5)
    slow = iter(range(0, 10_000, 10))
    room.tick(now=lambda: room.now + timedelta(seconds=next(slow)))
    assert 0 < len(tos(room)) < 3
    room.wait(minutes=1)
    room.tick()
    assert tos(room) == [ADA] * 3


def test_what_goes_once_more_is_no_part_of_a_flood(room):
    """Three others are three messages still."""
    room.cloud.mailer.trouble.order("send", unanswered(after_work=False))
    room.told(MANY[3])
    room.publish(*MANY[:3])
    room.wait(minutes=1)
    room.tick()
    assert len(room.mails(ADA)) == 4


def test_a_hook_that_is_called_like_a_person_has_no_wishes():
    """Preferences are people's."""
    room = OutboxWorld(email=False, teams={"vision": VISION})
    room.prefers("vision", Pace.NOW)
    room.told(notice(severity=Severity.INFO))
    assert tos(room) == []


def test_what_is_over_is_not_even_taken_in_again(room):
    """What has arrived, and what could not be sent: neither would make a digest's hour begin anew."""
    room.cloud.mailer.trouble.order("send", rejected("refused"), about=BOB)
    told, refused = notice(), notice("b", owner=BOB)
    room.told(told, refused)
    room.told()
    assert room.waiting() == []
    room.publish(told, refused)
    assert room.waiting() == []


def test_where_time_is_short_another_person_comes_first_each_minute(room):
    """Nobody waits for ever behind somebody whose messages take long."""
    people = [f"p{number}@example.com" for number in range(3)]
    firsts = []
    for minute in range(3):
        room.publish(*(notice(f"{minute}/{person}", owner=person) for person in people))
        room.wait(minutes=1)
        slow = iter(range(0, 100_000, 9))
        before = len(tos(room))
        room.tick(now=lambda slow=slow: room.now + timedelta(seconds=next(slow)))
        firsts.append(tos(room)[before])
    assert sorted(firsts) == people


def test_what_was_put_back_while_it_is_read_is_left_to_the_next_tick(room):
    """Only what was listed is sent and dropped."""
    room.publish(notice())
    room.wait(seconds=5)
    (pending,) = room.waiting()
    newer = msgspec.json.encode(replace(pending, because="put back by a person"))

    class Changing(HinderedRound):
        def read(self, name, **how):
            if "/outbox/" in name:
                room.store(entry(notice()), newer)
            return self._store.read(name, **how)

    ports = room.cloud.ports()
    room.tick(replace(ports, store=Changing(ports.store, 0, None)))
    assert tos(room) == []
    room.tick()
    assert tos(room) == [ADA]
    assert room.waiting() == []
