"""One bad item never stops the others."""

from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Generic, NamedTuple, ParamSpec, TypeVar

from spotwarden.model.action import Wait

Item = TypeVar("Item")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


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
    if workers == 1:
        for item in items:
            _do_one(item, do, done)
        return done
    here = copy_context()
    pool = ThreadPoolExecutor(workers)
    try:
        list(pool.map(lambda item: here.copy().run(_do_one, item, do, done), items))
    except BaseException:
        # Somebody has pressed Ctrl-C: a call that nobody answers must not hold the command up.
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
    return done


def _do_one(item: Item, do: Callable[[Item], Result | None], done: Each[Result]) -> None:
    try:
        result = do(item)
    except Exception as error:  # noqa: BLE001 — raised again, all together, by close_tick
        done.failures.append(error)
    else:
        if result:
            done.results.append(result)


class InTurn(Executor):
    """Does what is submitted at once, one thing after the other, for who works on one at a time."""

    def submit(
        self, fn: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Future[Result]:
        """Do it, and keep what came of it."""
        future: Future[Result] = Future()
        for failure in each([fn], lambda do: future.set_result(do(*args, **kwargs))).failures:
            future.set_exception(failure)
        return future


def beside(workers: int, at_once: int) -> Executor:
    """Whoever does a few different things side by side, `at_once` of them, where there are workers for it."""
    return InTurn() if workers == 1 else ThreadPoolExecutor(at_once)


def swept(waits: Iterable[Wait], failures: Iterable[Exception]) -> Swept:
    """The end of a sweep, from what its jobs wait for and what went wrong."""
    waits = tuple(waits)
    return Swept(
        waiting=tuple(wait.reason for wait in waits),
        failures=tuple(failures),
        soon=any(wait.soon for wait in waits),
    )
