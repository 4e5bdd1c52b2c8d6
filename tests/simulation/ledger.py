"""What may become of a ledger record, whoever writes it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from spotwarden.model.attempt import AttemptState
from spotwarden.recovery.folder.lifecycle import LIFE

SKEW = timedelta(seconds=60)
"""How far a sweep's clock may be off."""

_NEXT = {
    state.value: {state.value, *(after.value for after in ways.values())} for state, ways in LIFE.items()
}
CLOSED = {AttemptState.ENDED.value, AttemptState.STOPPED.value, AttemptState.GAVE_UP.value}


def faults(before: bytes | None, after: bytes, holder: str, now: datetime) -> list[str]:
    """What is wrong with this change of a record by this sweep; nothing where it may be made."""
    if before is None:
        return []
    old, new = msgspec.json.decode(before), msgspec.json.decode(after)
    return [why for why in (_lost(old, new), _illegal(old, new), _stolen(old, new, holder, now)) if why]


def _lost(old: dict[str, Any], new: dict[str, Any]) -> str:
    """A record keeps its beginning and its last try: whoever overwrites it blindly loses them."""
    if old["created"] != new["created"]:
        return f"the record made at {old['created']} was overwritten by one made at {new['created']}"
    tries = [one["request_id"] for one in new.get("tries", ())]
    for one in old.get("tries", ())[-1:]:
        if one["request_id"] not in tries:
            return f"the try of {one['place']} was lost"
    return ""


def _illegal(old: dict[str, Any], new: dict[str, Any]) -> str:
    if new["state"] in _NEXT.get(old["state"], {new["state"]}):
        return ""
    return f"{new['state']} does not follow {old['state']}"


def _stolen(old: dict[str, Any], new: dict[str, Any], holder: str, now: datetime) -> str:
    """A lease is another's until it has run out by any clock there is."""
    held, taken = old.get("lease"), new.get("lease")
    if not held or not taken or held["holder"] == taken["holder"] or taken["holder"] != holder:
        return ""
    until = datetime.fromisoformat(held["until"]).astimezone(UTC)
    return f"the lease of {held['holder']} was taken" if now + SKEW < until else ""
