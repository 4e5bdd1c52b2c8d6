"""Getting and listing the resources of any collection."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from starlette.routing import BaseRoute

from localcloud.compute.api.call import Answer, Call, route
from localcloud.compute.listing import Envelope, aggregated, flat, page, read_query
from localcloud.compute.refusals import not_found
from localcloud.compute.shelf import Row, Rows
from localcloud.compute.site import Site

Get = Callable[[Call, str], Answer]


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A collection as the API shows it.

    `kind` is that of one resource, `message` its name in the schema, `parameter` its name in the path.
    `home` is where it lives: `zones`, `regions` or `global`. `all_homes`: aggregated lists show all scopes.
    """

    name: str
    kind: str
    message: str
    parameter: str
    home: str
    rows: Callable[[], Rows]
    get: Get
    has_aggregated: bool = True
    has_list: bool = True
    all_homes: bool = False


class Made(Mapping[str, Row]):
    """Rows that are made when they are first looked at: what a zone offers."""

    def __init__(self, scopes: Sequence[str], make: Callable[[str], Row]) -> None:
        self._scopes = frozenset(scopes)
        self._make = make
        self._rows: dict[str, Row] = {}

    def __getitem__(self, scope: str) -> Row:
        if scope not in self._scopes:
            raise KeyError(scope)
        if scope not in self._rows:
            self._rows[scope] = self._make(scope)
        return self._rows[scope]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scopes)

    def __len__(self) -> int:
        return len(self._scopes)


def by_name(site: Site, collection: str, rows: Callable[[], Rows]) -> Get:
    """Gets a resource by its name or id, as it is now."""

    def get(call: Call, name: str) -> Answer:
        row = rows().get(call.scope)
        resource = row.find(name) if row else None
        if resource is None:
            raise not_found(f"projects/{site.project}/{call.scope}/{collection}/{name}")
        return resource

    return get


_PARTS = {"zones": "zones/{zone}", "regions": "regions/{region}", "global": "global"}


def shown_routes(site: Site, shown: Shown) -> list[BaseRoute]:
    """The routes that get one resource and list them, in a scope and over all."""
    base = f"projects/{{project}}/{_PARTS[shown.home]}/{shown.name}"

    async def get(call: Call) -> Answer:
        return shown.get(call, call.part(shown.parameter))

    async def listed(call: Call) -> Answer:
        return list_in_scope(call, shown)

    async def over_all(call: Call) -> Answer:
        return list_over_all(call, shown)

    routes: list[BaseRoute] = [route(site, "GET", f"{base}/{{{shown.parameter}}}", get)]
    if shown.has_list:
        routes.append(route(site, "GET", base, listed))
    if shown.has_aggregated:
        path = f"projects/{{project}}/aggregated/{shown.name}"
        routes.append(route(site, "GET", path, over_all))
    return routes


def list_in_scope(call: Call, shown: Shown) -> Answer:
    """One page of the resources in the scope of the path."""
    query = read_query(call.query, shown.message)
    unreachable = call.scope if call.scope in _unreachable(call.site, shown) else ""
    found = page(shown.rows(), () if unreachable else (call.scope,), query)
    path = f"{call.scope}/{shown.name}"
    return flat(found, _envelope(call, shown, path), unreachable=unreachable)


def list_over_all(call: Call, shown: Shown) -> Answer:
    """One page of the resources in all scopes; scopes that cannot be reached are left out, and named."""
    query = read_query(call.query, shown.message)
    unreachable = _unreachable(call.site, shown)
    rows = shown.rows()
    found = page(rows, (scope for scope in rows if scope not in unreachable), query)
    return aggregated(
        found,
        _envelope(call, shown, f"aggregated/{shown.name}"),
        scopes=_homes(call, shown),
        unreachable=unreachable,
        partial=call.switch("returnPartialSuccess"),
    )


def _unreachable(site: Site, shown: Shown) -> Collection[str]:
    # What a zone offers is known without asking it; what is in it is not.
    return site.reach.lost() if shown.name in {"instances", "disks", "operations"} else ()


def _homes(call: Call, shown: Shown) -> list[str]:
    catalog = call.site.catalog
    zones = [f"zones/{zone}" for zone in catalog.zones]
    regions = [f"regions/{region}" for region in catalog.regions]
    if shown.all_homes or call.switch("includeAllScopes"):
        return [*zones, *regions, "global"]
    return {"zones": zones, "regions": regions, "global": ["global"]}[shown.home]


def _envelope(call: Call, shown: Shown, path: str) -> Envelope:
    return Envelope(
        kind=shown.kind,
        plural=shown.name,
        self_link=call.site.links.link(path),
        id=f"projects/{call.site.project}/{path}",
    )
