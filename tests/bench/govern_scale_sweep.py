"""One sweep of `flag_idle_gpus` in a process of its own, through the real adapters.

    python tests/bench/govern_scale_sweep.py SERVER STAGE WORKERS [rest]

SERVER is what `govern_scale_server.py` has said. STAGE is `look` (look and judge, which is all that a policy
without actions does), `twice` (two of them, as two ticks of a warm function), `warm` (the same, and the
second look, so that the server knows all answers),
`observe`, `warn` (enforced, and no room for the remedy) or `act`. With `rest` Monitoring is read
over REST. Prints what was found and how long the
sweep took.
"""

import json
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def main(server: dict[str, Any], stage: str, workers: int, door: str = "") -> None:
    """Do it, and say what came of it."""
    os.environ |= {
        "STORAGE_EMULATOR_HOST": server["http"],
        "DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA": "true",
    }
    sys.path.insert(0, str(ROOT / "functions/flag_idle_gpus"))
    import main as function

    from spotwarden.engine.context import SweepContext
    from spotwarden.engine.garbage import look_seldom
    from spotwarden.engine.settings import Settings
    from spotwarden.engine.trigger import close_tick
    from spotwarden.gcp.connect import connect
    from spotwarden.model.tick import Tick

    if door == "rest":
        sys.path.insert(0, str(ROOT))
        from tests.bench.govern_scale_rest import use

        use(server["http"])
    look_seldom()  # as `wake` does
    settings = Settings(
        project="project",
        bucket="jobs",
        notices="notices",
        compute_endpoint=server["http"],
        monitoring_endpoint="http://" + server["grpc"],
        pubsub_endpoint="http://" + server["grpc"],
        policy_file=Path("policy.toml"),
        prices_file=ROOT / "infra/prices.toml",
        workers=workers,
    )
    # A warning is as old as its acceptance by the clock, so the remedy comes by the clock as well.
    now = datetime.now(UTC) if stage == "act" else datetime.fromisoformat(server["now"])
    tick = Tick(function="flag_idle_gpus", sweep=f"{time.time_ns():x}", now=now)
    began = time.perf_counter()
    cloud, policy = connect(**settings.connection()), policy_of(stage)
    if stage in ("look", "warm", "twice"):
        found = look(cloud, settings, policy, tick, again=stage == "warm")
        if stage == "twice":
            found = look(connect(**settings.connection()), settings, policy, tick, again=False)
    else:
        close_tick(tick, function.sweep(SweepContext.open(cloud, settings, policy, tick)))
        found = -1
    print("done", json.dumps({"found": found, "seconds": time.perf_counter() - began}))


def policy_of(stage: str) -> Any:
    """The policy: nothing holds the remedy back but the blast radius that the stage says."""
    from spotwarden.model.governance import GovernanceLimits, Remedy
    from spotwarden.model.policy import Mode, Policy
    from spotwarden.model.rule_limits import IdleLimits

    hour = timedelta(hours=1)
    limits = IdleLimits(remedy=Remedy.STOP, warn=(hour,), act=hour, grace=timedelta(0))
    # One that may act on nothing warns only.
    most = 1_000_000 if stage == "act" else 0
    return Policy(
        version="bench",
        mode=Mode.OBSERVE if stage == "observe" else Mode.ENFORCE,
        idle=limits,
        governance=GovernanceLimits(
            blast_count=most,
            blast_least=most,
            clock_skew=timedelta(days=1),
            outage=timedelta(days=1),
            ops="ops@example.com",
        ),
    )


def look(cloud: Any, settings: Any, policy: Any, tick: Any, *, again: bool) -> int:
    """Look and judge; gives how many VMs idle."""
    from spotwarden.engine.context import SweepContext
    from spotwarden.governance.idle import rule as idleness
    from spotwarden.governance.idle.gather import gather
    from spotwarden.model.brief import Brief

    context = SweepContext.open(cloud, settings, policy, tick)
    judged = idleness.judge(gather(context, ()), Brief(policy=policy, tick=tick, steady=tick.now))
    # A gang is one finding, about all of its nodes.
    found = {target.id for finding in judged.findings for target in finding.subject.targets}
    if again:
        gather(context, found)
    return len(found)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
