"""A create script of this machine, read as data: what it launches, held against the policy."""

import sys
from collections.abc import Mapping
from pathlib import Path

import click
import msgspec

from spotwarden.cli.context import Context
from spotwarden.cli.launching.package import FolderFiles
from spotwarden.cli.launching.resolve import resolve as run_and_record
from spotwarden.create_script import Defaults
from spotwarden.create_script.lint import check
from spotwarden.create_script.request.stored import launch_of
from spotwarden.model.launch import Launch, NoLaunch, StoredScript
from spotwarden.recovery.kinds.admission import inadmissible


class Package(msgspec.Struct, frozen=True, kw_only=True):
    """A script with the files that it names; `resolved` is what one that is not pure came to."""

    script: bytes
    resolved: bytes | None
    files: Mapping[str, bytes]
    launch: Launch


def read_script(context: Context, file: Path, *, resolve: bool | None) -> Package:
    """The script with the files it names, checked, and what it comes to.

    `resolve` is whether it may be run here; None where it was written from options, which running won't mend.

    Raises:
        ClickException: it cannot be read as data, is no one job, or makes what the policy does not admit.
    """
    text, files = file.read_bytes(), FolderFiles(file.parent)
    version = context.agreed().recovery.gcloud_version
    defaults = Defaults(project=context.settings.project, gcloud_version=version)
    report = check(text, files=files, defaults=defaults)
    for warning in report.warnings:
        click.echo(f"{file}:{warning.line}: warning: {warning.text} [{warning.rule}]", err=True)
    if report.refusal is not None and _may_resolve(
        f"{file}{report.refusal.where}: {report.refusal.reason}", said=resolve
    ):
        resolved = run_and_record(file)
        launch = _launch_of(context, file, resolved.text, resolved.files)
        return Package(script=text, resolved=resolved.text, files=resolved.files, launch=launch)
    launch = _launch_of(context, file, text, files)
    return Package(script=text, resolved=None, files=dict(files.used), launch=launch)


def _may_resolve(refusal: str, *, said: bool | None) -> bool:
    """Whether the developer lets the script run on this machine; the refusal is the end where not."""
    if said:
        return True
    if said is None:
        raise click.ClickException(f"{refusal}\nCheck what the options of the command put there")
    question = (
        f"{refusal}\nRun the script on this machine, with a gcloud that creates nothing, to resolve it?"
    )
    if sys.stdin.isatty() and click.confirm(question):
        return True
    raise click.ClickException(
        f"{refusal}\n--resolve runs it on this machine, with a gcloud that creates nothing"
    )


def _launch_of(context: Context, file: Path, text: bytes, files: Mapping[str, bytes]) -> Launch:
    script = StoredScript(name=str(file), text=text, generation=0, files=files)
    launch = launch_of(script, context.settings.project, context.agreed().recovery.gcloud_version)
    if isinstance(launch, NoLaunch):
        raise click.ClickException(launch.reason)
    limits = context.agreed().admission
    if faults := tuple(inadmissible(launch, limits, context.settings.project)):
        listed = "\n".join(f"  {fault}" for fault in faults)
        raise click.ClickException(f"{file}: the policy doesn't allow what it creates:\n{listed}")
    return launch
