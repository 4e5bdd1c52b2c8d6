"""What the desks of one sweep share."""

from collections.abc import Callable, Sequence

from spotwarden.model.posting import Posting, Waiting, Writing
from spotwarden.runner.each import each
from spotwarden.runner.governance.governing import Duty
from spotwarden.runner.log import log
from spotwarden.runner.posting.records import Records


class Office:
    """What all desks of one sweep share. `hurry` says when no further letter may be begun."""

    def __init__(
        self, duty: Duty, posting: Posting, writing: Writing, hurry: Callable[[], bool], workers: int
    ) -> None:
        self.duty, self.posting, self.writing = duty, posting, writing
        self.hurry, self.workers = hurry, workers
        self.store, self.layout = duty.cloud.store, duty.settings.layout
        self.limits = duty.policy.notify
        self.records = Records(self.store, self.layout)

    def all(self, some: Sequence[Waiting], do: Callable[[Waiting], Waiting | None]) -> list[Waiting]:
        """Do it for each, several at a time; gives what they give, in order. What fails rises."""
        done = each(some, do, max(1, min(self.workers, len(some))))
        if done.failures:
            raise ExceptionGroup("not all records could be written", done.failures)
        given = {one.key for one in done.results}
        return [one for one in some if one.key in given]

    def say(self, severity: str, message: str) -> None:
        """Log it."""
        log(self.duty.tick, severity, message)
