"""The machine types that a job is asked for: its script's own, then those that its owner allows instead."""

from collections.abc import Iterable

from spotwarden.model.attempt import Attempt, Try
from spotwarden.model.facts import JobFacts
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.placement import PlacementRecord


def machine_key(launch: Launch) -> str:
    """The name under which places for this machine are remembered."""
    return "-".join((launch.machine, *launch.accelerators))


def split_key(key: str) -> tuple[str, str]:
    """The machine type of such a name, and the type of the GPUs that are attached to it, "" for none."""
    machine, gpu, kind = key.partition("-nvidia-")
    return machine, f"{gpu[1:]}{kind}" if gpu else ""


def launches(facts: JobFacts) -> tuple[Launch, ...]:
    """The launch of its script, then those on other machine types, in their order."""
    return (facts.launch, *facts.launch.instead) if isinstance(facts.launch, Launch) else ()


def said(facts: JobFacts, launch: Launch) -> str:
    """How a try names the machine type of this launch: "" for that of the script."""
    return "" if launch is facts.launch else launch.machine


def launch_on(facts: JobFacts, machine: str) -> Launch | None:
    """The launch that a try has named so; None where its owner, or the policy, no longer allows it."""
    return next((launch for launch in launches(facts) if said(facts, launch) == machine), None)


def remembered(facts: JobFacts, launch: Launch) -> PlacementRecord:
    """What is remembered of places for the machine of this launch."""
    known = facts.places if launch is facts.launch else facts.other_places.get(launch.machine)
    return known or PlacementRecord(machine=launch.machine)


def lost_on(newest: Attempt | None) -> str:
    """The machine type that this attempt ran on, as a try names it."""
    return newest.tries[-1].machine if newest and newest.tries else ""


def ran_on(chain: Iterable[Attempt], attempt: Attempt | None) -> str:
    """The machine type that an attempt of this chain ran on, as a try names it; "" for the script's own.

    Whoever starts a stopped VM again leaves no try: that of the attempt tells which made the VM.
    """
    if attempt is None or attempt.tries:
        return lost_on(attempt)
    ids = set(attempt.instances.values())
    makers = [known for known in chain if known.tries and ids & set(known.instances.values())]
    return lost_on(makers[-1]) if makers else ""


def runs_on(facts: JobFacts) -> str:
    """The machine type that the newest attempt runs on, or was lost on."""
    return ran_on((recorded.attempt for recorded in facts.ledger), facts.newest)


def is_on_demand(newest: Attempt) -> bool:
    """Whether an attempt was asked for as an on-demand VM instead of its script's spot VM."""
    last = newest.tries[-1] if newest.tries else None
    return last is not None and (not last.spot if last.model is None else last.model is VmModel.STANDARD)


def on_machine(tried: Try) -> str:
    """The words for a try on another machine type; "" for the script's own."""
    return f" on {tried.machine}" if tried.machine else ""
