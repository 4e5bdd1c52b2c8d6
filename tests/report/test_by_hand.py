"""The report of histories that were reckoned by hand, from records as they lie in the bucket.

Nothing here is made by the code that is tested: the records are JSON as written, the sums are of minutes that
a person can count.
"""

import gzip
import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from spotwarden.model.limits import NotifyLimits
from tests.report.report_world import ReportWorld

README = Path(__file__).resolve().parents[2] / "docs/report/README.md"
PRICES = """
[[sheet]]
date = 2026-11-01
source = "made up"
rows = [
    { machine = "g2-standard-8", gpus = 1, region = "us-central1", standard = 1.00, spot = 0.40 },
    { machine = "a2-highgpu-8g", gpus = 8, region = "us-central1", spot = 12.00 },
]
"""
L4 = {
    "machine_type": "g2-standard-8", "gpu": "nvidia-l4", "gpus": 1, "region": "us-central1",
    "provisioning": "SPOT",
}  # fmt: skip
A100 = {**L4, "machine_type": "a2-highgpu-8g", "gpu": "nvidia-tesla-a100", "gpus": 8}
DAY = "2026-11-18"
SIX = ("useful", "starting", "idle", "lost", "after", "unknown")
ADA = "ada@example.com"


class Bucket:
    """A bucket into which records are written by name, and the report of it."""

    def __init__(self, folder, **limits):
        self.world = ReportWorld(notify=NotifyLimits(email=True, **limits))
        prices = folder / "prices.toml"
        prices.write_text(PRICES)
        self.world.settings = replace(self.world.settings, prices_file=prices)

    def until(self, at):
        """Let time pass up to this moment."""
        self.world.cloud.clock.advance(datetime.fromisoformat(clock(at)) - self.world.now)

    def write(self, name, what):
        """Store an object: bytes as they are, anything else as JSON."""
        data = what if isinstance(what, bytes) else json.dumps(what).encode()
        self.world.cloud.store.write(name, data, generation=None)

    def attempt(self, number, job="train", **said):
        """A record of the ledger; moments may be times of that day."""
        moments = ("created", "updated", "started", "lost")
        known = {name: clock(value) if name in moments else value for name, value in said.items()}
        tried = {"request_id": "r", "at": known["created"], "place": known.pop("place")}
        record = {"job": job, "number": number, "owner": ADA, "state": "running", "tries": [tried], **known}
        self.write(f"{job}/metadata/attempts/{number}.json", record)

    def meter(self, day, *vms, owner=ADA):
        """A day of the meter: of each VM its id, job, start and seconds on that day."""
        rows = {
            name: {"owner": owner, "job": job, "kind": kind, "runs": [{"started": clock(at), "seconds": up}]}
            for name, job, at, up, kind in vms
        }
        self.write(f"spotwarden/usage/{day}.json", {"day": day, "settled": True, "vms": rows})

    def beats(self, attempt, *beats, job="train"):
        """The metrics file of an attempt: when, and which checkpoint."""
        lines = [json.dumps({"at": clock(at), "checkpoint": said}) for at, said in beats]
        self.write(f"{job}/metadata/metrics/{job}/{attempt}.jsonl", "\n".join(lines).encode() + b"\n")

    def loads(self, job, name, end, *percent):
        """What a sweep over GPUs saw of a VM, in slots of ten minutes up to this one."""
        grid = {"end": clock(end), "step": "PT600S", "count": len(percent)}
        seen = {
            "tick": {"function": "flag_idle_gpus", "sweep": "s1", "now": clock(end)},
            "policy": "test",
            "steady": clock("08:00"),
            "facts": {"loads": {"grid": grid, "rows": {name: {"top": percent}}}, "jobs": {name: job}},
        }
        path = f"spotwarden/sweeps/flag_idle_gpus/{DAY}/{end.replace(':', '')}00-s1.json.gz"
        self.write(path, gzip.compress(json.dumps(seen).encode()))

    def fleet(self, first=DAY, last=DAY):
        """The fleet of these days, once all is taken in."""
        self.world.tick()
        return self.world.json(f"/fleet.json?first={first}&last={last}")


