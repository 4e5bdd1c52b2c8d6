"""Finds VMs of jobs that are not what the policy allows."""

import os

import functions_framework
from cloudevents.http import CloudEvent

from spotwarden.engine.entry import wake
from spotwarden.engine.health import reported
from spotwarden.engine.trigger import message_in
from spotwarden.gcp.connect import connect
from spotwarden.governance.compliance.sweep import sweep


@functions_framework.cloud_event
@reported
def check_compliance(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look, and perhaps at which VM."""
    wake("check_compliance", message_in(event.data), os.environ, connect, sweep)
