"""Whether something of a job is still there, before its next attempt is launched."""

import time
from collections.abc import Mapping
from typing import Any

import click
from msgspec.structs import replace

from spotwarden import clock
from spotwarden.cli.context import Context, new_tick
from spotwarden.cli.launching.writing import KEEP_VM
from spotwarden.create_script.request.cache import with_places
from spotwarden.engine.context import SweepContext
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.recovery import submission
from spotwarden.recovery.instances.own_instances import with_own_instances
from spotwarden.recovery.observed.fates import alive
from spotwarden.recovery.places.memory import PlaceMemory

LEAVES_SECONDS = 90
"""How long a VM that goes by itself is waited for; a shutdown takes 30 s, or the 90 s of a regular stop."""
LOOK_EVERY_SECONDS = 2


def refuse_beside(context: Context, facts: JobFacts, launch: Launch) -> None:
    """Refuse to launch a job beside a VM of its own; `ClickException` says which, and what to do.

    One that goes by itself, as those of a job that has ended do, is waited for. Of one at rest that keeps the
    job out of the zone that was asked for its owner is told. An attempt under way is gone on with, and a job
    of which nothing is stored has no VM: nobody looks then.
    """
    if submission.in_flight(facts) or not (facts.ledger or facts.script):
        return
    if sent := submission.unsent_until(facts, clock.now()):
        raise click.ClickException(
            f"a request for VMs of {facts.job} may still be sent until {sent:%H:%M:%S} UTC, and a new attempt"
            " would run beside them. Nothing was stored or launched; try again then"
        )
    until, told = time.monotonic() + LEAVES_SECONDS, ""
    while problem := submission.beside(seen := with_instances(context, facts)):
        if kept := _kept(context, seen):
            raise click.ClickException(
                f"{kept} of {facts.job} stays by request (--keep-vm), and a new attempt would run beside it."
                f" Nothing was stored or launched. Delete it first: `spotwarden stop {facts.job} --delete`"
            )
        leaving = submission.leaving(seen)
        if not leaving or time.monotonic() >= until:
            raise click.ClickException(problem)
        if leaving != told:
            click.echo(f"waiting until {leaving} of {facts.job} is gone", err=True)
            told = leaving
        time.sleep(LOOK_EVERY_SECONDS)
    _tell_of_names(context, seen, launch)


def _kept(context: Context, facts: JobFacts) -> str:
    """The VMs of a job that has ended which do not go by themselves: their launch asked for that."""
    if facts.status_code is None:
        return ""
    running = [instance for instance in facts.instances if alive(instance)]
    return ", ".join(vm.called for vm in running if _stays(context.cloud.compute.resource(vm.zone, vm.id)))


def _stays(resource: Mapping[str, Any] | None) -> bool:
    items = (resource or {}).get("metadata", {}).get("items", ())
    return any(item.get("key") == KEEP_VM and item.get("value") == "1" for item in items)


def _tell_of_names(context: Context, facts: JobFacts, launch: Launch) -> None:
    """Say which VMs have the job's names where it was to be; only its own are its owner's to delete."""
    named = [vm for vm in (*facts.instances, *facts.namesakes) if vm.name in launch.nodes]
    in_the_way = [vm for vm in named if vm.zone == launch.place]
    if not in_the_way:
        return
    open_zones = _places(context, facts, launch) - {vm.zone for vm in named}
    where = "is launched in another zone" if open_zones else "waits until the name is free"
    for there in in_the_way:
        free = f"To free the name: gcloud compute instances delete {there.called} --zone={there.zone}"
        advice = free if there in facts.instances else f"That VM is not one of {facts.job}"
        click.echo(
            f"{there.zone} already has a VM {there.called} (ID {there.id}), so {facts.job} {where}. {advice}",
            err=True,
        )


def _places(context: Context, facts: JobFacts, launch: Launch) -> set[str]:
    """Where the launch may go, as recovery would have it."""
    settings, policy = context.settings, context.policy
    memory = PlaceMemory(context.cloud, settings.layout, policy, new_tick("submit"), workers=settings.workers)
    known = memory.recall(replace(facts, launch=launch))
    widened = with_places(known, policy.placement).launch
    return {choice.place for choice in widened.choices} if isinstance(widened, Launch) else set()


def with_instances(context: Context, facts: JobFacts) -> JobFacts:
    """The facts with the job's instances and its namesakes, as Compute Engine shows them now."""
    tick = new_tick("submit")
    sweep = SweepContext(
        cloud=context.cloud,
        settings=context.settings,
        policy=context.policy,
        tick=tick,
        executor=context.executor(tick),
    )
    return with_own_instances(sweep, facts)
