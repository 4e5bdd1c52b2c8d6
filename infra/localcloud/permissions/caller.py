"""Who makes the call that is being answered. Nobody in particular is the project's owner, who may do all."""

from contextvars import ContextVar

from localcloud.permissions.account import Account, Need

_CALLER: ContextVar[Account | None] = ContextVar("caller", default=None)


def caller() -> Account | None:
    """The account that the call comes from; None for the owner."""
    return _CALLER.get()


def call_as(account: Account | None) -> None:
    """Take the call that is being answered for one of this account's; each has a task of its own."""
    _CALLER.set(account)


def entrance() -> str:
    """The URL by which the caller came in, so that links lead it there again; "" for the main entrance."""
    account = caller()
    return account.entrance if account else ""


def demand(*needs: Need) -> None:
    """Let whoever calls prove that it may.

    Raises:
        ApiError: 403.
    """
    if account := caller():
        account.demand(needs)
