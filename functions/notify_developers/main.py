"""Brings notices to people: a message of the topic is taken in, and each tick sends what is due."""

import os

import functions_framework
from cloudevents.http import CloudEvent

from spotwarden.engine.entry import open_context
from spotwarden.engine.health import reported
from spotwarden.engine.trigger import close_tick, message_in
from spotwarden.gcp.rest_only import connect
from spotwarden.notify.outbox.sweep import take_in_or_deliver


@functions_framework.cloud_event
@reported
def notify_developers(event: CloudEvent) -> None:
    """Entry point. A notice is only written down; the next tick brings it to its people."""
    message = message_in(event.data)
    context = open_context("notify_developers", message, os.environ, connect)
    close_tick(context.tick, take_in_or_deliver(context, message, os.environ))
