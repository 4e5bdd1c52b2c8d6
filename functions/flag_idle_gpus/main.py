"""Finds VMs all of whose GPUs idle: tells their owners, and stops them where the policy says so."""

import os

import functions_framework
from cloudevents.http import CloudEvent

from spotwarden.engine.entry import wake
from spotwarden.engine.health import reported
from spotwarden.engine.trigger import message_in
from spotwarden.gcp.connect import connect
from spotwarden.governance.idle.sweep import sweep


@functions_framework.cloud_event
@reported
def flag_idle_gpus(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look."""
    wake("flag_idle_gpus", message_in(event.data), os.environ, connect, sweep)
