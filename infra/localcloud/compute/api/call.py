"""One call of the REST API: its parameters and body, who makes it, and how an operation comes out of it."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from localcloud.compute import schema
from localcloud.compute.audit import Caller, Subject
from localcloud.compute.life import Ask
from localcloud.compute.links import region_of
from localcloud.compute.operations import Running
from localcloud.compute.rates import group_of
from localcloud.compute.receipts import Receipt, digest
from localcloud.compute.refusals import invalid_field, not_found
from localcloud.compute.resource_types import furnish
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site
from localcloud.errors import ApiError
from localcloud.http import Json, read_json
from localcloud.permissions import OWNER, caller

Answer = Mapping[str, Any]
Handler = Callable[["Call"], Awaitable[Answer]]

"""Who a caller is whose token does not say it: gcloud's, whose token file holds any text."""

_TOKEN = re.compile(r"Bearer local-(?P<email>\S+@\S+)", re.IGNORECASE)
_FUNCTION = re.compile(r"spotwarden/(?P<name>[a-z0-9-]+)")
VERSIONS = ("v1", "beta", "alpha")
WITHOUT_BODY = (
    *("/detachDisk", "/listManagedInstances", "/reset", "/resume", "/setDeletionProtection"),
    *("/setDiskAutoDelete", "/simulateMaintenanceEvent", "/start", "/stop", "/suspend", "/wait"),
    "/instanceGroupManagers/{instanceGroupManager}/resize",
)
"""Ends of the paths of methods that take no body: one that is sent is not even read, as on Google Cloud."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call; `body` is its JSON object."""

    site: Site
    request: Request
    body: Mapping[str, Any]

    def part(self, name: str) -> str:
        """A part of the path, such as `zone`; "" where the path has none."""
        return str(self.request.path_params.get(name, ""))

    @property
    def query(self) -> Mapping[str, str]:
        """The query parameters."""
        return self.request.query_params

    @property
    def project(self) -> str:
        """The project of the path."""
        return self.part("project")

    @property
    def scope(self) -> str:
        """`zones/Z`, `regions/R` or `global`, by the path."""
        for kind in ("zone", "region"):
            if self.part(kind):
                return f"{kind}s/{self.part(kind)}"
        return "global"

    @property
    def region(self) -> str:
        """The region of the path, or of the path's zone; "" where it has neither."""
        return self.part("region") or (region_of(self.part("zone")) if self.part("zone") else "")

    @property
    def caller(self) -> Caller:
        """Who calls. The local metadata servers give tokens that carry the account's address.

        A function sends no token to loopback: it is known by its door, or says who it is. As on Google Cloud,
        a service account is no person.
        """
        agent = self.request.headers.get("user-agent", "")
        if known := caller():
            return Caller(email=known.email, agent=agent)
        if match := _TOKEN.fullmatch(self.request.headers.get("authorization", "")):
            return Caller(email=match["email"], agent=agent)
        if match := _FUNCTION.fullmatch(agent):
            account = f"spotwarden-{match['name']}@{self.site.project}.iam.gserviceaccount.com"
            return Caller(email=account, agent=agent)
        return Caller(email=OWNER, agent=agent)

    @property
    def ask(self) -> Ask:
        """The call as operations and audit log need it."""
        return Ask(
            caller=self.caller,
            body=self.body,
            request_id=self.query.get("requestId", ""),
            discard_local_ssd=self.switch("discardLocalSsd") if "discardLocalSsd" in self.query else None,
        )

    def switch(self, name: str, *, default: bool = False) -> bool:
        """A query parameter that is true or false.

        Raises:
            ApiError: 400 when it is neither.
        """
        text = self.query.get(name, str(default)).lower()
        if text not in ("true", "false"):
            raise invalid_field(name, text, "It must be true or false.")
        return text == "true"

    def read(self, message: str) -> dict[str, Any]:
        """The body as a message of this name, in normal form.

        Raises:
            ApiError: 400 when it is none.
        """
        return schema.read(message, self.body)

    def once(self, work: Callable[[], Running]) -> Resource:
        """Do this unless the same request was carried out before; give its operation in either case.

        Raises:
            ApiError: 400 for a bad `requestId`; whatever the work refuses.
        """
        request_id = self.query.get("requestId", "")
        key = digest(self.request.method, self.request.url.path, self.query, self.body)
        known = self.site.receipts.find(request_id, key)
        if known:
            return self.site.operations.get(known.scope, known.operation)
        running = work()
        receipt = Receipt(digest=key, scope=running.order.scope, operation=running.name)
        self.site.receipts.keep(request_id, receipt)
        return running.resource

    def audited(self, method: str, subject: Subject, work: Callable[[], Running]) -> Resource:
        """As `once`; a refusal goes to the audit log."""
        try:
            return self.once(work)
        except ApiError as error:
            self.site.audit.refused(method, subject, self.caller, self.body, error)
            raise


def route(site: Site, method: str, path: str, handler: Handler, *, any_project: bool = False) -> Route:
    """The route of a method; `path` begins with `projects/{project}`.

    With `any_project` the handler looks after the project itself.
    """
    group = group_of(method, path)
    reads = method in ("POST", "PUT", "PATCH") and not path.endswith(WITHOUT_BODY)

    async def endpoint(request: Request) -> Response:
        furnish(site)
        body = await read_json(request) if reads else {}
        call = Call(site=site, request=request, body=body)
        _check_place(call, any_project=any_project)
        site.rates.count(group, call.region)
        return answer(await handler(call))

    return Route(f"/compute/{{version}}/{path}", endpoint, methods=[method])


def answer(content: Any) -> Response:
    """A JSON answer. msgspec renders a page of 500 instances in a few milliseconds."""
    return Json(content)


def _check_place(call: Call, *, any_project: bool) -> None:
    """Make sure that version, project, zone and region of the path are ours.

    Raises:
        ApiError: 404 or 400 when one is not.
    """
    site = call.site
    if call.part("version") not in VERSIONS:
        message = f"There is no version {call.part('version')!r} of Compute Engine; use v1."
        raise ApiError(404, "notFound", message)
    if not any_project and call.project not in (site.project, site.project_number):
        raise not_found(f"projects/{call.project}")
    zone, region = call.part("zone"), call.part("region")
    # In the path of an image family's view, `-` stands for any zone.
    if zone and zone not in site.catalog.zones and not (any_project and zone == "-"):
        raise invalid_field("zone", zone, "Unknown zone.")
    if region and region not in site.catalog.regions:
        raise invalid_field("region", region, "Unknown region.")
