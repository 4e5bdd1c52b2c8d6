"""Access control lists as data: who has which role ("Access control lists (ACLs)"). Pure."""

import re
from collections.abc import Mapping
from typing import Any

from localcloud.errors import ApiError

Acl = Mapping[str, str]
"""Role by entity."""

OWNER, WRITER, READER = "OWNER", "WRITER", "READER"
OBJECT_ROLES = (OWNER, READER)
BUCKET_ROLES = (OWNER, WRITER, READER)
EVERYBODY = ("allUsers", "allAuthenticatedUsers")
MOST_ENTRIES = 100
"""Of one list ("Quotas & limits")."""
_ENTITY = re.compile(
    r"allUsers|allAuthenticatedUsers|(user|group|domain)-[^\s/]+|project-(owners|editors|viewers)-[^\s/]+"
)


def project_private(number: str) -> Acl:
    """What members of the project have by their roles in it: the list of what says nothing else."""
    return {
        f"project-owners-{number}": OWNER,
        f"project-editors-{number}": OWNER,
        f"project-viewers-{number}": READER,
    }


def predefined(name: str, number: str, *, bucket: bool, parameter: str) -> Acl:
    """The entries that a predefined list stands for ("Predefined ACLs"), besides that of an object's owner.

    Raises:
        ApiError: 400 for one that there is not.
    """
    owners = f"project-owners-{number}"
    own: Acl = {owners: OWNER} if bucket else {}
    known: dict[str, Acl] = {
        "private": own,
        "projectPrivate": project_private(number),
        "publicRead": {**own, "allUsers": READER},
        "authenticatedRead": {**own, "allAuthenticatedUsers": READER},
    }
    if bucket:
        known["publicReadWrite"] = {**own, "allUsers": WRITER}
    else:
        known |= {"bucketOwnerRead": {owners: READER}, "bucketOwnerFullControl": {owners: OWNER}}
    if name not in known:
        raise ApiError(400, "invalid", f"Invalid value for {parameter}: {name!r}.", location=parameter)
    return known[name]


def read_list(items: Any, roles: tuple[str, ...]) -> Acl:
    """The list of a body.

    Raises:
        ApiError: 400 for an entity or a role that cannot be, and for too many entries.
    """
    if not isinstance(items, list):
        raise ApiError(400, "invalid", "Invalid argument: an access control list must be a list.")
    if len(items) > MOST_ENTRIES:
        raise ApiError(400, "invalid", f"An access control list has at most {MOST_ENTRIES} entries.")
    return dict(read_entry(item, roles) for item in items)


def read_entry(item: Any, roles: tuple[str, ...]) -> tuple[str, str]:
    """One entry of a body: entity and role; `ApiError` 400 for what cannot be."""
    entry: Mapping[str, Any] = item if isinstance(item, Mapping) else {}
    entity, role = entry.get("entity"), entry.get("role")
    if not entity or not role:
        raise ApiError(400, "required", "Required")
    if not isinstance(entity, str) or not _ENTITY.fullmatch(entity):
        raise ApiError(400, "invalid", f"Unknown entity: {entity!r}.")
    if role not in roles:
        raise ApiError(400, "invalid", f"Invalid role: {role!r}; it can be {', '.join(roles)}.")
    return entity, role


def check_public(acl: Acl, settings: Mapping[str, Any]) -> None:
    """Raise `ApiError` 412 for entries that public access prevention, in these settings, does not let be."""
    enforced = settings.get("iamConfiguration", {}).get("publicAccessPrevention") == "enforced"
    if enforced and any(entity in acl for entity in EVERYBODY):
        message = (
            "The member bindings allUsers and allAuthenticatedUsers are not allowed since public access "
        )
        raise ApiError(412, "conditionNotMet", message + "prevention is enforced.")
