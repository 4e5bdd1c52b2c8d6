"""Finds VMs of jobs that are not what the policy allows."""

import os
from functools import partial

import functions_framework
from cloudevents.http import CloudEvent

from spotwarden import runner
from spotwarden.decide import cases
from spotwarden.decide.rules import compliance
from spotwarden.gcp.connect import connect
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.runner.governance.complying import look


@functions_framework.cloud_event
@runner.reported
def check_compliance(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look, and perhaps at which VM."""
    runner.wake("check_compliance", runner.message_in(event.data), os.environ, connect=connect, sweep=sweep)


def sweep(cloud: Cloud, settings: runner.Settings, policy: Policy, tick: Tick) -> runner.Swept:
    """Look, judge, warn, look again, act; one bad VM never stops the others."""
    governed = runner.Governed(
        rules=compliance.RULES,
        look=partial(look, suspects=compliance.suspects),
        judge=compliance.judge,
        escalation=cases.ESCALATION,
    )
    return runner.govern(runner.Duty.open(cloud, settings, policy, tick), governed)
