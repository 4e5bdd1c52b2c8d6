"""How a function tells how it is: one line at the end of each sweep, and one for an error that ends it.

Terraform makes metrics and alerts of these lines (`infra/terraform/metrics.tf`), and a test holds that it
names no field that is not written here.
"""

import os
import resource
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import PurePath
from typing import ParamSpec, TypeVar

from spotwarden import clock
from spotwarden.engine.log import log
from spotwarden.engine.metrics import CURRENT, SweepMetrics
from spotwarden.model.tick import Tick

P = ParamSpec("P")
T = TypeVar("T")

SWEEP = "sweep"
FAILED = "failed"
MOST_FAILURES = 50
"""Failures that are told one by one; an entry of Cloud Logging has 256 KiB at most ("Quotas and limits")."""
MOST_TEXT = 2_000
MOST_TRACE = 20_000
MIB = 1024 * 1024


def reported(function: Callable[P, T]) -> Callable[P, T]:
    """An entry point that ends with a line about itself; what goes wrong in it is one line, not a traceback.

    Whoever called gets 500 then, and Pub/Sub calls again after its back-off. 503 is an answer, and no error.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        from werkzeug.exceptions import HTTPException, InternalServerError

        metrics = SweepMetrics(clock.now(), _trace())
        token = CURRENT.set(metrics)
        tick = Tick(function=function.__name__, sweep="", now=metrics.began)
        try:
            return function(*args, **kwargs)
        except HTTPException:
            raise
        except Exception as error:  # noqa: BLE001 — told, and answered as a failure
            _tell(metrics.tick or tick, error, metrics)
            raise InternalServerError(
                f"{function.__name__} couldn't complete everything; see its log"
            ) from None
        finally:
            if metrics.tick:
                end_line(metrics.tick, metrics)
            CURRENT.reset(token)

    _acknowledge_the_unreadable(function.__name__)
    return run


def _acknowledge_the_unreadable(function: str) -> None:
    """An event that functions-framework itself cannot read is logged and acknowledged: it gets no better.

    It reads the event before it calls the function.
    """
    from cloudevents.exceptions import GenericException
    from functions_framework import errorhandler

    def tell(error: Exception) -> tuple[str, int]:
        tick = Tick(function=function, sweep="", now=clock.now())
        log(tick, "ERROR", f"an unreadable event was dropped: {str(error)[:MOST_TEXT]}", event=FAILED)
        return "", 204

    errorhandler(GenericException)(tell)


def end_line(tick: Tick, metrics: SweepMetrics) -> None:
    """The last line of a sweep: totals as numbers below `metrics`, and what they consist of beside it."""
    calls = metrics.calls
    figures: dict[str, float] = {
        "seconds": round((clock.now() - metrics.began).total_seconds(), 3),
        "actions": metrics.actions.total(),
        "failures": metrics.failures.total(),
        "waiting": metrics.waiting,
        "calls": sum(calls.values()),
        "memory_mib": round(memory() / MIB, 1),
        **metrics.seen,
    }
    log(
        tick,
        "INFO",
        f"swept in {figures['seconds']} s: {figures['actions']} actions, {figures['failures']} failures",
        event=SWEEP,
        metrics=figures,
        actions=_sorted(metrics.actions),
        failures=_sorted(metrics.failures),
        others=_sorted(metrics.others),
        calls=calls,
    )


def memory() -> int:
    """The most memory that this process has had, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _tell(tick: Tick, error: Exception, metrics: SweepMetrics) -> None:
    """One ERROR line: what, where, and each failure of a group. Error Reporting reads `stack_trace`."""
    single = list(_each(error))
    for base_exception in single:
        metrics.failed(type(base_exception).__name__)
    failures = [
        {"what": type(item).__name__, "why": str(item)[:MOST_TEXT], "where": _where(item)}
        for item in single[:MOST_FAILURES]
    ]
    first = failures[0]
    more = f", and {len(single) - 1} more" if len(single) > 1 else ""
    log(
        tick,
        "ERROR",
        f"{tick.function} couldn't complete everything: {first['what']}: {first['why']}{more}",
        event=FAILED,
        reason=first["why"],
        where=first["where"],
        problems=failures,
        stack_trace="".join(traceback.format_exception(error))[-MOST_TRACE:],
    )


def _each(error: BaseException) -> Iterator[BaseException]:
    """An error, or all that are in a group, groups in it included."""
    if isinstance(error, BaseExceptionGroup):
        for exception in error.exceptions:
            yield from _each(exception)
    else:
        yield error


def _where(error: BaseException) -> str:
    """The last line of ours that an error came through, as folder/file:line."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "spotwarden" in frame.filename or frame.filename.endswith("main.py")]
    if not (last := (ours or frames)[-1:]):
        return ""
    return f"{'/'.join(PurePath(last[0].filename).parts[-2:])}:{last[0].lineno} in {last[0].name}"


def _trace() -> str:
    """The request's trace, as Cloud Run hands it over; "" outside of a request, or of Google."""
    from flask import has_request_context, request

    header = request.headers.get("X-Cloud-Trace-Context", "") if has_request_context() else ""
    project = os.environ.get("SPOTWARDEN_PROJECT", "")
    trace = header.partition("/")[0]
    return f"projects/{project}/traces/{trace}" if project and trace.isalnum() else ""
