"""What is said of a launch: that it runs, that it waits, or why not, and what to type."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import click

from spotwarden.cli.next_steps import next_step as step_after
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance
from spotwarden.model.launch import Launch
from spotwarden.recovery.kinds.machines import on_machine
from spotwarden.recovery.observed.identity import fits
from spotwarden.recovery.requests.refusals import RefusalKind, refusal

_NO_CAPACITY = "Compute Engine has no capacity for it right now"
_WAITS = {
    RefusalKind.FORBIDDEN: "Compute Engine denies permission to launch it",
    RefusalKind.NAME_TAKEN: "a name that it needs is taken there",
    RefusalKind.QUOTA: "the project's quota doesn't allow it right now",
}
"""Why an attempt waits."""
_REFUSED = {
    RefusalKind.STOCKOUT: "has no capacity right now",
    RefusalKind.NAME_TAKEN: "already has a VM of that name",
}
"""Why a place was passed over."""


def has_run(attempt: Attempt) -> bool:
    """Whether its instances were there, though the job may have ended before anybody could note their ids."""
    if attempt.state is AttemptState.RUNNING:
        return True
    asked_for = bool(attempt.tries and not attempt.tries[-1].error)
    return attempt.state is AttemptState.ENDED and bool(attempt.instances or asked_for)


def waits_for_name(attempt: Attempt) -> bool:
    """Whether it backs off since names that it needs are taken, as far as its record tells."""
    error = attempt.tries[-1].error if attempt.tries else ""
    is_name = refusal(error) is RefusalKind.NAME_TAKEN if error else True
    return attempt.state is AttemptState.BACKING_OFF and is_name


def holders(facts: JobFacts, attempt: Attempt, launch: Launch) -> tuple[str, ...]:
    """Each VM that holds a name of the launch, and whose it is, those of others first."""
    zones = {choice.place for choice in launch.choices} | {tried.place for tried in attempt.tries}
    there = [
        vm
        for vm in (*facts.namesakes, *facts.instances)
        if vm.name in launch.nodes
        and any(fits(vm.zone, place) for place in zones)
        and vm.id not in attempt.instances.values()
    ]
    return tuple(_holder(vm, facts, is_own=vm in facts.instances) for vm in there)


def _holder(vm: Instance, facts: JobFacts, *, is_own: bool) -> str:
    where = f"{vm.called} in {vm.zone} (ID {vm.id}, {vm.status.value})"
    if not is_own:
        return f"VM {where} has the name, and it is not one of {facts.job}"
    return f"{facts.job}'s own earlier VM {where} still has the name"


def refuse_if_over(attempt: Attempt, held: Sequence[str] = (), *, out: datetime | None = None) -> None:
    """Raise what a person reads of an attempt that no longer starts here: why, what follows, what to type.

    `held` says which VMs hold a name that it waits for, `out` when one of its places last had no room.
    """
    error = attempt.tries[-1].error if attempt.tries else ""
    job = attempt.job
    if attempt.state is AttemptState.GAVE_UP:
        step = step_after(error) or "\nFix the cause"
        raise click.ClickException(
            f"Compute Engine refused the launch: {error or attempt.reason}{step}. Then launch it again with"
            f" --again, or run: spotwarden restart {job}"
        )
    if attempt.state in {AttemptState.STOPPED, AttemptState.ENDED}:
        raise click.ClickException(
            f"attempt {attempt.number} of {job} {attempt.state.value} meanwhile: {attempt.reason}"
        )
    if attempt.state is AttemptState.BACKING_OFF:
        last = f", the last one at {out:%H:%M:%S} UTC" if out else " a moment ago"
        why = error.rstrip(".") or f"each of its zones refused this machine type{last}"
        words = _WAITS.get(refusal(error), _NO_CAPACITY)
        if held:
            words, why = f"{job} waits for a name", "; ".join(held)
        # It may be older than this command, which has found it on record.
        at = f" It was refused at {attempt.tries[-1].last_word:%H:%M:%S} UTC." if error and not held else ""
        raise click.ClickException(
            f"{words}: {why}.{at} Spotwarden tries again every minute."
            f"{step_after(error)}\nTo see its status: spotwarden show {job}"
        )


def told(attempt: Attempt) -> str:
    """Where the attempt runs, in a sentence."""
    ids = ", ".join(attempt.instances.values())
    place = f" in {attempt.tries[-1].place}{on_machine(attempt.tries[-1])}" if attempt.tries else ""
    if attempt.in_line:
        return (
            f"{attempt.job}: attempt {attempt.number} waits for capacity{place} (Flex-start). Spotwarden"
            f" registers the VM when it starts. To see its status: spotwarden show {attempt.job}"
        )
    passed = "".join(_passed_over(attempt))
    if not ids:
        return f"{attempt.job}: attempt {attempt.number} ran{place} and has ended{passed}"
    return f"{attempt.job}: attempt {attempt.number} runs{place} as instance {ids}{passed}"


def _passed_over(attempt: Attempt) -> Iterator[str]:
    """A line for each place that was asked before the one that gave it, and why it did not."""
    refused = {tried.place: tried.error for tried in attempt.tries if tried.error}
    given = attempt.tries[-1].place if attempt.tries else ""
    for place, error in refused.items():
        if place != given:
            words = _REFUSED.get(refusal(error), "refused it")
            yield f"\n  {place} {words}: {error}"
