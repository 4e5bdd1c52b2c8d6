"""Who hears of a notice, when it goes out, and what is cut of it: the pure part of the outbox."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.model.delivery import Batch, Channel, Pace, Pending, Recipient, Round
from spotwarden.model.finding import Target
from spotwarden.model.governance import GovernanceLimits
from spotwarden.model.jobfile import JobFile
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.notice import CaseRef, Notice, Severity, Way
from spotwarden.model.outcome import Done, Lost, Observed, Rejected, Unanswered
from spotwarden.model.policy import Policy, Team
from spotwarden.notify.outbox.due import due
from spotwarden.notify.outbox.mail_address import address
from spotwarden.notify.outbox.model import Addressed, DueQuestion, Waiting
from spotwarden.notify.outbox.recipients import addressed, stand_ins, unreachable
from spotwarden.notify.outbox.rounds import after, batch, once_more
from spotwarden.notify.outbox.tidying import UnreadableError, read

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
ADA, OPS = "ada@example.com", "ops@example.com"
TEAM = Team(owners=("ada*", "*@vision.example.com"), email="vision@example.com", hook="vision")
POLICY = Policy(
    version="test",
    governance=GovernanceLimits(ops=OPS),
    notify=NotifyLimits(email=True, ops_hook="ops"),
    teams={"vision": TEAM},
)
URGENT, WARNING, INFO = Severity.URGENT, Severity.WARNING, Severity.INFO


def notice(**said):
    """An urgent notice about a job."""
    fields = {
        "id": "made-up/1", "kind": "gave_up", "severity": URGENT, "job": "train", "at": NOW,
        "what": "what", "why": "why", "owner": "bob@example.com", **said,
    }  # fmt: skip
    return Notice(**fields)


def mail(to):
    """Somebody by mail."""
    return Recipient(channel=Channel.EMAIL, address=to)


def hook(name):
    """A web hook."""
    return Recipient(channel=Channel.HOOK, address=name)


GOOD = [
    ("ada@example.com", "ada@example.com"),
    ("Ada.Lovelace+x@EXAMPLE.Com", "Ada.Lovelace+x@example.com"),
    ("ada@corp", "ada@corp"),
    ("o'neil@example.com", "o'neil@example.com"),
    ("jürgen@münchen.example", "jürgen@münchen.example"),
    ("a" * 64 + "@example.com", "a" * 64 + "@example.com"),
    ("a@" + ".".join(["b" * 62] * 4), "a@" + ".".join(["b" * 62] * 4)),
]
BAD = [
    "", "ada", "@", "ada@", "@example.com", "ada@example.com\n", "ada@example.com\r\nBcc: eve@x.org",
    "a b@x.org", "ada@x.org,eve@x.org", "ada@x.org;eve@x.org", "ada@x.org eve@x.org", "Ada <ada@x.org>",
    '"ada"@x.org', "a@b@x.org", "ada@-x.org", "ada@x-.org", "ada@x..org", "ada@.org", "ada@x.org.",
    ".ada@x.org", "ada.@x.org", "a..b@x.org", "ada@[127.0.0.1]", "ada@x.org\x00", "ada\u202e@x.org",
    "ada\u2028@x.org", "ada@x_y.org?", "ada\ud800@x.org", "a" * 65 + "@example.com",
    "a@" + ".".join(["b" * 63] * 4), "ada@" + "b" * 64 + ".org", "mailto:ada@x.org",
]  # fmt: skip


@pytest.mark.parametrize(("said", "meant"), GOOD)
def test_one_plain_address_is_one(said, meant):
    """The domain is the same in capitals, the name before it need not be."""
    assert address(said) == meant


@pytest.mark.parametrize("said", BAD)
def test_anything_else_is_none(said):
    """Several, none, or one that would be a header."""
    assert address(said) == ""


@pytest.mark.parametrize(
    ("said", "file", "to"),
    [
        ({}, JobFile(), [mail("bob@example.com")]),
        ({}, JobFile(email="eve@x.org"), [mail("eve@x.org")]),
        ({}, JobFile(email="eve@x.org\nBcc: a@b"), [mail("bob@example.com")]),
        ({"owner": ADA}, JobFile(), [mail(ADA), hook("vision")]),
        ({"owner": "ada"}, JobFile(), [mail("vision@example.com"), hook("vision")]),
        ({"owner": "ADA"}, JobFile(), [mail("vision@example.com"), hook("vision")]),
        ({"owner": "ada"}, JobFile(email="eve@x.org"), [mail("eve@x.org"), hook("vision")]),
        ({"owner": ""}, JobFile(owner="ada"), [mail("vision@example.com"), hook("vision")]),
        ({"owner": ""}, JobFile(email="eve@x.org"), [mail("eve@x.org")]),
        ({"owner": OPS}, JobFile(email="eve@x.org"), [mail("eve@x.org")]),
        ({"owner": OPS, "kind": "idle_failing"}, JobFile(email="eve@x.org"), [mail(OPS), hook("ops")]),
        ({"owner": ADA, "kind": "idle_failing"}, JobFile(), [mail(OPS), hook("ops")]),
        ({"owner": OPS, "kind": "approval_needed"}, JobFile(email="eve@x.org"), [mail(OPS), hook("ops")]),
        ({"owner": OPS, "job": ""}, JobFile(), [mail(OPS), hook("ops")]),
        ({"owner": "", "job": ""}, JobFile(), [mail(OPS), hook("ops")]),
        ({"owner": "", "id": "test/1/x"}, JobFile(email="eve@x.org"), [mail(OPS)]),
        ({"owner": ADA, "id": "test/1/x"}, JobFile(email="eve@x.org"), [mail(ADA)]),
    ],
)
def test_who_hears_of_it(said, file, to):
    """job.toml's address, else the owner, else the team, else ops; hooks get copies."""
    found = addressed(notice(**said), file, POLICY)
    assert list(found.recipients) == to
    assert found.because == ("" if notice(**said).kind == "gave_up" else "only ops can fix this")


