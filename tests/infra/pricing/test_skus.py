"""What the price catalog says, and what must never be taken for a price."""

import pytest

from pricing.skus import Unit, unit_prices
from tests.infra.pricing.catalog import NO_PRICES, SKUS, ram, sku

UNITS = unit_prices([*SKUS, *NO_PRICES])


@pytest.mark.parametrize(
    ("unit", "region", "row"),
    [
        (Unit("core", "n2"), "us-central1", (0.031611, 0.01, None)),
        (Unit("memory", "n2"), "us-east1", (0.004237, 0.001, None)),
        (Unit("core", "n1"), "us-central1", (0.031611, None, None)),
        (Unit("core", "custom"), "us-central1", (0.033174, None, None)),
        (Unit("gpu", "nvidia-tesla-t4"), "us-central1", (0.35, 0.209, None)),
        (Unit("gpu", "nvidia-tesla-a100"), "us-central1", (2.933908, None, 1.5)),
        (Unit("gpu", "nvidia-a100-80gb"), "us-central1", (3.92808, None, None)),
        (Unit("core", "a2"), "us-central1", (0.031611, None, 0.0158)),
        (Unit("chip", "ct6e-standard"), "us-east5", (2.70, 1.4033, 1.35)),
    ],
)
def test_a_unit_has_its_three_prices(unit, region, row):
    """On demand, on spot, on flex-start, in each region that the SKU serves."""
    assert UNITS[unit][region] == row


@pytest.mark.parametrize("misleading", NO_PRICES, ids=lambda item: item["description"])
def test_what_is_sold_otherwise_is_no_price(misleading):
    """Commitments, reservations, calendar mode, sole tenancy, extended memory, network."""
    assert unit_prices([misleading]) == {}


def test_two_prices_for_one_thing_are_none():
    """Nobody could say which one holds; the same twice is one."""
    first, other = (
        sku("N2 Instance Core running in Americas", 1.0),
        sku("N2 Instance Core running in Iowa", 2.0),
    )
    assert unit_prices([first, other])[Unit("core", "n2")]["us-central1"] == (None, None, None)
    assert unit_prices([first, first])[Unit("core", "n2")]["us-central1"] == (1.0, None, None)


@pytest.mark.parametrize(
    "odd",
    [
        sku("N2 Instance Core running in Americas", 0.0),
        sku("N2 Instance Core running in Americas", 1.0, unit="mo"),
        ram("N2 Instance Core running in Americas", 1.0),
        {**sku("N2 Instance Core running in Americas", 1.0), "pricingInfo": []},
        {"description": "N2 Instance Core running in Americas"},
        {},
    ],
)
def test_a_price_that_is_not_told_by_the_hour_is_none(odd):
    """A placeholder of zero, another unit, nothing at all."""
    assert unit_prices([odd]) == {}


@pytest.mark.parametrize(
    ("words", "row"),
    [
        ("Spot Preemptible A4 Nvidia B200 (1 gpu slice)", (None, 1.0, None)),
        ("DWS Defined Duration A4 Nvidia B200 (1 gpu slice)", (None, None, 1.0)),
        ("RTX 6000 96GB attached to Spot Preemptible VMs", (None, 1.0, None)),
        ("H200 141GB GPU attached to DWS Defined Duration VMs", (None, None, 1.0)),
        ("Spot Preemptible E2 Custom Instance Core", (None, 1.0, None)),
        ("TPU7x attached to Spot Preemptible VMs", (None, 1.0, None)),
    ],
)
def test_a_provisioning_model_is_known_by_its_words(words, row):
    """Before the name of a machine's part, after that of an accelerator."""
    [found] = unit_prices([sku(f"{words} running in Americas", 1.0)]).values()
    assert found["us-central1"] == row


@pytest.mark.parametrize(
    "words",
    [
        "DWS Calendar Mode A4 Nvidia B200 (1 gpu slice) running in Americas",
        "Commitment v1: A4 Nvidia B200 (1 gpu slice) in Americas for 1 Year",
        "Reserved A4 Nvidia B200 (1 gpu slice) in Americas",
        "A4X Nvidia GB200 (1 gpu slice) running in Americas",
    ],
)
def test_a_slice_that_is_sold_otherwise_is_no_price(words):
    """A calendar reservation of A4 costs 70 % of it on demand."""
    assert unit_prices([sku(words, 1.0)]) == {}


def test_a_price_by_tiers_is_none():
    """Which one holds depends on how much was used before."""
    tiered = sku("N2 Instance Core running in Americas", 1.0)
    rates = tiered["pricingInfo"][0]["pricingExpression"]["tieredRates"]
    rates.append({**rates[0], "startUsageAmount": 100})
    assert unit_prices([tiered]) == {}


@pytest.mark.parametrize(
    ("words", "unit"),
    [
        ("N4D Instance Core", Unit("core", "n4d")),
        ("C4A Arm Instance Core", Unit("core", "c4a")),
        ("N2D AMD Custom Instance Core", Unit("core", "n2d-custom")),
        ("N4 Custom Instance Core", Unit("core", "n4-custom")),
        ("Nvidia B200 GPU", Unit("gpu", "nvidia-b200")),
        ("RTX 6000 96GB GPU", Unit("gpu", "nvidia-rtx-pro-6000")),
        ("RTX 6000 96GB", Unit("gpu", "nvidia-rtx-pro-6000")),
        ("H200 141GB GPU", Unit("gpu", "nvidia-h200-141gb")),
        ("Nvidia H100 80GB Plus GPU", Unit("gpu", "nvidia-h100-mega-80gb")),
        ("A4 Nvidia B200 (1 gpu slice)", Unit("slice", "a4-highgpu")),
        ("TpuV5p", Unit("chip", "ct5p-hightpu")),
        ("TPU7x", Unit("chip", "tpu7x-standard")),
    ],
)
def test_a_series_is_known_by_its_name(words, unit):
    """With the maker of its processor or without, predefined or custom."""
    assert [*unit_prices([sku(f"{words} running in Americas", 1.0)])] == [unit]
