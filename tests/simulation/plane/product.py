"""The product as it is deployed: each function's own sweep, and the policies that ops give it."""

import importlib.util
import sys
from base64 import urlsafe_b64encode
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec.structs import replace

from spotwarden.engine.settings import Settings
from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.limits import NotifyLimits, RecoveryLimits
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.rule_limits import (
    ComplianceLimits,
    IdleLimits,
    InstanceCap,
    JobCap,
    LeftoverLimits,
    OrphanLimits,
    StallLimits,
)
from tests.simulation.jobs import PROJECT
from tests.simulation.plane.commands import PolicyChange
from tests.simulation.plane.jobs import OPS
from tests.simulation.product import ROOT

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
SETTINGS = Settings(
    project=PROJECT,
    bucket="b",
    notices="n",
    policy_file=Path("no-policy.toml"),
    prices_file=Path("no-prices.toml"),
)
SECRET = "k1:" + urlsafe_b64encode(b"a secret that nobody else can know").decode()
ANSWERS = "https://answers.example.org/"
POLICY = Policy(
    version="plane",
    mode=Mode.ENFORCE,
    recovery=RecoveryLimits(max_restarts=50, forbidden_for=timedelta(days=1)),
    governance=GovernanceLimits(ops=OPS, outage=30 * MINUTE),
    notify=NotifyLimits(
        email=True, digest=10 * MINUTE, give_up=2 * HOUR, weekly=False, keep=HOUR, extend=HOUR
    ),
    orphan=OrphanLimits(remedy=Remedy.DELETE, after=10 * MINUTE, grace=15 * MINUTE, looks=2),
    leftover=LeftoverLimits(remedy=Remedy.NONE),
    stall=StallLimits(remedy=Remedy.STOP, after=40 * MINUTE, grace=15 * MINUTE),
    idle=IdleLimits(remedy=Remedy.STOP, warn=(30 * MINUTE, 45 * MINUTE), act=60 * MINUTE, grace=10 * MINUTE),
    job_cap=JobCap(remedy=Remedy.STOP, longest=timedelta(hours=8), grace=10 * MINUTE),
    instance_cap=InstanceCap(remedy=Remedy.STOP, max_uptime=timedelta(hours=12), grace=10 * MINUTE),
    compliance=ComplianceLimits(remedy=Remedy.STOP, grace=20 * MINUTE, machine_types=("g2-*", "e2-*")),
)
"""Every rule acts, and soon: a history of three hours is to meet all of them."""
RULES = ("orphan", "stall", "idle", "job_cap", "instance_cap", "compliance")


def changed(policy: Policy, change: PolicyChange) -> Policy:
    """The policy after ops have changed it."""
    match change:
        case PolicyChange.OBSERVE:
            return replace(policy, mode=Mode.OBSERVE)
        case PolicyChange.ENFORCE:
            return replace(policy, mode=Mode.ENFORCE)
        case PolicyChange.TELL_ONLY:
            silent = {rule: replace(policy.rule(rule), remedy=Remedy.NONE) for rule in RULES}
            return replace(policy, **silent)
        case PolicyChange.REMEDIES:
            return replace(policy, **{rule: getattr(POLICY, rule) for rule in RULES})
        case PolicyChange.TIGHT:
            tight = replace(policy.instance_cap, max_uptime=timedelta(hours=2))
            return replace(policy, instance_cap=tight)
    return policy


@cache
def function(name: str) -> ModuleType:
    """functions/<name>/main.py."""
    file = ROOT / "functions" / name / "main.py"
    spec = importlib.util.spec_from_file_location(f"simulated_{name}", file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def sweep_of(name: str) -> Callable[[Any], Any]:
    """The sweep of a function, by the name in its main.py, so that a patch of it is met."""
    found: Callable[[Any], Any] = function(name).sweep
    return found
