"""Which jobs may be moved while they run: what hands over, keeps its work, and has another place to go to.

The place of an on-demand VM is one, too, for the spot VM beside it that bears a second name.
"""

from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.placement import region_of
from spotwarden.recovery.kinds.machines import is_on_demand
from spotwarden.recovery.requests.notice_field import says_early
from spotwarden.recovery.requests.second_name import may_be_beside
from spotwarden.recovery.requests.slice_groups import is_slice


def wants_handover(facts: JobFacts) -> bool:
    """Whether its VMs hand over to their successors: as job.toml says, else as its create script does."""
    if facts.file.handover is not None:
        return facts.file.handover
    return isinstance(facts.launch, Launch) and says_early(facts.launch.request)


def hands_over(facts: JobFacts, limits: RecoveryLimits) -> bool:
    """The same, where the policy allows it."""
    return limits.handover and not is_slice(facts) and wants_handover(facts)


def is_movable(facts: JobFacts) -> bool:
    """Whether the job may be moved: to another of its places, or from on-demand to spot in its only one."""
    if not may_come_back(facts):
        return False
    return not has_one_zone(facts) or (facts.newest is not None and is_on_demand(facts.newest))


def may_come_back(facts: JobFacts) -> bool:
    """Whether the job could be moved from an on-demand VM: a single one whose script asks for spot."""
    launch = facts.launch
    if not isinstance(launch, Launch) or launch.gang or not launch.spot:
        return False
    return wants_handover(facts) and facts.file.move and (len(launch.choices) > 1 or may_be_beside(facts))


def has_one_zone(facts: JobFacts) -> bool:
    """Whether the job may go to one zone and nowhere else."""
    places = [choice.place for choice in facts.launch.choices] if isinstance(facts.launch, Launch) else []
    return len(places) == 1 and places[0] != region_of(places[0])


def keeps_work(facts: JobFacts) -> bool:
    """Whether a move costs little work: it has told a checkpoint, or its owner has said so."""
    return bool(facts.progress.checkpoint) or bool(facts.file.handover)
