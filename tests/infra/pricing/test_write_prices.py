"""The program that writes price-list.json, over real HTTP and from a stored table."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from pricing.lists import price_list, priced, render
from pricing.skus import unit_prices
from pricing.write_prices import stored
from spotwarden.model.prices import PriceTable, VmKind
from spotwarden.recovery.kinds.price_file import read_lists
from spotwarden.recovery.kinds.prices import price_of
from tests.contract.scripted import Scripted
from tests.infra.pricing.catalog import NO_PRICES, SKUS, ram, sku

PROGRAM = Path(__file__).resolve().parents[3] / "infra/pricing/write_prices.py"
DAY = date(2026, 8, 3)


@pytest.fixture
def catalog() -> Iterator[Scripted]:
    """A price catalog in two pages."""
    with Scripted() as server:
        server.say({"skus": [*NO_PRICES, *SKUS[:9]], "nextPageToken": "next"})
        server.say({"skus": SKUS[9:], "nextPageToken": ""})
        yield server


def written(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """What the program says, and how it ends."""
    return subprocess.run([sys.executable, PROGRAM, *words], capture_output=True, text=True, check=False)


def table(file: Path) -> PriceTable:
    """What the product reads of it."""
    return PriceTable(lists=read_lists(file.read_bytes()))


def cost(
    prices: PriceTable, machine: str, region: str = "us-central1", model: str = "STANDARD", **more: object
):
    """USD an hour of one VM."""
    found = price_of(VmKind(machine_type=machine, region=region, provisioning=model, **more), prices)
    return found and round(found.per_hour, 6)


def test_the_catalog_becomes_prices_of_machines(catalog: Scripted, tmp_path: Path):
    """By their parts: vCPUs, memory, GPUs; N1 with GPUs, custom types, TPUs, flex-start."""
    done = written("--key", "secret", "--endpoint", catalog.url, "--out", tmp_path / "price-list.json")
    assert done.returncode == 0, done.stderr
    prices = table(tmp_path / "price-list.json")
    assert cost(prices, "n2-standard-8") == round(8 * 0.031611 + 32 * 0.004237, 6)
    assert cost(prices, "n2-standard-8", model="SPOT") == round(8 * 0.01 + 32 * 0.001, 6)
    n1 = 4 * 0.031611 + 15 * 0.004237
    assert cost(prices, "n1-standard-4", gpu="nvidia-tesla-t4", gpus=2) == round(n1 + 0.70, 6)
    assert cost(prices, "n1-standard-4", gpu="nvidia-tesla-v100", gpus=1) == round(n1 + 2.48, 6)
    assert cost(prices, "custom-4-8192") == round(4 * 0.033174 + 8 * 0.004446, 6)
    a100 = {"gpu": "nvidia-tesla-a100", "gpus": 1}
    assert cost(prices, "a2-highgpu-1g", **a100) == round(12 * 0.031611 + 85 * 0.004237 + 2.933908, 6)
    assert cost(prices, "a2-highgpu-1g", model="FLEX_START", **a100) == round(
        12 * 0.0158 + 85 * 0.0021 + 1.5, 6
    )
    v6e = {"gpu": "tpu-v6e", "gpus": 4}
    assert cost(prices, "ct6e-standard-4t", "us-east5", "SPOT", **v6e) == 5.6132
    assert [asked.query.get("pageToken", "") for asked in catalog.asked] == ["", "next"]
    assert catalog.asked[0].path == "/v1/services/6F81-5844-456A/skus"
    assert catalog.asked[0].query["key"] == "secret"


@pytest.mark.parametrize(
    ("machine", "more"),
    [
        ("n1-standard-4", {"gpu": "nvidia-tesla-p4", "gpus": 1}),
        ("n2-custom-4-8192", {}),
        ("n2-custom-4-65536-ext", {}),
        ("e2-standard-4", {}),
    ],
)
def test_what_the_catalog_does_not_say_is_unknown(catalog: Scripted, tmp_path: Path, machine, more):
    """Not even in part: a machine without the price of its GPU has none."""
    written("--token", "token", "--endpoint", catalog.url, "--out", tmp_path / "price-list.json")
    assert cost(table(tmp_path / "price-list.json"), machine, **more) is None
    assert catalog.asked[0].headers["Authorization"] == "Bearer token"


def test_a_catalog_of_which_nothing_can_be_read_leaves_the_file(tmp_path: Path):
    """Its words have changed: an empty list would take every price away."""
    with Scripted() as server:
        server.say({"skus": NO_PRICES})
        done = written("--key", "k", "--endpoint", server.url, "--out", tmp_path / "price-list.json")
    assert done.returncode == 1
    assert "no machine in it has a price" in done.stderr
    assert not (tmp_path / "price-list.json").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "give --key, --token, --stored, --vms, --instances or --custom"),
        (("--vms", "x.csv", "--date", "2026-08-03"), "--vms needs --date and --source"),
        (("--custom",), "--custom needs --source"),
        (("--stored", "x.json"), "--stored needs --date and --source"),
        (("--key", "k", "--endpoint", "http://example.com"), "is not https"),
    ],
)
def test_what_cannot_be_asked_is_said(words, says):
    """Without a key in the clear."""
    done = written(*words)
    assert done.returncode != 0
    assert says in done.stderr


def test_a_stored_table_keeps_its_day_and_source(tmp_path: Path):
    """Those of whoever has read the catalog; sizes of one price for each vCPU become one row."""
    machines = {"n2-standard-2": 0.2, "n2-standard-4": 0.4, "e2-micro": 0.01, "g2-standard-4": 0.7}
    spot = {"n2-standard-2": 0.1, "n2-standard-4": 0.2, "e2-micro": 0.01}
    source = tmp_path / "table.json"
    source.write_text(json.dumps({"prices": {"us-central1": {"on_demand": machines, "spot": spot}}}))
    out = tmp_path / "price-list.json"
    written("--stored", source, "--date", "2026-08-03", "--source", "here", "--out", out)
    [made] = read_lists(out.read_bytes())
    assert (made.date, made.source) == (DAY, "here")
    assert made.series == {"n2-standard": {"us-central1": (0.1, 0.05)}}
    assert made.machines == {"e2-micro": {"us-central1": (0.01,)}, "g2-standard-4": {"us-central1": (0.7,)}}
    assert made.included == {"g2-standard-4": 1}


def test_sizes_that_cost_differently_stay_apart():
    """A series is said only where it says nothing else."""
    prices = {"us-central1": {"on_demand": {"c4-standard-2": 0.1, "c4-standard-4": 0.21}}}
    assert [*stored({"prices": prices}, "here", DAY)["machines"]] == ["c4-standard-2", "c4-standard-4"]


def test_sizes_that_are_not_everywhere_stay_apart():
    """Where one of them has no price, another's vCPU must not give it one."""
    prices = {
        "us-central1": {"on_demand": {"c4-standard-2": 0.1, "c4-standard-4": 0.2}},
        "us-east1": {"on_demand": {"c4-standard-2": 0.1}},
    }
    made = stored({"prices": prices}, "here", DAY)
    assert "c4-standard-4" in made["machines"]
    assert made.get("series", {}) == {}


