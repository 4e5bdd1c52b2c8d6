"""Command lines as the shell stage hands them over."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from spotwarden.create_script.gcloud import Defaults, Request, requests, translate
from spotwarden.create_script.request.command import ExpandedWord, SimpleCommand, Unknown
from spotwarden.model.gcloud import NEWEST

CONFIGURED = Defaults(project="demo-project", zone="us-central1-a", region="us-central1")
Send = Callable[..., list[Request]]


def command(
    words: list[str | Unknown],
    *,
    line: int = 1,
    files: Mapping[str, bytes] | None = None,
    environment: Mapping[str, str] | None = None,
) -> SimpleCommand:
    """One command whose words all stand on one line."""
    return SimpleCommand(
        words=tuple(ExpandedWord(value=word, line=line) for word in words),
        line=line,
        environment=environment or {},
        files=files or {},
    )


@pytest.fixture
def send() -> Send:
    """Translate one gcloud command line, given without the word gcloud."""

    def send(argv: list[str | Unknown], *, gcloud_version: int = NEWEST, **how: Any) -> list[Request]:
        configured = replace(CONFIGURED, gcloud_version=gcloud_version)
        return requests([command(["gcloud", *argv], **how)], configured)

    return send


@pytest.fixture
def create(send: Send) -> Callable[..., Mapping[str, Any]]:
    """Translate `compute instances create vm FLAGS…`; give the body of the one request."""

    def create(*flags: str, **how: Any) -> Mapping[str, Any]:
        (request,) = send(["compute", "instances", "create", "vm", *flags], **how)
        return request.body

    return create


@pytest.fixture
def run() -> Callable[..., object]:
    """Translate several command lines, each as a list of words, with the configured defaults or others."""

    def run(*lines: list[str | Unknown], defaults: Defaults = CONFIGURED) -> object:
        return translate([command(words, line=number) for number, words in enumerate(lines, 1)], defaults)

    return run
