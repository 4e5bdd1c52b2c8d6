"""The price file: every price has a day and a source, and machines cost what their parts cost."""

from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from spotwarden.model.prices import VmKind
from spotwarden.recovery.kinds.price_file import only, read_prices
from spotwarden.recovery.kinds.prices import price_of

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


T4 = {"gpu": "nvidia-tesla-t4", "gpus": 1}
KNOWN = [
    ("n1-standard-8", T4, "us-central1 europe-west1 asia-east1", "STANDARD SPOT"),
    ("n1-standard-8", {"gpu": "nvidia-tesla-v100", "gpus": 8}, "us-west1 europe-west4", "STANDARD SPOT"),
    ("n1-standard-8", {"gpu": "nvidia-tesla-p100", "gpus": 1}, "us-east1", "STANDARD SPOT"),
    ("n1-standard-8", {"gpu": "nvidia-tesla-p4", "gpus": 1}, "us-west2", "STANDARD SPOT"),
    ("custom-8-16384", T4, "us-central1 europe-west4", "STANDARD SPOT"),
    ("n2-custom-8-16384", {}, "us-central1 europe-west4", "STANDARD"),
    ("n2d-custom-8-16384", {}, "us-central1 europe-west4", "STANDARD"),
    ("e2-custom-8-16384", {}, "us-central1 europe-west4", "STANDARD"),
    ("n4-custom-8-16384", {}, "us-central1 europe-west4", "STANDARD"),
    ("ct6e-standard-4t", {"gpu": "tpu-v6e", "gpus": 4}, "us-east1 asia-south1", "STANDARD SPOT"),
    ("ct5p-hightpu-4t", {"gpu": "tpu-v5p", "gpus": 4}, "us-central1 us-east5", "STANDARD SPOT"),
    ("ct5lp-hightpu-8t", {"gpu": "tpu-v5e", "gpus": 8}, "us-west4 europe-west4", "STANDARD SPOT"),
    ("a4-highgpu-8g", {"gpu": "nvidia-b200", "gpus": 8}, "us-central1", "STANDARD SPOT"),
    ("g4-standard-96", {"gpu": "nvidia-rtx-pro-6000", "gpus": 2}, "us-central1", "STANDARD SPOT"),
]


@pytest.mark.parametrize(
    "kind",
    [
        VmKind(machine_type=machine, region=region, provisioning=model, **more)
        for machine, more, regions, models in KNOWN
        for region in regions.split()
        for model in models.split()
    ],
    ids=lambda kind: f"{kind.machine_type} {kind.gpu} {kind.region} {kind.provisioning}",
)
def test_every_family_that_trains_has_a_price(kind):
    """What runs with these can be counted and capped."""
    assert price_of(kind, TABLE) is not None


@pytest.mark.parametrize(
    ("machine", "model"),
    [
        ("n2-custom-8-16384", "SPOT"),
        ("n2-custom-4-65536-ext", "STANDARD"),
        ("tpu7x-standard-4t", "STANDARD"),
        ("n1-standard-8", "FLEX_START"),
    ],
)
def test_what_nobody_has_said_is_unknown(machine, model):
    """As the docs list it: a guess would be taken for a price."""
    kind = VmKind(machine_type=machine, region="us-central1", provisioning=model)
    assert price_of(kind, TABLE) is None


def test_a_custom_type_costs_about_five_percent_more_than_a_predefined_one():
    """Google says so; whoever reads vCPUs for memory is off by much more."""
    for family, predefined in (("", "n1"), ("n2-", "n2"), ("n2d-", "n2d"), ("e2-", "e2"), ("n4-", "n4")):
        gib = 30 if predefined == "n1" else 32
        custom = VmKind(machine_type=f"{family}custom-8-{gib * 1024}", region="us-central1")
        plain = replace(custom, machine_type=f"{predefined}-standard-8")
        paid = price_of(custom, TABLE).per_hour / price_of(plain, TABLE).per_hour
        assert paid == pytest.approx(1.05, abs=2e-3)


def test_only_what_occurs_is_kept_of_the_file():
    """Facts are no copy of it; a VM without a type keeps nothing."""
    kept = only(TABLE, {"g2-standard-4", ""}, {""})
    assert {one.machine for one in kept.rates} == {"g2-standard-4"}
