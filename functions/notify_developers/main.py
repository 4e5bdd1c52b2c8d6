"""Brings notices to people: a message of the topic is taken in, and each tick sends what is due."""

import os

import functions_framework
from cloudevents.http import CloudEvent
from msgspec.structs import replace

from spotwarden import clock
from spotwarden.engine.health import reported
from spotwarden.engine.policy_file.reading import read_policy
from spotwarden.engine.settings import Settings
from spotwarden.engine.trigger import close_tick, message_in, open_tick
from spotwarden.gcp.rest_only import connect
from spotwarden.governance.sweep import Duty
from spotwarden.notify import channels
from spotwarden.notify.links.audience import audience
from spotwarden.notify.links.tokens import VARIABLE, Keys
from spotwarden.notify.outbox import POSTING, Scribe
from spotwarden.notify.outbox.intake import take_in
from spotwarden.notify.outbox.model import Writing
from spotwarden.notify.outbox.sweep import deliver


@functions_framework.cloud_event
@reported
def notify_developers(event: CloudEvent) -> None:
    """Entry point. A notice is only written down; the next tick brings it to its people."""
    settings, said = Settings.read(os.environ), channels.ChannelSettings.read(os.environ)
    message = message_in(event.data)
    tick = open_tick("notify_developers", message, settings.layout)
    policy = read_policy(settings.policy_file, settings.mode, settings.ops)
    cloud = replace(connect(**settings.connection()), post=channels.open_post(said))
    duty = Duty.open(cloud, settings, policy, tick)
    swept = deliver(duty, POSTING, writing(duty, said)) if tick.patient else take_in(duty, POSTING, message)
    close_tick(tick, swept)


def writing(duty: Duty, said: channels.ChannelSettings) -> Writing:
    """Who writes the letters; without the URL of answer_notice they hold no links."""
    answers = os.environ.get("SPOTWARDEN_ANSWERS", "")
    keys = Keys.read(os.environ.get(VARIABLE, ""), audience(duty.settings)) if answers else None
    report = os.environ.get("SPOTWARDEN_REPORT", "")
    scribe = Scribe(limits=duty.policy.notify, answers=answers, report=report, keys=keys, shapes=said.shapes)
    sender = said.smtp.sender.domain if said.smtp else ""
    return Writing(letter=scribe.letter, domain=sender or "spotwarden.invalid", now=clock.now)
