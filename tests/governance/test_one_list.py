"""Open jobs and cases are read by one list: what a function has not seen before costs no call each."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.settings import Settings
from spotwarden.engine.turn import end_turn, read_turn, take_turn
from spotwarden.governance.cases.store import read_cases
from spotwarden.governance.signals.folders import look_together
from spotwarden.governance.signals.listings import FEW
from spotwarden.governance.signals.records import read_record
from spotwarden.layout import JobFileName, Layout, SweepTurn
from spotwarden.model.action import FileCase, KeepWatch, WriteAttempt
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.case import Case, CaseState
from spotwarden.model.finding import Subject
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watch
from spotwarden.ports import Store
from spotwarden.recovery.folder.open_jobs import read_watches
from tests.fakes.cloud import MemoryCloud, memory_cloud
from tests.fakes.trouble import unanswered

LAYOUT = Layout()
START = datetime(2026, 1, 5, 12, tzinfo=UTC)
SETTINGS = Settings(project="p", bucket="b", notices="n", policy_file=Path("policy.toml"))
ENFORCED = Policy(version="test", mode=Mode.ENFORCE)
LARGE = 400
"""Nodes of a job whose entry is longer than a listing shows."""


@pytest.fixture
def cloud() -> MemoryCloud:
    """A bucket of which this function remembers nothing, and where every read goes unanswered."""
    cloud = memory_cloud()
    context = SweepContext.open(
        cloud.ports(),
        SETTINGS,
        ENFORCED,
        Tick(function="reap_vms", sweep="s", now=START),
    )
    for job, nodes in (("small", 2), ("large", LARGE)):
        watch = Watch(job=job, attempt=1, instances={f"{job}-{node}": str(node) for node in range(nodes)})
        context.executor.apply(KeepWatch(reason="it is open", job=job, watch=watch, generation=0))
    case = Case(rule="idle", subject=Subject(key="17"), state=CaseState.SUSPECTED, opened=START, looked=START)
    context.executor.apply(FileCase(reason="it idles", case=case, generation=0))
    GenerationCache.forget()
    cloud.store.trouble.order("read", unanswered(after_work=False), times=99)
    return cloud


def watched(store: Store) -> dict[str, int]:
    """How many VMs each open job has."""
    found = read_watches(store, LAYOUT, 1).watched
    return {entry.watch.job: len(entry.watch.instances) for entry in found}


def test_an_open_job_is_read_with_the_list(cloud: MemoryCloud):
    """Its entry stands in it; one that is too long for that is read by itself."""
    assert watched(cloud.store) == {"small": 2}
    cloud.store.trouble.calm()
    assert watched(cloud.store) == {"small": 2, "large": LARGE}


def test_a_case_is_read_with_the_list(cloud: MemoryCloud):
    """Under the generation that the list shows: what somebody writes meanwhile makes another."""
    [row] = cloud.store.entries(LAYOUT.cases())
    [filed] = read_cases(cloud.store, LAYOUT, ["idle"]).filed
    assert (filed.case.key, filed.generation) == ("17", row.generation)


def test_an_attempt_is_read_with_the_list_of_its_folder(cloud: MemoryCloud):
    """Its record stands in it, so whose a VM is takes one list."""
    cloud.store.trouble.calm()
    attempt = Attempt(
        job="small",
        number=1,
        state=AttemptState.RUNNING,
        created=START,
        updated=START,
        instances={"small-0": "17"},
    )
    context = SweepContext.open(
        cloud.ports(), SETTINGS, ENFORCED, Tick(function="reap_vms", sweep="s", now=START)
    )
    context.executor.apply(WriteAttempt(reason="it runs", record=attempt, generation=0))
    cloud.store.trouble.order("read", unanswered(after_work=False), times=99)
    record = read_record(cloud.store, LAYOUT, "small", ids=["17"])
    assert (record.problem, record.instances) == ("", {"small-0": "17"})


def test_many_idle_jobs_are_read_with_a_few_lists(cloud: MemoryCloud):
    """One look after all VMs' metrics; a few jobs are listed by themselves."""
    context = SweepContext.open(
        cloud.ports(), SETTINGS, ENFORCED, Tick(function="flag_idle_gpus", sweep="s", now=START)
    )
    jobs = [f"job-{number}" for number in range(FEW + 1)]
    for job in jobs:
        cloud.store.put(LAYOUT.build(JobFileName(job=job)), b"x", {})
    cloud.store.trouble.calm()
    look = look_together(context, jobs)
    cloud.store.trouble.order("entries", unanswered(after_work=False), times=99)
    assert {job: list(look(job).things) for job in jobs} == {job: [JobFileName(job=job)] for job in jobs}


def test_the_cases_of_several_rules_are_one_list(cloud: MemoryCloud):
    """Those of rules that nobody asked about are not in it."""
    cloud.store.trouble.order("entries", unanswered(after_work=False), about="cases/.", times=99)
    assert [filed.case.key for filed in read_cases(cloud.store, LAYOUT, ["stall", "idle"]).filed] == ["17"]
    assert read_cases(cloud.store, LAYOUT, ["stall", "orphan"]).filed == []


def test_a_turn_is_one_call(cloud: MemoryCloud):
    """What it says stands beside it, whoever has written it."""
    tick = Tick(function="reap_vms", sweep="s", now=START)
    taken = take_turn(cloud.store, LAYOUT, tick)
    assert taken is not None
    name = LAYOUT.build(SweepTurn(function="reap_vms"))
    assert read_turn(cloud.store, name) == (taken.turn, taken.generation)
    end_turn(cloud.store, LAYOUT, taken, START)
    assert read_turn(cloud.store, name)[0].swept == START
