"""Whether another function of ours has not swept for long: whoever is silent cannot say so itself."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from spotwarden.model.notice import Notice, Severity
from spotwarden.model.policy import Policy
from spotwarden.model.spans import moment
from spotwarden.model.tick import Tick

SILENT = timedelta(hours=1)
"""Six ticks of the slowest function. Monitoring tells of silence sooner; this needs nothing but ourselves."""
KIND = "function_silent"
_UNDONE = {
    "recover_spot": "Until this is fixed, preempted jobs are not restarted.",
    "reap_vms": "Until this is fixed, orphaned and stalled VMs are not cleaned up.",
    "flag_idle_gpus": "Until this is fixed, idle GPUs are not found.",
    "cap_runtime": "Until this is fixed, limits of time and cost are not applied.",
    "check_compliance": "Until this is fixed, VMs are not checked against the policy.",
    "notify_developers": "Until this is fixed, nobody is notified.",
    "report_jobs": "Until this is fixed, the report is out of date.",
}
"""What stays undone while a function is silent."""


def silent(swept: Mapping[str, datetime], policy: Policy, tick: Tick) -> Notice | None:
    """Tell ops, once a day, who has not come to the end of a sweep for so long; None where all have.

    `swept` is when each function has begun its last whole sweep; one that never made any is not known to be.
    """
    since = {name: at for name, at in sorted(swept.items()) if tick.now - at > SILENT}
    if not since:
        return None
    item, has = (next(iter(since)), "hasn't") if len(since) == 1 else (f"{len(since)} functions", "haven't")
    return Notice(
        id=f"{KIND}/{tick.now:%Y-%m-%d}/{'+'.join(since)}",
        kind=KIND,
        severity=Severity.URGENT,
        job="",
        at=tick.now,
        what=f"{item} {has} completed a sweep for over an hour",
        why=f"based on {'its last recorded sweep' if len(since) == 1 else 'their last recorded sweeps'}",
        todo="run `spotwarden doctor`, or look at the function's log and its Cloud Scheduler job. If"
        " you removed the"
        " function, delete its object in spotwarden/turns/",
        then=" ".join(_UNDONE.get(name, f"Until this is fixed, {name} does nothing.") for name in since),
        owner=policy.governance.ops,
        evidence={"last sweep": ", ".join(f"{name} at {moment(at)}" for name, at in since.items())},
    )
