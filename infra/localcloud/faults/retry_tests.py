"""Faults that a client orders by a header, as Google's storage testbench has them for its conformance tests.

`POST /retry_test` takes instructions for methods. A call with `x-retry-test-id` is hit by the next of them.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from localcloud.errors import ApiError
from localcloud.faults.rule import WORDINGS

_KIB = 1024
_FIRST_BYTES = 4
_KNOWN = re.compile(
    r"return-(?P<reset>reset-connection)"
    r"|return-(?P<broken>broken-stream)(-after-(?P<sent>\d+)K)?"
    r"|return-(?P<status>[45]\d\d)(-after-(?P<taken>\d+)K)?"
)


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """What befalls a call: an error, maybe amid an upload; an answer that breaks off; or a cut connection."""

    status: int = 0
    after: int = 0
    broken_after: int = 0

    @classmethod
    def read(cls, text: str) -> "Instruction":
        """Read one, such as `return-503-after-256K`.

        Raises:
            ApiError: 501 for one that is not done.
        """
        match = _KNOWN.fullmatch(text)
        if match is None:
            raise ApiError(501, "notImplemented", f"The local cloud does not do the instruction {text}.")
        if match["status"]:
            return cls(status=int(match["status"]), after=int(match["taken"] or 0) * _KIB)
        if match["broken"]:
            return cls(broken_after=int(match["sent"] or 0) * _KIB or _FIRST_BYTES)
        return cls()

    def error(self) -> ApiError:
        """The error that the client gets."""
        reason, message = WORDINGS.get(("", self.status), ("invalid", f"Retry Test: Caused a {self.status}"))
        return ApiError(self.status, reason, message)


class _Wanted(msgspec.Struct, frozen=True):
    instructions: dict[str, list[str]]
    transport: str = "HTTP"


class RetryTests:
    """The retry tests that are open, each with the instructions that are left for each method."""

    def __init__(self) -> None:
        self._left: dict[str, dict[str, list[str]]] = {}

    def add(self, instructions: Mapping[str, list[str]]) -> str:
        """Open a retry test; return its id.

        Raises:
            ApiError: 400 without an instruction, 501 for one that is not done.
        """
        if not any(instructions.values()):
            raise ApiError(400, "invalid", "A retry test needs an instruction for a method.")
        for texts in instructions.values():
            for text in texts:
                Instruction.read(text)
        test = secrets.token_hex(16)
        self._left[test] = {method: list(texts) for method, texts in instructions.items()}
        return test

    def next(self, test: str, method: str) -> Instruction | None:
        """What befalls the next call of this method; it stays the next until `done`.

        Raises:
            ApiError: 404 when there is no such retry test.
        """
        texts = self._of(test).get(method)
        return Instruction.read(texts[0]) if texts else None

    def done(self, test: str, method: str) -> None:
        """The next instruction has been carried out."""
        del self._of(test)[method][0]

    def _of(self, test: str) -> dict[str, list[str]]:
        if test not in self._left:
            raise ApiError(404, "notFound", f"Retry Test {test} does not exist.")
        return self._left[test]

    def _resource(self, test: str) -> dict[str, Any]:
        left = self._of(test)
        done = not any(left.values())
        return {"id": test, "instructions": left, "transport": "HTTP", "completed": done}

    def routes(self) -> list[BaseRoute]:
        """The paths of the testbench."""
        one = "/retry_test/{id}"
        return [
            Route("/retry_test", self._post, methods=["POST"]),
            Route("/retry_tests", self._list, methods=["GET"]),
            Route(one, self._get, methods=["GET"]),
            Route(one, self._delete, methods=["DELETE"]),
        ]

    async def _post(self, request: Request) -> Response:
        try:
            wanted = msgspec.json.decode(await request.body(), type=_Wanted)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ApiError(400, "invalid", f"This is no retry test: {error}") from error
        if wanted.transport.upper() != "HTTP":
            raise ApiError(
                501, "notImplemented", f"The local cloud does not do retry tests of {wanted.transport}."
            )
        return JSONResponse(self._resource(self.add(wanted.instructions)))

    async def _list(self, _request: Request) -> Response:
        return JSONResponse({"retry_test": [self._resource(test) for test in self._left]})

    async def _get(self, request: Request) -> Response:
        return JSONResponse(self._resource(request.path_params["id"]))

    async def _delete(self, request: Request) -> Response:
        self._of(request.path_params["id"])
        del self._left[request.path_params["id"]]
        return JSONResponse({})
