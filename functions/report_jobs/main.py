"""Shows what jobs do, use and waste, and every action of ours; a tick brings it up to date."""

import os
from functools import partial

import functions_framework
from flask import Request, Response

from spotwarden import runner
from spotwarden.decide.report import REPORTING
from spotwarden.decide.report.press import PRESS
from spotwarden.gcp import connect
from spotwarden.runner.reporting.refreshing import refresh
from spotwarden.runner.reporting.site import publish, tell
from spotwarden.runner.reporting.web import respond, ticked


@functions_framework.http
@runner.reported
def report_jobs(request: Request) -> Response:
    """Entry point. Pub/Sub posts the ticks; people get pages and figures."""
    settings, message = runner.Settings.read(os.environ), ticked(request)
    policy = runner.read_policy(settings.policy_file, settings.mode, settings.ops)
    tick = runner.open_tick("report_jobs", message or {}, settings.layout)
    duty = runner.Duty.open(connect(**settings.connection()), settings, policy, tick)
    if message is None:
        return respond(request, duty, PRESS)
    runner.close_tick(tick, sweep(duty))
    return Response(status=204)


def sweep(duty: runner.Duty) -> runner.Swept:
    """Read what has changed, write it down, write its pages, and once a week tell people."""
    return refresh(duty, REPORTING, partial(publish, duty, PRESS), partial(tell, duty, PRESS))
