"""What others have made of the catalog: its numbers are taken, its mistakes are not."""

import csv
import json
from datetime import date
from pathlib import Path

import pytest
import yaml

from pricing.others import at_premium, custom_n1, of_vms
from spotwarden.recovery.kinds.price_file import read_lists
from tests.infra.pricing.test_write_prices import cost, table, written

DAY = date(2026, 5, 20)
HEAD = (
    "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,"
    "Region,AvailabilityZone,Price,SpotPrice"
)
PAIR, PROOF = ("custom-1-7680-ext", "custom-2-10240-ext"), "custom-4-30720-ext"


def rows(*lines):
    """A table in the shape of a scheduler's."""
    return csv.DictReader([HEAD, *lines])


def made(*lines):
    """The list that comes of it."""
    return of_vms(rows(*lines), "there", DAY)


def test_a_gpu_that_n1_takes_has_both_prices_in_each_region():
    """One of them; four together are no price of one, nor is a whole machine."""
    found = made(
        ",,,T4,1,{},us-central1,us-central1-a,0.35,0.1654",
        ",,,T4,1,{},us-central1,us-central1-b,0.35,0.1654",
        ",,,T4,4,{},us-central1,us-central1-a,1.4,0.6616",
        ",,,P4,1.0,{},europe-west4,europe-west4-b,0.63,0.1597",
        "n1-standard-4,4.0,15.0,,,,us-central1,us-central1-a,0.19,0.06977",
        ",,,L4,1,{},us-central1,us-central1-a,0.56,0.22",
    )
    assert found["gpus"] == {
        "nvidia-tesla-p4": {"europe-west4": [0.63, 0.1597]},
        "nvidia-tesla-t4": {"us-central1": [0.35, 0.1654]},
    }
    assert "machines" not in found


@pytest.mark.parametrize(
    ("price", "spot", "row"),
    [
        ("2.7", "700.0", [2.7]),
        ("700.0", "700.0", None),
        ("2.7", "2.7", [2.7]),
        ("2.7", "3.0", [2.7]),
        ("0.0", "0.0", None),
        ("2.7", "", [2.7]),
        ("2.7", "0.5", [2.7, 0.5]),
    ],
)
def test_what_a_table_does_not_know_is_unknown(price, spot, row):
    """A placeholder, nothing, or a spot price that only repeats the other."""
    found = made(f",,,V100,1,{{}},us-west1,us-west1-a,{price},{spot}")
    assert found.get("gpus", {}).get("nvidia-tesla-v100", {}).get("us-west1") == row


def test_zones_of_one_region_that_differ_say_nothing_of_it():
    """Google charges by the region: one of them must be wrong."""
    found = made(
        ",,,P100,1,{},us-east1,us-east1-b,1.46,0.6935", ",,,P100,1,{},us-east1,us-east1-c,1.60,0.6935"
    )
    assert found["gpus"] == {}


def test_a_tpu_is_priced_by_its_chips():
    """A v5p slice counts two cores a chip, all others chips."""
    found = made(
        ",,,tpu-v6e-1,1,tpu-v6e-1,us-east1,us-east1-d,2.7,0.5",
        ",,,tpu-v5litepod-1,1,tpu-v5litepod-1,us-west4,us-west4-a,1.2,0.456",
        ",,,tpu-v5p-8,1,tpu-v5p-8,us-east5,us-east5-a,16.8,6.384",
    )["machines"]
    assert found["ct6e-standard-4t"] == {"us-east1": [10.8, 2.0]}
    assert found["ct5lp-hightpu-8t"] == {"us-west4": [9.6, 3.648]}
    assert found["ct5p-hightpu-4t"] == {"us-east5": [16.8, 6.384]}


def test_of_a4_only_the_spot_price_is_read():
    """What such a table calls its price on demand is that of flex-start, or of a reservation."""
    found = made(",,,B200,8,{},us-east4,us-east4-b,64.44,32.6064")
    assert found["machines"] == {"a4-highgpu-8g": {"us-east4": [None, 32.6064]}}
    assert found["included"] == {"a4-highgpu-8g": 8}


