"""`spotwarden run`: existing code as it is, on spot VMs, from one line."""

import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from spotwarden import clock
from spotwarden.cli.bars import amount
from spotwarden.cli.context import Context, default_owner, open_context
from spotwarden.cli.interrupted import so_far
from spotwarden.cli.launching.asked import LaunchRequest
from spotwarden.cli.launching.beside import refuse_beside
from spotwarden.cli.launching.compliance import check_allowed
from spotwarden.cli.launching.folder import KEPT, KIT, digest, read_kit, write
from spotwarden.cli.launching.foretold import foretold
from spotwarden.cli.launching.limits_file import file_of, job_file
from spotwarden.cli.launching.named_alike import refuse_named_alike
from spotwarden.cli.launching.offered import check_offered
from spotwarden.cli.launching.options import asked_of, with_options
from spotwarden.cli.launching.other_machines import check_fitting, check_others
from spotwarden.cli.launching.other_places import warn_of_places
from spotwarden.cli.launching.package import has_requirements
from spotwarden.cli.launching.priced import check_priced
from spotwarden.cli.launching.program import check_program
from spotwarden.cli.launching.reachable import check_reachable
from spotwarden.cli.launching.reading import read_script
from spotwarden.cli.launching.resuming import warning_of
from spotwarden.cli.launching.sending import send_input
from spotwarden.cli.launching.slices import tell_of_group
from spotwarden.cli.launching.staging import Staging, staging
from spotwarden.cli.launching.started import told
from spotwarden.cli.launching.starting import start
from spotwarden.cli.launching.storing import look, store, store_code, storing
from spotwarden.cli.launching.timely import check_timely
from spotwarden.cli.launching.used_up import check_left
from spotwarden.cli.launching.writing import SCRIPT, files_of, image_of, script_of, setup_of
from spotwarden.layout import JobFileName, ObjectName, RunRecord
from spotwarden.model.facts import JobFacts
from spotwarden.model.run import RunRequest
from spotwarden.notify.templates.text import count
from spotwarden.recovery import submission
from spotwarden.recovery.instances.elastic import range_problem

LOOK_EVERY_SECONDS = 10


@click.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@with_options
def run(**said: Any) -> None:  # noqa: ANN401 — as many types as there are options
    """Run COMMAND with this folder's code on a spot VM.

    Write -- before COMMAND. A COMMAND of several words runs as written; a single quoted word runs in a
    shell. The program writes its output to the folder $SPOTWARDEN_OUTPUT and finds its inputs in
    $SPOTWARDEN_INPUT. After a preemption, $SPOTWARDEN_OUTPUT holds what it wrote before.

    The log is followed until the job ends. Ctrl-C stops following; the job keeps running. The exit status
    is that of COMMAND, 2 for invalid options, 1 for other errors.

    \b
    Examples:
      spotwarden run --job mnist --machine g2-standard-8 --zone us-central1-a -- python train.py --lr 1e-4
      spotwarden run --job big --gpu a100:8 --region us-central1 --max-runtime 12h --input ./data -- \\
        'torchrun --nproc-per-node 8 train.py --data $SPOTWARDEN_INPUT/data'
      spotwarden run --job pair --gpu l4:1 --nodes 2 --zone us-central1-a -- bash launch.sh
      spotwarden run --job eval --gpu t4:1 --zone us-west1-a --input-job mnist --wait -- python eval.py
      spotwarden run --job mnist --gpu l4:1 --zone us-central1-a --dry-run -- python train.py
    """
    so_far("nothing was stored or launched")
    context = open_context()
    asked = asked_of(said, context)
    kit = read_kit()
    setup = setup_of(asked, has_requirements=has_requirements(asked.code))
    files = files_of(asked, setup, kit)
    texts = {**files, SCRIPT: script_of(asked, files, context.settings.bucket, context.settings.layout)}
    if limits := job_file(asked):
        check_timely(file_of(limits), clock.now())
        texts["job.toml"] = limits
    check_program(asked)
    if said["dry_run"]:
        _show(texts, asked)
        return
    folder = Path(KEPT) / asked.job
    if not said["script_only"]:
        _check(context, asked, again=said["again"], wait=said["wait"])
    write(folder, texts, overwrite=said["overwrite"])
    click.echo(f"create script: {folder / SCRIPT}", err=True)
    if warning := warning_of(asked, setup):
        click.echo(warning, err=True)
    if said["script_only"]:
        return
    record = _record(asked, setup, digest({name: kit[name] for name in KIT}))
    told_of = _launch(context, asked, folder, record, limits, again=said["again"])
    click.echo(told_of, err=True)
    so_far(f"the job keeps running; `spotwarden logs -f {asked.job}` shows it")
    if said["follow"]:
        _follow(context, asked.job, since=record.at if said["again"] else None)


def _show(texts: Mapping[str, str], asked: LaunchRequest) -> None:
    """What would be written and sent; the job kit is named, not shown."""
    click.echo(texts[SCRIPT], nl=False)
    for name, text in texts.items():
        if name in KIT:
            click.echo(f"\n# {name}: the job kit, {amount(len(text.encode()))}")
        elif name != SCRIPT:
            click.echo(f"\n# {name}\n{text}", nl=False)
    for given in asked.inputs:
        click.echo(f"\n# input {given.name}: {given.local or given.address}")