def clock(said):
    """A time of that day, UTC; a whole moment as it is."""
    return said if "T" in said else f"{DAY}T{said}:00Z"


def minutes(hours):
    """The parts, in whole minutes."""
    return {name: round(value * 60, 3) for name, value in hours.items()}


def gone(hours):
    """What is anything of them, in minutes."""
    return {name: value for name, value in minutes(hours).items() if value}


@pytest.fixture
def bucket(tmp_path):
    """An empty one, at noon of that Wednesday."""
    return Bucket(tmp_path)


@pytest.fixture
def example(bucket):
    """The day that the docs tell of."""
    bucket.write("train/metadata/create-instance.sh", b"#!/bin/bash\n")
    bucket.attempt(
        1,
        created="08:00",
        updated="08:00",
        started="08:00",
        seen=True,
        instances={"train": "11"},
        place="us-central1-a",
    )
    bucket.attempt(
        2,
        created="10:31",
        updated="10:45",
        started="10:45",
        lost="10:30",
        lost_in="us-central1-a",
        fate="Compute Engine preempted it",
        replaces={"train": "11"},
        instances={"train": "22"},
        place="us-central1-b",
    )
    bucket.beats(1, ("08:10", ""), ("09:00", "step-100"), ("10:00", "step-200"), ("10:20", "step-200"))
    bucket.beats(2, ("10:50", "step-200"), ("12:30", "step-300"))
    bucket.loads("train", "22", "12:10", 90.0, 0.0, 4.9, 80.0, 5.0)
    bucket.until("13:00")
    bucket.write("train/metadata/status-code", b"0")
    bucket.until("13:30")
    bucket.meter(DAY, ("11", "train", "08:00", 150 * 60, L4), ("22", "train", "10:45", 155 * 60, L4))
    return bucket


def of_the_docs():
    """The figures of the docs' table: minutes by part."""
    rows = re.findall(r"(?m)^\| `(\w+)` \| (\d+) \|", README.read_text(encoding="utf-8"))
    return {part: int(count) for part, count in rows}


def test_the_example_of_the_docs_is_what_the_report_says(example):
    """Minute by minute, in VMs and in GPUs, for there is one of each."""
    total = example.fleet()["total"]
    told = of_the_docs()
    assert len(told) == 8
    assert minutes(total["gpu_hours"]) == minutes(total["vm_hours"]) == told
    assert told["used"] == sum(told[part] for part in SIX) == 150 + 155


def test_the_sums_of_the_example_are_those_of_the_docs(example):
    """Goodput, dollars to the millionth, and the one recovery."""
    total = example.fleet()["total"]
    text = " ".join(README.read_text(encoding="utf-8").split())
    assert "Goodput is 220 / 305 = 72.1%" in text
    assert total["goodput"] == round(220 / 305, 6) == 0.721311
    for name, usd in (("cost", 2.033333), ("on_demand", 5.083333), ("saved", 3.05), ("waste", 0.466667)):
        assert total[name] == {"usd": usd, "unpriced_vm_hours": 0, "prices_of": "2026-11-01"}, name
        assert f"${usd}" in text
    assert total["preemptions"] == 1
    assert total["recovery"]["count"] == 1
    assert total["recovery"]["median_seconds"] == total["recovery"]["longest_seconds"] == 15 * 60


def test_the_zones_of_the_example_are_told_apart(example):
    """150 minutes in the one, and the wait for a new VM there, where it was lost; 155 in the other."""
    zones = {row["key"]: row for row in example.fleet()["tables"]["zone"]}
    assert gone(zones["us-central1-a"]["gpu_hours"]) == {
        "used": 150, "useful": 110, "starting": 10, "lost": 30, "waiting": 15
    }  # fmt: skip
    assert gone(zones["us-central1-b"]["gpu_hours"]) == {
        "used": 155, "useful": 110, "starting": 5, "idle": 20, "after": 20
    }  # fmt: skip


