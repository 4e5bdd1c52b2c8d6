"""The page of costs is reckoned from what is counted: here it is counted again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.deploy_cost import counts, line, month_of, sweeps
from tests.bench.deploy_count import FUNCTIONS, SIZES, class_of
from tests.long import long

VMS = 24
"""Fewer than any size that the page is reckoned from."""
APART = 0.05


@pytest.fixture(scope="module")
def ticks():
    """What the ticks of all functions ask for, in a project of one job for each VM, by its own process."""
    script = Path(__file__).with_name("deploy_count.py")
    said = subprocess.run(
        [sys.executable, str(script), str(VMS), "1"], stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(said.stdout)["ticks"]


@long
@pytest.mark.parametrize("what", ["class_a", "class_b"])
def test_page_and_count_agree_within_five_percent(ticks, what):
    """Operations on the bucket, of a month of all functions together."""
    again = {name: {which: told[what] for which, told in kinds.items()} for name, kinds in ticks.items()}
    reckoned = sum(getattr(sweep, what) for sweep in sweeps(VMS))
    found = sum(month_of(sweep.name, sweep.times, what, VMS, 1, again[sweep.name]) for sweep in sweeps(VMS))
    assert abs(reckoned - found) <= APART * found


@long
@pytest.mark.parametrize("name", ["recover_spot", "reap_vms", "cap_runtime"])
def test_a_warm_tick_asks_the_same_however_many_jobs_there_are(ticks, name):
    """Of a job that uses the kit and runs, nothing is asked."""
    many = next(row for row in counts() if row["vms"] / row["of_a_job"] > 2 * VMS)
    assert abs(ticks[name]["warm"]["calls"] - many["ticks"][name]["warm"]["calls"]) <= 2
    assert ticks[name]["warm"]["calls"] < VMS


def test_every_function_that_is_ticked_is_counted():
    """A new one is in the bill from its first day."""
    assert {sweep.name for sweep in sweeps(10)} == set(FUNCTIONS)


@pytest.mark.parametrize(
    ("method", "path", "costs"),
    [
        ("GET", "/storage/v1/b/jobs/o?prefix=a", "a"),
        ("GET", "/storage/v1/b/jobs/o/a%2Fb?alt=media", "b"),
        ("GET", "/download/storage/v1/b/jobs/o/a?alt=media", "b"),
        ("POST", "/upload/storage/v1/b/jobs/o?uploadType=multipart", "a"),
        ("DELETE", "/storage/v1/b/jobs/o/a", ""),
        ("GET", "/compute/v1/projects/p/aggregated/instances", ""),
    ],
)
def test_a_request_is_of_the_class_that_google_says(method, path, costs):
    """Writes and lists are A, reads are B, deletes are free ("Cloud Storage pricing")."""
    assert class_of(method, f"http://127.0.0.1:1{path}") == costs


def test_the_line_goes_through_what_was_counted():
    """So much in any case, for each VM, and for each job."""
    sizes = [(vms, vms / of_a_job) for vms, of_a_job in SIZES]
    found = line([(vms, jobs, 7 + 2 * vms + 3 * jobs) for vms, jobs in sizes])
    assert tuple(round(part, 6) for part in found) == (7, 2, 3)
    assert round(found.at(10, 5)) == 42
