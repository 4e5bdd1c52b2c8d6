"""Talking to a running local cloud."""

import os
from collections.abc import Mapping
from typing import Any

import click
import httpx

from localcloud import running
from localcloud.plain import NO_TLS


def call(method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401 — any JSON value
    """Call the admin API and give its JSON; a `ClickException` says what to do where that fails."""
    url = running.url(os.environ)
    if url is None:
        raise click.ClickException("no local cloud runs here; start one with `spotwarden local serve`")
    try:
        answer = httpx.request(method, url + path, json=body, timeout=60, trust_env=False, verify=NO_TLS)
    except httpx.TransportError as error:
        raise click.ClickException(f"no local cloud answers at {url}: {error}") from error
    if answer.is_error:
        raise click.ClickException(_message(answer))
    return answer.json() if answer.content else None


def _message(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"{answer.status_code}: {answer.text[:500]}"