def test_the_row_of_the_example_says_the_same(example):
    """In the experiment table: five hours in all, from its start to its end, and up for longer than that."""
    example.world.tick()
    (row,) = example.world.json("/index.json")["jobs"]
    assert (row["status"], row["exit_code"], row["attempts"], row["preemptions"]) == ("ended", "0", 2, 1)
    assert row["zones"] == ["us-central1-a", "us-central1-b"]
    assert row["instance_ids"] == ["11", "22"]
    assert (row["runtime_seconds"], row["up_seconds"]) == (5 * 3600, 305 * 60)
    assert row["gpu_hours"] == round(305 / 60, 6)
    assert (row["cost"]["usd"], row["saved"]["usd"]) == (2.033333, 3.05)


@pytest.mark.parametrize("by", ["owner", "team", "machine", "zone", "job", "day"])
def test_each_table_of_the_example_adds_up(example, by):
    """Minutes, dollars and recoveries of its rows are those of the total."""
    fleet = example.fleet()
    rows, total = fleet["tables"][by], fleet["total"]
    assert rows
    for part in (*SIX, "used", "waiting"):
        assert sum(row["gpu_hours"][part] for row in rows) == pytest.approx(
            total["gpu_hours"][part], abs=1e-5
        )
    for name in ("cost", "on_demand", "saved", "waste"):
        assert sum(row[name]["usd"] for row in rows) == pytest.approx(total[name]["usd"], abs=1e-9)
    assert sum(row["recovery"]["count"] for row in rows) == 1


def test_the_message_of_that_week_says_the_same(example):
    """On the Monday after; 305 minutes are 5.1 hours, and the cents are those of the page."""
    example.world.tick()
    example.until("2026-11-23T08:05:00+00:00")
    example.world.tick()
    messages = [json.loads(one.data) for one in example.world.cloud.notices.messages]
    (message,) = [one for one in messages if one["owner"] == ADA]
    assert message["what"] == "Your week Nov 16\u201322: 1 job, $2.03, $0.47 wasted"
    assert message["tables"][0]["rows"] == [["train", "5.1", "$2.03", "$3.05", "$0.47", "1"]]
    assert message["evidence"]["goodput"] == "72%"
    assert message["evidence"]["recovered"] == "1, in 15 min"


@pytest.mark.parametrize(
    ("zone", "first", "hours"),
    [
        ("Europe/Berlin", "2026-10-24", {"2026-10-24": 10, "2026-10-25": 25, "2026-10-26": 13}),
        ("UTC", "2026-10-24", {"2026-10-24": 12, "2026-10-25": 24, "2026-10-26": 12}),
        ("Europe/Berlin", "2026-03-28", {"2026-03-28": 11, "2026-03-29": 23, "2026-03-30": 14}),
        ("America/New_York", "2026-10-31", {"2026-10-31": 16, "2026-11-01": 25, "2026-11-02": 7}),
    ],
)
def test_days_are_as_long_as_clocks_make_them(tmp_path, zone, first, hours):
    """A VM that is up for 48 hours from noon, UTC, has 25 or 23 on the day on which clocks change."""
    bucket = Bucket(tmp_path, timezone=zone)
    start = datetime.fromisoformat(f"{first}T12:00:00+00:00")
    days = [(start + timedelta(days=index)).date() for index in range(3)]
    for day, up in zip(days, (12, 24, 12), strict=True):
        bucket.meter(str(day), ("11", "train", start.isoformat(), up * 3600, L4))
    found = bucket.fleet(first=min(hours), last=max(hours))
    assert {row["key"]: row["vm_hours"]["used"] for row in found["tables"]["day"]} == hours
    assert found["total"]["vm_hours"]["used"] == sum(hours.values()) == 48


def test_a_day_apart_is_a_part_of_the_whole(tmp_path):
    """Each day asked for by itself has what its row of all three has."""
    bucket = Bucket(tmp_path, timezone="Europe/Berlin")
    for day, up in (("2026-10-24", 12), ("2026-10-25", 24), ("2026-10-26", 12)):
        bucket.meter(day, ("11", "train", "2026-10-24T12:00:00+00:00", up * 3600, L4))
    (day,) = bucket.fleet("2026-10-25", "2026-10-25")["tables"]["day"]
    assert (day["vm_hours"]["used"], day["cost"]["usd"]) == (25, 10.0)


