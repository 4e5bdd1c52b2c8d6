"""The product as it is deployed: recover_spot's own `sweep`, and the settings and policy it runs under."""

import importlib.util
import sys
from datetime import timedelta
from functools import cache
from pathlib import Path
from types import ModuleType

from msgspec.structs import replace

import spotwarden
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.settings import Settings
from spotwarden.model.limits import PlacementLimits, RecoveryLimits
from spotwarden.model.policy import Mode, Policy
from tests.simulation.jobs import PROJECT

ROOT = Path(next(iter(spotwarden.__path__))).resolve().parents[1]
SETTINGS = Settings(project=PROJECT, bucket="b", notices="n", policy_file=Path("policy.toml"))
LIMITS = RecoveryLimits(max_restarts=50, forbidden_for=timedelta(days=1))
"""None of them is ever reached in a history."""
POLICY = Policy(version="simulation", mode=Mode.ENFORCE, recovery=LIMITS)
CHEAPER = replace(POLICY, placement=PlacementLimits(regions=("us-east4",), restart_cost=timedelta(minutes=1)))
"""With a region in which VMs cost less; a move pays soon, for histories are short."""
CORNERED = replace(
    CHEAPER,
    placement=replace(CHEAPER.placement, block=timedelta(minutes=2), fragile=timedelta(minutes=3)),
)
"""The same for a job in one zone, which is asked again soon."""
PRICES = ROOT / "tests/simulation/prices.toml"
LEASE = POLICY.recovery.lease
LONG = LEASE + timedelta(seconds=130)
"""Longer than a lease, by any clock there is."""


def cold_start() -> None:
    """Forget what a warm function remembers of another bucket."""
    GenerationCache.forget()


@cache
def recover_spot() -> ModuleType:
    """functions/recover_spot/main.py."""
    file = ROOT / "functions/recover_spot/main.py"
    spec = importlib.util.spec_from_file_location("simulated_recover_spot", file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
