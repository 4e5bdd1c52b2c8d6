"""Reaps what no job needs any more: orphaned VMs, jobs that hang or train for nothing, what is left over."""

import os

import functions_framework
from cloudevents.http import CloudEvent

from spotwarden.engine.entry import wake
from spotwarden.engine.health import reported
from spotwarden.engine.trigger import message_in
from spotwarden.gcp.connect import connect
from spotwarden.governance.reap.sweep import sweep


@functions_framework.cloud_event
@reported
def reap_vms(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look."""
    wake("reap_vms", message_in(event.data), os.environ, connect, sweep)
