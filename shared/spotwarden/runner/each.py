"""One bad item never stops the others."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(items: Iterable[Item], do: Callable[[Item], Result]) -> tuple[list[Result], list[Exception]]:
    """Do it for every item; gives the results that are not empty, and what was raised."""
    results: list[Result] = []
    failures: list[Exception] = []
    for item in items:
        try:
            result = do(item)
        except Exception as error:  # noqa: BLE001 — raised again, all together, by close_tick
            failures.append(error)
        else:
            if result:
                results.append(result)
    return results, failures
