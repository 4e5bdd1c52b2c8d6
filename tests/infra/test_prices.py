"""The price file: every price has a day and a source, and machines cost what their parts cost."""

from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from spotwarden.model.prices import VmKind
from spotwarden.recovery.price_file import only, read_prices
from spotwarden.recovery.prices import price_of

FILE = Path(__file__).resolve().parents[2] / "infra/prices.toml"
TABLE = read_prices(FILE)
LISTED = [
    name for prices in TABLE.lists for name in (*prices.machines, *(f"{each}-8" for each in prices.series))
]
ALL = (
    *TABLE.rates,
    *only(replace(TABLE, rates=()), LISTED, {gpu for one in TABLE.lists for gpu in one.gpus}).rates,
)
HEAD = '[[sheet]]\ndate = 2026-01-01\nsource = "here"\n'


def rates(machine):
    """What the file says of a machine type, by sheet and region."""
    return {(one.date, one.region): one for one in ALL if one.machine == machine}


def test_the_price_file_can_be_read():
    """And has prices in it."""
    assert TABLE.problem == ""
    assert len(ALL) > 5000


def test_every_price_has_a_day_and_a_source():
    """A price that nobody can look up is no price."""
    assert all(one.source and date(2020, 1, 1) < one.date for one in ALL)
    assert all(one.standard is not None or one.spot is not None for one in ALL)


def test_no_sheet_says_the_same_thing_twice():
    """One row for a machine in a region, on a day."""
    count = Counter((one.machine, one.gpu, one.region, one.date) for one in ALL)
    assert max(count.values()) == 1


@pytest.mark.parametrize(("machine", "chips"), [("ct6e-standard-1t", 1), ("ct6e-standard-8t", 8)])
def test_a_machine_with_tpus_costs_no_more_for_its_chips(machine, chips):
    """A VM that runs is counted with as many TPUs as it has; its price has them."""
    kind = VmKind(machine_type=machine, gpu="tpu-v6e", gpus=chips, region="us-east5", provisioning="SPOT")
    assert price_of(kind, TABLE) == price_of(replace(kind, gpu="", gpus=0), TABLE) is not None


def test_spot_is_cheaper():
    """A table in which it is not has its columns mixed up."""
    assert all(one.spot < one.standard for one in ALL if one.spot and one.standard)


@pytest.mark.parametrize(
    ("small", "large", "times"),
    [
        ("a2-highgpu-1g", "a2-highgpu-8g", 8),
        ("a2-highgpu-2g", "a2-highgpu-4g", 2),
        ("a2-ultragpu-1g", "a2-ultragpu-4g", 4),
        ("a3-highgpu-1g", "a3-highgpu-8g", 8),
        ("g2-standard-12", "g2-standard-24", 2),
        ("g2-standard-12", "g2-standard-96", 8),
    ],
)
def test_machines_of_twice_the_parts_cost_twice_as_much(small, large, times):
    """Google bills vCPUs, memory and GPUs; a slip of the pen shows."""
    less, more = rates(small), rates(large)
    both = set(less) & set(more)
    assert both
    for key in both:
        assert more[key].gpus == less[key].gpus * times
        for column in ("standard", "spot"):
            assert getattr(more[key], column) == pytest.approx(getattr(less[key], column) * times, abs=1e-3)


def test_the_newest_price_of_an_h100_machine_holds():
    """Its spot price has more than doubled within a year."""
    kind = VmKind(machine_type="a3-highgpu-8g", gpu="nvidia-h100-80gb", gpus=8, region="us-central1")
    assert price_of(kind, TABLE).date == date(2026, 9, 26)
    assert len(rates("a3-highgpu-8g")) > 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "No such file"),
        ("[[sheet]", "prices.toml cannot be read"),
        ("", "missing required field `sheet`"),
        (HEAD + 'rows = [{ machine = "a", region = "r", spott = 1.0 }]', "unknown field `spott`"),
        (HEAD + 'rows = [{ machine = "a", region = "r", spot = -1.0 }]', ">= 0"),
        (HEAD + 'rows = [{ machine = "a", spot = 1.0 }]', "missing required field `region`"),
        (HEAD.replace('source = "here"\n', "") + "rows = []", "missing required field `source`"),
    ],
)
def test_a_file_that_cannot_be_read_has_no_prices_and_says_why(tmp_path, text, says):
    """Half a table would be taken for the whole."""
    file = tmp_path / "prices.toml"
    if text is not None:
        file.write_text(text)
    table = read_prices(file)
    assert table.rates == ()
    assert says in table.problem


def test_only_what_occurs_is_kept_of_the_file():
    """Facts are no copy of it; a VM without a type keeps nothing."""
    kept = only(TABLE, {"g2-standard-4", ""}, {""})
    assert {one.machine for one in kept.rates} == {"g2-standard-4"}
