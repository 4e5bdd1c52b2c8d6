"""The knobs: what the cloud does to people, done on demand. JSON in, JSON out, under `/local/`."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcloud.compute.api.call import answer
from localcloud.compute.fleet import Fleet
from localcloud.compute.knobs import Knobs
from localcloud.compute.notices import NoticeRefusal
from localcloud.compute.refusals import STOCKOUT_REASONS
from localcloud.errors import ApiError

Body = TypeVar("Body")
Seconds = Annotated[float, msgspec.Meta(ge=0, le=10**9)]


class _Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a knob."""


class _Target(_Body, frozen=True, kw_only=True):
    node: str = ""
    id: str = ""
    action: Literal["", "STOP", "DELETE"] = ""

    @property
    def name_or_id(self) -> str:
        if bool(self.node) == bool(self.id):
            raise ApiError(400, "invalid", "Give either `node`, the name of an instance, or its `id`.")
        return self.node or self.id


class _Preemption(_Target, frozen=True, kw_only=True):
    called_off: bool = False


class _Stockout(_Body, frozen=True, kw_only=True):
    zone: str
    machine: str = ""
    model: str = ""
    for_seconds: Seconds | None = None
    left: Annotated[int, msgspec.Meta(ge=0)] = 0
    reason: str = STOCKOUT_REASONS[0]


class _Quota(_Body, frozen=True, kw_only=True):
    metric: str
    region: str = ""
    limit: Annotated[float, msgspec.Meta(ge=0)] | None = None


class _Notice(_Body, frozen=True, kw_only=True):
    machine: str
    refused: NoticeRefusal | None = NoticeRefusal.FIELD


class _Rate(_Body, frozen=True, kw_only=True):
    metric: str = ""
    limit: Annotated[int, msgspec.Meta(ge=0)] | None = None


class _Unreachable(_Body, frozen=True, kw_only=True):
    zone: str
    for_seconds: Seconds


class _Stale(_Body, frozen=True, kw_only=True):
    seconds: Seconds


class _Image(_Body, frozen=True, kw_only=True):
    name: str
    family: str = ""
    project: str = ""


MOST_SHOWN = 1000


class ComputeAdmin:
    """The routes of the knobs."""

    def __init__(self, knobs: Knobs) -> None:
        self._knobs = knobs

    def routes(self) -> list[BaseRoute]:
        """All of them."""
        knobs = self._knobs
        return [
            _post(
                "/local/preempt",
                _Preemption,
                lambda body: knobs.preempt(body.name_or_id, body.action, called_off=body.called_off),
            ),
            _post("/local/host-error", _Target, lambda body: knobs.host_error(body.name_or_id)),
            _post("/local/stockout", _Stockout, self._begin_stockout),
            _on(
                "DELETE",
                "/local/stockout",
                _Stockout,
                lambda body: knobs.end_stockout(body.zone, body.machine, body.model),
            ),
            Route("/local/stockout", self._stockouts, methods=["GET"]),
            _post("/local/quota", _Quota, lambda body: knobs.set_quota(body.metric, body.limit, body.region)),
            Route("/local/quota", self._quotas, methods=["GET"]),
            _post(
                "/local/preemption-notice",
                _Notice,
                lambda body: knobs.refuse_notice(body.machine, body.refused),
            ),
            _post("/local/rates", _Rate, lambda body: knobs.limit_rate(body.metric, body.limit)),
            _on("DELETE", "/local/rates", _Body, lambda _body: knobs.rates.reset()),
            Route("/local/rates", self._rates, methods=["GET"]),
            Route("/local/timings", self._set_timings, methods=["POST"]),
            Route("/local/timings", self._timings, methods=["GET"]),
            _post(
                "/local/unreachable",
                _Unreachable,
                lambda body: knobs.lose(body.zone, _lasting(body.for_seconds)),
            ),
            _post("/local/stale", _Stale, lambda body: knobs.let_lists_lag(_lasting(body.seconds))),
            _post("/local/log-lag", _Stale, lambda body: knobs.let_the_log_lag(_lasting(body.seconds))),
            _post("/local/fleet", Fleet, lambda body: {"instances": knobs.create_fleet(body)}),
            _on("DELETE", "/local/fleet", _Body, lambda _body: {"deleted": knobs.dissolve_fleet()}),
            _post(
                "/local/images", _Image, lambda body: knobs.add_image(body.name, body.family, body.project)
            ),
            Route("/local/instances", self._instances, methods=["GET"]),
            Route("/local/history", self._history, methods=["GET"]),
        ]

    def _begin_stockout(self, body: _Stockout) -> None:
        lasting = None if body.for_seconds is None else _lasting(body.for_seconds)
        self._knobs.begin_stockout(
            body.zone, body.machine, body.model, lasting=lasting, left=body.left, reason=body.reason
        )

    async def _stockouts(self, _request: Request) -> Response:
        return answer({"stockouts": [asdict(stockout) for stockout in self._knobs.stockouts()]})

    async def _quotas(self, _request: Request) -> Response:
        limits = self._knobs.quotas().items()
        shown = [{"metric": metric, "region": region, "limit": limit} for (metric, region), limit in limits]
        return answer({"quotas": shown})

    async def _rates(self, _request: Request) -> Response:
        counts = self._knobs.rates.counts().items()
        shown = [
            {
                "metric": metric,
                "region": region,
                "calls": count.calls,
                "refused": count.refused,
                "busiest_minute": count.busiest_minute,
            }
            for (metric, region), count in sorted(counts)
        ]
        return answer({"limits": self._knobs.rates.limits, "counts": shown})

    async def _timings(self, _request: Request) -> Response:
        return answer(self._knobs.timings())

    async def _set_timings(self, request: Request) -> Response:
        return answer(self._knobs.set_timings(await _read(request, dict[str, Any])))

    async def _instances(self, request: Request) -> Response:
        most = request.query_params.get("limit", str(MOST_SHOWN))
        if not most.isdecimal():
            raise ApiError(400, "invalid", f"`limit` is {most!r}; give a number.")
        resources = list(self._knobs.instances())
        counts = Counter(resource["status"] for resource in resources)
        shown = [_overview(resource) for resource in resources[: int(most)]]
        return answer({"count": len(resources), "by_status": dict(counts), "instances": shown})

    async def _history(self, _request: Request) -> Response:
        return answer({"changes": list(self._knobs.history())})


def admin_routes(knobs: Knobs) -> list[BaseRoute]:
    """The routes under `/local/`."""
    return ComputeAdmin(knobs).routes()


def _overview(resource: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": resource["name"],
        "id": resource["id"],
        "zone": resource["zone"].rpartition("/")[2],
        "machine_type": resource["machineType"].rpartition("/")[2],
        "status": resource["status"],
        "spot": bool(resource["scheduling"].get("preemptible")),
        "created": resource["creationTimestamp"],
    }


def _post(path: str, body: type[Body], do: Callable[[Body], Any]) -> Route:
    return _on("POST", path, body, do)


def _on(method: str, path: str, body: type[Body], do: Callable[[Body], Any]) -> Route:
    async def endpoint(request: Request) -> Response:
        return answer(do(await _read(request, body)) or {})

    return Route(path, endpoint, methods=[method])


async def _read(request: Request, body: type[Body]) -> Body:
    raw = await request.body()
    try:
        return msgspec.json.decode(raw or b"{}", type=body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ApiError(400, "invalid", f"{request.url.path}: {error}") from error


def _lasting(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)
