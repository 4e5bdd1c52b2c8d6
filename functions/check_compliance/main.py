"""Finds VMs of jobs that are not what the policy allows."""

import os
from functools import partial

import functions_framework
from cloudevents.http import CloudEvent

from spotwarden.engine.entry import wake
from spotwarden.engine.fan_out import Swept
from spotwarden.engine.health import reported
from spotwarden.engine.settings import Settings
from spotwarden.engine.trigger import message_in
from spotwarden.gcp.connect import connect
from spotwarden.governance import cases
from spotwarden.governance.compliance import rule as compliance
from spotwarden.governance.compliance.gather import look
from spotwarden.governance.sweep import Duty, Governed, govern
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud


@functions_framework.cloud_event
@reported
def check_compliance(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look, and perhaps at which VM."""
    wake("check_compliance", message_in(event.data), os.environ, connect=connect, sweep=sweep)


def sweep(cloud: Cloud, settings: Settings, policy: Policy, tick: Tick) -> Swept:
    """Look, judge, warn, look again, act; one bad VM never stops the others."""
    governed = Governed(
        rules=compliance.RULES,
        look=partial(look, suspects=compliance.suspects),
        judge=compliance.judge,
        escalation=cases.ESCALATION,
    )
    return govern(Duty.open(cloud, settings, policy, tick), governed)
