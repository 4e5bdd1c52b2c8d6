"""Holds caps: on jobs over all their attempts, on VMs, and on what an owner uses in a day, week and month."""

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
from spotwarden.governance.caps import rule as capping
from spotwarden.governance.caps import usage
from spotwarden.governance.caps.gather import look
from spotwarden.governance.caps.meter import Metering
from spotwarden.governance.silence import silent
from spotwarden.governance.sweep import Duty, Governed, govern
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud


@functions_framework.cloud_event
@reported
def cap_runtime(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look."""
    wake("cap_runtime", message_in(event.data), os.environ, connect=connect, sweep=sweep)


def sweep(cloud: Cloud, settings: Settings, policy: Policy, tick: Tick) -> Swept:
    """Look, judge, warn, look again, act; one bad job never stops the others."""
    metering = Metering(days=usage.days, add=usage.add, total=usage.total)
    governed = Governed(
        rules=capping.RULES,
        look=partial(look, metering=metering),
        judge=capping.judge,
        escalation=cases.ESCALATION,
        silent=silent,
    )
    return govern(Duty.open(cloud, settings, policy, tick), governed)
