"""How long Google is waited for, and how often it is asked again."""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

import msgspec
from google.api_core.exceptions import RetryError
from google.api_core.retry import Retry

from spotwarden.ports import UnansweredError

T = TypeVar("T")


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one call. The pauses grow two-fold from `first_pause`, each drawn between zero and that.

    `connect` and `answer` bound one try; after `in_all` no further try begins. Together they stay well under
    a lease of recovery, so that a sweep that had to wait still owns what it goes on with.

    A list, or a create request, may take its time. One object of the bucket, or one message, is there within
    a second: who has waited `small_answer` for it waits for a connection on which nothing comes any more, and
    there is time for a second try. Less patience would double what a service is asked that is only slow.
    """

    connect: timedelta = timedelta(seconds=5)
    answer: timedelta = timedelta(seconds=30)
    small_answer: timedelta = timedelta(seconds=15)
    first_pause: timedelta = timedelta(milliseconds=250)
    longest_pause: timedelta = timedelta(seconds=4)
    in_all: timedelta = timedelta(seconds=20)

    @property
    def timeouts(self) -> tuple[float, float]:
        """Seconds to connect and to wait for each piece of an answer, as `requests` takes them."""
        return self.connect.total_seconds(), self.answer.total_seconds()

    def retry(self, on: Callable[[Exception], bool]) -> Retry:
        """Google's own retry with these limits, for the errors that `on` accepts."""
        return Retry(
            predicate=on,
            initial=self.first_pause.total_seconds(),
            maximum=self.longest_pause.total_seconds(),
            timeout=self.in_all.total_seconds(),
        )

    def insist(self, call: Callable[[], T]) -> T:
        """Make the call, again and again while it raises `UnansweredError`; in the end raise that."""
        try:
            answer: T = self.retry(lambda error: isinstance(error, UnansweredError))(call)()
        except RetryError as error:
            waited = self.in_all.total_seconds()
            raise UnansweredError(f"no answer within {waited:g} s; last: {error.cause}") from error.cause
        return answer