def test_without_a_checkpoint_nobody_knows_what_was_lost(bucket):
    """Two hours until it was taken, of a job that says nothing: neither useful nor lost, and no goodput."""
    bucket.attempt(
        1, created="08:00", updated="08:00", started="08:00", seen=True, instances={"train": "11"},
        place="us-central1-a",
    )  # fmt: skip
    bucket.attempt(
        2, created="10:01", updated="10:01", lost="10:00", lost_in="us-central1-a", state="backing off",
        fate="Compute Engine preempted it", replaces={"train": "11"}, place="us-central1-b",
    )  # fmt: skip
    bucket.meter(DAY, ("11", "train", "08:00", 7200, L4))
    total = bucket.fleet()["total"]
    assert gone(total["gpu_hours"]) == {"used": 120, "unknown": 120, "waiting": 120}
    assert (total["goodput"], total["waste"]["usd"]) == (None, 0)
    assert (total["preemptions"], total["recovery"]["count"]) == (1, 0)
    assert total["recovery"]["median_seconds"] is None


def test_a_gang_waits_for_all_of_its_gpus(bucket):
    """Two VMs of eight GPUs each, lost for half an hour, then up for half of one: 8 GPU-hours each."""
    nodes = {"gang-1": "31", "gang-2": "32"}
    bucket.attempt(
        1, job="gang", created="08:00", updated="08:00", started="08:00", seen=True, instances=nodes,
        place="us-central1-a",
    )  # fmt: skip
    bucket.attempt(
        2, job="gang", created="11:00", updated="11:30", started="11:30", lost="11:00", replaces=nodes,
        lost_in="us-central1-a", fate="Compute Engine preempted it", place="us-central1-a",
        instances={"gang-1": "41", "gang-2": "42"},
    )  # fmt: skip
    before = [(name, "gang", "08:00", 3 * 3600, A100) for name in ("31", "32")]
    bucket.meter(DAY, *before, *((name, "gang", "11:30", 1800, A100) for name in ("41", "42")))
    total = bucket.fleet()["total"]
    assert gone(total["vm_hours"]) == {"used": 2 * 210, "unknown": 2 * 180, "useful": 2 * 30, "waiting": 60}
    assert gone(total["gpu_hours"]) == {name: 8 * value for name, value in gone(total["vm_hours"]).items()}
    assert (total["goodput"], total["cost"]["usd"]) == (1.0, 7 * 12.0)
    assert total["on_demand"] == {"usd": None, "unpriced_vm_hours": 7, "prices_of": None}
    assert total["saved"]["usd"] is None
    assert total["recovery"]["count"] == 1


def test_what_has_no_price_is_not_counted_as_nothing(bucket):
    """One hour at 40 cents, and one of a machine that no sheet names."""
    odd = {**L4, "machine_type": "x9-mega-1"}
    bucket.meter(DAY, ("11", "a", "08:00", 3600, L4), ("12", "b", "08:00", 3600, odd))
    fleet = bucket.fleet()
    assert fleet["total"]["cost"] == {"usd": 0.4, "unpriced_vm_hours": 1, "prices_of": "2026-11-01"}
    machines = {row["key"]: row["cost"]["usd"] for row in fleet["tables"]["machine"]}
    assert machines == {"g2-standard-8": 0.4, "x9-mega-1": None}


