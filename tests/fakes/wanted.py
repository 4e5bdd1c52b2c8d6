"""What a create request asks for: which VMs, under which names, in which zones."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from spotwarden.model.request import Request
from spotwarden.ports import RejectedError

_INSERT = re.compile(r"/compute/\w+/projects/[^/]+/zones/(?P<place>[^/]+)/instances")
_BULK = re.compile(r"/compute/\w+/projects/[^/]+/(?:zones|regions)/(?P<place>[^/]+)/instances/bulkInsert")
_REGION = re.compile(r"[a-z]+-[a-z]+\d+")
_HASHES = re.compile(r"(?P<before>[^#]*)(?P<hashes>#{1,18})(?P<after>[^#]*)")


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A create request, read. `names` is empty where they follow `pattern`; fewer than `least` are none."""

    place: str
    bulk: bool
    body: Mapping[str, Any]
    names: Sequence[str]
    pattern: str = ""
    count: int = 1
    least: int = 1
    denied: Collection[str] = ()


def read(request: Request) -> Wanted:
    """Read a request that inserts one VM or, in a zone or a region, many; refuse any other."""
    if insert := _INSERT.fullmatch(request.path):
        name = str(request.body["name"])
        return Wanted(place=insert["place"], bulk=False, body=request.body, names=(name,))
    if bulk := _BULK.fullmatch(request.path):
        return _bulk(bulk["place"], request.body)
    raise RejectedError("notFound", f"the fake knows no {request.path}")


def _bulk(place: str, body: Mapping[str, Any]) -> Wanted:
    each, pattern = body.get("perInstanceProperties", {}), body.get("namePattern", "")
    if bool(each) == bool(pattern) or (pattern and not _HASHES.fullmatch(pattern)):
        raise RejectedError("invalid", "exactly one of namePattern (with #) and perInstanceProperties")
    count = int(body.get("count", len(each)))
    least = int(body.get("minCount", count))
    if not 1 <= least <= count or (each and len(each) != count):
        raise RejectedError("invalid", f"count {count}, minCount {least}, {len(each)} names")
    rules = body.get("locationPolicy", {}).get("locations", {})
    return Wanted(
        place=place,
        bulk=True,
        body=body["instanceProperties"],
        names=tuple(one.get("name") or key for key, one in each.items()),
        pattern=pattern,
        count=count,
        least=least,
        denied=[key.rpartition("/")[2] for key, rule in rules.items() if rule.get("preference") == "DENY"],
    )


def zones_of(wanted: Wanted, zones: Sequence[str]) -> Sequence[str]:
    """The zones that come into question, of those there are."""
    if not _REGION.fullmatch(wanted.place):
        return [wanted.place]
    return [one for one in zones if one.startswith(f"{wanted.place}-") and one not in wanted.denied]


def names_of(wanted: Wanted, taken: Collection[str]) -> Sequence[str]:
    """Its names; by a pattern they go on after the greatest number that is taken."""
    match = _HASHES.fullmatch(wanted.pattern)
    if match is None:
        return wanted.names
    before, digits, after = match["before"], len(match["hashes"]), match["after"]
    mine = re.compile(re.escape(before) + rf"(\d{{{digits},18}})" + re.escape(after))
    last = max((int(found[1]) for name in taken if (found := mine.fullmatch(name))), default=0)
    return [f"{before}{number:0{digits}}{after}" for number in range(last + 1, last + wanted.count + 1)]
