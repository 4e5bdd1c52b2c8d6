"""The meter over a bucket in memory and over a real one: nothing is lost, whoever writes at the same time."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from spotwarden.engine.cache import GenerationCache
from spotwarden.governance.caps import meter as usage
from spotwarden.governance.caps.meter import UsageMeter
from spotwarden.layout import Layout, UsageRecord
from spotwarden.model.fleet import Machine
from spotwarden.model.instance import Status
from spotwarden.model.tick import Tick
from spotwarden.model.usage import MeteredVm, UsageDay

NOON = datetime(2026, 3, 18, 12, tzinfo=UTC)
USERS = Layout(prefix="users/")


@pytest.fixture(autouse=True)
def _cold():
    """Each test begins as a new copy of the function does."""
    GenerationCache.forget()


def vm(key, hours=1.0) -> MeteredVm:
    """A VM that has been up for so long at noon."""
    started = NOON - timedelta(hours=hours)
    machine = Machine(id=key, name=f"vm-{key}", zone="us-central1-a", status=Status.RUNNING, started=started)
    return MeteredVm(machine=machine, owner="ada", job="train")


def count(store, *vms, now=NOON, layout=USERS):
    """One sweep's counting."""
    tick = Tick(function="cap_runtime", sweep="s", now=now)
    return UsageMeter(store=store, layout=layout, tick=tick).count(vms, whole=True)


def seconds(store, layout=USERS) -> dict[str, int]:
    """What the day's record says, by VM."""
    stored = store.read(layout.build(UsageRecord(day=NOON.date())))
    day = msgspec.json.decode(stored.data, type=UsageDay)
    return {key: sum(run.seconds for run in used.runs) for key, used in day.vms.items()}


def test_what_is_counted_is_on_record(store):
    """Below the bucket's prefix; and what was on record is given to the caller."""
    count(store, vm("1"))
    days = count(store, vm("2", 2.0))
    assert seconds(store) == {"1": 3600, "2": 7200}
    assert sum(one.seconds for one in days[-1].spent) == 10_800


def test_sweeps_at_the_same_time_lose_nothing_of_each_other(store):
    """Each reads anew where another was first."""
    with ThreadPoolExecutor(usage.TRIES) as pool:
        list(pool.map(lambda key: count(store, vm(str(key))), range(usage.TRIES)))
    assert seconds(store) == {str(key): 3600 for key in range(usage.TRIES)}


def test_a_month_is_filled_in_and_read_with_one_listing_once_it_is_settled(store):
    """A VM that has been up since the first; every day has its record."""
    days = count(store, vm("1", hours=17 * 24 + 12))
    assert len(days) == 18
    assert [one.settled for one in days] == [True] * 17 + [False]
    assert sum(one.seconds for day in days for one in day.spent) == (17 * 24 + 12) * 3600
    assert count(store, vm("1", hours=17 * 24 + 12)) == days


def test_another_buckets_days_are_not_taken_for_this_ones(store):
    """What is remembered is remembered by name and generation."""
    count(store, vm("1"))
    count(store, vm("2"), layout=Layout())
    assert seconds(store) == {"1": 3600}
    assert seconds(store, Layout()) == {"2": 3600}
