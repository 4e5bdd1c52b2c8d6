"""The rules in force: what is planned for a call, and the admin API that changes them."""

import contextlib
import itertools
import random
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from localcloud.errors import ApiError
from localcloud.faults.rule import Effect, Rule


@dataclass(kw_only=True)
class _Armed:
    """A rule in force, with what it has left."""

    id: str
    rule: Rule
    left: int | None
    until: float | None
    dice: random.Random
    hits: int = 0

    def applies(self, now: float) -> bool:
        if self.left == 0 or (self.until is not None and now >= self.until):
            return False
        if self.dice.random() >= self.rule.probability:
            return False
        self.hits += 1
        if self.left is not None:
            self.left -= 1
        return True

    def resource(self) -> dict[str, Any]:
        return {"id": self.id, "rule": msgspec.to_builtins(self.rule), "hits": self.hits, "left": self.left}


class Faults:
    """The rules in force. The first rule that applies decides; `now` counts seconds and never goes back."""

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._ids = itertools.count(1)
        self._armed: dict[str, _Armed] = {}

    def add(self, rule: Rule) -> str:
        """Put a rule in force, after those that are; return its id."""
        rule_id = str(next(self._ids))
        until = None if rule.for_seconds is None else self._now() + rule.for_seconds
        dice = random.Random(rule.seed)
        self._armed[rule_id] = _Armed(id=rule_id, rule=rule, left=rule.count, until=until, dice=dice)
        return rule_id

    def remove(self, rule_id: str) -> None:
        """Take one rule out of force.

        Raises:
            ApiError: 404 when there is no such rule.
        """
        if self._armed.pop(rule_id, None) is None:
            raise ApiError(404, "notFound", f"There is no fault {rule_id}; GET /local/faults lists them.")

    def clear(self) -> None:
        """Take every rule out of force."""
        self._armed.clear()

    def rules(self) -> list[dict[str, Any]]:
        """Every rule, spent ones included, with `hits` and what is `left` (null: no limit)."""
        return [armed.resource() for armed in self._armed.values()]

    def plan(self, service: str, method: str, path: str) -> Effect | None:
        """Decide what befalls this call, and count it against the rule that applies; no I/O."""
        for armed in self._armed.values():
            if armed.rule.matches(service, method, path) and armed.applies(self._now()):
                return armed.rule.effect(service)
        return None

    @contextlib.asynccontextmanager
    async def around(self, service: str, method: str, path: str = "") -> AsyncIterator[None]:
        """Run a gRPC method's work in this block; what befalls the call is raised before or after it.

        Raises:
            ApiError: the status asked for; 503 for a cut connection, which is how gRPC reports one.
        """
        effect = self.plan(service, method, path)
        if effect is None:
            yield
            return
        if effect.after_work:
            yield
        await effect.wait()
        if effect.loses_answer:
            raise effect.error or ApiError(503, "backendError", "Connection reset by peer")
        if not effect.after_work:
            yield

    def admin_routes(self) -> list[BaseRoute]:
        """`/local/faults`: POST a rule, GET all, DELETE all or one by its id."""
        return [
            Route("/local/faults", self._post, methods=["POST"]),
            Route("/local/faults", self._get, methods=["GET"]),
            Route("/local/faults", self._delete_all, methods=["DELETE"]),
            Route("/local/faults/{id}", self._delete, methods=["DELETE"]),
        ]

    async def _post(self, request: Request) -> Response:
        try:
            rule = msgspec.json.decode(await request.body(), type=Rule)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ApiError(400, "invalid", f"This is no fault rule: {error}") from error
        return JSONResponse(self._armed[self.add(rule)].resource())

    async def _get(self, _request: Request) -> Response:
        return JSONResponse({"faults": self.rules()})

    async def _delete_all(self, _request: Request) -> Response:
        self.clear()
        return JSONResponse({})

    async def _delete(self, request: Request) -> Response:
        self.remove(request.path_params["id"])
        return JSONResponse({})