@pytest.mark.parametrize(
    ("scheduling", "cost"),
    [({"provisioningModel": "SPOT"}, 0.02), ({"preemptible": True}, 0.02), ({}, 0.05)],
    ids=["spot", "preemptible", "on demand"],
)
def test_a_vm_that_no_tick_of_the_meter_has_seen_costs_what_it_was_launched_as(bucket, scheduling, cost):
    """Three minutes between two ticks: the record of its launch says what it was, as for `show`."""
    bucket.write("quick/metadata/create-instance.sh", b"#!/bin/bash\n")
    bucket.attempt(
        1, "quick", created="12:00", updated="12:00", started="12:00", seen=True, place="us-central1-a",
        instances={"quick": "11"}, state="ended",
    )  # fmt: skip
    instance = {
        "id": "11", "name": "quick", "zone": ".../zones/us-central1-a", "scheduling": scheduling,
        "machineType": ".../zones/us-central1-a/machineTypes/g2-standard-8",
        "guestAccelerators": [{"acceleratorType": ".../nvidia-l4", "acceleratorCount": 1}],
    }  # fmt: skip
    launched = {"quick": {"instance": instance, "disks": []}}
    bucket.write("quick/metadata/launched/1.json", launched)
    bucket.until("12:03")
    bucket.write("quick/metadata/status-code", b"0")
    bucket.world.tick()
    (row,) = bucket.world.json("/index.json")["jobs"]
    assert row["cost"] == {"usd": cost, "unpriced_vm_hours": 0, "prices_of": "2026-11-01"}


def test_a_launch_of_which_an_older_version_has_taken_in_nothing_is_read_again(bucket):
    """Its summary says that the record was read, and knows none of its VMs."""
    bucket.write("quick/metadata/create-instance.sh", b"#!/bin/bash\n")
    bucket.attempt(
        1, "quick", created="12:00", updated="12:00", started="12:00", seen=True, place="us-central1-a",
        instances={"quick": "11"},
    )  # fmt: skip
    bucket.write("quick/metadata/launched/1.json", {"quick": {"disks": []}})
    bucket.until("12:03")
    bucket.world.tick()
    instance = {"id": "11", "zone": "z/us-central1-a", "machineType": "t/g2-standard-8", "scheduling": {}}
    bucket.write("quick/metadata/launched/1.json", {"quick": {"instance": instance}})
    bucket.write("quick/metadata/status-code", b"0")
    bucket.world.tick()
    (row,) = bucket.world.json("/index.json")["jobs"]
    assert row["cost"]["unpriced_vm_hours"] == 0


def test_a_job_without_records_has_its_vms_and_a_row(bucket):
    """No ledger, no status, no script, no owner: the meter alone has seen its VM, by its label."""
    bucket.write("shadow/output/x", b"1")
    bucket.meter(DAY, ("11", "shadow", "08:00", 3600, L4), owner="")
    fleet = bucket.fleet()
    assert [row["key"] for row in fleet["tables"]["owner"]] == [None]
    assert [row["key"] for row in fleet["tables"]["job"]] == ["shadow"]
    assert gone(fleet["total"]["vm_hours"]) == {"used": 60, "useful": 60}
    (row,) = bucket.world.json("/index.json")["jobs"]
    assert (row["job"], row["owner"], row["status"], row["exit_code"]) == ("shadow", None, "unknown", None)
    assert row["cost"]["usd"] == 0.4


def test_a_job_of_which_only_the_script_is_there_has_a_row(bucket):
    """No ids, no VMs, no price: unknown, as for `spotwarden jobs`, until a launch is on record."""
    bucket.write("idea/metadata/create-instance.sh", b"#!/bin/bash\n")
    bucket.world.tick()
    (row,) = bucket.world.json("/index.json")["jobs"]
    assert (row["job"], row["status"], row["instance_ids"]) == ("idea", "unknown", [])
    assert row["started"] is None
    assert row["runtime_seconds"] is None


def test_a_folder_of_something_else_has_no_row(bucket):
    """A bucket may have data beside jobs, and the empty objects that the console writes for folders."""
    for name in ("datasets/train.tfrecord", "old/", "old/metadata/", "readme.md"):
        bucket.write(name, b"")
    bucket.write("idea/metadata/create-instance.sh", b"#!/bin/bash\n")
    bucket.world.tick()
    assert [row["job"] for row in bucket.world.json("/index.json")["jobs"]] == ["idea"]


