"""Who makes an object: the account whose token the call carries, for the object's `owner`."""

from contextvars import ContextVar

from starlette.datastructures import Headers

from localcloud.permissions import caller

BEARER = "Bearer local-"
_AUTHOR: ContextVar[str] = ContextVar("author", default="")


def note_author(headers: Headers) -> None:
    """Take note of who makes the call that is being answered."""
    account = caller()
    said = headers.get("authorization", "")
    named = said.removeprefix(BEARER) if said.startswith(BEARER) and "@" in said else ""
    _AUTHOR.set(account.email if account else named)


def author() -> str:
    """The address of the account; "" where the call does not say."""
    return _AUTHOR.get()
