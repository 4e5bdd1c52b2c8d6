"""Brings preempted jobs back."""

import os

import functions_framework
from cloudevents.http import CloudEvent

from spotwarden.engine.entry import wake
from spotwarden.engine.health import reported
from spotwarden.engine.trigger import message_in
from spotwarden.gcp.connect import connect
from spotwarden.recovery.sweep import sweep


@functions_framework.cloud_event
@reported
def recover_spot(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look, and perhaps where first."""
    wake("recover_spot", message_in(event.data), os.environ, connect, sweep)
