"""Names of topics and subscriptions, and the errors that are about a name."""

import re

from localcloud.rpc import RpcError

DELETED_TOPIC = "_deleted-topic_"
"""What a subscription says of its topic once that is gone."""

# "Resource names" of Pub/Sub: 3 to 255 of these, a letter first, and not `goog…`.
_NAME = re.compile(
    r"projects/(?P<project>[^/]+)/(?P<kind>topics|subscriptions|snapshots)/(?!goog)(?P<id>[A-Za-z][\w.~+%-]{2,254})",
    re.ASCII,
)
_HELP = "Refer to https://cloud.google.com/pubsub/docs/pubsub-basics#resource_names for more information."


def check_name(name: str, kind: str, *, field: str = "name") -> None:
    """Refuse a name that is not `projects/P/KIND/ID` with a legal ID; `field` is what the caller calls it.

    Raises:
        RpcError: INVALID_ARGUMENT.
    """
    match = _NAME.fullmatch(name)
    if match is None or match["kind"] != kind:
        raise RpcError("INVALID_ARGUMENT", f"Invalid resource name given ({field}={name}). {_HELP}")


def check_project(name: str, project: str) -> None:
    """Refuse a name of another project than the one that this local cloud holds.

    Raises:
        RpcError: NOT_FOUND, or INVALID_ARGUMENT when it names no project at all.
    """
    head, _, rest = name.partition("/")
    found = rest.partition("/")[0]
    if head != "projects" or not found:
        raise RpcError("INVALID_ARGUMENT", f"Invalid resource name given (name={name}). {_HELP}")
    if found != project:
        raise RpcError(
            "NOT_FOUND",
            f"Requested project not found or user does not have access to it (project={found}). "
            "Make sure to specify the unique project identifier and not the Google Cloud Console display "
            "name.",
        )


def not_found(name: str) -> RpcError:
    """The error for a resource that does not exist."""
    return RpcError("NOT_FOUND", f"Resource not found (resource={short(name)}).")


def already_exists(name: str) -> RpcError:
    """The error for a name that is taken."""
    return RpcError("ALREADY_EXISTS", f"Resource already exists in the project (resource={short(name)}).")


def invalid(argument: str, why: str = "") -> RpcError:
    """The error for an argument that cannot be used, with our reason behind Google's sentence."""
    text = f"You have passed an invalid argument to the service (argument={argument})."
    return RpcError("INVALID_ARGUMENT", f"{text} {why}" if why else text)


def short(name: str) -> str:
    """The last part of a name, as error messages give it."""
    return name.rpartition("/")[2]
