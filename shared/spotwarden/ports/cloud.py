"""Everything outside."""

from collections.abc import Callable, Mapping
from datetime import timedelta

import msgspec

from spotwarden.ports.bucket import Store
from spotwarden.ports.compute import Compute
from spotwarden.ports.people import Mailer, NoMailer, NoTopic, Topic
from spotwarden.ports.watching import Metrics


def no_calls() -> Mapping[str, int]:
    """Nothing is counted."""
    return {}


def no_time() -> timedelta | None:
    """Nobody has told what time it is there."""
    return None


def no_opening() -> None:
    """Nothing has to be opened."""


class Cloud(msgspec.Struct, frozen=True, kw_only=True):
    """Everything outside, opened once per process.

    `wakeups` is the function's own topic, whose messages wake it. `calls` counts the requests that this
    process has made so far, by service. `clock_ahead` is how far our clock is ahead of theirs by the newest
    answer, None where none has told. `open_ahead` opens the bucket and the metrics, which takes a tenth of a
    second of imports: for who waits for something else meanwhile.
    """

    store: Store
    compute: Compute
    notices: Topic
    metrics: Metrics
    mailer: Mailer = NoMailer()
    wakeups: Topic = NoTopic()
    calls: Callable[[], Mapping[str, int]] = no_calls
    clock_ahead: Callable[[], timedelta | None] = no_time
    open_ahead: Callable[[], None] = no_opening
