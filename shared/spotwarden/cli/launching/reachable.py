"""Whether a bucket has what a job is to work on: asked before anything is sent or recorded."""

from collections.abc import Iterable
from http import HTTPStatus

import click

from spotwarden.cli.context import Context
from spotwarden.cli.launching.inputs import LaunchInput
from spotwarden.ports import RejectedError, Store, UnansweredError


def check_reachable(context: Context, inputs: Iterable[LaunchInput]) -> None:
    """Refuse an address that leads nowhere; what this developer may not read, the VM may, and is left to it.

    Raises:
        UsageError: there is no such bucket, object or folder; says what to type next.
    """
    for given in inputs:
        bucket, _, name = given.address.removeprefix("gs://").partition("/")
        if problem := _problem(context, bucket, name):
            raise click.UsageError(f"--input {given.address!r}: nothing was sent, since {problem}")


def _problem(context: Context, bucket: str, name: str) -> str:
    # Whoever gets here has read the bucket of the jobs: Google's libraries are imported.
    from spotwarden.gcp.errors import REFUSALS  # noqa: PLC0415 — see above

    try:
        return _missing(context.bucket(bucket), bucket, name)
    except (RejectedError, *REFUSALS) as error:
        if getattr(error, "code", None) == HTTPStatus.NOT_FOUND:
            return f"there is no bucket {bucket!r}. To list yours: gcloud storage ls"
        return ""
    except UnansweredError:
        return ""


def _missing(store: Store, bucket: str, name: str) -> str:
    look = f"To see what is there: gcloud storage ls gs://{bucket}/"
    if name.endswith("/"):
        return "" if store.entries(name, limit=1) else f"nothing is below it. {look}"
    if store.entry(name) is not None:
        return ""
    if store.entries(f"{name}/", limit=1):
        return "it is a folder, so its address must end with a slash"
    return f"there is no such object. {look}"
