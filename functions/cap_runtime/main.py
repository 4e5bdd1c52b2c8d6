"""Holds caps: on jobs over all their attempts, on VMs, and on what an owner uses in a day, week and month."""

import os

import functions_framework
from cloudevents.http import CloudEvent

from spotwarden.engine.entry import wake
from spotwarden.engine.health import reported
from spotwarden.engine.trigger import message_in
from spotwarden.gcp.connect import connect
from spotwarden.governance.caps.sweep import sweep


@functions_framework.cloud_event
@reported
def cap_runtime(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look."""
    wake("cap_runtime", message_in(event.data), os.environ, connect, sweep)
