"""Calls that do not wait for each other: several at a time, and no thread for one alone."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

AT_ONCE = 24
"""Calls under way at a time; a session keeps 64 connections, and other work of a sweep has some of them."""


def side_by_side(
    items: Sequence[Item], call: Callable[[Item], Result], at_once: int = AT_ONCE
) -> list[Result]:
    """Call it for each item, at most `at_once` at a time; the answers are in the order of the items.

    The first error in that order rises, and what has not begun by then is not begun.
    """
    return list(in_order(items, call, at_once))


def in_order(
    items: Sequence[Item], call: Callable[[Item], Result], at_once: int = AT_ONCE
) -> Iterator[Result]:
    """As `side_by_side`, one answer after the other: who has looked at one need not keep it."""
    if len(items) <= 1:  # one alone waits for nobody
        yield from map(call, items)
        return
    pool = ThreadPoolExecutor(min(at_once, len(items)))
    try:
        yield from pool.map(call, items)
    finally:
        # Without waiting: whoever is interrupted shall not sit through a call that nobody answers.
        pool.shutdown(wait=False, cancel_futures=True)