def _check(context: Context, asked: LaunchRequest, *, again: bool, wait: bool) -> None:
    """Whether the job may be launched now, and has what it works on, before anything is written."""
    if problem := submission.problem(look(context, asked.job), again=again):
        raise click.ClickException(problem)
    _check_input_jobs(context, asked.input_jobs, wait=wait)
    stored = (given for given in asked.inputs if given.local is None)
    check_reachable(context, (given for given in stored if given.name not in asked.input_jobs))


def _check_input_jobs(context: Context, jobs: tuple[str, ...], *, wait: bool) -> None:
    """What they put out must be there, and all of it."""
    for job in jobs:
        facts, waits = look(context, job), False
        if not facts.ledger and facts.status_code is None:
            raise click.ClickException(f"--input-job: unknown job {job!r}. To list jobs: spotwarden jobs")
        while facts.status_code is None:
            if not wait:
                raise click.ClickException(f"--input-job: {job} hasn't ended. To wait for it, add --wait")
            if not waits:
                click.echo(f"waiting for {job} to end", err=True)
            waits = True
            time.sleep(LOOK_EVERY_SECONDS)
            facts = look(context, job)
        if facts.status_code != "0":
            raise click.ClickException(
                f"--input-job: {job} ended with status {facts.status_code}; "
                f"--input gs://{context.settings.bucket}/{context.settings.layout.folder(job)}output/ takes "
                "what there is"
            )


def _record(asked: LaunchRequest, setup: str, kit: str) -> RunRequest:
    """How it was asked for."""
    _flag, image, project = image_of(asked)
    return RunRequest(
        at=clock.now(),
        by=asked.owner or default_owner(),
        command=asked.command,
        machine=asked.machine.name,
        gpus=asked.machine.gpus,
        nodes=asked.nodes,
        place=asked.zone or asked.region,
        spot=not asked.on_demand,
        image=f"{project}/{image}" if project else image,
        container=asked.container,
        setup=setup,
        inputs=tuple(f"{given.address} {given.name}" for given in asked.inputs),
        input_jobs=asked.input_jobs,
        environment=tuple(asked.env),
        metrics=asked.metrics,
        tags=asked.tags,
        kit=kit,
    )


def _launch(
    context: Context, asked: LaunchRequest, folder: Path, record: RunRequest, limits: str, *, again: bool
) -> str:
    """Store everything and launch it, as `submit` does; gives where it runs, in a sentence."""
    package = read_script(context, folder / SCRIPT, resolve=None)
    first = look(context, asked.job, script=True)
    context.check_clock()
    if problem := submission.problem(first, again=again) or submission.another_script(first, package.launch):
        raise click.ClickException(problem)
    file = file_of(limits) if limits else first.file
    if not limits:
        check_timely(file, clock.now())
    refuse_named_alike(context, first, package.launch)
    refuse_beside(context, first, package.launch)
    tell_of_group(context.cloud.compute, package.launch)
    check_fitting(context, package.launch, file, record.by)
    check_allowed(context, package.launch, file, record.by)
    if problem := range_problem(package.launch, file):
        raise click.ClickException(problem)
    check_offered(context.cloud.compute, package.launch)
    check_others(context, package.launch, file)
    warn_of_places(context.cloud.compute, package.launch, file)
    check_priced(context, package.launch, file, record.by)
    check_left(context, first, package.launch, file, clock.now())
    storing(asked.job)
    with staging(context, first) as stage:
        more = _send_own(context, asked, stage, record)
        if limits:
            more[JobFileName(job=asked.job)] = limits.encode()
        store(stage, context.settings.layout, asked.job, package, more)
        staged = stage.finish()
    launched: JobFacts = start(context, first, package.launch, record.by, staged)
    done, now = first.progress.share, clock.now()
    return "\n".join(
        (told(launched.ledger[-1].attempt), *foretold(context, package.launch, file, done=done, now=now))
    )


def _send_own(
    context: Context, asked: LaunchRequest, stage: Staging, record: RunRequest
) -> dict[ObjectName, bytes]:
    """Send inputs and code; gives how the job was asked for, with the code that it has."""
    _send_inputs(context, asked, stage)
    if asked.code is not None:
        inputs = [given.local for given in asked.inputs if given.local is not None]
        code, size = store_code(stage, context.settings.layout, asked.job, asked.code, inputs)
        record = msgspec.structs.replace(record, code=code, code_bytes=size)
    return {RunRecord(job=asked.job): msgspec.json.format(msgspec.json.encode(record))}


def _send_inputs(context: Context, asked: LaunchRequest, stage: Staging) -> None:
    """Send what this machine's files are now; what is no longer among them goes with the launch."""
    for given in asked.inputs:
        if given.local is None:
            continue
        done = send_input(stage, asked.job, given, context.settings.layout)
        unchanged = f", {done.files - done.sent} unchanged" if done.sent < done.files else ""
        gone = f", {len(done.stale)} gone" if done.stale else ""
        sent = f"{done.sent} sent ({amount(done.size)})" if done.sent else "none sent"
        click.echo(f"input {given.name}: {count(done.files, 'file')}, {sent}{unchanged}{gone}", err=True)


def _follow(context: Context, job: str, *, since: datetime | None) -> None:
    """Print the log until the job ends, and end with its status; Ctrl-C leaves the job alone."""
    # A launch alone is quicker without the room of looking.
    from spotwarden.cli.looking.logs import follow  # noqa: PLC0415 — see above
    from spotwarden.cli.looking.reading import LinesWanted  # noqa: PLC0415 — see above

    raise click.exceptions.Exit(follow(context, job, LinesWanted(since=since)))
