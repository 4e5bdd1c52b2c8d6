"""Errors of the APIs that answer with a `google.rpc.Code`."""

from collections.abc import Mapping
from typing import Any

import grpc

from localcloud.errors import STATUS_NAMES, ApiError

# google/rpc/code.proto names the HTTP status of each code; the reasons are those of the older error form.
CODES: Mapping[str, tuple[int, str]] = {
    "CANCELLED": (499, "clientClosedRequest"),
    "UNKNOWN": (500, "backendError"),
    "INVALID_ARGUMENT": (400, "badRequest"),
    "DEADLINE_EXCEEDED": (504, "gatewayTimeout"),
    "NOT_FOUND": (404, "notFound"),
    "ALREADY_EXISTS": (409, "alreadyExists"),
    "PERMISSION_DENIED": (403, "forbidden"),
    "UNAUTHENTICATED": (401, "authError"),
    "RESOURCE_EXHAUSTED": (429, "rateLimitExceeded"),
    "FAILED_PRECONDITION": (400, "failedPrecondition"),
    "ABORTED": (409, "aborted"),
    "OUT_OF_RANGE": (400, "outOfRange"),
    "UNIMPLEMENTED": (501, "notImplemented"),
    "INTERNAL": (500, "internalError"),
    "UNAVAILABLE": (503, "backendError"),
}


class RpcError(ApiError):
    """A failure with a code, a key of `CODES`: of Pub/Sub, Monitoring, Logging and Scheduler, and of JSON."""

    def __init__(self, code: str, message: str) -> None:
        status, reason = CODES[code]
        super().__init__(status, reason, message)
        self.code = code

    def body(self) -> dict[str, Any]:
        """The JSON body as these APIs write it, with `status`."""
        body = super().body()
        body["error"]["status"] = self.code
        return body


def code_of(error: ApiError) -> grpc.StatusCode:
    """The gRPC status of an error of any service."""
    name = error.code if isinstance(error, RpcError) else STATUS_NAMES.get(error.status, "UNKNOWN")
    return grpc.StatusCode[name]