def test_vms_of_no_job_count_for_their_owner(bucket):
    """In a row without a name."""
    bucket.meter(DAY, ("11", "", "08:00", 3600, L4))
    fleet = bucket.fleet()
    assert [row["key"] for row in fleet["tables"]["job"]] == [None]
    assert [row["key"] for row in fleet["tables"]["owner"]] == [ADA]
    assert fleet["total"]["jobs"] == 0
    assert fleet["total"]["vm_hours"]["used"] == 1


SEEN = {"created": "08:00", "updated": "08:00", "started": "08:00", "seen": True, "place": "us-central1-a"}
TAKEN = {"fate": "Compute Engine preempted it", "lost_in": "us-central1-a"}


def run(started, seconds):
    """A time that a VM was up on that day, as the meter has it."""
    return {"started": clock(started), "seconds": seconds}


def metered(bucket, name, *runs, day=DAY):
    """A VM of the job that was started more than once."""
    vms = {name: {"owner": ADA, "job": "train", "kind": L4, "runs": list(runs)}}
    bucket.write(f"spotwarden/usage/{day}.json", {"day": day, "vms": vms})


def test_a_vm_that_was_stopped_for_an_hour_was_not_up_then(bucket):
    """08:00 to 09:00 and 10:00 to 12:00, in one attempt, of which the ledger knows no break."""
    bucket.attempt(1, instances={"train": "11"}, **SEEN)
    metered(bucket, "11", run("08:00", 3600), run("10:00", 7200))
    assert gone(bucket.fleet()["total"]["vm_hours"]) == {"used": 180, "useful": 180}


def test_a_vm_that_is_started_again_is_one_vm_in_two_attempts(bucket):
    """Taken at 09:00 and started at 09:10, with its id: 60 minutes, 10 of waiting, 170 until noon."""
    bucket.attempt(1, instances={"train": "11"}, **SEEN)
    bucket.attempt(
        2, created="09:01", updated="09:10", started="09:10", lost="09:00", instances={"train": "11"},
        replaces={"train": "11"}, place="us-central1-a", **TAKEN,
    )  # fmt: skip
    metered(bucket, "11", run("08:00", 3600), run("09:10", 170 * 60))
    total = bucket.fleet()["total"]
    assert gone(total["vm_hours"]) == {"used": 230, "unknown": 60, "useful": 170, "waiting": 10}
    assert total["recovery"]["longest_seconds"] == 600


def test_a_job_that_was_stopped_waits_only_from_when_it_is_wanted_again(bucket):
    """Stopped at 09:00, asked for at 11:00, up at 11:05: five minutes, and no loss to recover from."""
    bucket.attempt(1, instances={"train": "11"}, **{**SEEN, "updated": "09:00", "state": "stopped"})
    bucket.attempt(
        2, created="11:00", updated="11:05", started="11:05", instances={"train": "22"},
        place="us-central1-a",
    )  # fmt: skip
    bucket.meter(DAY, ("11", "train", "08:00", 3600, L4), ("22", "train", "11:05", 55 * 60, L4))
    total = bucket.fleet()["total"]
    assert gone(total["vm_hours"]) == {"used": 115, "useful": 115, "waiting": 5}
    assert (total["preemptions"], total["recovery"]["count"]) == (0, 0)


def test_a_night_is_cut_at_midnight(tmp_path):
    """Taken at 23:30 in Berlin, back at 00:30: half an hour of waiting on each day, the loss on the first."""
    bucket = Bucket(tmp_path, timezone="Europe/Berlin")
    bucket.attempt(
        1, instances={"train": "11"}, seen=True, place="us-central1-a",
        **dict.fromkeys(("created", "updated", "started"), "2026-11-16T21:30:00Z"),
    )  # fmt: skip
    bucket.attempt(
        2, created="2026-11-16T22:31:00Z", updated="2026-11-16T23:30:00Z", started="2026-11-16T23:30:00Z",
        lost="2026-11-16T22:30:00Z", instances={"train": "22"}, replaces={"train": "11"}, state="stopped",
        place="us-central1-a", **TAKEN,
    )  # fmt: skip
    bucket.meter("2026-11-16", ("11", "train", "2026-11-16T21:30:00Z", 3600, L4))
    days = {row["key"]: row for row in bucket.fleet("2026-11-16", "2026-11-17")["tables"]["day"]}
    assert gone(days["2026-11-16"]["vm_hours"]) == {"used": 60, "unknown": 60, "waiting": 30}
    assert gone(days["2026-11-17"]["vm_hours"]) == {"waiting": 30}
    assert [days[day]["preemptions"] for day in sorted(days)] == [1, 0]
    assert days["2026-11-16"]["recovery"]["longest_seconds"] == 3600


