"""The weekly report: when it is due, whom it goes to, and that the fleet page has the same figures."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from spotwarden.model.delivery import Channel, Pace, Pending, Recipient
from spotwarden.model.governance import GovernanceLimits
from spotwarden.model.jobfile import JobFile
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.notice import WEEKLY, Severity
from spotwarden.model.policy import Policy, Team
from spotwarden.model.prices import PriceTable, Rate, VmKind
from spotwarden.notify.outbox.due import asks_pace, due
from spotwarden.notify.outbox.model import DueQuestion, Waiting
from spotwarden.notify.outbox.recipients import addressed
from spotwarden.report.figures.fleet import FleetQuery, fleet
from spotwarden.report.figures.sums import MOST_ROWS, brief, percent, usd
from spotwarden.report.figures.weekly import LATEST, due_week, weekly
from spotwarden.report.model.experiments import Experiment, Money
from spotwarden.report.model.fleet import By
from spotwarden.report.model.kept import Cell, IndexEntry, Loss, ReportIndex, Seconds
from spotwarden.report.model.week import Week

ADA, OPS = "ada@example.com", "ops@example.com"
MONDAY = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
WEEK = Week(date(2026, 11, 9), date(2026, 11, 15))
LIMITS = NotifyLimits(email=True)
POLICY = Policy(version="test", governance=GovernanceLimits(ops=OPS), notify=LIMITS)
SPOT = VmKind(
    machine_type="g2-standard-4", gpu="nvidia-l4", gpus=1, region="us-central1", provisioning="SPOT"
)
PRICES = PriceTable(
    rates=(
        Rate(machine="g2-standard-4", gpus=1, region="us-central1", standard=1.0, spot=0.4, date=WEEK.first),
    )
)
HOUR = 3600


def job(name, owner=ADA, day=WEEK.first, **parts):
    """A job that used one GPU on one day, and lost it once: Ada's, useful for an hour unless said."""
    cell = Cell(
        day=day,
        zone="us-central1-a",
        kind=0,
        owner=owner,
        seconds=Seconds(**(parts or {"useful": HOUR})),
    )
    at = datetime.combine(day, datetime.min.time(), tzinfo=UTC)
    loss = Loss(at=at, preempted=True, zone="us-central1-a", machine=SPOT.machine_type, seconds=180)
    return IndexEntry(
        row=Experiment(job=name, owner=owner), kinds=(SPOT,), cells=(cell,), losses=(loss,), looked=MONDAY
    )


def told(*entries, policy=POLICY):
    """The messages about these, by whom they are for."""
    index = ReportIndex(at=MONDAY, entries=entries)
    messages = weekly(index, WEEK, policy, PRICES, MONDAY)
    assert all(one.kind == WEEKLY and one.severity is Severity.INFO for one in messages)
    return {one.owner: one for one in messages}


@pytest.mark.parametrize(
    ("at", "week"),
    [
        (MONDAY - timedelta(seconds=1), None),
        (MONDAY, WEEK),
        (MONDAY + LATEST - timedelta(seconds=1), WEEK),
        (MONDAY + LATEST, None),
        (MONDAY + timedelta(days=7), Week(date(2026, 11, 16), date(2026, 11, 22))),
    ],
)
def test_the_message_is_due_on_monday_at_its_hour(at, week):
    """Not before, and not when it would be old; it is about the week before."""
    assert due_week(LIMITS, at) == week


@pytest.mark.parametrize(
    ("at", "due_at"),
    [
        ("2026-03-30 05:59:59", False),
        ("2026-03-30 06:00:00", True),
        ("2026-03-23 06:59:59", False),
        ("2026-03-23 07:00:00", True),
        ("2026-10-26 06:59:59", False),
        ("2026-10-26 07:00:00", True),
    ],
)
def test_the_hour_is_that_of_the_policys_time_zone(at, due_at):
    """Eight in Berlin is seven in UTC, and six once the clocks were put forward on the Sunday before."""
    limits = replace(LIMITS, timezone="Europe/Berlin")
    assert (due_week(limits, datetime.fromisoformat(f"{at}+00:00")) is not None) is due_at


