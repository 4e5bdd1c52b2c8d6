"""The pages of docs/deploy agree with what is deployed."""

import re
from pathlib import Path

import pytest
import yaml

from tests.bench.deploy_cost import CONDITIONS, HEARTBEAT_MINUTES, kit, kit_table, month, table, tick_table
from tests.infra.hcl import CONFIG, plain, things

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs/deploy"
ROWS = yaml.safe_load((ROOT / "infra/functions.yaml").read_text())["functions"]
PERMISSIONS = (DOCS / "permissions.md").read_text()


def cells(text):
    """The rows of all tables of a page."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| ")
    ]


def test_the_table_of_permissions_is_the_manifest():
    """Each permission, and exactly the functions that have it; each with what it is for."""
    told = {
        permission: set(re.findall(r"`(\w+)`", row[1]))
        for row in cells(PERMISSIONS)
        if len(row) == 4 and all(row)
        for permission in re.findall(r"`([a-z]+\.\w+\.\w+)`", row[0])
    }
    held = {}
    for row in ROWS:
        for permission in (*row["permissions"], *row.get("bucket_permissions", ())):
            held.setdefault(permission, set()).add(row["name"])
    assert told == held


def test_the_table_of_objects_is_the_manifest():
    """Who writes where, as the conditions have it."""
    page = {
        row[0].strip("`"): set(re.findall(r"`([^`]+)`", row[1]))
        for row in cells(PERMISSIONS)
        if len(row) == 2
    }
    for row in ROWS:
        wanted = {_shown(pattern) for pattern in row.get("bucket_writes", ["spotwarden/"])}
        assert page.get(row["name"], page["every other function"]) == wanted, row["name"]
    vms = next(inside["job_vm_writes"] for inside in CONFIG[""]["locals"] if "job_vm_writes" in inside)
    assert page["job VMs"] == {_shown(plain(pattern)) for pattern in vms}


def _shown(pattern):
    """A pattern as people read it."""
    return re.sub(r"\{(\w+)\}", r"<\1>", pattern) + ("…" if pattern.endswith("/") else "")


def test_the_costs_are_those_of_the_arithmetic():
    """The table is what tests/bench/deploy_cost.py prints: run it after a change of functions.yaml."""
    page = (DOCS / "cost.md").read_text()
    assert "\n".join(table()) in page
    assert "\n".join(tick_table()) in page


def test_the_heartbeats_of_a_thousand_vms_are_half_of_what_they_cost():
    """$43 of them; they are in the table, for they are written into the same bucket."""
    assert round(month(1_000)["job kit: heartbeats"]) == 43


def test_what_jobs_write_is_on_the_page_of_costs():
    """A heartbeat each five minutes, which is what the kit does by default, is four cents a month."""
    assert "\n".join(kit_table()) in (DOCS / "cost.md").read_text()
    assert f"number heartbeat {HEARTBEAT_MINUTES * 60}\n" in (ROOT / "infra/job/kit/startup.sh").read_text()
    assert round(kit(1)["heartbeats"], 2) == 0.04


def test_as_many_alerts_are_paid_for_as_there_are():
    """Each condition costs. One of a policy for each key of a map counts as often as the map has keys."""
    alerts = [block for block in things(CONFIG[""]) if block.type == "google_monitoring_alert_policy"]
    keys = {"failing": 2, "silent": 3, "told": 3}
    assert sum(keys.get(block.name, 1) * len(block.body["conditions"]) for block in alerts) == CONDITIONS


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_a_page_names_files_that_are_there(page):
    """A link or a path in a page leads somewhere."""
    text = page.read_text()
    for link in re.findall(r"\]\((?!https?:)([^)#:]+)[^)]*\)", text):
        assert (page.parent / link).exists(), link
    for path in re.findall(r"`((?:infra|tests|docs|shared)/[\w/.-]+)`", text):
        assert (ROOT / path).exists(), path
