"""Why a launch is first asked for elsewhere than its script says, for whoever has written that."""

from datetime import datetime

from spotwarden.model.attempt import Try
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.spans import moment
from spotwarden.recovery.kinds.machines import remembered
from spotwarden.recovery.kinds.price_limits import prices_in
from spotwarden.recovery.places import placement
from spotwarden.recovery.places.avoiding import avoided, is_avoided, said


def why_not_home(facts: JobFacts, first: Try, limits: PlacementLimits, now: datetime) -> str:
    """Why its first try is of another place than home; "" where it is not, or nothing that is known tells."""
    launch = facts.launch
    if not isinstance(launch, Launch) or first.machine or first.place == launch.place:
        return ""
    if named := [entry for entry in avoided(facts, limits, now) if is_avoided(launch.place, (entry,))]:
        return f"it is avoided: {said(named)}"
    if first.spot and (trouble := _trouble(facts, launch, first.place, limits, now)):
        return trouble
    if first.why:
        return first.why
    prices = prices_in(facts, launch, first.model, spot=first.spot)
    home, there = prices.get(launch.place), prices.get(first.place)
    return "it costs more" if home is not None and there is not None and there < home else ""


def _trouble(facts: JobFacts, launch: Launch, place: str, limits: PlacementLimits, now: datetime) -> str:
    """What jobs with this machine type went through at home, where that counts against it."""
    known = remembered(facts, launch).availability
    home = known.get(launch.place, placement.CLEAR)
    if home.out is not None and abs(now - home.out) < limits.fragile:
        return f"a job found no capacity there at {moment(home.out)}"
    there = known.get(place, placement.CLEAR)
    if round(placement.trouble(home, now, limits)) <= round(placement.trouble(there, now, limits)):
        return ""
    return "it had more stockouts and preemptions of late, counted over all jobs with this machine type"
