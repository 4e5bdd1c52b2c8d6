"""One bad item never stops the others."""

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Each(NamedTuple, Generic[Result]):
    """What came of every item: the results that are not empty, and what was raised."""

    results: list[Result]
    failures: list[Exception]


class Swept(NamedTuple):
    """What came of a sweep: what it must look at again soon, and what went wrong."""

    waiting: tuple[str, ...]
    failures: tuple[Exception, ...]


def each(items: Iterable[Item], do: Callable[[Item], Result]) -> Each[Result]:
    """Do it for every item, whatever happens to the others."""
    done: Each[Result] = Each([], [])
    for item in items:
        try:
            result = do(item)
        except Exception as error:  # noqa: BLE001 — raised again, all together, by close_tick
            done.failures.append(error)
        else:
            if result:
                done.results.append(result)
    return done
