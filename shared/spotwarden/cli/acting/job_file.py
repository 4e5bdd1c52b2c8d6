"""Changes one value of a job's job.toml, and nothing else in it."""

from datetime import date

import click

from spotwarden.cli.context import Context
from spotwarden.cli.toml_lines import UnsafeTomlError, with_value, without
from spotwarden.layout import JobFileName
from spotwarden.model.action import StoreObject
from spotwarden.model.outcome import Done, Lost
from spotwarden.model.tick import Tick
from spotwarden.recovery.folder.job_folder import read_job_file

TRIES = 5
"""How often a file that somebody else changes meanwhile is read anew."""


def change_job_file(context: Context, tick: Tick, job: str, *, by: str, **change: str | date | None) -> None:
    """Set the value named, or take it out where it is None; one that changes meanwhile is read anew."""
    [(name, value)] = change.items()
    store, layout = context.cloud.store, context.settings.layout
    object_name = layout.build(JobFileName(job=job))
    for _ in range(TRIES):
        stored = store.read(object_name)
        text = stored.data.decode("utf-8-sig", errors="replace") if stored else ""
        if problem := read_job_file(store, layout, job).problem:
            raise click.ClickException(f"{problem}; fix it first. Nothing was changed")
        step = StoreObject(
            reason=f"{by} sets {name}",
            job=job,
            name=object_name,
            data=_edited(object_name, text, name, value).encode(),
            content_type="application/toml",
            only_new=stored is None,
            generation=stored.generation if stored else None,
        )
        match context.executor(tick).apply(step):
            case Done():
                return
            case Lost():
                continue
            case other:
                raise click.ClickException(f"{object_name} could not be written: {other}")
    raise click.ClickException(f"{object_name} is being changed by others; nothing was written")


def _edited(object_name: str, text: str, name: str, value: str | date | None) -> str:
    try:
        return without(text, name) if value is None else with_value(text, name, value)
    except UnsafeTomlError as error:
        raise click.ClickException(f"{object_name}: {error}") from error
