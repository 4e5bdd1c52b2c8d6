"""One bad item never stops the others."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Generic, NamedTuple, TypeVar

from spotwarden.model.action import Wait

Item = TypeVar("Item")
Result = TypeVar("Result")


class Each(NamedTuple, Generic[Result]):
    """What came of every item: the results that are not empty, and what was raised."""

    results: list[Result]
    failures: list[Exception]


class Swept(NamedTuple):
    """What came of a sweep: what it must look at again, whether within seconds, and what went wrong."""

    waiting: tuple[str, ...]
    failures: tuple[Exception, ...]
    soon: bool = False


def each(items: Iterable[Item], do: Callable[[Item], Result | None], workers: int = 1) -> Each[Result]:
    """Do it for every item, whatever happens to the others; several at a time with more workers."""
    done: Each[Result] = Each([], [])

    def one(item: Item) -> None:
        try:
            result = do(item)
        except Exception as error:  # noqa: BLE001 — raised again, all together, by close_tick
            done.failures.append(error)
        else:
            if result:
                done.results.append(result)

    if workers == 1:
        for item in items:
            one(item)
        return done
    here = copy_context()
    pool = ThreadPoolExecutor(workers)
    try:
        list(pool.map(lambda item: here.copy().run(one, item), items))
    except BaseException:
        # Somebody has pressed Ctrl-C: a call that nobody answers must not hold the command up.
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
    return done


def swept(waits: Iterable[Wait], failures: Iterable[Exception]) -> Swept:
    """The end of a sweep, from what its jobs wait for and what went wrong."""
    waits = tuple(waits)
    return Swept(
        waiting=tuple(wait.reason for wait in waits),
        failures=tuple(failures),
        soon=any(wait.soon for wait in waits),
    )
