"""What is let through although a discovery document does not have it, each with its reason."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """A finding that is none: where the document says less than the API does."""

    finding: str
    reason: str


EXCEPTIONS: tuple[Allowed, ...] = (
    Allowed(
        finding=r"query \$alt: there is no such parameter",
        reason="a system parameter; google-cloud-compute asks with it for enums as numbers",
    ),
    Allowed(
        finding=r"query returnPartialSuccess: there is no such parameter",
        reason="in the reference of every list of Compute Engine v1, and sent by gcloud; left out here",
    ),
    Allowed(
        finding=r"query upload_id: there is no such parameter",
        reason="part of the URL that a resumable upload gets back, which clients use as it is",
    ),
    Allowed(
        finding=r"query \w+: '(True|False)' is no boolean",
        reason="gcloud writes booleans as Python does, and Google takes them",
    ),
    Allowed(
        finding=r"request\.acl: it is required",
        reason="older than uniform bucket-level access, which leaves no list to send",
    ),
    Allowed(
        finding=r"request\..*: None is no \w+.*",
        reason="in a patch, null removes a member (JSON merge patch)",
    ),
    Allowed(
        finding=r"request\..*: \d+ is no string \(u?int64 goes as a string\)",
        reason="in a request Google takes 64-bit numbers in either form, and its Python client sends numbers",
    ),
)


def is_allowed(finding: str) -> bool:
    """Whether a finding is one of the exceptions."""
    return any(re.fullmatch(allowed.finding, finding, re.DOTALL) for allowed in EXCEPTIONS)
