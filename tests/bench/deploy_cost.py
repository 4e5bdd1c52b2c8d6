"""What a month of Spotwarden costs, by the number of VMs: the arithmetic behind docs/deploy/cost.md.

    python tests/bench/deploy_cost.py

Prints the table of that page. Schedules and memory come from infra/functions.yaml; what a sweep takes was
measured by the other benchmarks here, and each price has its page. Free tiers, which are per billing account,
are left out.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[2]
COUNTS = (10, 1_000, 100_000)
MINUTES = 30 * 24 * 60
GIB = 2**30

# Prices in USD, us-central1, from stored copies of Google's pages, read on 2026-11-21.
VCPU_SECOND = 0.000024  # "Cloud Run pricing", request-based, tier 1
GIB_SECOND = 0.0000025  # the same
REQUEST = 0.40 / 1e6  # the same
CLASS_A = 0.005 / 1_000  # "Cloud Storage pricing", Standard, a region: writes and lists
CLASS_B = 0.0004 / 1_000  # the same: reads
GB_MONTH = 0.020  # the same
SERIES_READ = 0.50 / 1e6  # "Google Cloud Observability pricing": series returned by the API
TICKING = 0.10  # "Cloud Scheduler pricing": a job
CONDITION = 1.50  # "Manage alerting costs": a condition, as announced; less has been announced since
SERIES_WATCHED = 0.35 / 1e6  # the same: series returned, each 30 seconds
SECRET_VERSION = 0.06  # "Secret Manager pricing"

# What a sweep takes. docs/governance/idle.md: CPU seconds and calls at 10,000 and 100,000 VMs.
CPU_SECONDS = (0.3, 0.00012)  # to start with, and for each VM
PAGE_SECONDS = 0.3  # a page of 500 VMs from Compute Engine: assumed, it was never measured against Google
WAIT_SECONDS = 1.0  # everything else that is waited for, side by side
CHANGES = 6  # class A: the turn taken and given back, the record, lists of markers, jobs and cases
READS = (5, 0.0125)  # class B: to start with, and for each VM (a job has eight)
HEARD = 2 / (2 * 60 * 8)  # class B a minute for each VM: of each job one heartbeat in two hours, two calls
HEARTBEAT_MINUTES = 5  # the job kit, by default: a class A write of each VM, whatever its program does
LOG_MINUTES = 1  # the job kit: a program that prints all the time; one that prints rarely costs nothing
SERIES = 1.15  # series for each GPU VM: one, and three more for the twentieth that may idle
RECORD = 110  # bytes of a sweep's record for each VM; kept for 90 days
KEPT_DAYS = 90
JOB_VMS = 8  # of a job, as above
REPORT = (21, 2.2)  # class A of report_jobs beyond these: to start with, and for each job that runs
REPORT_READS = (6, 3)  # class B, likewise; tests/bench/report_views.py
REPORT_SECONDS = (1.0, 0.012)  # likewise, sixteen jobs at a time
POST_SECONDS = 0.8  # a tick of notify_developers that finds nothing or little
LOOKS_AT_VMS = ("recover_spot", "reap_vms", "flag_idle_gpus", "cap_runtime", "check_compliance")
RECORDS = LOOKS_AT_VMS[1:]
GIBS = {"128Mi": 0.125, "256Mi": 0.25, "512Mi": 0.5, "1Gi": 1.0}
VCPU = 1  # variable "cpu" of infra/terraform
CONDITIONS = 11
WATCHED = 25


class Sweep(NamedTuple):
    """One function's month: how often, how long each time, with how much."""

    name: str
    times: float
    seconds: float
    memory: str


