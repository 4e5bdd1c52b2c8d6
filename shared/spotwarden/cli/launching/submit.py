"""`spotwarden submit`: store a create script, record the attempt, launch it; no gcloud needed."""

from pathlib import Path

import click

from spotwarden import clock
from spotwarden.cli.context import default_owner, open_context
from spotwarden.cli.interrupted import so_far
from spotwarden.cli.launching.beside import refuse_beside
from spotwarden.cli.launching.compliance import check_allowed
from spotwarden.cli.launching.foretold import foretold
from spotwarden.cli.launching.named_alike import refuse_named_alike
from spotwarden.cli.launching.offered import check_offered
from spotwarden.cli.launching.other_machines import check_fitting, check_others
from spotwarden.cli.launching.other_places import warn_of_places
from spotwarden.cli.launching.priced import check_priced
from spotwarden.cli.launching.reading import read_script
from spotwarden.cli.launching.resuming import warning_of_script
from spotwarden.cli.launching.slices import tell_of_group
from spotwarden.cli.launching.staging import staging
from spotwarden.cli.launching.started import told
from spotwarden.cli.launching.starting import start
from spotwarden.cli.launching.storing import look, store, store_code, storing
from spotwarden.cli.launching.timely import check_timely
from spotwarden.cli.launching.used_up import check_left
from spotwarden.cli.owners import OwnerParam
from spotwarden.recovery import submission
from spotwarden.recovery.instances.elastic import range_problem


@click.command()
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--job", default="", help="Name of the job [default: the VM's name in the script].")
@click.option("--code", type=click.Path(exists=True, path_type=Path), help="Folder or tarball of the code.")
@click.option(
    "--owner",
    type=OwnerParam(),
    default=default_owner,
    help="Who gets messages [default: SPOTWARDEN_OWNER, else you].",
)
@click.option("--again", is_flag=True, help="Launch again a job that is over.")
@click.option("--resolve", is_flag=True, help="Run a script that can't be read as data; nothing is created.")
def submit(script: Path, job: str, code: Path | None, owner: str, *, again: bool, resolve: bool) -> None:
    """Launch the job that a create script creates.

    SCRIPT is a shell script with one `gcloud compute instances create` or `bulk create`. It is read as
    data and not run, unless it can't be read and you add --resolve.

    \b
    Examples:
      spotwarden submit create-instance.sh --code .
      spotwarden submit create-instance.sh --job my-job --again
    """
    so_far("nothing was stored or launched")
    context = open_context()
    package = read_script(context, script, resolve=resolve)
    facts = look(context, job or package.launch.job, script=True)
    context.check_clock()
    problem = submission.problem(facts, again=again) or submission.another_script(facts, package.launch)
    if problem:
        raise click.ClickException(problem)
    if problem := range_problem(package.launch, facts.file):
        raise click.ClickException(problem)
    check_timely(facts.file, clock.now())
    refuse_named_alike(context, facts, package.launch)
    refuse_beside(context, facts, package.launch)
    tell_of_group(context.cloud.compute, package.launch)
    check_fitting(context, package.launch, facts.file, owner)
    check_allowed(context, package.launch, facts.file, owner)
    check_offered(context.cloud.compute, package.launch)
    check_others(context, package.launch, facts.file)
    warn_of_places(context.cloud.compute, package.launch, facts.file)
    check_priced(context, package.launch, facts.file, owner)
    check_left(context, facts, package.launch, facts.file, clock.now())
    if warning := warning_of_script(package.launch, code):
        click.echo(warning, err=True)
    storing(facts.job)
    layout = context.settings.layout
    with staging(context, facts) as stage:
        if code:
            store_code(stage, layout, facts.job, code)
        store(stage, layout, facts.job, package, {})
        staged = stage.finish()
    launched = start(context, facts, package.launch, owner, staged)
    so_far("")
    click.echo(told(launched.ledger[-1].attempt))
    done = facts.progress.share
    for line in foretold(context, package.launch, facts.file, done=done, now=clock.now()):
        click.echo(line, err=True)
