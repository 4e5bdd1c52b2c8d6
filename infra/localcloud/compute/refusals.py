"""What Compute Engine answers when it does not do it, worded as the real API words it.

A request is refused at once (`ApiError`), or its operation ends with a `Failure`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from localcloud.errors import ApiError


def invalid_field(name: str, value: object, why: str) -> ApiError:
    """A value that cannot be used; `name` is a parameter or the path of a field (`resource.name`)."""
    return ApiError(400, "invalid", f"Invalid value for field '{name}': '{value}'. {why}")


def not_compatible(*features: str) -> ApiError:
    """What cannot be had together, such as a disk's type and a machine type."""
    named = ", ".join(features)
    return ApiError(400, "badRequest", f"[{named}] features are not compatible for creating instance.")


def not_found(path: str) -> ApiError:
    """No such resource; `path` starts with `projects/`."""
    return ApiError(404, "notFound", f"The resource '{path}' was not found")


def already_exists(path: str) -> ApiError:
    """The name is taken."""
    return ApiError(409, "alreadyExists", f"The resource '{path}' already exists")


def not_ready(path: str) -> ApiError:
    """The resource is in the middle of something; it can be asked again later."""
    return ApiError(400, "resourceNotReady", f"The resource '{path}' is not ready")


def in_use(path: str, user: str) -> ApiError:
    """Another resource needs it."""
    return ApiError(400, "resourceInUseByAnotherResource", _in_use(path, user))


def in_use_after_all(path: str, user: str) -> "Failure":
    """The same of a network: Compute Engine takes the request, and its operation fails."""
    return Failure(code="RESOURCE_IN_USE_BY_ANOTHER_RESOURCE", message=_in_use(path, user), http_status=400)


def _in_use(path: str, user: str) -> str:
    """A resource is called here by its kind: `disk`, `instance_template`."""
    collection = path.split("/")[-2]
    word = _KINDS.get(collection) or collection.removesuffix("s")
    return f"The {word} resource '{path}' is already being used by '{user}'"


_KINDS: Mapping[str, str] = {
    "addresses": "address",
    "instanceTemplates": "instance_template",
    "resourcePolicies": "resource_policy",
}


def misused(why: str) -> ApiError:
    """Something that cannot be done with a resource of this kind."""
    return ApiError(400, "invalidResourceUsage", f"Invalid resource usage: '{why}'.")


def unsupported(message: str) -> ApiError:
    """Something that cannot be done to this resource, or not as it is now."""
    return ApiError(400, "unsupportedOperation", message)


def stale(message: str) -> ApiError:
    """A fingerprint that is not the one of now."""
    return ApiError(412, "conditionNotMet", message)


def forbidden(permission: str, path: str) -> ApiError:
    """The caller may not see or do that."""
    return ApiError(403, "forbidden", f"Required '{permission}' permission for '{path}'")


HTTP_MESSAGES: Mapping[int, str] = {
    400: "BAD REQUEST",
    403: "FORBIDDEN",
    404: "NOT FOUND",
    409: "CONFLICT",
    500: "INTERNAL SERVER ERROR",
    503: "SERVICE UNAVAILABLE",
}

# google.rpc.Code, for the `status` of an audit log entry.
RPC_CODES: Mapping[int, int] = {400: 3, 403: 7, 404: 5, 409: 6, 412: 9, 429: 8, 500: 13, 503: 14}


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why an operation did not do it: one entry of its `error.errors`, and the HTTP status beside it."""

    code: str
    message: str
    http_status: int
    details: Sequence[Mapping[str, Any]] = field(default_factory=tuple)

    def fields(self) -> dict[str, Any]:
        """The fields that it adds to the operation."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details:
            error["errorDetails"] = list(self.details)
        return {
            "error": {"errors": [error]},
            "httpErrorStatusCode": self.http_status,
            "httpErrorMessage": HTTP_MESSAGES[self.http_status],
        }


def internal_failure(error: BaseException) -> Failure:
    """Something broke in the local cloud itself."""
    message = f"Internal error of the local cloud: {type(error).__name__}: {error}"
    return Failure(code="INTERNAL_ERROR", message=message, http_status=500)


_TROUBLESHOOTING = {
    "help": {
        "links": [
            {
                "description": "Troubleshooting documentation",
                "url": "https://cloud.google.com/compute/docs/resource-error",
            }
        ]
    }
}

STOCKOUT_REASONS = ("resource_availability", "gpu_availability", "configuration_availability")
"""The known words of `errorInfo.reason`; with the last one, the zone does not offer such a machine at all."""


@dataclass(frozen=True, kw_only=True)
class Shortage:
    """A machine that a zone does not have: `attachment` is its GPUs (`nvidia-l4:1`) or empty."""

    zone: str
    machine: str
    attachment: str
    reason: str
    elsewhere: Sequence[str] = ()

    def failure(self, project: str) -> Failure:
        """How the operation ends; wordings from "Troubleshoot resource availability errors"."""
        compute = "'(state:STOCKOUT, sub-state:STOCKOUT, resource type:compute)'."
        return Failure(
            code="ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
            message=f"The zone 'projects/{project}/zones/{self.zone}' does not have enough resources"
            f" available to fulfill the request.  {compute}",
            http_status=503,
            details=[
                _TROUBLESHOOTING,
                {"localizedMessage": {"locale": "en-US", "message": self._advice()}},
                {"errorInfo": self._info()},
            ],
        )

    def _info(self) -> dict[str, Any]:
        return {
            "domain": "compute.googleapis.com",
            "reason": self.reason,
            "metadatas": {
                "vmType": self.machine,
                "attachment": self.attachment,
                "zone": self.zone,
                "zonesAvailable": ",".join(self.elsewhere),
            },
        }

    def _advice(self) -> str:
        kind, _, count = self.attachment.partition(":")
        gpus = f" with {count} {kind} accelerator(s)" if kind else ""
        start = f"A {self.machine} VM instance{gpus} is currently unavailable in the {self.zone} zone."
        zones = ",".join(self.elsewhere)
        other = (
            f" Consider trying your request in the {zones} zone(s), which currently has capacity to"
            " accommodate your request."
        )
        return (
            f"{start}{other if zones else ''} Alternatively, you can try your request again with a different"
            " VM hardware configuration or at a later time. For more information, see the troubleshooting"
            " documentation."
        )


def quota_exceeded(*, metric: str, limit: float, region: str | None) -> Failure:
    """A limit of the project is reached, in a region or, with None, over all."""
    where = f"in region {region}" if region else "globally"
    name = metric.replace("_", "-")
    info = {
        "metricName": f"compute.googleapis.com/{metric.lower()}",
        "limitName": f"{name}-per-project-region" if region else f"{name}-per-project",
        "dimensions": {"region": region} if region else {"global": "global"},
        "limit": limit,
    }
    return Failure(
        code="QUOTA_EXCEEDED",
        message=f"Quota '{metric}' exceeded.  Limit: {limit:.1f} {where}.",
        http_status=403,
        details=[{"quotaInfo": info}],
    )


def min_count_not_reached(wanted: int) -> Failure:
    """A bulk request that could not create as many as it had to; what there was is deleted again."""
    return Failure(
        code="VM_MIN_COUNT_NOT_REACHED",
        message=f"Requested minimum count of {wanted} VMs could not be created.",
        http_status=503,
    )
