"""Whether another open job has a node of the same name, before a job is launched."""

import click

from spotwarden.cli.context import Context
from spotwarden.layout import OpenJob
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.recovery import submission
from spotwarden.recovery.folder.job_folder import look_at_job
from spotwarden.recovery.markers.reading import job_names


def refuse_named_alike(context: Context, facts: JobFacts, launch: Launch) -> None:
    """Refuse nodes that have the name of another open job's node: heartbeats and markers go by that name.

    So it is with a job `a-1` beside a gang `a`. An attempt under way is gone on with.
    """
    if submission.in_flight(facts):
        return
    for other in _opened(context, facts.job, launch):
        shared = sorted(_nodes(context, other) & set(launch.nodes))
        if shared:
            raise click.ClickException(
                f"the open job {other} has a node {shared[0]}, and {facts.job} would have one of that name:"
                " heartbeats and preemptions of the two could not be told apart. Nothing was stored or"
                f" launched. Give {facts.job} another name, or end {other} first: `spotwarden stop {other}`"
            )


def _opened(context: Context, job: str, launch: Launch) -> list[str]:
    """The open jobs that may have such a node, by their names."""
    layout = context.settings.layout
    names = {name for node in launch.nodes for name in (node, *job_names(node))} - {job}
    entries = {layout.build(OpenJob(job=name)): name for name in sorted(names)}
    if not entries:
        return []
    found = context.cloud.store.entries(layout.open_jobs(), start=min(entries), end=f"{max(entries)}~")
    return [entries[entry.name] for entry in found if entry.name in entries]


def _nodes(context: Context, job: str) -> set[str]:
    """The nodes of its newest attempt, and what its script would create."""
    facts = look_at_job(context.cloud.store, context.settings.layout, job)
    recorded = facts.newest.instances if facts.newest else ()
    return {*recorded, *(facts.launch.nodes if isinstance(facts.launch, Launch) else ())}
