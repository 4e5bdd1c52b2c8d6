"""VMs with GPUs and their metrics, for the tests of idleness."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from spotwarden.governance.idle.facts import IdleFacts
from spotwarden.governance.idle.rule import grid, judge
from spotwarden.model.brief import Brief
from spotwarden.model.case import Case, CaseState
from spotwarden.model.finding import Finding, Judged, Subject
from spotwarden.model.fleet import Machine
from spotwarden.model.instance import Status
from spotwarden.model.load import GpuLoads, VmLoad
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
POLICY = Policy(version="test", mode=Mode.ENFORCE)
IDLE = (1.0,) * 6
"""Six buckets of ten minutes in which no GPU did more than one percent."""


def vm(**said: Any) -> Machine:
    """A VM with one GPU that runs since this morning, of the job `train`."""
    usual: dict[str, Any] = {
        "id": "11",
        "name": "train",
        "zone": "us-central1-a",
        "status": Status.RUNNING,
        "created": NOW - timedelta(hours=8),
        "started": NOW - timedelta(hours=8),
        "gpus": 1,
        "gpu": "nvidia-l4",
        "labels": {"spotwarden-job": "train"},
    }
    return Machine(**{**usual, **said})


def row(top: Sequence[float] = IDLE, points: Iterable[int] | None = None, gpus: int = 1) -> VmLoad:
    """Buckets with these tops and every point of each GPU."""
    return VmLoad(top=tuple(top), points=tuple(points or (10,) * len(top)), gpus=(gpus,) * len(top))


def facts(
    *machines: Machine,
    rows: Mapping[str, VmLoad] | None = None,
    policy: Policy = POLICY,
    now: datetime = NOW,
    **said: Any,
) -> IdleFacts:
    """What was seen; by default one VM, and as many idle buckets as the policy asks for."""
    machines = machines or (vm(),)
    wanted = grid(policy, now)
    rows = {one.id: row((1.0,) * wanted.count, gpus=one.gpus) for one in machines} if rows is None else rows
    usual: dict[str, Any] = {
        "machines": machines,
        "jobs": {one.id: one.job for one in machines if one.job},
        "loads": GpuLoads(grid=wanted, rows=rows),
        "running": len(machines),
    }
    return IdleFacts(**{**usual, **said})


def brief(*cases: Case, policy: Policy = POLICY, now: datetime = NOW) -> Brief:
    """A brief with these open cases."""
    return Brief(
        policy=policy,
        tick=Tick(function="flag_idle_gpus", sweep="s", now=now),
        steady=now - timedelta(days=1),
        cases={(one.rule, one.key): one for one in cases},
    )


def case(
    since: datetime,
    looked: datetime = NOW - 10 * MINUTE,
    state: CaseState = CaseState.WARNED,
    key: str = "11",
) -> Case:
    """An open case of the VM."""
    subject = Subject(key=key, job="train")
    return Case(rule="idle", subject=subject, state=state, opened=looked, looked=looked, since=since)


def judged(*cases: Case, policy: Policy = POLICY, now: datetime = NOW, **said: Any) -> Judged:
    """The judgement of these facts."""
    return judge(facts(policy=policy, now=now, **said), brief(*cases, policy=policy, now=now))


def found(
    *cases: Case, machine: Machine | None = None, policy: Policy = POLICY, now: datetime = NOW, **said: Any
) -> Finding | None:
    """The only finding, or None."""
    known = facts(machine or vm(), policy=policy, now=now, **said)
    findings = judge(known, brief(*cases, policy=policy, now=now)).findings
    assert len(findings) <= 1
    return findings[0] if findings else None


def with_idle(policy: Policy = POLICY, **said: Any) -> Policy:
    """The policy with other limits of the rule."""
    return replace(policy, idle=replace(policy.idle, **said))
