"""Who makes the call that is being answered. Nobody in particular is the project's owner.

The owner may do all, but for the permissions that were taken away.
"""

from collections.abc import Collection, Iterable
from contextvars import ContextVar

from localcloud.permissions.account import Account, Need
from localcloud.permissions.refusals import refusal

OWNER = "developer@example.com"
"""The owner's address, where a call names nobody."""
_CALLER: ContextVar[Account | None] = ContextVar("caller", default=None)
_MISSING: ContextVar[Collection[str]] = ContextVar("missing", default=())


def caller() -> Account | None:
    """The account that the call comes from; None for the owner."""
    return _CALLER.get()


def call_as(account: Account | None) -> None:
    """Take the call that is being answered for one of this account's; each has a task of its own."""
    _CALLER.set(account)


def call_without(permissions: Collection[str]) -> None:
    """Let the owner's call that is being answered lack these permissions."""
    _MISSING.set(permissions)


def entrance() -> str:
    """The URL by which the caller came in, so that links lead it there again; "" for the main entrance."""
    account = caller()
    return account.entrance if account else ""


def holds(permission: str) -> bool:
    """Whether whoever calls has it in the project."""
    account = caller()
    return permission in account.permissions if account else permission not in _MISSING.get()


def is_limited() -> bool:
    """Whether whoever calls may not do all."""
    return caller() is not None or bool(_MISSING.get())


def demand(*needs: Need) -> None:
    """Let whoever calls prove that it may.

    Raises:
        ApiError: 403.
    """
    account = caller()
    if account:
        account.demand(needs)
    else:
        _demand_of_owner(needs)


def _demand_of_owner(needs: Iterable[Need]) -> None:
    for need in needs:
        if need.permission in _MISSING.get():
            raise refusal(OWNER, need.permission, need.on)