@pytest.mark.parametrize(
    ("owner", "because"),
    [
        ("", "job has no known owner"),
        (OPS, "job has no known owner"),
        ("carl", "'carl'"),
        ("c@x.org, d@x.org", "'c@x.org, d@x.org'"),
    ],
)
def test_ops_hear_what_goes_to_nobody_else_and_why(owner, because):
    """And who it was for, if anybody."""
    found = addressed(notice(owner=owner), JobFile(), POLICY)
    assert list(found.recipients) == [mail(OPS), hook("ops")]
    assert because in found.because
    assert found.stands_in == ("" if owner == OPS else owner)


def test_what_the_owner_ops_has_is_told_to_ops_without_a_reason():
    """A job of theirs, by its job.toml, has an owner."""
    found = addressed(notice(owner=OPS), JobFile(owner=OPS, email=OPS), POLICY)
    assert list(found.recipients) == [mail(OPS)]
    assert found.because == ""


def test_without_mails_only_hooks_are_told():
    """A team's own, else that of ops."""
    policy = replace(POLICY, notify=NotifyLimits(ops_hook="ops"))
    assert addressed(notice(owner=ADA), JobFile(), policy).recipients == (hook("vision"),)
    found = addressed(notice(), JobFile(), policy)
    assert found.recipients == (hook("ops"),)
    assert "email is off" in found.because


def test_with_nobody_at_all_the_reason_is_all_there_is():
    """What is wrong with the notice, and with the policy."""
    policy = replace(
        POLICY, governance=GovernanceLimits(ops="ops at example"), notify=NotifyLimits(email=True)
    )
    found = addressed(notice(owner=""), JobFile(), policy)
    assert found.recipients == ()
    assert "job has no known owner" in found.because
    assert "governance.ops" in found.because


def pending(to=None, **said):
    """A notice that waits."""
    return Pending(notice=notice(**said), recipient=to or mail(ADA), since=NOW)


def test_ops_stand_in_for_who_refuses():
    """In mail and in their hook; the message says for whom, and why."""
    found = stand_ins(pending(), "550 unknown", POLICY, NOW)
    assert [one.recipient for one in found] == [mail(OPS), hook("ops")]
    assert {(one.stands_in, one.because) for one in found} == {(ADA, "550 unknown")}


@pytest.mark.parametrize("to", [mail(OPS), mail("ops@EXAMPLE.com"), hook("ops")])
def test_nobody_stands_in_for_ops(to):
    """Whatever the notice, it would go round in circles."""
    assert stand_ins(pending(to), "550 unknown", POLICY, NOW) == ()


def test_nobody_stands_in_for_who_stands_in():
    """Once is enough."""
    assert stand_ins(replace(pending(), stands_in="bob"), "550 unknown", POLICY, NOW) == ()


