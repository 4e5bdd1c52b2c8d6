"""Takes the answers that people give by the links in their letters: keep, extend, stop, start again."""

import os
from functools import partial

import functions_framework
from flask import Request, Response

from spotwarden.engine.health import reported
from spotwarden.engine.policy_file.reading import read_policy
from spotwarden.engine.settings import Settings
from spotwarden.engine.trigger import open_tick
from spotwarden.gcp.rest_only import connect
from spotwarden.governance.sweep import Duty
from spotwarden.notify import links as answers
from spotwarden.notify.links import pages, tokens
from spotwarden.notify.links.audience import audience
from spotwarden.notify.links.taking import Desk, Take
from spotwarden.notify.links.web import respond


@functions_framework.http
@reported
def answer_notice(request: Request) -> Response:
    """Entry point. A GET shows what a click would do, and a POST is the click."""
    settings = Settings.read(os.environ)
    policy = read_policy(settings.policy_file, settings.mode, settings.ops)
    keys = tokens.Keys.read(os.environ.get(tokens.VARIABLE, ""), audience(settings))
    tick = open_tick("answer_notice", {}, settings.layout)
    duty = Duty.open(connect(**settings.connection()), settings, policy, tick)
    return respond(request, Desk(duty, rules(keys)), pages.HEADERS)


def rules(keys: tokens.Keys) -> Take:
    """What decides, and what writes the pages."""
    return Take(
        read=partial(tokens.read, keys=keys),
        consider=answers.consider,
        take=answers.take,
        render=pages.render,
    )
