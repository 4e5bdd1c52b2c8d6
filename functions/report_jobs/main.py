"""Shows what jobs do, use and waste, and every action of ours; a tick brings it up to date."""

import os
from functools import partial

import functions_framework
from flask import Request, Response

from spotwarden import runner
from spotwarden.decide.report import REPORTING
from spotwarden.decide.report.press import PRESS
from spotwarden.gcp.connect import connect
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.runner.reporting.refreshing import refresh
from spotwarden.runner.reporting.site import publish, tell
from spotwarden.runner.reporting.web import respond, ticked


@functions_framework.http
@runner.reported
def report_jobs(request: Request) -> Response:
    """Entry point. Pub/Sub posts the ticks; people get pages and figures."""
    if (message := ticked(request)) is not None:
        runner.wake("report_jobs", message, os.environ, connect=connect, sweep=sweep)
        return Response(status=204)
    settings = runner.Settings.read(os.environ)
    policy = runner.read_policy(settings.policy_file, settings.mode, settings.ops)
    tick = runner.open_tick("report_jobs", {}, settings.layout)
    return respond(request, runner.Duty.open(connect(**settings.connection()), settings, policy, tick), PRESS)


def sweep(cloud: Cloud, settings: runner.Settings, policy: Policy, tick: Tick) -> runner.Swept:
    """Read what has changed, write it down, write its pages, and once a week tell people."""
    duty = runner.Duty.open(cloud, settings, policy, tick)
    return refresh(duty, REPORTING, partial(publish, duty, PRESS), partial(tell, duty, PRESS))