def test_a_broken_hook_that_gets_copies_is_one_notice_a_day():
    """Another day is another notice; its owners were mailed."""
    copied = replace(pending(hook("vision")), copy=True)
    one, also = stand_ins(copied, "404", POLICY, NOW)
    other, _ = stand_ins(
        replace(copied, notice=notice(id="made-up/2")), "404", POLICY, NOW + timedelta(hours=1)
    )
    assert one.notice.kind == "unreachable"
    assert (one.copy, also.copy) == (False, True)
    assert one.notice.id == other.notice.id
    assert unreachable("vision", "404", POLICY, NOW + timedelta(days=1)).id != one.notice.id


def test_ops_stand_in_for_a_hook_that_is_all_its_owner_has():
    """Nobody else has been told."""
    one, _ = stand_ins(pending(hook("vision")), "404", POLICY, NOW)
    assert (one.notice.kind, one.stands_in, one.because) == ("gave_up", "vision", "404")


def test_a_hook_gets_a_copy_where_somebody_is_mailed():
    """A copy warns nobody by itself; alone it does."""
    both = Addressed(recipients=(mail(ADA), hook("vision"))).pendings(notice(), NOW)
    assert [one.copy for one in both] == [False, True]
    (alone,) = Addressed(recipients=(hook("vision"),)).pendings(notice(), NOW)
    assert not alone.copy


def waiting(key, severity=URGENT, *, ago=timedelta(minutes=1), **said):
    """Something that was taken in a while ago."""
    one = Pending(notice=notice(id=key, severity=severity, **said), recipient=mail(ADA), since=NOW - ago)
    return Waiting(key=key, generation=1, pending=one)


def messages(*some, limits=None, last=None, pace=None, now=NOW):
    """What goes out, by key."""
    wanted = DueQuestion(last=last, pace=pace, limits=limits or NotifyLimits(), now=now)
    return [[one.key for one in message] for message in due(some, wanted)]


@pytest.mark.parametrize(
    ("severity", "said", "last", "goes"),
    [
        (URGENT, {}, timedelta(0), True),
        (WARNING, {"due": NOW + timedelta(hours=1)}, timedelta(0), True),
        (INFO, {"due": NOW + timedelta(hours=1)}, timedelta(0), True),
        (WARNING, {}, None, True),
        (WARNING, {}, timedelta(minutes=5), True),
        (WARNING, {}, timedelta(minutes=4, seconds=59), False),
        (INFO, {}, None, False),
    ],
)
def test_what_presses_goes_at_once_and_a_warning_not_on_top_of_another_message(severity, said, last, goes):
    """`apart` counts from the last message, to the second."""
    at = None if last is None else NOW - last
    assert messages(waiting("a", severity, **said), last=at) == ([["a"]] if goes else [])


def test_message_upon_message_keeps_a_warning_no_longer_than_apart():
    """Urgent ones may come each minute for hours."""
    assert messages(waiting("a", WARNING, ago=timedelta(minutes=5)), last=NOW) == [["a"]]
    assert messages(waiting("a", WARNING, ago=timedelta(minutes=4, seconds=59)), last=NOW) == []


@pytest.mark.parametrize(("ago", "goes"), [(5, True), (4.999, False), (-60, False)])
def test_everything_settles_first(ago, goes):
    """Even what is urgent; something from the future waits for its time."""
    assert messages(waiting("a", ago=timedelta(seconds=ago))) == ([["a"]] if goes else [])


@pytest.mark.parametrize(
    ("quiet", "now", "silent"),
    [
        ("22-07", "2026-01-05T21:00:00Z", True),
        ("22-07", "2026-01-05T20:59:59Z", False),
        ("22-07", "2026-01-06T05:59:59Z", True),
        ("22-07", "2026-01-06T06:00:00Z", False),
        ("12-14", "2026-01-05T11:00:00Z", True),
        ("12-14", "2026-01-05T10:59:00Z", False),
        ("12-14", "2026-01-05T13:00:00Z", False),
        ("", "2026-01-06T03:00:00Z", False),
    ],
)
def test_in_quiet_hours_only_what_presses_goes(quiet, now, silent):
    """By the policy's clock: Berlin is an hour ahead of UTC in January."""
    limits = NotifyLimits(quiet=quiet, timezone="Europe/Berlin")
    at = msgspec.convert(now, datetime)
    old = timedelta(days=2)
    some = [waiting("u", ago=old), waiting("w", WARNING, ago=old), waiting("i", INFO, ago=old)]
    assert messages(*some, limits=limits, now=at) == ([["u"]] if silent else [["u"], ["w"], ["i"]])
    assert messages(*some[1:], limits=limits, now=at, pace=Pace.NOW) == ([] if silent else [["w"], ["i"]])