def test_a_monday_begins_with_the_time_zone():
    """At 20:00 UTC on Sunday it is Monday morning in Auckland, where the week is over."""
    limits = replace(LIMITS, timezone="Pacific/Auckland", daily_at="08:00")
    sunday = datetime(2026, 11, 15, 20, 0, tzinfo=UTC)
    assert sunday.astimezone(ZoneInfo("Pacific/Auckland")).date() == date(2026, 11, 16)
    assert due_week(limits, sunday) == WEEK


def test_without_the_policys_word_there_is_no_message():
    """`weekly = false`."""
    assert due_week(replace(LIMITS, weekly=False), MONDAY) is None


@pytest.mark.parametrize(
    ("week", "name", "words"),
    [
        (WEEK, "2026-W46", "Nov 9\u201315"),
        (Week(date(2026, 11, 30), date(2026, 12, 6)), "2026-W49", "Nov 30\u2013Dec 6"),
        (Week(date(2026, 12, 28), date(2027, 1, 3)), "2026-W53", "Dec 28\u2013Jan 3"),
    ],
)
def test_a_week_has_one_name_all_over(week, name, words):
    """ISO 8601's, also over New Year."""
    assert (week.name, week.told) == (name, words)


def test_owners_and_ops_are_told_each_their_own():
    """Ada of hers, ops of all; both with an id of the week's own."""
    messages = told(job("a"), job("b", owner="bob@example.com", idle=HOUR))
    assert {one: message.id for one, message in messages.items()} == {
        OPS: "weekly_report/2026-W46/all",
        ADA: f"weekly_report/2026-W46/owner/{ADA}",
        "bob@example.com": "weekly_report/2026-W46/owner/bob@example.com",
    }
    assert messages[ADA].what == "Your week Nov 9\u201315: 1 job, $0.40, $0.00 wasted"
    assert messages[OPS].what == "Week Nov 9\u201315: 2 jobs, $0.80, $0.40 wasted"
    assert [row[0] for row in messages[ADA].tables[0].rows] == ["a"]


def test_a_job_of_two_owners_is_told_to_each_by_his_own_hours():
    """It changed hands on Tuesday: an hour was Ada's, two were Bob's, and ops hear of three."""
    mine, bobs = job("a"), job("a", owner="bob@example.com", day=WEEK.last, useful=2 * HOUR)
    messages = told(replace(mine, cells=(*mine.cells, *bobs.cells)))
    hours = {owner: message.evidence["GPU-hours"] for owner, message in messages.items()}
    assert hours == {OPS: "3.0 used", ADA: "1.0 used", "bob@example.com": "2.0 used"}


def test_a_message_to_ops_who_own_a_job_is_another():
    """Two messages with two ids, though both are for ops."""
    index = ReportIndex(at=MONDAY, entries=(job("a", owner=OPS),))
    assert len({one.id for one in weekly(index, WEEK, POLICY, PRICES, MONDAY)}) == 2


