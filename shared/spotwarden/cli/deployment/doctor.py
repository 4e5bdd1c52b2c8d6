"""`spotwarden doctor`: is everything there, does it answer, do a marker and a mail go through?"""

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import click

from spotwarden.cli.context import Context, open_context
from spotwarden.cli.deployment import comparing, trying
from spotwarden.cli.deployment.examining import Check, CheckState, CheckSubject, examine
from spotwarden.cli.deployment.manifest import MANIFEST, DeploymentManifest, read_manifest
from spotwarden.cli.table import render
from spotwarden.cli.times import SpanParam
from spotwarden.engine.policy_file.reading import PolicyError, read_policy
from spotwarden.notify.outbox.mail_address import address
from spotwarden.ports import Topic

HEAD = ("WHAT", "STATE", "WHY", "WHAT TO DO")
REGION = "us-central1"
WAIT = timedelta(seconds=90)
"""A marker that comes while recovery looks at everything waits for the tick of the next minute."""


@click.command()
@click.option("--project", metavar="P", help="Project [default: SPOTWARDEN_PROJECT].")
@click.option("--region", default=REGION, show_default=True, help="Region of the functions.")
@click.option(
    "--mail-to", default="", metavar="ADDRESS", help="Recipient of the test mail [default: SPOTWARDEN_OPS]."
)
@click.option(
    "--build", type=click.Path(path_type=Path), help="Folder of the archives that should be deployed."
)
@click.option(
    "--manifest",
    type=click.Path(path_type=Path),
    default=MANIFEST,
    help="List of the functions [default: infra/functions.yaml].",
)
@click.option(
    "--within", type=SpanParam(), default=WAIT, metavar="SPAN", help="How long to wait [default: 90s]."
)
@click.option("--look-only", is_flag=True, help="Only look: run nothing, write nothing, mail nothing.")
def doctor(
    *,
    project: str | None,
    region: str,
    mail_to: str,
    build: Path | None,
    manifest: Path,
    within: timedelta,
    look_only: bool,
) -> None:
    """Check that a deployment works, and what to fix.

    It runs each function once, writes and removes a marker without a job, and sends one test mail. Nothing
    else is changed. The exit status is 0 if everything works.

    \b
    Examples:
      spotwarden doctor
    """
    if project:
        os.environ["SPOTWARDEN_PROJECT"] = project
    context, wanted = open_context(), read_manifest(manifest)
    findings = [*_examined(context, wanted, region, build), _compared(context)]
    if not look_only:
        findings += _tried(context, wanted, mail_to or context.settings.ops, within)
    click.echo(
        render(HEAD, [(finding.what, finding.state.value, finding.why, finding.todo) for finding in findings])
    )
    bad = [finding for finding in findings if finding.state in {CheckState.BAD, CheckState.UNKNOWN}]
    if bad:
        raise click.ClickException(f"{len(bad)} of {len(findings)} checks failed")
    click.echo(f"all {len(findings)} checks passed")


def _examined(
    context: Context, wanted: DeploymentManifest, region: str, build: Path | None
) -> Iterator[Check]:
    from spotwarden.gcp.deployed import Deployed  # noqa: PLC0415 - Google's libraries take a while to import

    settings = context.settings
    where = CheckSubject(
        project=settings.project, bucket=settings.bucket, prefix=settings.layout.prefix, build=build
    )
    deployed = Deployed(project=settings.project, region=region, endpoint=settings.compute_endpoint)
    return examine(deployed, wanted, where)


def _compared(context: Context) -> Check:
    from spotwarden.gcp import second_opinion

    settings = context.settings
    return comparing.second_opinion(
        context.cloud.compute.fleet,
        lambda: second_opinion.fleet(settings.project, endpoint=settings.compute_endpoint),
    )


def _tried(context: Context, wanted: DeploymentManifest, mail_to: str, within: timedelta) -> list[Check]:
    findings: list[Check] = []
    to, why_not = _mail(context, mail_to)
    if why_not:
        findings.append(Check(what="a mail arrives", state=CheckState.SKIPPED, why=why_not))
    if url := os.environ.get("SPOTWARDEN_ANSWERS", ""):
        findings.append(trying.answers(url))
    begun = list(trying.trials(context, wanted, _topics(context), to))
    return [*findings, *trying.run(begun, within)]


def _mail(context: Context, to: str) -> tuple[str, str]:
    """Whom to mail, and why nobody."""
    file = context.settings.policy_file
    try:
        policy = read_policy(file) if file.exists() else None
    except PolicyError as error:
        raise click.ClickException(str(error)) from error
    if policy and not policy.notify.email:
        return "", "the policy says `email = false`: nobody is mailed"
    if not address(to):
        return "", "no address given: --mail-to ADDRESS"
    return address(to), ""


def _topics(context: Context) -> Callable[[str], Topic]:
    from spotwarden.gcp.pubsub import CloudTopic

    settings = context.settings
    return lambda name: CloudTopic(project=settings.project, topic=name, endpoint=settings.pubsub_endpoint)
