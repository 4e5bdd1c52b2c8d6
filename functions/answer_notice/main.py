"""Takes the answers that people give by the links in their mails: keep, extend, stop, start again."""

import os

import functions_framework
from flask import Request
from werkzeug.wrappers import Response

from spotwarden.engine.health import reported
from spotwarden.gcp.rest_only import connect
from spotwarden.notify.links.web import answer


@functions_framework.http
@reported
def answer_notice(request: Request) -> Response:
    """Entry point. A GET shows what a click would do, and a POST is the click."""
    return answer(request, os.environ, connect)
