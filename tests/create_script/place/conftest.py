"""Requests of every kind, from one zone."""

from collections.abc import Callable

import pytest

from spotwarden.create_script.gcloud import Defaults, requests
from spotwarden.create_script.request.command import ExpandedWord, SimpleCommand
from spotwarden.model.request import Request

CREATE = ("compute", "instances", "create", "vm")
BULK = ("compute", "instances", "bulk", "create", "--name-pattern=w-#", "--count=2")


@pytest.fixture
def request_of() -> Callable[..., Request]:
    """Make the request of `instances create`, or of `bulk create` in a zone or region, with these flags."""

    def request_of(*flags: str, bulk: str | None = None) -> Request:
        words = ("gcloud", *BULK, bulk, *flags) if bulk else ("gcloud", *CREATE, *flags)
        command = SimpleCommand(
            words=tuple(ExpandedWord(value=word, line=1) for word in words), line=1, environment={}, files={}
        )
        (request,) = requests([command], Defaults(project="demo-project", zone="us-central1-a"))
        return request

    return request_of
