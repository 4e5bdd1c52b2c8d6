"""Shows what jobs do, use and waste, and every action of ours; a tick brings it up to date."""

import os
from functools import partial

import functions_framework
from flask import Request, Response

from spotwarden.engine.entry import wake
from spotwarden.engine.fan_out import Swept
from spotwarden.engine.health import reported
from spotwarden.engine.policy_file.reading import read_policy
from spotwarden.engine.settings import Settings
from spotwarden.engine.trigger import open_tick
from spotwarden.gcp.connect import connect
from spotwarden.governance.sweep import Duty
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.report.figures import REPORTING
from spotwarden.report.rendering import PRESS
from spotwarden.report.site import publish, tell
from spotwarden.report.sweep import refresh
from spotwarden.report.web import respond, ticked


@functions_framework.http
@reported
def report_jobs(request: Request) -> Response:
    """Entry point. Pub/Sub posts the ticks; people get pages and figures."""
    if (message := ticked(request)) is not None:
        wake("report_jobs", message, os.environ, connect=connect, sweep=sweep)
        return Response(status=204)
    settings = Settings.read(os.environ)
    policy = read_policy(settings.policy_file, settings.mode, settings.ops)
    tick = open_tick("report_jobs", {}, settings.layout)
    return respond(request, Duty.open(connect(**settings.connection()), settings, policy, tick), PRESS)


def sweep(cloud: Cloud, settings: Settings, policy: Policy, tick: Tick) -> Swept:
    """Read what has changed, write it down, write its pages, and once a week tell people."""
    duty = Duty.open(cloud, settings, policy, tick)
    return refresh(duty, REPORTING, partial(publish, duty, PRESS), partial(tell, duty, PRESS))