@pytest.mark.parametrize(
    ("pace", "ago", "goes"),
    [
        (None, timedelta(minutes=30), True),
        (None, timedelta(minutes=29, seconds=59), False),
        (Pace.HOURLY, timedelta(hours=1), True),
        (Pace.HOURLY, timedelta(minutes=59, seconds=59), False),
        (Pace.NOW, timedelta(seconds=5), True),
        (Pace.DAILY, timedelta(hours=5), True),
        (Pace.DAILY, timedelta(hours=4, seconds=-1), False),
    ],
)
def test_what_is_only_for_information_goes_at_the_readers_pace(pace, ago, goes):
    """The policy's digest for who has not said; once a day is at `daily_at`, 08:00 here."""
    limits = NotifyLimits(digest=timedelta(minutes=30))
    assert messages(waiting("a", INFO, ago=ago), pace=pace, limits=limits) == ([["a"]] if goes else [])


@pytest.mark.parametrize(("now", "goes"), [("06:59:59", False), ("07:00:00", True)])
def test_once_a_day_is_by_the_policys_clock(now, goes):
    """Eight in Berlin is seven in UTC, in winter; what came after yesterday's eight waits for today's."""
    limits = NotifyLimits(timezone="Europe/Berlin")
    at = msgspec.convert(f"2026-01-06T{now}Z", datetime)
    one = replace(waiting("a", INFO).pending, since=datetime(2026, 1, 5, 7, 0, 1, tzinfo=UTC))
    some = Waiting(key="a", generation=1, pending=one)
    assert messages(some, pace=Pace.DAILY, limits=limits, now=at) == ([["a"]] if goes else [])


def test_a_digest_takes_along_what_came_later_and_nothing_else():
    """All that is for information goes together; a warning that must wait still waits."""
    some = [
        waiting("old", INFO, ago=timedelta(hours=1)),
        waiting("new", INFO),
        waiting("w", WARNING),
        waiting("raw", INFO, ago=timedelta(seconds=1)),
    ]
    assert messages(*some, last=NOW) == [["old", "new"]]


def test_the_most_pressing_is_told_first():
    """Urgent, then warnings by when they fall due, then news by age."""
    some = [
        waiting("i2", INFO, ago=timedelta(hours=1)),
        waiting("i1", INFO, ago=timedelta(hours=2)),
        waiting("w2", WARNING, due=NOW + timedelta(hours=2)),
        waiting("w1", WARNING, due=NOW + timedelta(hours=1)),
        waiting("w3", WARNING),
        waiting("u", URGENT),
    ]
    assert messages(*some) == [["u", "w1", "w2", "w3", "i1", "i2"]]


@pytest.mark.parametrize(("flood", "count"), [(6, 5), (5, 1), (1, 1)])
def test_more_than_a_flood_is_one_message_of_all(flood, count):
    """Four that press and two of a digest are six."""
    some = [
        *(waiting(f"u{n}") for n in range(4)),
        *(waiting(f"i{n}", INFO, ago=timedelta(hours=2)) for n in range(2)),
    ]
    assert len(messages(*some, limits=NotifyLimits(flood=flood))) == count


@pytest.mark.parametrize(
    ("to", "copy", "due_in", "parts"),
    [
        (hook("vision"), False, timedelta(hours=1), [15, 1]),
        (hook("vision"), True, timedelta(hours=1), [16]),
        (hook("vision"), False, None, [16]),
        (mail(ADA), False, timedelta(hours=1), [16]),
    ],
    ids=["all there is", "a copy", "nothing follows", "a mail"],
)
def test_a_chat_that_is_all_there_is_gets_no_more_warnings_at_once_than_it_can_name(to, copy, due_in, parts):
    """Nothing is done to a VM whose owner was not told which; a mail has room to name them all."""
    some = [waiting(f"{n:02}", due=due_in and NOW + due_in) for n in range(16)]
    some = [replace(one, pending=replace(one.pending, recipient=to, copy=copy)) for one in some]
    assert [len(one) for one in messages(*some)] == parts


