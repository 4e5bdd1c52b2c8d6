"""Talking to a running local cloud.

By the standard library: a command makes one call, and to import httpx would take longer than all the rest.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

import click

from localcloud import running
from localcloud.running import VARIABLE, RunningCloud

TIMEOUT_SECONDS = 60
START = "Start one: spotwarden local serve --functions"


def call(method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
    """Call the admin API and give its JSON; a `ClickException` says what to do where that fails."""
    with answering(method, path, body, timeout=TIMEOUT_SECONDS) as answer:
        content = answer.read()
    return json.loads(content) if content else None


@contextmanager
def answering(
    method: str, path: str, body: Mapping[str, Any] | None = None, *, timeout: float | None
) -> Iterator[HTTPResponse]:
    """The answer of the admin API, to be read as it comes; `timeout` seconds may pass between two pieces.

    Raises:
        ClickException: none runs, it does not answer, or it refuses; says what to do.
    """
    url = endpoint(os.environ)
    data = None if body is None else json.dumps(body).encode()
    # It is on this machine: no proxy is in between, whatever the environment says.
    opener = build_opener(ProxyHandler({}))
    try:
        request = Request(url + path, data=data, method=method, headers={"content-type": "application/json"})  # noqa: S310 — the user's own
        with opener.open(request, timeout=timeout) as answer:
            yield answer
    except HTTPError as error:
        raise click.ClickException(_message(error)) from error
    except BrokenPipeError:
        raise  # whoever read what a command prints has heard enough
    except (OSError, HTTPException, ValueError) as error:
        why = error.reason if isinstance(error, URLError) else error
        raise click.ClickException(
            f"no local cloud responds at {url}: {why}. {_instead(os.environ)}"
        ) from error


def endpoint(environ: Mapping[str, str]) -> str:
    """The HTTP endpoint that a command is meant for: the variable's, else that of the only one that runs.

    The only one is named on standard error.

    Raises:
        ClickException: none runs, or several do; says what to type.
    """
    if named := environ.get(VARIABLE):
        return named
    found = running.living(environ)
    if not found:
        raise click.ClickException(f"no local cloud is running. {START}")
    if len(found) > 1:
        raise click.ClickException(_several(found))
    [only] = found
    click.echo(f"local cloud: {only.http}, project {only.project}", err=True)
    return only.http


def _several(found: Sequence[RunningCloud]) -> str:
    lines = [
        f"  export {VARIABLE}={cloud.http}  # project {cloud.project}, process {cloud.pid}, {cloud.state}"
        for cloud in found
    ]
    return "\n".join([f"{len(found)} local clouds are running. Name one, the newest is first:", *lines])


def _instead(environ: Mapping[str, str]) -> str:
    """What to do where the local cloud does not respond."""
    named = f"To find another one: unset {VARIABLE}. " if environ.get(VARIABLE) else ""
    return named + START


def _message(error: HTTPError) -> str:
    text = error.read().decode(errors="replace")
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"{error.code}: {text[:500]}"