def test_what_is_written_says_what_the_catalog_says():
    """Of every machine that its parts price: shortening the list changes no price."""
    units = unit_prices(SKUS)
    prices = PriceTable(lists=read_lists(render([price_list("here", DAY, priced(units), units)]).encode()))
    machines = priced(units)
    assert len(machines) > 50
    for machine, rows in machines.items():
        for region, row in rows.items():
            if row[0] is not None:
                assert cost(prices, machine, region) == pytest.approx(row[0], abs=2e-4 * row[0])


LISTED = [
    {"name": "n4d-standard-4", "guestCpus": 4, "memoryMb": 16384},
    {"name": "c4d-highmem-8", "guestCpus": 8, "memoryMb": 64512, "architecture": "X86_64"},
    {
        "name": "g4-standard-48",
        "guestCpus": 48,
        "memoryMb": 184320,
        "accelerators": [{"guestAcceleratorType": "nvidia-rtx-pro-6000", "guestAcceleratorCount": 1}],
    },
    {"name": "ct9x-standard-4t", "guestCpus": 180, "memoryMb": 737280},
    {"name": "g1-small", "guestCpus": 1, "memoryMb": 1740, "isSharedCpu": True},
    {"name": "n2-standard-8", "guestCpus": 99, "memoryMb": 1},
]
NEWER = [
    sku("N4D Instance Core running in Americas", 0.03),
    ram("N4D Instance Ram running in Americas", 0.004),
    sku("G4 Instance Core running in Americas", 0.05),
    ram("G4 Instance Ram running in Americas", 0.006),
    sku("RTX 6000 96GB GPU running in Americas", 1.1),
    sku("G1 Instance Core running in Americas", 0.02),
    ram("G1 Instance Ram running in Americas", 0.002),
]


def test_machine_types_that_gcloud_lists_are_priced_too(tmp_path: Path):
    """By what the catalog says of their parts; what it does not price is said, and a shared core never is."""
    listed = tmp_path / "types.json"
    listed.write_text(json.dumps(LISTED))
    out = tmp_path / "price-list.json"
    with Scripted() as server:
        server.say({"skus": [*SKUS, *NEWER]})
        done = written("--key", "k", "--machine-types", listed, "--endpoint", server.url, "--out", out)
    assert done.returncode == 0, done.stderr
    prices = table(out)
    assert cost(prices, "n4d-standard-4") == round(4 * 0.03 + 16 * 0.004, 6)
    card = {"gpu": "nvidia-rtx-pro-6000", "gpus": 1}
    assert cost(prices, "g4-standard-48", **card) == round(48 * 0.05 + 180 * 0.006 + 1.1, 6)
    assert cost(prices, "n2-standard-8") == round(8 * 0.031611 + 32 * 0.004237, 6)
    assert cost(prices, "g1-small") is None
    without = done.stderr.partition("machine types without a price: ")[2]
    assert {"c4d", "ct9x"} <= set(without.strip().split(", "))
    assert "n4d" not in without