@pytest.mark.parametrize(("count", "parts"), [(1000, [1000]), (1001, [1000, 1])])
def test_no_message_tells_more_than_a_thousand(count, parts):
    """The rest is another message."""
    assert [len(one) for one in messages(*(waiting(f"{n:04}") for n in range(count)))] == parts


def test_trials_go_each_by_itself_whatever_they_are():
    """In quiet hours, of no urgency, many at once."""
    some = [waiting(f"test/1/{n}", INFO) for n in range(9)]
    assert messages(*some, limits=NotifyLimits(quiet="00-24")) == [[one.key] for one in some]


LIMITS = NotifyLimits()
SOME = (waiting("a"), waiting("b"))
SENDING = Batch(notices=("a", "b"), message_id="m@x", sent_at=NOW)
UNDER_WAY = Round(holder="me", until=NOW, sending=SENDING, failures=2, troubled=NOW, retry=NOW, error="e")


def test_after_a_yes_all_is_forgotten_but_what_was_sent():
    """It is written down notice by notice next."""
    then = after(UNDER_WAY, SOME, Done(detail="250 ok"), LIMITS, NOW)
    assert then.round == Round(holder="me", until=NOW, sent=SENDING, last=NOW)
    assert then.given_up == ()
    assert then.goes_on


def test_after_a_refusal_it_is_given_up_and_the_next_message_goes():
    """The channel works."""
    then = after(UNDER_WAY, SOME, Rejected(code="refused", message="550"), LIMITS, NOW)
    assert then.round == Round(holder="me", until=NOW)
    assert then.given_up == SOME
    assert "550" in then.reason
    assert then.goes_on


@pytest.mark.parametrize(("tries", "left"), [(1, None), (2, 1)])
def test_what_came_too_late_to_be_sent_is_no_failure(tries, left):
    """Nobody holds the round, nothing waits for a back-off, and a first try may still have arrived."""
    under_way = replace(UNDER_WAY.sending, tries=tries)
    then = after(replace(UNDER_WAY, sending=under_way), SOME, Lost(detail="?"), LIMITS, NOW)
    assert (then.round.sending.tries if then.round.sending else None) == left
    assert (then.round.holder, then.round.failures, then.round.retry) == (
        "",
        UNDER_WAY.failures,
        UNDER_WAY.retry,
    )
    assert then.given_up == ()
    assert not then.goes_on


@pytest.mark.parametrize(
    "outcome",
    [
        Rejected(code="unsent", message="421"),
        Rejected(code="other", message="?"),
        Observed(),
    ],
)
def test_what_was_not_sent_waits_for_the_back_off_and_is_no_try(outcome):
    """Nobody holds the round meanwhile."""
    then = after(replace(UNDER_WAY, failures=0, troubled=None), SOME, outcome, LIMITS, NOW)
    assert then.round.sending is None
    assert (then.round.holder, then.round.failures, then.round.troubled) == ("", 1, NOW)
    assert then.round.retry == NOW + timedelta(minutes=1)
    assert not then.goes_on


@pytest.mark.parametrize(("failures", "minutes"), [(0, 1), (1, 2), (5, 32), (6, 60), (500, 60)])
def test_the_back_off_doubles_up_to_its_longest(failures, minutes):
    """One minute, two, four, and an hour in the end."""
    then = after(
        replace(UNDER_WAY, failures=failures), SOME, Rejected(code="unsent", message=""), LIMITS, NOW
    )
    assert then.round.retry == NOW + timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("since", "troubled", "given_up"), [(24, 24, 2), (24, 23.9, 0), (23.9, 24, 0), (48, 1, 0)]
)
def test_given_up_is_what_has_waited_and_failed_for_a_day(since, troubled, given_up):
    """Both; waiting for its hour is no failure."""
    some = tuple(waiting(key, ago=timedelta(hours=since)) for key in "ab")
    before = replace(UNDER_WAY, troubled=NOW - timedelta(hours=troubled))
    then = after(before, some, Rejected(code="unsent", message="421"), LIMITS, NOW)
    assert len(then.given_up) == given_up


