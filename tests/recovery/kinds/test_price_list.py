"""Rates out of a list that a program has written."""

from datetime import date

import pytest

from spotwarden.governance.costs import VmCost, words
from spotwarden.model.prices import PriceList, PriceTable, Rate, VmKind
from spotwarden.recovery.kinds.price_file import kept_prices, only, read_prices
from spotwarden.recovery.kinds.prices import price_of

DAY = date(2026, 8, 3)
HOME = "us-central1"
LIST = PriceList(
    date=DAY,
    source="here",
    machines={"e2-small": {HOME: (0.02, 0.01)}, "g2-standard-4": {HOME: (0.7,)}},
    series={"n2-standard": {HOME: (0.05, 0.02)}},
    gpus={"nvidia-tesla-t4": {HOME: (0.35, 0.2)}},
    included={"g2-standard-4": 1},
    cores={"n2-custom": {HOME: (0.03, None), "us-east1": (0.03,)}},
    memory={"n2-custom": {HOME: (0.004, 0.002)}},
)
TABLE = PriceTable(lists=(LIST,))


def cost(machine, model="STANDARD", *, table=TABLE, region=HOME, gpu="", gpus=0):
    """USD an hour; None where it is not known."""
    kind = VmKind(machine_type=machine, region=region, provisioning=model, gpu=gpu, gpus=gpus)
    found = price_of(kind, table)
    return found and pytest.approx(found.per_hour)


@pytest.mark.parametrize(
    ("machine", "model", "price"),
    [
        ("e2-small", "SPOT", 0.01),
        ("n2-standard-8", "STANDARD", 0.4),
        ("n2-standard-8", "SPOT", 0.16),
        ("n2-standard-8", "FLEX_START", None),
        ("n2-custom-4-8192", "STANDARD", 0.152),
        ("n2-custom-4-8192", "SPOT", None),
        ("n2-custom-4-8192-ext", "STANDARD", None),
        ("e2-custom-small-4096", "STANDARD", None),
        ("n2-highmem-8", "STANDARD", None),
        ("n2-standard", "STANDARD", None),
    ],
)
def test_a_machine_costs_what_the_list_says(machine, model, price):
    """Whole, by its vCPUs, or by vCPUs and memory; what no part says is unknown."""
    assert cost(machine, model) == price


def test_a_custom_type_needs_both_its_parts():
    """A region that has a price of vCPUs and none of memory has none of machines."""
    assert cost("n2-custom-4-8192", region="us-east1") is None


def test_gpus_come_with_a_machine_or_on_top():
    """One that is included is not paid for twice."""
    assert cost("g2-standard-4", gpu="nvidia-l4", gpus=1) == 0.7
    assert cost("n2-standard-8", gpu="nvidia-tesla-t4", gpus=2) == 1.1
    assert cost("n2-standard-8", gpu="nvidia-tesla-v100", gpus=1) is None


def test_the_newest_holds_whoever_has_written_it():
    """A sheet of one's own from a later day goes first, one from an earlier day does not."""
    for day, price in ((date(2026, 9, 1), 9.0), (date(2026, 7, 1), 0.4)):
        own = Rate(machine="n2-standard-8", region=HOME, standard=9.0, date=day)
        assert cost("n2-standard-8", table=PriceTable(rates=(own,), lists=(LIST,))) == price


def test_only_what_occurs_is_kept():
    """As rates, so that facts hold no list."""
    kept = only(TABLE, {"n2-standard-8", "", "unknown-1"}, {"nvidia-tesla-t4", ""})
    assert kept.lists == ()
    assert [(rate.machine, rate.gpu, rate.standard, rate.date) for rate in kept.rates] == [
        ("n2-standard-8", "", 0.4, DAY),
        ("", "nvidia-tesla-t4", 0.35, DAY),
    ]


def test_a_list_that_cannot_be_read_is_said(tmp_path):
    """Half a table would be taken for the whole; without a list there is none."""
    file = tmp_path / "prices.toml"
    file.write_text("sheet = []")
    assert read_prices(file) == PriceTable()
    (tmp_path / "price-list.json").write_text('[{"date": "soon"}]')
    assert "price-list.json cannot be read" in read_prices(file).problem


@pytest.mark.parametrize(
    ("hours", "said"), [(0.04, "not known: its VMs have no known price"), (0.06, "not known: 0.1 VM-hours")]
)
def test_what_has_hardly_begun_is_not_told_as_no_hours(hours, said):
    """0.0 hours would read as if nothing were unknown."""
    assert words(VmCost(hours=hours)).startswith(said)


def test_prices_are_read_once_in_a_process(tmp_path):
    """The lists hold twelve thousand, and a sweep each minute would read them all again."""
    file = tmp_path / "prices.toml"
    file.write_text("sheet = []\n", encoding="utf-8")
    assert kept_prices(file) is kept_prices(file)
    assert kept_prices(file) == read_prices(file)


CUSTOM = """
[[sheet]]
date = 2026-08-03
source = "here"
rows = [
  { core = "n2-custom", region = "us-central1", standard = 0.03 },
  { memory = "n2-custom", region = "us-central1", standard = 0.004, spot = 0.002 },
  { core = "e2-custom", region = "us-central1", standard = 0.02 },
]
"""


def test_a_sheet_may_say_what_custom_types_cost(tmp_path):
    """By vCPU and GiB, each as far as it is known."""
    file = tmp_path / "prices.toml"
    file.write_text(CUSTOM)
    read = only(read_prices(file), {"n2-custom-4-8192", "e2-custom-4-8192"}, ())
    assert cost("n2-custom-4-8192", table=read) == 0.152
    assert cost("n2-custom-4-8192", "SPOT", table=read) is None
    assert cost("e2-custom-4-8192", table=read) is None
