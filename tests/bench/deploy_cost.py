"""What a month of Spotwarden costs, by the number of VMs: the arithmetic behind docs/deploy/cost.md.

    python tests/bench/deploy_cost.py [--count]

Prints the tables of that page, and writes them into it. With `--count` it first counts, against the local
cloud, what a tick of each function asks for (`deploy_count.py`, some minutes). Schedules and memory come from
infra/functions.yaml, and each price has its page. Free tiers, which are per billing account, are left out.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.deploy_count import FILE, count_all

PAGE = ROOT / "docs/deploy/cost.md"
WHICH = ("cold", "warm", "again")
COUNTS = (10, 1_000, 100_000)
SHAPES = (1, 8)
"""VMs of a job."""
MINUTES = 30 * 24 * 60
HOURS = MINUTES / 60

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

# What is not counted but assumed.
PAGE_SECONDS = 0.3  # a page of 500 VMs from Compute Engine: it was never measured against Google
WAIT_SECONDS = 1.0  # everything else that is waited for, side by side
COLD_A_DAY = 2  # new processes of each function, which know nothing
HEARTBEAT_MINUTES = 5  # the job kit, by default: a class A write of each VM, whatever its program does
CHECKS = 2  # class B before each: whether this VM may still write
LOG_MINUTES = 1  # the job kit: a program that prints all the time; one that prints rarely costs nothing
SECRETS = 4
RECORD = 110  # bytes of a sweep's record for each VM; kept for 90 days
KEPT_DAYS = 90
LOOKS_AT_VMS = ("recover_spot", "reap_vms", "flag_idle_gpus", "cap_runtime", "check_compliance")
RECORDS = LOOKS_AT_VMS[1:]
METADATA = 10
"""Rows of a job's metadata."""
LISTS = {"reap_vms": (1, 1), "cap_runtime": (1, 1), "report_jobs": (1, 2 + METADATA)}
"""Rows of lists for each VM, and for each job; one of open jobs in every function that looks at VMs."""
HOURLY = ("reap_vms", "cap_runtime")
"""These list the metadata of all jobs too, but for warm ticks."""
ROWS = 1_000
"""Of a page of a list. All that was counted had one."""
GIBS = {"128Mi": 0.125, "256Mi": 0.25, "512Mi": 0.5, "1Gi": 1.0}
VCPU = 1  # variable "cpu" of infra/terraform
CONDITIONS = 11
WATCHED = 25


class Sweep(NamedTuple):
    """One function's month: how often, how long each time, with how much, and what it asks for in all."""

    name: str
    times: float
    seconds: float
    memory: str
    class_a: float
    class_b: float
    series: float
    cpu: float


class Line(NamedTuple):
    """What grows with VMs and jobs: so much in any case, for each VM, and for each job."""

    fixed: float
    vm: float
    job: float

    def at(self, vms: float, jobs: float) -> float:
        """How much of it there is."""
        return max(0.0, self.fixed + self.vm * vms + self.job * jobs)


def line(points: list[tuple[float, float, float]]) -> Line:
    """The line through three points, of VMs, jobs and a value: few VMs, many, and many in few jobs."""
    (few, few_jobs, least), (many, many_jobs, most), (_, jobs, other) = points
    job = (most - other) / (many_jobs - jobs)
    vm = (most - least - job * (many_jobs - few_jobs)) / (many - few)
    return Line(least - vm * few - job * few_jobs, vm, job)


@cache
def counts() -> list[dict[str, Any]]:
    """What was counted."""
    found: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


@cache
def counted(function: str, which: str, what: str) -> Line:
    """A figure of a tick, as it was counted: `which` is cold, warm, or again (all jobs listed)."""
    return line(
        [(row["vms"], row["vms"] / row["of_a_job"], row["ticks"][function][which][what]) for row in counts()]
    )


