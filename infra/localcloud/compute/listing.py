"""Lists: which page is asked for, what stands on it, and the two forms of answer."""

import base64
import binascii
import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from localcloud.compute import filtering
from localcloud.compute.refusals import invalid_field
from localcloud.compute.shelf import Resource, Row, Rows
from localcloud.filters import Predicate

MOST = 500
NEWEST_FIRST = "creationTimestamp desc"
_ORDERS = ("", "name", NEWEST_FIRST)

Key = tuple[str, str]
"""Where an item stands: (scope, name), or ("", id) when the newest come first."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """Which page of a list is asked for. `after` is the key of the last item of the page before."""

    matches: Predicate | None
    newest_first: bool
    most: int
    after: Key | None


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page: items with their scopes, in order, and the token of the next page if there is one."""

    items: Sequence[tuple[str, Resource]]
    token: str = ""


def read_query(parameters: Mapping[str, str], message: str) -> Query:
    """Read the parameters that all lists share.

    Raises:
        ApiError: 400 when one of them cannot be used.
    """
    order = parameters.get("orderBy", "")
    if order not in _ORDERS:
        raise invalid_field("orderBy", order, f"Lists are sorted by `name` or by `{NEWEST_FIRST}`.")
    text = parameters.get("filter", "")
    return Query(
        matches=filtering.predicate(text, message) if text.strip() else None,
        newest_first=order == NEWEST_FIRST,
        most=_most(parameters.get("maxResults", "")),
        after=_key(parameters.get("pageToken", "")),
    )


def _most(text: str) -> int:
    if not text:
        return MOST
    if not (text.isdecimal() and text.isascii()):
        raise invalid_field("maxResults", text, f"It must be a number from 0 to {MOST}.")
    if int(text) > MOST:
        raise invalid_field("maxResults", text, f"Must be less than or equal to {MOST}")
    return int(text) or MOST


def _key(token: str) -> Key | None:
    if not token:
        return None
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(token), type=tuple[str, str])
    except (binascii.Error, ValueError) as error:
        raise invalid_field("pageToken", token, "It is not a token of this list.") from error


def _token(key: Key) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode()


def page(rows: Rows, scopes: Iterable[str], query: Query) -> Page:
    """The page of these scopes that is asked for."""
    if query.newest_first:
        return _newest(rows, scopes, query)
    found: list[tuple[str, Resource]] = []
    for scope, resource in _in_order(rows, sorted(scopes), query.after):
        if query.matches is None or query.matches(resource):
            if len(found) == query.most:
                last_scope, last = found[-1]
                return Page(items=found, token=_token((last_scope, last["name"])))
            found.append((scope, resource))
    return Page(items=found)


def _in_order(rows: Rows, scopes: Sequence[str], after: Key | None) -> Iterator[tuple[str, Resource]]:
    reached, name = after or ("", "")
    for scope in scopes:
        if scope >= reached and (row := rows.get(scope)):
            for resource in row.after(name if scope == reached else ""):
                yield scope, resource


def _newest(rows: Rows, scopes: Iterable[str], query: Query) -> Page:
    before = query.after[1] if query.after else None
    # Ids are given out in the order of time and all have the same length; times may be the same.
    older = (
        (resource["id"], scope, resource)
        for scope in scopes
        for resource in rows.get(scope, Row()).by_name.values()
        if (before is None or resource["id"] < before) and (query.matches is None or query.matches(resource))
    )
    found = heapq.nlargest(query.most + 1, older, key=lambda entry: entry[0])
    items = [(scope, resource) for _, scope, resource in found[: query.most]]
    more = len(found) > query.most
    return Page(items=items, token=_token(("", items[-1][1]["id"])) if more else "")


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """What goes around the items: `kind` of one (`compute#instance`), `plural` their collection."""

    kind: str
    plural: str
    self_link: str
    id: str


def flat(found: Page, envelope: Envelope, *, unreachable: str = "") -> dict[str, Any]:
    """The answer of `list`; `unreachable` is its scope when that cannot be looked at."""
    answer: dict[str, Any] = {"kind": f"{envelope.kind}List", "id": envelope.id}
    if found.items:
        answer["items"] = [resource for _, resource in found.items]
    if found.token:
        answer["nextPageToken"] = found.token
    answer["selfLink"] = envelope.self_link
    if unreachable:
        answer["warning"] = _unreachable(unreachable)
    return answer


def aggregated(
    found: Page, envelope: Envelope, *, scopes: Iterable[str], unreachable: Collection[str], partial: bool
) -> dict[str, Any]:
    """The answer of `aggregatedList`: every scope with its items, or with a warning why it has none.

    A caller who opted in to partial success (`partial`) also gets the unreachable scopes in `unreachables`.
    """
    by_scope: dict[str, list[Resource]] = {}
    for scope, resource in found.items:
        by_scope.setdefault(scope, []).append(resource)
    answer: dict[str, Any] = {"kind": f"{envelope.kind}AggregatedList", "id": envelope.id}
    answer["items"] = {
        scope: _scoped(scope, by_scope, envelope.plural, unreachable)
        for scope in sorted({*scopes, *by_scope})
    }
    if found.token:
        answer["nextPageToken"] = found.token
    answer["selfLink"] = envelope.self_link
    if partial and unreachable:
        answer["unreachables"] = sorted(unreachable)
    return answer


def _scoped(
    scope: str, by_scope: Mapping[str, list[Resource]], plural: str, unreachable: Collection[str]
) -> dict[str, Any]:
    if scope in by_scope:
        return {plural: by_scope[scope]}
    return {"warning": _unreachable(scope) if scope in unreachable else _no_results(scope)}


def _no_results(scope: str) -> dict[str, Any]:
    message = f"There are no results for scope '{scope}' on this page."
    return _warning("NO_RESULTS_ON_PAGE", message, scope)


def _unreachable(scope: str) -> dict[str, Any]:
    return _warning("UNREACHABLE", f"The scope '{scope}' is not reachable.", scope)


def _warning(code: str, message: str, scope: str) -> dict[str, Any]:
    return {"code": code, "message": message, "data": [{"key": "scope", "value": scope}]}