def test_the_message_says_what_the_fleet_page_says():
    """Two hours used, one of them idle, 40 cents each and 60 saved; a preemption, over in three minutes."""
    message = told(job("a", useful=HOUR, idle=HOUR, waiting=HOUR // 2))[ADA]
    assert message.evidence == {
        "GPU-hours": "2.0 used, 0.5 spent waiting",
        "goodput": "50%",
        "cost": "$0.80",
        "saved compared with on-demand": "$1.20",
        "wasted": "$0.40: idle 1.0 h",
        "preemptions": "1",
        "recovered": "1, in 3 min",
        "prices": "list prices of 2026-11-09, in US dollars, without discounts, disks and network",
    }
    assert message.tables[0].rows == (("a", "2.0", "$0.80", "$1.20", "$0.40", "1"),)


def test_the_rows_of_a_message_add_up_to_the_total_of_the_page():
    """Those that have no room are one row; the last is the sum, which the fleet page has as its total."""
    entries = [job(f"job-{number}", useful=HOUR + number, lost=number) for number in range(MOST_ROWS + 5)]
    index = ReportIndex(at=MONDAY, entries=tuple(entries))
    total = fleet(index, FleetQuery(WEEK.first, WEEK.last), POLICY, PRICES).total
    rows = told(*entries)[ADA].tables[0].rows
    assert len(rows) == MOST_ROWS + 2
    assert [row[0] for row in rows[-2:]] == ["5 more", "all"]
    assert rows[-1][1:] == (
        "25.2", usd(total.cost), usd(total.saved), usd(total.waste), str(total.recovery.count)
    )  # fmt: skip


def test_no_row_more_means_no_row_of_the_rest():
    """Exactly as many as there is room for."""
    rows = told(*(job(f"job-{number}") for number in range(MOST_ROWS)))[ADA].tables[0].rows
    assert len(rows) == MOST_ROWS + 1
    assert not any("more" in row[0] for row in rows)


@pytest.mark.parametrize(
    "day", [WEEK.first - timedelta(days=1), WEEK.last + timedelta(days=1)], ids=["before", "after"]
)
def test_another_week_is_not_told(day):
    """Nor does anybody get a message of nothing."""
    assert told(job("a", day=day)) == {}


@pytest.mark.parametrize("day", [WEEK.first, WEEK.last], ids=["monday", "sunday"])
def test_both_ends_of_the_week_are_told(day):
    """Its Monday and its Sunday."""
    assert set(told(job("a", day=day))) == {ADA, OPS}


def test_who_only_waited_is_told():
    """That nothing ran is what one wants to know."""
    assert told(job("a", waiting=HOUR))[ADA].evidence["GPU-hours"] == "0.0 used, 1.0 spent waiting"


def test_vms_of_nobody_are_told_to_ops_alone():
    """As nobody known."""
    messages = told(job("", owner=""), job("a"))
    assert set(messages) == {ADA, OPS}
    assert {row[0] for row in messages[OPS].tables[0].rows} == {"unknown", ADA, "all"}
    assert {row[0] for row in messages[OPS].tables[2].rows} == {"VMs without a job", "a", "all"}


def test_without_gpus_hours_are_those_of_vms():
    """A fleet of CPUs has a report, too."""
    cpu = VmKind(machine_type="n2-standard-4", region="us-central1")
    message = told(replace(job("a"), kinds=(cpu,)))[ADA]
    assert "GPU-hours" not in message.evidence
    assert message.evidence["VM-hours"] == "1.0 used"
    assert message.tables[0].columns[1] == "VM-hours"


def test_a_price_that_nobody_knows_is_told_as_such():
    """And not as nothing."""
    message = told(replace(job("a"), kinds=(replace(SPOT, region="mars-north1"),)))[ADA]
    assert message.what.endswith(": 1 job, cost unknown")
    assert {message.evidence[name] for name in ("cost", "wasted", "saved compared with on-demand")} >= {
        "unknown"
    }
    assert message.tables[0].rows[0][2:4] == ("unknown", "unknown")
    assert message.evidence["cost"] == "unknown; 1.0 VM-hours have no known price"


def test_a_price_that_is_known_in_part_is_at_least_so_much():
    """Of two jobs one."""
    messages = told(job("a"), replace(job("b"), kinds=(replace(SPOT, region="mars-north1"),)))
    assert "at least $0.40" in messages[ADA].what
    for message in messages.values():
        assert message.evidence["cost"] == "at least $0.40; 1.0 VM-hours have no known price"


def test_a_sum_of_which_every_price_is_known_says_nothing_of_others():
    """Nobody need look for a part that is not missing."""
    for message in told(job("a"), job("b", day=WEEK.last)).values():
        assert message.evidence["cost"] == "$0.80"
        assert "no known price" not in str(message)


def test_a_very_long_name_makes_an_id_that_is_no_longer_than_it_may_be():
    """1,000 characters."""
    owner = "x" * 5000
    assert len(told(job("a", owner=owner))[owner].id) < 1000


@pytest.mark.parametrize(
    ("share", "said"), [(None, "unknown"), (0.0, "0%"), (0.994, "99%"), (0.9999, "99%"), (1.0, "100%")]
)
def test_only_all_of_it_is_a_hundred_percent(share, said):
    """Nobody is told that nothing was wasted where something was."""
    assert percent(share) == said


@pytest.mark.parametrize(
    ("money", "said"),
    [
        (Money(micros=1_234_567_891), "$1,234.57"),
        (Money(), "$0.00"),
        (Money(micros=-1_500_000), "-$1.50"),
        (Money(unpriced=timedelta(hours=1)), "unknown"),
        (Money(micros=1, priced=timedelta(1), unpriced=timedelta(1)), "at least $0.00"),
    ],
)
def test_money_is_told_to_the_cent(money, said):
    """Spot that is dearer than on-demand has saved less than nothing."""
    assert usd(money) == said


@pytest.mark.parametrize(
    ("time", "said"),
    [(None, "unknown"), (timedelta(seconds=119), "119 s"), (timedelta(minutes=2), "2 min")],
)
def test_a_short_time_is_told_in_seconds(time, said):
    """A recovery within a minute is no matter of `0 min`."""
    assert brief(time) == said


def test_every_table_of_ops_has_the_same_sum():
    """By owner, machine type and job."""
    message = told(job("a"), job("b", owner="bob@example.com"), job("c", owner=""))[OPS]
    sums = {table.rows[-1][1:] if len(table.rows) > 1 else table.rows[0][1:] for table in message.tables}
    assert sums == {("3.0", "$1.20", "$1.80", "$0.00", "3")}
    assert [table.columns[0] for table in message.tables] == [By.OWNER.value, "machine type", By.JOB.value]


# --- on its way ---


def waiting(since, **said):
    """Ada's message of the week, and when it was taken in."""
    message = replace(told(job("a"))[ADA], **said)
    to = Recipient(channel=Channel.EMAIL, address=ADA)
    return Waiting(key="1", generation=1, pending=Pending(notice=message, recipient=to, since=since))


def goes(one, at, **limits):
    """Whether it goes out at this moment, as a message by itself."""
    wanted = DueQuestion(limits=replace(LIMITS, **limits), now=at, pace=Pace.DAILY)
    return due([one], wanted) == ((one,),)


def test_the_message_waits_for_no_other_and_for_no_pace():
    """Its own hour has come; whoever hears of news once a day gets it as well."""
    one = waiting(MONDAY)
    assert not goes(one, MONDAY + LIMITS.settle - timedelta(seconds=1))
    assert goes(one, MONDAY + LIMITS.settle)
    assert not asks_pace([one])


def test_the_message_is_by_itself_among_many():
    """Even where so much is told that the rest of it is one message."""
    one = waiting(MONDAY)
    notices = [
        Waiting(
            key=str(number),
            generation=1,
            pending=replace(
                one.pending,
                notice=replace(one.pending.notice, kind="gave_up", severity=Severity.URGENT, id=str(number)),
            ),
        )
        for number in range(5)
    ]
    wanted = DueQuestion(limits=LIMITS, now=MONDAY + timedelta(minutes=1))
    assert [len(message) for message in due([one, *notices], wanted)] == [1, 5]


@pytest.mark.parametrize(
    ("at", "out"), [(MONDAY + timedelta(minutes=59), False), (MONDAY + timedelta(hours=1), True)]
)
def test_the_message_disturbs_nobody_in_quiet_hours(at, out):
    """It goes when they are over."""
    assert goes(waiting(MONDAY), at, quiet="22-09") is out


@pytest.mark.parametrize(
    ("owner", "to"),
    [
        (ADA, [(Channel.EMAIL, ADA)]),
        ("vera", [(Channel.EMAIL, "vision@example.com")]),
        ("carl", []),
        (OPS, [(Channel.EMAIL, OPS), (Channel.HOOK, "ops")]),
    ],
)
def test_the_message_goes_to_a_person(owner, to):
    """No chat of a team gets everybody's, and ops do not get those of owners who cannot be reached."""
    team = Team(owners=("vera",), email="vision@example.com", hook="vision")
    policy = replace(POLICY, notify=replace(LIMITS, ops_hook="ops"), teams={"vision": team})
    notice = replace(told(job("a"))[ADA], owner=owner)
    found = addressed(notice, JobFile(), policy)
    assert [(one.channel, one.address) for one in found.recipients] == to