def sweeps(vms: int) -> Iterator[Sweep]:
    """Every function that is ticked."""
    for row in yaml.safe_load((ROOT / "infra/functions.yaml").read_text(encoding="utf-8"))["functions"]:
        if "schedule" not in row:
            continue
        minute = row["schedule"].split()[0]
        count = MINUTES / (int(minute.removeprefix("*/")) if "/" in minute else 1)
        looking = (
            (CPU_SECONDS[0] + CPU_SECONDS[1] * vms) / VCPU + PAGE_SECONDS * -(-vms // 500) + WAIT_SECONDS
        )
        seconds = looking if row["name"] in LOOKS_AT_VMS else POST_SECONDS
        if row["name"] == "report_jobs":
            seconds = REPORT_SECONDS[0] + REPORT_SECONDS[1] * vms / JOB_VMS
        yield Sweep(row["name"], count, seconds, row["memory"])


def month(vms: int) -> Mapping[str, float]:
    """What each part costs."""
    run = list(sweeps(vms))
    looks = sum(one.times for one in run if one.name in LOOKS_AT_VMS)
    idle = next(one.times for one in run if one.name == "flag_idle_gpus")
    reports = next(one.times for one in run if one.name == "report_jobs")
    recorded = sum(one.times for one in run if one.name in RECORDS)
    return {
        "running the functions": sum(
            one.times * (one.seconds * (VCPU * VCPU_SECOND + GIBS[one.memory] * GIB_SECOND) + REQUEST)
            for one in run
        ),
        "bucket: writes and lists": sum(one.times for one in run) * CHANGES * CLASS_A,
        "bucket: the report": reports
        * (
            (REPORT[0] + REPORT[1] * vms / JOB_VMS) * CLASS_A
            + (REPORT_READS[0] + REPORT_READS[1] * vms / JOB_VMS) * CLASS_B
        ),
        "bucket: reads": (looks * (READS[0] + READS[1] * vms) + MINUTES * HEARD * vms) * CLASS_B,
        "bucket: 90 days of records": recorded / 30 * KEPT_DAYS * RECORD * vms / 1e9 * GB_MONTH,
        "GPU metrics": idle * vms * SERIES * SERIES_READ,
        "Scheduler, secrets": len(run) * TICKING + 4 * SECRET_VERSION,
        "alerts": CONDITIONS * CONDITION + WATCHED * MINUTES * 2 * SERIES_WATCHED,
    }


def kit(vms: int) -> Mapping[str, float]:
    """What the job kits write, besides output: in the VMs' bucket, and by what they run."""
    return {
        "heartbeats": vms * MINUTES / HEARTBEAT_MINUTES * CLASS_A,
        "log, of programs that always print": vms * MINUTES / LOG_MINUTES * CLASS_A,
        "metrics, of programs that always measure": vms * MINUTES / LOG_MINUTES * CLASS_A,
    }


def kit_table() -> list[str]:
    """The table of the job kits, as the page shows it."""
    months = [kit(vms) for vms in (1, *COUNTS)]
    rows = [
        f"| USD a month | 1 VM | {' | '.join(f'{vms:,} VMs' for vms in COUNTS)} |",
        "|---|" + "---:|" * (len(COUNTS) + 1),
    ]
    return rows + [
        f"| {part} | {' | '.join(f'{month[part]:,.2f}' for month in months)} |" for part in months[0]
    ]


def table() -> list[str]:
    """The table, as the page shows it."""
    months = [month(vms) for vms in COUNTS]
    rows = [
        f"| USD a month | {' | '.join(f'{vms:,} VMs' for vms in COUNTS)} |",
        "|---|" + "---:|" * len(COUNTS),
    ]
    rows += [f"| {part} | {' | '.join(f'{one[part]:,.2f}' for one in months)} |" for part in months[0]]
    return [*rows, f"| **together** | {' | '.join(f'**{sum(one.values()):,.0f}**' for one in months)} |"]


if __name__ == "__main__":
    sys.stdout.write("\n".join([*table(), "", *kit_table()]) + "\n")
    for number in COUNTS:
        lasts = next(one.seconds for one in sweeps(number) if one.name == "recover_spot")
        sys.stdout.write(f"{number:,} VMs: a sweep of recover_spot lasts {lasts:.1f} s\n")
