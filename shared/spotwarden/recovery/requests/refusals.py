"""What an error of Compute Engine means for the next try."""

import re
from enum import Enum

from spotwarden.model.attempt import Try


class RefusalKind(Enum):
    """How far a refusal reaches, and for how long."""

    STOCKOUT = "the zone has no capacity now"
    QUOTA = "the project's quota in the region is used up"
    NOT_OFFERED = "the zone does not offer it"
    NOT_READY = "another operation on the instance is under way"
    NAME_TAKEN = "the name is still taken there"
    FORBIDDEN = "permission is denied"
    FAULTY = "the request is invalid"
    NOTICE = "the machine type has no preemption notice"
    OTHER = "a temporary error"


_WORDS = (
    (RefusalKind.NOT_OFFERED, r"configuration_availability|unsupported|not[ _]supported"),
    (
        RefusalKind.STOCKOUT,
        r"RESOURCE_POOL_EXHAUSTED|resource_availability|stockout|insufficientCapacity|VM_MIN_COUNT_NOT_REACHED",
    ),
    (RefusalKind.NOT_READY, r"^resourceNotReady|RESOURCE_NOT_READY"),
    (RefusalKind.QUOTA, r"quota"),
    (RefusalKind.NAME_TAKEN, r"^alreadyExists|RESOURCE_ALREADY_EXISTS|resourceInUse|RESOURCE_IN_USE"),
)
_FAULTY = frozenset(("invalid", "required", "badRequest", "notFound"))
"""Refusals that asking again cannot change (reason words of Compute's `errors[].reason`)."""
_FORBIDDEN = frozenset(
    (
        "forbidden",
        "notAuthorized",
        "accessDenied",
        "accessNotConfigured",
        "insufficientPermissions",
        "PERMISSION_DENIED",
        "IAM_PERMISSION_DENIED",
        "SERVICE_DISABLED",
        "BILLING_DISABLED",
        "PERMISSIONS_ERROR",
        "SERVICE_ACCOUNT_ACCESS_DENIED",
        "http403",
        "HTTP 403",
    )
)
"""Refusals for want of a right: a grant takes minutes to hold everywhere, and a slip of somebody's is mended.

A quota or a rate limit comes with 403 as well, and says so by its reason ("Troubleshooting API errors").
"""
_NO_ACCOUNT = "does not have access to service account"
"""How Compute Engine words that we may not act as the VM's account, whatever the reason word."""
_NOT_FOR_VMS = "not allowed to use the machine type"
"""How it words that a machine type is there for other services only, as v5e's: no grant changes that."""

_OF_NOTICE = re.compile(r"preemption[ _-]?notice", re.IGNORECASE)


def refusal(error: str) -> RefusalKind:
    """What kind of refusal this error is; the first word is Compute's own code."""
    word = error.partition(":")[0]
    if _NOT_FOR_VMS in error:
        return RefusalKind.FAULTY
    if _OF_NOTICE.search(error):
        return RefusalKind.NOTICE
    if word in _FORBIDDEN or _NO_ACCOUNT in error:
        return RefusalKind.FORBIDDEN
    if word in _FAULTY:
        return RefusalKind.FAULTY
    for kind, pattern in _WORDS:
        if re.search(pattern, error, re.IGNORECASE):
            return kind
    return RefusalKind.OTHER


_ELSEWHERE = re.compile(r"\bzonesAvailable=([a-z0-9,-]+)")


def elsewhere(error: str) -> frozenset[str]:
    """The zones that a stockout names as having room now (`zonesAvailable` of its details)."""
    found = _ELSEWHERE.search(error)
    return frozenset(found[1].split(",")) if found else frozenset()


LASTING = frozenset((RefusalKind.NOT_OFFERED, RefusalKind.FAULTY, RefusalKind.NOTICE))
"""What makes a place useless for the whole attempt."""


def lacks_notice(tried: Try) -> bool:
    """Whether it was refused with a notice that we had put into it: the place may still give it without."""
    return bool(tried.notice and tried.error) and refusal(tried.error) in LASTING


def names_notice(tried: Try) -> bool:
    """Whether its refusal says that it is for the notice that we had put into it."""
    return bool(tried.notice) and refusal(tried.error) is RefusalKind.NOTICE
