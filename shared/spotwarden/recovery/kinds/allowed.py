"""What a job may be launched as: what its owner and the policy allow, where that is known."""

from collections.abc import Mapping

from msgspec.structs import replace

from spotwarden.create_script.request.cache import with_machines, with_places
from spotwarden.model.facts import JobFacts
from spotwarden.model.placement import PlacementRecord
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.recovery.kinds.admission import admit_others
from spotwarden.recovery.kinds.complying import comply, within
from spotwarden.recovery.kinds.machines import launches


def as_allowed(facts: JobFacts, policy: Policy, tick: Tick, project: str) -> JobFacts:
    """The facts with other machine types, without what the policy refuses or would stop."""
    return comply(admit_others(with_machines(facts), policy.admission, project), policy, tick)


def where_allowed(facts: JobFacts, policy: Policy, tick: Tick) -> JobFacts:
    """The facts with every place that the job may go to, by what they remember of its machines."""
    return within(with_places(facts, policy.placement), policy, tick)


def with_records(facts: JobFacts, records: Mapping[str, PlacementRecord]) -> JobFacts:
    """The facts with what is remembered of each machine type."""
    own, *others = launches(facts)
    return replace(
        facts,
        places=records[own.machine],
        other_places={other.machine: records[other.machine] for other in others},
    )