EVERY_KIND = [
    *SKUS,
    sku("Spot Preemptible N1 Predefined Instance Core running in Americas", 0.01),
    ram("Spot Preemptible N1 Predefined Instance Ram running in Americas", 0.001),
    sku("Spot Preemptible Custom Instance Core running in Americas", 0.012),
    ram("Spot Preemptible Custom Instance Ram running in Americas", 0.0015),
    sku("Nvidia Tesla P100 GPU running in Americas", 1.46),
    sku("Nvidia Tesla P4 GPU attached to Spot Preemptible VMs running in Americas", 0.2),
    *(
        sku(f"{family} Custom Instance Core running in Americas", 0.03)
        for family in ("N2", "N2D AMD", "E2", "N4")
    ),
    *(
        ram(f"{family} Custom Instance Ram running in Americas", 0.004)
        for family in ("N2", "N2D AMD", "E2", "N4")
    ),
    sku("Spot Preemptible N4 Custom Instance Core running in Americas", 0.02),
    ram("Spot Preemptible N4 Custom Instance Ram running in Americas", 0.002),
    sku("TpuV5e running in Americas", 1.2),
    sku("TpuV5p attached to Spot Preemptible VMs running in Americas", 0.8),
    sku("TPU7x running in Americas", 12.0),
    sku("A4 Nvidia B200 (1 gpu slice) running in Americas", 16.11),
    sku("Spot Preemptible A4 Nvidia B200 (1 gpu slice) running in Americas", 4.9542),
    sku("DWS Defined Duration A4 Nvidia B200 (1 gpu slice) running in Americas", 8.055),
    sku("DWS Calendar Mode A4 Nvidia B200 (1 gpu slice) running in Americas", 11.277),
]


@pytest.mark.parametrize(
    ("machine", "model", "accelerator", "usd"),
    [
        ("n1-standard-4", "STANDARD", ("nvidia-tesla-p100", 1), 4 * 0.031611 + 15 * 0.004237 + 1.46),
        ("n1-standard-4", "SPOT", ("nvidia-tesla-p4", 2), 4 * 0.01 + 15 * 0.001 + 0.4),
        ("custom-4-8192", "SPOT", ("nvidia-tesla-t4", 1), 4 * 0.012 + 8 * 0.0015 + 0.209),
        ("n2-custom-4-8192", "STANDARD", None, 4 * 0.03 + 8 * 0.004),
        ("n2d-custom-4-8192", "STANDARD", None, 4 * 0.03 + 8 * 0.004),
        ("e2-custom-4-8192", "STANDARD", None, 4 * 0.03 + 8 * 0.004),
        ("n4-custom-4-8192", "SPOT", None, 4 * 0.02 + 8 * 0.002),
        ("ct5lp-hightpu-4t", "STANDARD", ("tpu-v5e", 4), 4.8),
        ("ct5p-hightpu-4t", "SPOT", ("tpu-v5p", 4), 3.2),
        ("tpu7x-standard-4t", "STANDARD", ("tpu7x", 4), 48.0),
        ("a4-highgpu-8g", "STANDARD", ("nvidia-b200", 8), 128.88),
        ("a4-highgpu-8g", "SPOT", ("nvidia-b200", 8), 39.6336),
        ("a4-highgpu-8g", "FLEX_START", ("nvidia-b200", 8), 64.44),
    ],
)
def test_a_refreshed_file_has_every_kind_that_the_one_of_others_has(
    tmp_path: Path, machine, model, accelerator, usd
):
    """Whoever can ask Google loses nothing: what they write replaces what was read by others."""
    out = tmp_path / "price-list.json"
    out.write_text(json.dumps([{"date": "2026-05-20", "source": "others", "machines": {}}]))
    with Scripted() as server:
        server.say({"skus": EVERY_KIND})
        done = written("--key", "k", "--endpoint", server.url, "--out", out)
    assert done.returncode == 0, done.stderr
    more = {"gpu": accelerator[0], "gpus": accelerator[1]} if accelerator else {}
    assert cost(table(out), machine, model=model, **more) == round(usd, 6)
    assert [made["source"] for made in json.loads(out.read_text())] == ["Google Cloud Billing Catalog"]


@pytest.mark.parametrize("text", ["{", "[1]", '[{"name": "x"}]', '{"a": 1}'])
def test_a_list_of_machine_types_that_is_none_is_refused(tmp_path: Path, text):
    """With the command that writes one; nothing is asked, and nothing written."""
    listed = tmp_path / "types.json"
    listed.write_text(text)
    done = written("--key", "k", "--machine-types", listed, "--out", tmp_path / "out.json")
    assert done.returncode == 1
    assert "gcloud compute machine-types list --format=json" in done.stderr
    assert not (tmp_path / "out.json").exists()
