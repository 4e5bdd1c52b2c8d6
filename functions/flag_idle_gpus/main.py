"""Finds VMs all of whose GPUs idle: tells their owners, and stops them where the policy says so."""

import os
from functools import partial

import functions_framework
from cloudevents.http import CloudEvent

from spotwarden import runner
from spotwarden.decide import cases
from spotwarden.decide.rules import idleness
from spotwarden.gcp.connect import connect
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.runner.governance.idling import look


@functions_framework.cloud_event
@runner.reported
def flag_idle_gpus(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look."""
    runner.wake("flag_idle_gpus", runner.message_in(event.data), os.environ, connect=connect, sweep=sweep)


def sweep(cloud: Cloud, settings: runner.Settings, policy: Policy, tick: Tick) -> runner.Swept:
    """Look, judge, warn, look again, act; one bad VM never stops the others."""
    governed = runner.Governed(
        rules=idleness.RULES,
        look=partial(look, grid=idleness.grid, suspects=idleness.suspects),
        judge=idleness.judge,
        escalation=cases.ESCALATION,
    )
    return runner.govern(runner.Duty.open(cloud, settings, policy, tick), governed)
