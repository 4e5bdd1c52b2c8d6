"""Shows what jobs do, use and waste, and every action of ours; a tick brings it up to date."""

import os

import functions_framework
from flask import Request
from werkzeug.wrappers import Response

from spotwarden.engine.entry import open_context, wake
from spotwarden.engine.health import reported
from spotwarden.gcp.connect import connect
from spotwarden.report.sweep import sweep
from spotwarden.report.web import respond, ticked


@functions_framework.http
@reported
def report_jobs(request: Request) -> Response:
    """Entry point. Pub/Sub posts the ticks; people get pages and figures."""
    if (message := ticked(request)) is not None:
        wake("report_jobs", message, os.environ, connect, sweep)
        return Response(status=204)
    return respond(request, open_context("report_jobs", {}, os.environ, connect))
