"""Reaps what no job needs any more: orphaned VMs, jobs that hang or train for nothing, what is left over."""

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
from spotwarden.governance.early_stop import rule as early_stops
from spotwarden.governance.reap import rules as reaping
from spotwarden.governance.reap.gather import look
from spotwarden.governance.silence import silent
from spotwarden.governance.stalls import rule as stalls
from spotwarden.governance.sweep import Duty, Governed, govern
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud


@functions_framework.cloud_event
@reported
def reap_vms(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look."""
    wake("reap_vms", message_in(event.data), os.environ, connect=connect, sweep=sweep)


def sweep(cloud: Cloud, settings: Settings, policy: Policy, tick: Tick) -> Swept:
    """Look, judge, warn, and act only on what was warned about in time."""
    governed = Governed(
        rules=reaping.RULES,
        look=partial(look, quiet=stalls.quiet, wanted=early_stops.wanted),
        judge=reaping.judge,
        escalation=cases.ESCALATION,
        silent=silent,
    )
    return govern(Duty.open(cloud, settings, policy, tick), governed)
