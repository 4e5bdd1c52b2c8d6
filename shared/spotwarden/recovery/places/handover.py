"""Which VMs are asked for with a notice of their preemption, and what follows where that is refused.

No page of Google's says which machine types take the notice. So it is asked for, and a request that is
refused with it is sent to the same place once more without it, at once. That is no refusal of the place.
"""

from datetime import datetime, timedelta

from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.placement import PlacementRecord
from spotwarden.recovery.kinds.machines import launch_on, remembered
from spotwarden.recovery.places.choosing import Choosing
from spotwarden.recovery.places.movable import hands_over, has_one_zone
from spotwarden.recovery.requests.refusals import names_notice

FORGOTTEN = timedelta(days=1)
"""How long a machine type is asked for without a notice once it was refused with one."""


def succeeds_early(facts: JobFacts, limits: RecoveryLimits) -> bool:
    """Whether a successor begins while a VM that was told still runs: of a single VM, never of a gang.

    The nodes of a gang save and stop together. All of it is made anew once one of them is gone, or the others
    go on without that; so is the last one of a gang that bends, whose others somebody has removed. In the
    only zone of a job nothing can be asked for while its VM has the name.
    """
    if facts.file.nodes or has_one_zone(facts):
        return False
    nodes = facts.launch.nodes if isinstance(facts.launch, Launch) else ()
    instances = facts.newest.instances if facts.newest else ()
    return hands_over(facts, limits) and len(nodes) <= 1 and len(instances) <= 1


def asks_for_notice(
    facts: JobFacts, attempt: Attempt, chosen: Choosing, limits: RecoveryLimits, now: datetime
) -> bool | None:
    """Whether a VM of this kind is asked for with a notice; None where the request stays as it is."""
    launch = launch_on(facts, chosen.machine)
    if launch is None or not hands_over(facts, limits):
        return None
    spot = launch.spot and chosen.spot if chosen.model is None else chosen.model is VmModel.SPOT
    return spot and not _is_refused(attempt, chosen.machine) and not _is_remembered(facts, launch, now)


def _is_refused(attempt: Attempt, machine: str) -> bool:
    return any(names_notice(tried) for tried in attempt.tries if tried.machine == machine)


def _is_remembered(facts: JobFacts, launch: Launch, now: datetime) -> bool:
    record: PlacementRecord = remembered(facts, launch)
    return record.no_notice is not None and abs(now - record.no_notice) < FORGOTTEN
