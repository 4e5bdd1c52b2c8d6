"""What is deployed, to look at: no method here changes anything.

On Google Cloud each of these APIs has a host of its own. Here each has a path of its own, since several have
methods of the same path.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcloud.clock import Clock, rfc3339
from localcloud.deployed.shown import LOCATION, DeployedFunction, function_of, service_of
from localcloud.errors import ApiError
from localcloud.http import Json
from localcloud.project import number_of

OLDER = (
    "/cloudfunctions/v1/{rest:path}",
    "/run/v2/{rest:path}",
    "/v1/projects/{project}/dashboards{rest:path}",
)
"""Other versions of these APIs and of Monitoring, of which no more is done than what stands before them."""
_EVERY = ["GET", "POST", "PUT", "PATCH", "DELETE"]


class _Name(StringConvertor):
    """A name, and not a name with a method behind a colon."""

    regex = "[^/:]+"


register_url_convertor("id", _Name())


class DeployedService:
    """Answers of the functions that run at the moment of the question."""

    def __init__(
        self, *, project: str, clock: Clock, running: Callable[[], Sequence[DeployedFunction]]
    ) -> None:
        self._project = project
        self._running = running
        self._since = rfc3339(clock.now())

    def routes(self) -> list[BaseRoute]:
        """The methods of all of them."""
        place = "/v2/projects/{project}/locations/{location}"
        return [
            Route("/cloudfunctions/v1/projects/{project}/locations", self._locations),
            Route("/cloudfunctions/v1/projects/{project}/locations/{location}/functions", self._none),
            Route("/cloudfunctions/v2/projects/{project}/locations", self._locations),
            Route(f"/cloudfunctions{place}/functions", self._functions),
            Route(f"/cloudfunctions{place}/functions/{{function:id}}", self._function),
            Route("/run/v1/projects/{project}/locations/{location}/services", self._services),
        ]

    def undone(self) -> list[BaseRoute]:
        """The methods of other versions: each is refused by its path."""
        return [Route(path, _undone, methods=_EVERY) for path in OLDER]

    def _expect_project(self, request: Request) -> None:
        if request.path_params["project"] not in (self._project, number_of(self._project)):
            name = request.path_params["project"]
            raise ApiError(403, "forbidden", f"Permission denied on resource project {name}.")

    async def _locations(self, request: Request) -> Response:
        self._expect_project(request)
        _take(request, ("pageSize",))
        name = f"projects/{self._project}/locations/{LOCATION}"
        return Json({"locations": [{"name": name, "locationId": LOCATION}]})

    async def _none(self, request: Request) -> Response:
        """There are no functions of the first generation."""
        self._expect_project(request)
        return Json({})

    def _here(self, request: Request) -> Sequence[DeployedFunction]:
        self._expect_project(request)
        return self._running() if request.path_params["location"] in ("-", LOCATION) else ()

    async def _functions(self, request: Request) -> Response:
        _take(request, ("pageSize",), filters=_SECOND)
        shown = [self._function_shown(running) for running in self._here(request)]
        return Json({"functions": shown} if shown else {})

    def _function_shown(self, running: DeployedFunction) -> Mapping[str, Any]:
        return function_of(running, self._project, self._since)

    async def _function(self, request: Request) -> Response:
        _take(request, ())
        place, name = request.path_params["location"], request.path_params["function"]
        for running in self._here(request):
            if running.name == name and place == LOCATION:
                return Json(self._function_shown(running))
        path = f"projects/{self._project}/locations/{place}/functions/{name}"
        raise ApiError(404, "notFound", f"Resource '{path}' was not found")

    async def _services(self, request: Request) -> Response:
        _take(request, ())
        shown = [service_of(running, self._project, self._since) for running in self._here(request)]
        answer = {"apiVersion": "serving.knative.dev/v1", "kind": "ServiceList"}
        return Json({**answer, "metadata": {"selfLink": ""}, **({"items": shown} if shown else {})})


async def _undone(request: Request) -> Response:
    message = f"The local cloud does not do {request.method} {request.url.path}."
    raise ApiError(501, "notImplemented", message)


_COMMON = ("alt", "prettyPrint", "key", "quotaUser", "$alt", "fields", "access_token")


_SECOND = ('environment="GEN_2"',)
"""The filters that gcloud sends, which leave nothing out here."""


def _take(request: Request, names: Sequence[str], *, filters: Sequence[str] = ()) -> None:
    """Refuse a query parameter that asks for something that is not done.

    Raises:
        ApiError: 501 with its name.
    """
    for name, value in request.query_params.items():
        if name == "filter" and value in filters:
            continue
        if name not in (*names, *_COMMON) and value.lower() not in ("", "false", "0"):
            raise ApiError(501, "notImplemented", f"The local cloud does not do the parameter {name}.")
