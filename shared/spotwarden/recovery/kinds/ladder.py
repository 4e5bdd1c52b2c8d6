"""Which kind of VM the next try asks for: spot, then Flex-start, then on-demand, as job or policy say.

The wait counts from when the attempt was begun, so that each attempt begins with the first kind again.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from spotwarden.model.facts import JobFacts
from spotwarden.model.ladder import Rung, VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.limits import PlacementLimits
from spotwarden.recovery.kinds.flexible import LONGEST_WAIT, SHORTEST_FLEXIBLE_RUN

LONGEST_FLEXIBLE_RUN = timedelta(days=7)
_BOUND = "RESERVATION_BOUND"
_OF_SPOT = frozenset(("preemptible", "provisioningModel", "preemptionNoticeDuration", "automaticRestart"))


def ladder_of(facts: JobFacts, limits: PlacementLimits) -> tuple[Rung, ...]:
    """The job's own, else the policy's; none for a script that has paid for its capacity.

    A bulk request makes no Flex-start VMs, so a gang leaves these out; all leave out what would be stopped.
    The group of a Flex-start slice is made for such VMs, so it has none either.
    """
    launch = facts.launch
    if not isinstance(launch, Launch) or _is_bound(launch) or (launch.slice and launch.flexible):
        return ()
    said = limits.ladder if facts.file.ladder is None else facts.file.ladder
    out = {*facts.stopped, *({VmModel.FLEX} if launch.gang else ())}
    return tuple(rung for rung in said if rung.model not in out)


def from_now_on(ladder: Sequence[Rung], waited: timedelta) -> Iterator[Rung]:
    """The kinds that may be asked for after this wait, the one whose turn it is first."""
    until = timedelta(0)
    for number, rung in enumerate(ladder, start=1):
        until += rung.up_to or timedelta(0)
        endless = rung.up_to is None or number == len(ladder)
        if endless or waited < until:
            yield rung


def as_model(body: Mapping[str, Any], model: VmModel) -> dict[str, Any]:
    """The body of a create request, asking for this kind of VM.

    What only another kind may have goes: a notice of preemption, a wait for room, and the time limit that a
    Flex-start script had to have.
    """
    bulk = "instanceProperties" in body
    inner = dict(body["instanceProperties"] if bulk else body)
    said = dict(inner.get("scheduling", {}))
    inner["scheduling"] = _SCHEDULING[model](said)
    params = {
        key: value for key, value in inner.get("params", {}).items() if key != "requestValidForDuration"
    }
    if model is VmModel.FLEX:
        waits = inner.get("params", {}).get("requestValidForDuration")
        params["requestValidForDuration"] = waits or {"seconds": str(int(LONGEST_WAIT.total_seconds()))}
        inner.setdefault("reservationAffinity", {"consumeReservationType": "NO_RESERVATION"})
    if params or "params" in inner:
        inner["params"] = params
    return {**body, "instanceProperties": inner} if bulk else inner


def _spot(said: Mapping[str, Any]) -> dict[str, Any]:
    if said.get("provisioningModel") == "SPOT" or said.get("preemptible"):
        return dict(said)
    kept = {key: value for key, value in _unlimited(said).items() if key not in _OF_SPOT}
    action = {"instanceTerminationAction": said.get("instanceTerminationAction", "DELETE")}
    spot = {"provisioningModel": "SPOT", "preemptible": True, "automaticRestart": False}
    return {**kept, **action, **spot, "onHostMaintenance": "TERMINATE"}


def _flex(said: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in said.items() if key not in _OF_SPOT}
    limit = {} if "terminationTime" in kept else {"maxRunDuration": _run_of(said)}
    action = {"instanceTerminationAction": said.get("instanceTerminationAction", "DELETE")}
    own = {"provisioningModel": "FLEX_START", "onHostMaintenance": "TERMINATE"}
    return {**kept, **limit, **action, **own}


def _run_of(said: Mapping[str, Any]) -> dict[str, str]:
    """The script's own run time as far as a Flex-start VM may have it, else the longest."""
    own = timedelta(seconds=int(said.get("maxRunDuration", {}).get("seconds", 0))) or LONGEST_FLEXIBLE_RUN
    run = min(max(own, SHORTEST_FLEXIBLE_RUN), LONGEST_FLEXIBLE_RUN)
    return {"seconds": str(int(run.total_seconds()))}


def _standard(said: Mapping[str, Any]) -> dict[str, Any]:
    unlimited = _unlimited(said)
    gone = _OF_SPOT if "maxRunDuration" in unlimited or "terminationTime" in unlimited else _OF_SPOT | _ACTION
    kept = {key: value for key, value in unlimited.items() if key not in gone}
    # Neither spot nor Flex-start VMs migrate, nor do VMs with GPUs: without the word a standard VM would.
    stays = {"onHostMaintenance": "TERMINATE"} if _rents(said) else {}
    return {**stays, **kept, "provisioningModel": "STANDARD"}


_ACTION = frozenset(("instanceTerminationAction",))
_SCHEDULING = {VmModel.SPOT: _spot, VmModel.FLEX: _flex, VmModel.STANDARD: _standard}


def _rents(said: Mapping[str, Any]) -> bool:
    """Whether it is asked for as spot or Flex-start."""
    return bool(said.get("preemptible")) or said.get("provisioningModel") in {"SPOT", "FLEX_START"}


def _unlimited(said: Mapping[str, Any]) -> dict[str, Any]:
    """Without the limit that a Flex-start VM must have; any other limit is its owner's choice."""
    if said.get("provisioningModel") != "FLEX_START":
        return dict(said)
    return {key: value for key, value in said.items() if key not in ("maxRunDuration", "terminationTime")}


def _is_bound(launch: Launch) -> bool:
    model = launch.properties.get("scheduling", {}).get("provisioningModel")
    return bool(model == _BOUND)
