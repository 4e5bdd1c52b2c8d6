"""The nodes of a bulk request, and the request that makes exactly these, all or none.

Source: "BulkInsertInstanceResource" in the reference of the Compute Engine API.
"""

import re
from collections.abc import Mapping
from typing import Any

from spotwarden.create_script.refusal import ScriptRefused

# "About bulk creation of VMs": up to 5,000 with each call.
_MOST_MACHINES = 5_000
_PATTERN = re.compile(r"([^#]*)(#{1,18})([^#]*)")


def nodes_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the instances that a bulk request makes where none of their like exists.

    Raises:
        Refused: the names cannot be told from the request alone.
    """
    each, count = body.get("perInstanceProperties"), int(body.get("count", 0))
    if count > _MOST_MACHINES:
        raise ScriptRefused(
            f"it asks for {count} machines, and one bulk create makes at most {_MOST_MACHINES}"
        )
    if not each:
        return _numbered(body.get("namePattern", ""), count)
    if len(each) != count:
        raise ScriptRefused(f"it names {len(each)} machines and asks for {count}; leave --count out")
    return tuple(own.get("name") or name for name, own in each.items())


def _numbered(pattern: str, count: int) -> tuple[str, ...]:
    """The names by a pattern: numbers from 1 on, with a digit for each `#`."""
    found = _PATTERN.fullmatch(pattern)
    if found is None:
        raise ScriptRefused(f"the name pattern {pattern!r} needs one row of 1 to 18 #, as in trainer-##")
    if count < 1:
        raise ScriptRefused("a bulk create of 0 machines is not a job; add --count")
    before, hashes, after = found.groups()
    if len(str(count)) > len(hashes):
        # What Compute Engine does then is not documented.
        raise ScriptRefused(
            f"the name pattern {pattern!r} has too few # for {count} machines; write one per digit"
        )
    return tuple(f"{before}{number:0{len(hashes)}}{after}" for number in range(1, count + 1))


def whole(body: Mapping[str, Any], nodes: tuple[str, ...]) -> dict[str, Any]:
    """The bulk request for these nodes by name, all of them or none.

    A pattern goes on from the greatest number there is: with one old machine still about, the new ones
    would bear other names than those that the job's nodes know each other by.
    """
    each = body.get("perInstanceProperties") or {node: {} for node in nodes}
    kept = {field: value for field, value in body.items() if field != "namePattern"}
    count = str(len(nodes))
    return {**kept, "perInstanceProperties": dict(each), "count": count, "minCount": count}
