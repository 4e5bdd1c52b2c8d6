"""Reaps what no job needs any more: orphaned VMs, jobs that hang or train for nothing, what is left over."""

import os
from functools import partial

import functions_framework
from cloudevents.http import CloudEvent

from spotwarden import runner
from spotwarden.decide import cases
from spotwarden.decide.rules import early_stops, reaping, stalls
from spotwarden.decide.silence import silent
from spotwarden.gcp.connect import connect
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.runner.governance.reaping import look


@functions_framework.cloud_event
@runner.reported
def reap_vms(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look."""
    runner.wake("reap_vms", runner.message_in(event.data), os.environ, connect=connect, sweep=sweep)


def sweep(cloud: Cloud, settings: runner.Settings, policy: Policy, tick: Tick) -> runner.Swept:
    """Look, judge, warn, and act only on what was warned about in time."""
    governed = runner.Governed(
        rules=reaping.RULES,
        look=partial(look, quiet=stalls.quiet, wanted=early_stops.wanted),
        judge=reaping.judge,
        escalation=cases.ESCALATION,
        silent=silent,
    )
    return runner.govern(runner.Duty.open(cloud, settings, policy, tick), governed)