def test_each_minute_counts_once_where_several_things_are_so(bucket):
    """Idle from 08:00 to 09:00: until its first heartbeat it starts, after its checkpoint it is lost."""
    bucket.attempt(1, instances={"train": "11"}, **SEEN)
    bucket.attempt(
        2, created="09:01", updated="09:01", lost="09:00", replaces={"train": "11"}, state="gave up",
        place="us-central1-b", **TAKEN,
    )  # fmt: skip
    bucket.beats(1, ("08:05", ""), ("08:35", "step-1"))
    bucket.loads("train", "11", "09:00", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    bucket.meter(DAY, ("11", "train", "08:00", 3600, L4))
    total = bucket.fleet()["total"]
    assert gone(total["vm_hours"]) == {"used": 60, "starting": 5, "idle": 30, "lost": 25, "waiting": 1}
    assert total["goodput"] == 0


def test_a_slot_counts_as_far_as_the_vm_was_up(bucket):
    """Idle in the slots of 08:00 and 08:10, and up from 08:05 to 08:15: ten minutes and not twenty."""
    bucket.attempt(1, instances={"train": "11"}, **{**SEEN, "created": "08:05", "started": "08:05"})
    bucket.until("12:30")
    bucket.loads("train", "11", "08:20", 0.0, 0.0)
    metered(bucket, "11", run("08:05", 600), run("12:00", 1800))
    assert gone(bucket.fleet()["total"]["vm_hours"]) == {"used": 40, "idle": 10, "useful": 30}


def test_parts_of_seconds_add_up_to_nothing_odd(bucket):
    """Moments as APIs give them, with microseconds: whole seconds, the same in all tables."""
    bucket.attempt(1, instances={"train": "11"}, **{**SEEN, "started": f"{DAY}T08:00:00.999999Z"})
    bucket.attempt(
        2, created="09:01", updated="09:30", started=f"{DAY}T09:30:00.000001Z", place="us-central1-a",
        lost=f"{DAY}T09:00:00.500000Z", instances={"train": "22"}, replaces={"train": "11"}, **TAKEN,
    )  # fmt: skip
    total = bucket.fleet()["total"]
    assert {name: round(value * 3600, 2) for name, value in total["vm_hours"].items() if value} == {
        "used": 3600 + 9000, "unknown": 3600, "useful": 9000, "waiting": 1800
    }  # fmt: skip


def test_what_the_owner_is_called_later_counts_for_all_of_it(bucket):
    """job.toml names another owner than the ledger: his are the hours, once, and nobody else's."""
    bucket.attempt(1, instances={"train": "11"}, **SEEN)
    bucket.meter(DAY, ("11", "train", "08:00", 4 * 3600, L4))
    assert [row["key"] for row in bucket.fleet()["tables"]["owner"]] == [ADA]
    bucket.until("12:30")
    bucket.write("train/metadata/job.toml", b'owner = "eve@example.com"\n')
    rows = bucket.fleet()["tables"]["owner"]
    assert [(row["key"], row["vm_hours"]["used"]) for row in rows] == [("eve@example.com", 4.5)]


def test_the_same_records_read_again_count_once(bucket):
    """Ticks come again, the meter writes its day again: hours do not."""
    bucket.attempt(1, instances={"train": "11"}, **SEEN)
    bucket.write("train/metadata/status-code", b"0")
    for at in ("12:10", "12:20", "12:30"):
        bucket.until(at)
        bucket.meter(DAY, ("11", "train", "08:00", 4 * 3600, L4))
        assert gone(bucket.fleet()["total"]["vm_hours"]) == {"used": 240, "useful": 240}
