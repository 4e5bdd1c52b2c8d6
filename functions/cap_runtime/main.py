"""Holds caps: on jobs over all their attempts, on VMs, and on what an owner uses in a day, week and month."""

import os
from functools import partial

import functions_framework
from cloudevents.http import CloudEvent

from spotwarden import runner
from spotwarden.decide import cases
from spotwarden.decide.rules import capping, usage
from spotwarden.decide.silence import silent
from spotwarden.gcp.connect import connect
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.runner.governance.capping import look
from spotwarden.runner.governance.usage import Metering


@functions_framework.cloud_event
@runner.reported
def cap_runtime(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look."""
    runner.wake("cap_runtime", runner.message_in(event.data), os.environ, connect=connect, sweep=sweep)


def sweep(cloud: Cloud, settings: runner.Settings, policy: Policy, tick: Tick) -> runner.Swept:
    """Look, judge, warn, look again, act; one bad job never stops the others."""
    metering = Metering(days=usage.days, add=usage.add, total=usage.total)
    governed = runner.Governed(
        rules=capping.RULES,
        look=partial(look, metering=metering),
        judge=capping.judge,
        escalation=cases.ESCALATION,
        silent=silent,
    )
    return runner.govern(runner.Duty.open(cloud, settings, policy, tick), governed)