def test_of_an_unknown_the_first_is_kept_and_the_second_given_up():
    """Two times it may have arrived; a third copy is none."""
    first = after(UNDER_WAY, SOME, Unanswered(detail="?"), LIMITS, NOW)
    assert first.round.sending == SENDING
    assert first.given_up == ()
    again = once_more(SENDING, NOW)
    assert isinstance(again, Batch)
    assert (again.tries, again.message_id) == (2, "m@x")
    second = after(replace(UNDER_WAY, sending=again), SOME, Unanswered(detail="?"), LIMITS, NOW)
    assert second.round.sending is None
    assert second.given_up == SOME
    assert isinstance(once_more(again, NOW), str)


def test_once_more_and_not_sent_leaves_the_first_unknown():
    """Also when part of it is given up for its age."""
    again = replace(SENDING, tries=2)
    some = (waiting("a", ago=timedelta(days=2)), waiting("b"))
    before = replace(UNDER_WAY, sending=again, troubled=NOW - timedelta(days=1))
    then = after(before, some, Rejected(code="unsent", message="421"), LIMITS, NOW)
    assert then.round.sending == SENDING
    assert then.given_up == some[:1]


def test_a_message_is_named_by_what_it_tells_to_whom():
    """Written anew it has the same name; any other has another."""
    one = batch(SOME, "x.org", NOW)
    assert one.message_id == batch(SOME, "x.org", NOW + timedelta(hours=1)).message_id
    assert one.message_id.endswith("@x.org")
    to_bob = tuple(replace(some, pending=replace(some.pending, recipient=mail("bob@x.org"))) for some in SOME)
    assert (
        len(
            {one.message_id, batch(SOME[:1], "x.org", NOW).message_id, batch(to_bob, "x.org", NOW).message_id}
        )
        == 3
    )


@pytest.mark.parametrize(("length", "cut"), [(4000, False), (4001, True)])
def test_a_long_text_is_cut_and_says_so(length, cut):
    """One character more than a message shows."""
    found = read(msgspec.json.encode(notice(why="x" * length)))
    assert found.why.startswith("x" * 4000)
    assert ("cut" in found.why) is cut


@pytest.mark.parametrize(("length", "cut"), [(2000, False), (2001, True)])
def test_a_long_value_is_cut_and_says_so(length, cut):
    """Of the evidence."""
    found = read(msgspec.json.encode(notice(evidence={"log": "x" * length})))
    assert ("cut" in found.evidence["log"]) is cut


@pytest.mark.parametrize(("rows", "more"), [(30, None), (31, "1 more were left out")])
def test_of_many_rows_the_first_are_kept(rows, more):
    """And how many are not."""
    found = read(msgspec.json.encode(notice(evidence={f"r{n}": "x" for n in range(rows)})))
    assert found.evidence.get("…") == more
    assert len(found.evidence) == 30 + (more is not None)


def test_a_whole_notice_comes_through_as_it_is():
    """Nothing of ours is ever cut."""
    case = CaseRef(rule="idle", key="123", opened=NOW)
    target = Target(id="1", name="vm", zone="z")
    said = notice(case=case, due=NOW, ways=(Way.KEEP, Way.STOP), instances=(target,), evidence={"a": "b"})
    assert read(msgspec.json.encode(said)) == said


def test_what_can_make_no_message_is_left_out():
    """Moments without a zone are UTC, answers are named once, a case of no name is none."""
    said = notice(at=NOW.replace(tzinfo=None), due=NOW.replace(tzinfo=None), ways=(Way.KEEP,) * 9)
    found = read(msgspec.json.encode(replace(said, case=CaseRef(rule="x" * 2000, key="1", opened=NOW))))
    assert (found.at, found.due, found.ways, found.case) == (NOW, NOW, (Way.KEEP,), None)


@pytest.mark.parametrize(("length", "fits"), [(1, True), (1000, True), (0, False), (1001, False)])
def test_a_notice_needs_a_name(length, fits):
    """Without one nobody could tell whether it was told; a very long one is a mistake."""
    data = msgspec.json.encode(notice(id="x" * length))
    if fits:
        assert read(data).id == "x" * length
    else:
        with pytest.raises(UnreadableError, match="its id has"):
            read(data)


@pytest.mark.parametrize("kind", ["approval_needed", "launch_failing", "idle_failing"])
def test_ops_are_not_called_the_owner_of_a_job_that_only_they_can_help(kind):
    """It names the job, and they get it for their own sake."""
    to = addressed(notice(owner=OPS, job="train", kind=kind), JobFile(), POLICY)
    assert to.because == "only ops can fix this"
