"""The error that every endpoint of the local cloud answers with."""

from collections.abc import Mapping
from typing import Any

STATUS_NAMES: Mapping[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ALREADY_EXISTS",
    412: "FAILED_PRECONDITION",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class ApiError(Exception):
    """An answer other than success, worded as the real API words it.

    `status` is the HTTP status, `reason` the camel-case word of `errors[].reason` (`notFound`,
    `alreadyExists`, `conditionNotMet`, …), `domain` what it belongs to. gRPC services map `status` through
    `STATUS_NAMES`.
    """

    def __init__(
        self, status: int, reason: str, message: str, *, location: str = "", domain: str = "global"
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.location = location
        self.domain = domain

    def body(self) -> dict[str, Any]:
        """The JSON body: the `error` object of Google's REST APIs."""
        item: dict[str, Any] = {"message": self.message, "domain": self.domain, "reason": self.reason}
        if self.location:
            item |= {"locationType": "parameter", "location": self.location}
        return {"error": {"code": self.status, "message": self.message, "errors": [item]}}
