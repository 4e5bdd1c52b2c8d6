"""What a person reads of a forecast."""

from datetime import UTC, datetime

from msgspec.structs import replace

from spotwarden.recovery.forecast.forecast import Outlook
from spotwarden.recovery.forecast.text import told

SEEN = Outlook(
    work=50.0, half=datetime(2026, 11, 23, 14, 0, tzinfo=UTC), most=datetime(2026, 11, 24, 9, 30, tzinfo=UTC),
    half_cost=512.0, most_cost=1600.25, losses=1.94, interval=2.0, best=0.5, gain=0.041, place="us-east4-a",
    known=True,
)  # fmt: skip


def test_two_ends_with_their_bills_and_what_they_rest_on():
    """The bill is of all, with what was spent before."""
    assert dict(told(SEEN, 100.0)) == {
        "ends": "by 2026-11-23 14:00 UTC, $612.00 in all (P50);"
        " by 2026-11-24 09:30 UTC, $1,700.25 in all (P90)",
        "saves": "each 2 h; each 30 min keeps 4% more work, if a save takes a minute",
        "basis": "50.0 h of work left, 1.9 losses a day expected, from its own history"
        " and that of spot VMs in us-east4-a",
    }


def test_without_a_price_or_the_cost_so_far_there_is_no_bill():
    """A part of a sum would be taken for the sum."""
    assert "$" not in dict(told(SEEN, None))["ends"]
    assert "$" not in dict(told(replace(SEEN, half_cost=None, most_cost=None), 1.0))["ends"]


def test_what_is_unknown_says_what_would_make_it_known():
    """And nothing else."""
    assert list(told(Outlook(unknown="it tells no progress"), 5.0)) == [
        ("forecast", "unknown: it tells no progress")
    ]


def test_trouble_comes_first():
    """With it can't end at this rate there is no bill."""
    lines = list(told(replace(SEEN, trouble="it begins anew", half=None, most=None), 5.0))
    assert lines[0] == ("forecast", "it begins anew")
    assert lines[1] == ("ends", "it can't end at this rate (P50); it can't end at this rate (P90)")


def test_an_interval_that_is_as_good_is_not_told():
    """One that nobody has seen is advised; on-demand VMs need none."""
    assert "saves" not in dict(told(replace(SEEN, gain=0.019), 5.0))
    assert dict(told(replace(SEEN, interval=None), 5.0))["saves"].startswith("each 30 min is best")
    assert "saves" not in dict(told(replace(SEEN, best=None), 5.0))


def test_it_says_whose_past_it_is():
    """Of other machines, of all places, or of none."""
    others = "other spot VMs, since there is no data on these"
    assert dict(told(replace(SEEN, place="", known=False), 5.0))["basis"].endswith(others)
    assert dict(told(replace(SEEN, place=""), 5.0))["basis"].endswith("that of spot VMs like these")
    assert dict(told(replace(SEEN, spot=False), 5.0))["basis"] == (
        "50.0 h of work left, on VMs that are not preempted"
    )
