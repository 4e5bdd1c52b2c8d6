"""Asks for the permissions of each method of Pub/Sub and Monitoring before it is carried out."""

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from localcloud.permissions.account import Need
from localcloud.permissions.caller import demand
from localcloud.permissions.tables.messages import METHODS, AskedMessage
from localcloud.rpc import Method, Raw


def checked(methods: Iterable[Method]) -> Iterator[Method]:
    """The same methods, for callers who may call them."""
    for method in methods:
        call = functools.partial(_call, f"{method.service}/{method.name}", method.call)
        yield replace(method, call=call)


def _call(name: str, call: Callable[[Any], Any], request: Raw) -> Any:
    check(name, request)
    return call(request)


def check(name: str, request: Raw) -> None:
    """Ask for the permissions of this method, `service/method`, with this request.

    Raises:
        ApiError: 403.
    """
    demand(*(_need(asked, request) for asked in METHODS[name]))


def _need(asked: AskedMessage, request: Raw) -> Need:
    on = functools.reduce(getattr, asked.field.split("."), request)
    kind = "subscriptions" if "/subscriptions/" in on else "topics"
    return Need(permission=asked.permission.replace("*", kind), on=on)