def ticked(function: str, which: str, what: str, vms: int, of_a_job: int) -> float:
    """The same for so many VMs; of more than one page of a list, with the others."""
    jobs = vms / of_a_job
    found = counted(function, which, what).at(vms, jobs)
    if what != "class_a":
        return found
    by_vm, by_job = LISTS.get(function, (0, int(function in LOOKS_AT_VMS)))
    by_job += METADATA * (function in HOURLY and which != "warm")
    return found + by_vm * (-(-vms // ROWS) - 1) + by_job * (-(-jobs // ROWS) - 1)


def month_of(
    function: str,
    times: float,
    what: str,
    vms: int,
    of_a_job: int,
    told: Mapping[str, float] | None = None,
) -> float:
    """How much of something a month has: warm ticks, one in an hour that lists all jobs, and cold ones.

    `told` are the figures of such ticks, where they are not to be reckoned.
    """
    found = told or {which: ticked(function, which, what, vms, of_a_job) for which in WHICH}
    hours = min(HOURS, times)
    more = hours * max(0.0, found["again"] - found["warm"])
    return times * found["warm"] + more + COLD_A_DAY * 30 * max(0.0, found["cold"] - found["warm"])


def sweeps(vms: int, of_a_job: int = 1) -> Iterator[Sweep]:
    """Every function that is ticked."""
    for row in yaml.safe_load((ROOT / "infra/functions.yaml").read_text(encoding="utf-8"))["functions"]:
        if "schedule" not in row:
            continue
        name, minute = row["name"], row["schedule"].split()[0]
        times = MINUTES / (int(minute.removeprefix("*/")) if "/" in minute else 1)
        what = {
            figure: month_of(name, times, figure, vms, of_a_job)
            for figure in ("class_a", "class_b", "series", "cpu")
        }
        waited = WAIT_SECONDS + (PAGE_SECONDS * -(-vms // 500) if name in LOOKS_AT_VMS else 0.0)
        yield Sweep(name, times, what["cpu"] / times / VCPU + waited, row["memory"], **what)


def month(vms: int, of_a_job: int = 1) -> Mapping[str, float]:
    """What each part costs."""
    run = list(sweeps(vms, of_a_job))
    bucket = [item for item in run if item.name != "report_jobs"]
    report = next(item for item in run if item.name == "report_jobs")
    recorded = sum(item.times for item in run if item.name in RECORDS)
    return {
        "running the functions": sum(
            item.times * (item.seconds * (VCPU * VCPU_SECOND + GIBS[item.memory] * GIB_SECOND) + REQUEST)
            for item in run
        ),
        "bucket: writes and lists": sum(item.class_a for item in bucket) * CLASS_A,
        "bucket: reads": sum(item.class_b for item in bucket) * CLASS_B,
        "bucket: the report": report.class_a * CLASS_A + report.class_b * CLASS_B,
        "bucket: 90 days of records": recorded / 30 * KEPT_DAYS * RECORD * vms / 1e9 * GB_MONTH,
        "GPU metrics": sum(item.series for item in run) * SERIES_READ,
        "Scheduler, secrets": len(run) * TICKING + SECRETS * SECRET_VERSION,
        "alerts": CONDITIONS * CONDITION + WATCHED * MINUTES * 2 * SERIES_WATCHED,
        "job kit: heartbeats": kit(vms)["heartbeats"],
    }


def kit(vms: int) -> Mapping[str, float]:
    """What the job kits write, besides output: in the VMs' bucket, and by what they run."""
    return {
        "heartbeats": vms * MINUTES / HEARTBEAT_MINUTES * CLASS_A,
        "a look before each of them": vms * MINUTES / HEARTBEAT_MINUTES * CHECKS * CLASS_B,
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
        f"| {part} | {' | '.join(f'{bill[part]:,.2f}' for bill in months)} |" for part in months[0]
    ]


def table() -> list[str]:
    """The table of a month, as the page shows it."""
    shapes = [(vms, of_a_job) for of_a_job in SHAPES for vms in COUNTS]
    months = [month(*shape) for shape in shapes]
    heads = [f"{vms:,} VMs{'' if of_a_job == 1 else f', {of_a_job} a job'}" for vms, of_a_job in shapes]
    rows = [f"| USD a month | {' | '.join(heads)} |", "|---|" + "---:|" * len(shapes)]
    rows += [f"| {part} | {' | '.join(f'{bill[part]:,.2f}' for bill in months)} |" for part in months[0]]
    return [*rows, f"| **together** | {' | '.join(f'**{sum(bill.values()):,.0f}**' for bill in months)} |"]


def tick_table() -> list[str]:
    """What a warm tick asks for at 1,000 VMs with a job each, as the page shows it."""
    rows = [
        "| a tick at 1,000 VMs, 1,000 jobs | class A | class B | series | CPU | GiB-seconds |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for item in sweeps(1_000):
        warm = {
            what: ticked(item.name, "warm", what, 1_000, 1)
            for what in ("class_a", "class_b", "series", "cpu")
        }
        rows.append(
            f"| `{item.name}` | {warm['class_a']:,.0f} | {warm['class_b']:,.0f} | {warm['series']:,.0f}"
            f" | {warm['cpu']:.2f} s | {item.seconds * GIBS[item.memory]:.2f} |"
        )
    return rows


def write_page() -> None:
    """Put the tables into the page, each in place of the one that begins as it does."""
    text = PAGE.read_text(encoding="utf-8")
    for rows in (table(), kit_table(), tick_table()):
        head = rows[0].split("|")[1].strip() + " | " + rows[0].split("|")[2].strip()
        first = text.index(f"| {head}")
        text = text[:first] + "\n".join(rows) + text[text.index("\n\n", first) :]
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    """Count where that is asked for, print the tables, and write them down."""
    if "--count" in sys.argv[1:]:
        count_all()
    write_page()
    sys.stdout.write("\n".join([*table(), "", *kit_table(), "", *tick_table()]) + "\n")
    bill = month(1_000)
    sys.stdout.write(
        f"\naim: at most $85 at 1,000 VMs with a job each, of which heartbeats $43:"
        f" ${sum(bill.values()):,.0f}, of which heartbeats ${bill['job kit: heartbeats']:,.0f}"
        f" and the report ${bill['bucket: the report']:,.0f}\n"
    )


if __name__ == "__main__":
    main()
