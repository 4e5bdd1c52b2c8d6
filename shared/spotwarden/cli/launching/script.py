"""`spotwarden script`: what a create script would send, and what bites in it."""

import json
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from spotwarden.cli.launching.package import FolderFiles
from spotwarden.cli.launching.resolve import resolve as run_and_record
from spotwarden.create_script import Defaults, ScriptRefused, requests
from spotwarden.create_script.lint import LintReport
from spotwarden.create_script.lint import check as check_script
from spotwarden.model.gcloud import NEWEST, VERSIONS
from spotwarden.model.request import Request

ADVICE = """\
Recovery could not launch the job from this text. If bash and gcloud do accept it,
    spotwarden script resolve {file}
runs it on this machine with a gcloud that only writes down its creates, and makes a plain script of them."""
REFUSED = 2
"""Exit status where a script cannot be run again as data."""


@click.group()
def script() -> None:
    """Check what a create script would launch.

    \b
    Examples:
      spotwarden script check create-instance.sh
      spotwarden script request create-instance.sh
    """


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """Add what both commands take."""
    for option in (
        click.option(
            "--files",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            help="Folder of files that the script uses [default: its own folder].",
        ),
        click.option(
            "--gcloud-version",
            type=click.Choice([str(version) for version in VERSIONS]),
            default=str(NEWEST),
            help=f"The gcloud that the script is written for [default: {NEWEST}].",
        ),
        click.option("--region", help="Region, for creates without --region."),
        click.option("--zone", help="Zone, for creates without --zone."),
        click.option("--project", help="Project, for creates without --project."),
        click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path)),
    ):
        command = option(command)
    return command


@script.command()
@_options
@click.pass_context
def request(
    context: click.Context,
    *,
    file: Path,
    project: str | None,
    zone: str | None,
    region: str | None,
    gcloud_version: str,
    files: Path | None,
) -> None:
    """Print the requests that gcloud would send for FILE, as JSON.

    If FILE can't be read as data, the reason is printed as FILE:LINE, and the exit status is 2.
    """
    defaults = Defaults(project=project, zone=zone, region=region, gcloud_version=int(gcloud_version))
    try:
        found = requests(file.read_bytes(), files=_beside(file, files), defaults=defaults)
    except ScriptRefused as refused:
        click.echo(_told(file, refused), err=True)
        context.exit(REFUSED)
    click.echo(json.dumps([_plain(sent) for sent in found], indent=2))


@script.command()
@_options
@click.pass_context
def check(
    context: click.Context,
    *,
    file: Path,
    project: str | None,
    zone: str | None,
    region: str | None,
    gcloud_version: str,
    files: Path | None,
) -> None:
    """Explain what FILE would launch, with warnings.

    The exit status is 2 if recovery couldn't launch it again.
    """
    defaults = Defaults(
        project=project or "your-project", zone=zone, region=region, gcloud_version=int(gcloud_version)
    )
    report = check_script(file.read_bytes(), files=_beside(file, files), defaults=defaults)
    print_report(file, report)
    if not report.can_run_again:
        context.exit(REFUSED)


@script.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write [default: print].",
)
def resolve(file: Path, arguments: tuple[str, ...], output: Path | None) -> None:
    """Run FILE with a recording gcloud; print a plain script.

    Nothing is created, but everything else in FILE runs. Only resolve a script that you trust.
    """
    resolved = run_and_record(file, arguments=arguments)
    for command in resolved.commands:
        click.echo(f"creates: {shlex.join(command)}", err=True)
    if output is None:
        click.echo(resolved.text, nl=False)
        return
    output.write_bytes(resolved.text)
    for name, content in resolved.files.items():
        beside = output.parent / name
        beside.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content)


def print_report(file: Path, report: LintReport) -> None:
    """Print what a check found, for a person."""
    for launch in report.launches:
        click.echo(f"launches {launch}")
    for other in report.rest:
        click.echo(f"  {other}")
    for warning in report.warnings:
        click.echo(f"{file}:{warning.line}: warning: {warning.text} [{warning.rule}]", err=True)
    if report.refusal is not None:
        click.echo(_told(file, report.refusal), err=True)
        click.echo(ADVICE.format(file=file), err=True)


def _beside(file: Path, folder: Path | None) -> Mapping[str, bytes]:
    return FolderFiles(folder or file.parent)


def _told(file: Path, refused: ScriptRefused) -> str:
    where = file if not refused.file else file.parent / refused.file
    return f"{where}{refused.where}: {refused.reason}"


def _plain(sent: Request) -> dict[str, object]:
    return {"method": sent.method, "path": sent.path, "query": dict(sent.query), "body": sent.body}
