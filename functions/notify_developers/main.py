"""Brings notices to people: a message of the topic is taken in, and each tick sends what is due."""

import os

import functions_framework
from cloudevents.http import CloudEvent
from msgspec.structs import replace

from spotwarden import channels, clock, runner
from spotwarden.decide.posting import POSTING, Scribe
from spotwarden.decide.tokens import VARIABLE, Keys
from spotwarden.gcp.rest_only import connect
from spotwarden.model.posting import Writing
from spotwarden.runner.audience import audience
from spotwarden.runner.posting import deliver, take_in


@functions_framework.cloud_event
@runner.reported
def notify_developers(event: CloudEvent) -> None:
    """Entry point. A notice is only written down; the next tick brings it to its people."""
    settings, said = runner.Settings.read(os.environ), channels.ChannelSettings.read(os.environ)
    message = runner.message_in(event.data)
    tick = runner.open_tick("notify_developers", message, settings.layout)
    policy = runner.read_policy(settings.policy_file, settings.mode, settings.ops)
    cloud = replace(connect(**settings.connection()), post=channels.open_post(said))
    duty = runner.Duty.open(cloud, settings, policy, tick)
    swept = deliver(duty, POSTING, writing(duty, said)) if tick.patient else take_in(duty, POSTING, message)
    runner.close_tick(tick, swept)


def writing(duty: runner.Duty, said: channels.ChannelSettings) -> Writing:
    """Who writes the letters; without the URL of answer_notice they hold no links."""
    answers = os.environ.get("SPOTWARDEN_ANSWERS", "")
    keys = Keys.read(os.environ.get(VARIABLE, ""), audience(duty.settings)) if answers else None
    report = os.environ.get("SPOTWARDEN_REPORT", "")
    scribe = Scribe(limits=duty.policy.notify, answers=answers, report=report, keys=keys, shapes=said.shapes)
    sender = said.smtp.sender.domain if said.smtp else ""
    return Writing(letter=scribe.letter, domain=sender or "spotwarden.invalid", now=clock.now)
