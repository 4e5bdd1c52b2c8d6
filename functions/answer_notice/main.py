"""Takes the answers that people give by the links in their letters: keep, extend, stop, start again."""

import os
from functools import partial

import functions_framework
from flask import Request, Response

from spotwarden import runner
from spotwarden.decide import answers, pages, tokens
from spotwarden.gcp.rest_only import connect
from spotwarden.runner.answers.taking import Desk, Take
from spotwarden.runner.answers.web import respond
from spotwarden.runner.audience import audience


@functions_framework.http
@runner.reported
def answer_notice(request: Request) -> Response:
    """Entry point. A GET shows what a click would do, and a POST is the click."""
    settings = runner.Settings.read(os.environ)
    policy = runner.read_policy(settings.policy_file, settings.mode, settings.ops)
    keys = tokens.Keys.read(os.environ.get(tokens.VARIABLE, ""), audience(settings))
    tick = runner.open_tick("answer_notice", {}, settings.layout)
    duty = runner.Duty.open(connect(**settings.connection()), settings, policy, tick)
    return respond(request, Desk(duty, rules(keys)), pages.HEADERS)


def rules(keys: tokens.Keys) -> Take:
    """What decides, and what writes the pages."""
    return Take(
        read=partial(tokens.read, keys=keys),
        consider=answers.consider,
        take=answers.take,
        render=pages.render,
    )