def book(**third):
    """A book of instances: a vCPU costs 0.03 and a GiB 0.004, on spot 0.01 and 0.001."""

    def costs(cpu, gib):
        hours = {"hour": 0.03 * cpu + 0.004 * gib, "hour_spot": 0.01 * cpu + 0.001 * gib}
        return {"cpu": cpu, "ram": gib, "cost": {"us-central1": hours}}

    found = {PAIR[0]: costs(1, 7.5), PAIR[1]: costs(2, 10), PROOF: costs(4, 30)}
    found[PROOF]["cost"]["us-central1"] |= third
    return found


def test_custom_n1_is_solved_from_two_machines():
    """On demand and on spot, by the vCPU and by the GiB."""
    found = custom_n1(book(), PAIR, PROOF, "there", DAY)
    assert found["cores"] == {"custom": {"us-central1": [0.03, 0.01]}}
    assert found["memory"] == {"custom": {"us-central1": [0.004, 0.001]}}


def test_a_third_machine_that_contradicts_makes_it_unknown():
    """On spot only, where only that is contradicted."""
    assert custom_n1(book(hour=0.5), PAIR, PROOF, "there", DAY)["cores"] == {}
    assert custom_n1(book(hour_spot=0.5), PAIR, PROOF, "there", DAY)["cores"] == {
        "custom": {"us-central1": [0.03]}
    }


def predefined(**machines):
    """A list with N2 in one region: a vCPU costs 0.03 and a GiB 0.004."""
    series = {"n2-standard": {"r": [0.046, 0.01]}, "n2-highcpu": {"r": [0.034, 0.01]}}
    return {"date": "2026-08-03", "source": "here", "series": series, "machines": machines}


def test_a_custom_type_costs_five_percent_more_on_demand():
    """As Google says; of spot it says nothing, so that stays unknown."""
    found = at_premium(predefined(**{"n2-highmem-4": {"r": [0.248, 0.05]}}), "there")
    assert found["cores"] == {"n2-custom": {"r": [0.0315]}}
    assert found["memory"] == {"n2-custom": {"r": [0.0042]}}
    assert found["date"] == "2026-08-03"


def test_the_smallest_machine_of_a_series_tells():
    """The largest of N2 has less memory for each vCPU."""
    sizes = {"n2-highmem-4": {"r": [0.248]}, "n2-highmem-128": {"r": [7.296]}}
    assert at_premium(predefined(**sizes), "there")["cores"] == {"n2-custom": {"r": [0.0315]}}


def test_predefined_machines_that_contradict_each_other_tell_nothing():
    """A third ratio of memory proves what the first two say."""
    assert at_premium(predefined(**{"n2-highmem-4": {"r": [0.30]}}), "there")["cores"] == {}


def test_lists_of_others_stand_beside_each_other(tmp_path: Path):
    """One of the same source is replaced; the newest row for a price holds when they are read."""
    out, vms, instances = tmp_path / "price-list.json", tmp_path / "vms.csv", tmp_path / "pricing.yml"
    vms.write_text(f"{HEAD}\n,,,T4,1,{{}},us-central1,us-central1-a,0.35,0.1654\n")
    instances.write_text(yaml.safe_dump({"compute": {"instance": book()}}))
    how = ("--date", "2026-05-20", "--out", out)
    for _again in range(2):
        for words in (("--vms", vms, "--source", "csv"), ("--instances", instances, "--source", "book")):
            done = written(*words, *how)
            assert done.returncode == 0, done.stderr
    assert [prices.source for prices in read_lists(out.read_bytes())] == ["csv", "book"]
    one = {"gpu": "nvidia-tesla-t4", "gpus": 1}
    assert cost(table(out), "custom-2-4096", model="SPOT", **one) == round(0.02 + 0.004 + 0.1654, 6)


def test_custom_types_are_added_by_what_the_first_list_says(tmp_path: Path):
    """They keep its day."""
    out = tmp_path / "price-list.json"
    out.write_text(json.dumps([predefined(**{"n2-highmem-4": {"r": [0.248]}})]))
    assert written("--custom", "--source", "plus 5 %", "--out", out).returncode == 0
    assert cost(table(out), "n2-custom-2-4096", "r") == round(2 * 0.0315 + 4 * 0.0042, 6)
    assert cost(table(out), "n2-custom-2-4096", "r", "SPOT") is None
