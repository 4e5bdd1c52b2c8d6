"""What a VM costs, and what nobody knows."""

from datetime import date, timedelta

import pytest
from msgspec.structs import replace

from spotwarden.governance.costs import VmCost, basis, bill, kind_of, unpriced, words
from spotwarden.model.placement import region_of
from spotwarden.model.prices import PriceTable, Rate, VmKind
from spotwarden.recovery.kinds.prices import price_of
from tests.governance.caps.capped import NOW, vm

G2 = Rate(
    machine="g2-standard-4", gpus=1, region="us-central1", standard=0.7, spot=0.3, date=date(2026, 1, 1)
)
N1 = Rate(machine="n1-standard-8", region="us-central1", standard=0.4, spot=0.1, date=date(2026, 2, 1))
T4 = Rate(gpu="nvidia-tesla-t4", region="us-central1", standard=0.35, date=date(2025, 6, 1))
TABLE = PriceTable(rates=(G2, N1, T4))


def price(table=TABLE, **kind):
    """USD an hour of a VM of this kind, as the table says."""
    said = {"machine_type": "g2-standard-4", "gpu": "nvidia-l4", "gpus": 1, "region": "us-central1", **kind}
    found = price_of(VmKind(**said), table)
    return None if found is None else (round(found.per_hour, 6), found.date)


def with_t4s(count, **kind):
    """An N1 machine with T4 GPUs."""
    return price(machine_type="n1-standard-8", gpu="nvidia-tesla-t4", gpus=count, **kind)


def test_a_machine_is_priced_by_region_and_provisioning():
    """Each has its own price."""
    assert price() == (0.7, date(2026, 1, 1))
    assert price(provisioning="SPOT") == (0.3, date(2026, 1, 1))


@pytest.mark.parametrize(
    "kind",
    [
        {"region": "us-east4"},
        {"machine_type": "g2-standard-8"},
        {"machine_type": ""},
        {"machine_type": "", "gpu": "", "region": "us-central1"},
        {"provisioning": "RESERVATION_BOUND"},
        {"provisioning": "FLEX_START"},
    ],
)
def test_what_no_row_says_is_unknown(kind):
    """Not nothing, and not a neighbour's price."""
    assert price(**kind) is None


def test_gpus_beyond_those_of_the_machine_cost_extra():
    """An N1 machine with two T4s; the price is as old as its oldest part."""
    assert with_t4s(0) == (0.4, date(2026, 2, 1))
    assert with_t4s(2) == (1.1, date(2025, 6, 1))


def test_a_gpu_without_a_price_makes_the_whole_unknown():
    """T4s on spot have no row, and neither have unknown GPUs."""
    assert with_t4s(1, provisioning="SPOT") is None
    assert price(machine_type="n1-standard-8", gpu="nvidia-tesla-v100", gpus=1) is None
    assert price(machine_type="n1-standard-8", gpu="", gpus=1) is None


def test_the_newest_row_that_says_it_holds():
    """A newer sheet that lacks the spot price does not hide an older one's."""
    newer = replace(G2, standard=0.8, spot=None, date=date(2026, 3, 1))
    for rates in ((G2, newer), (newer, G2)):
        assert price(PriceTable(rates=rates)) == (0.8, date(2026, 3, 1))
        assert price(PriceTable(rates=rates), provisioning="SPOT") == (0.3, date(2026, 1, 1))


def test_a_price_of_zero_is_a_price():
    """Somebody has written it down; that is another thing than nobody knowing."""
    assert price(PriceTable(rates=(replace(G2, standard=0.0),))) == (0.0, date(2026, 1, 1))


def test_the_kind_of_a_vm_is_what_its_price_depends_on():
    """Its zone only by its region."""
    assert kind_of(vm()).region == "us-central1"
    assert region_of("europe-west4") == "europe-west4"


def test_a_sum_says_what_is_not_in_it():
    """Hours of which nobody knows the price are told beside it."""
    known = VmKind(machine_type="g2-standard-4", gpus=1, region="us-central1")
    total = bill([(known, 10.0), (replace(known, region="mars-1"), 3.0)], TABLE)
    assert words(total) == "at least $7.00; 3.0 VM-hours have no known price"
    nobody_knows = bill([(replace(known, region="mars-1"), 3.0)], TABLE)
    assert words(nobody_knows) == "not known: 3.0 VM-hours have no known price"
    assert words(bill([(known, 10.0)], TABLE)) == "$7.00"


@pytest.mark.parametrize(
    ("bill", "table", "says"),
    [
        (VmCost(oldest=date(2026, 1, 1)), TABLE, "prices of 2026-01-01"),
        (VmCost(oldest=date(2025, 1, 1)), TABLE, "prices of 2025-01-01, 441 days old"),
        (VmCost(hours=3.0), TABLE, "no price is known"),
        (VmCost(), PriceTable(problem="gone"), "no prices: gone"),
    ],
)
def test_a_sum_says_how_old_its_prices_are(bill, table, says):
    """And why there are none."""
    assert basis(bill, table, NOW, timedelta(days=180)) == says


@pytest.mark.parametrize(
    ("time", "said"),
    [
        (timedelta(0), ""),
        (timedelta(seconds=1), "less than 0.1 VM-hours have no known price"),
        (timedelta(hours=3), "3.0 VM-hours have no known price"),
        (timedelta(hours=1234), "1,234.0 VM-hours have no known price"),
    ],
)
def test_time_without_a_price_is_told_only_where_there_is_some(time, said):
    """Never as 0.0 hours."""
    assert unpriced(time) == said
