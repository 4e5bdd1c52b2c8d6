"""How often one object, and one bucket, may be written."""

import math

import pytest

from localcloud.errors import ApiError
from localcloud.limits import Limits, WriteLimits

ONE_A_SECOND = Limits(object_writes=1, bucket_writes=0)
TEN_A_BUCKET = Limits(object_writes=0, bucket_writes=10)


class Bucket:
    """Writes to one bucket at moments that the test chooses."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.at = 1000.0
        self._writes = WriteLimits(lambda: self.limits, elapsed=lambda: self.at)

    def write(self, name: str, bucket: str = "jobs") -> str:
        """Write; gives why not, "" where it was taken."""
        try:
            self._writes.check(bucket, name)
        except ApiError as error:
            assert (error.status, error.reason, error.domain) == (429, "rateLimitExceeded", "usageLimits")
            return error.message
        self._writes.count(bucket, name)
        return ""

    def load(self, writes: int) -> int:
        """So many writes within the second that begins; gives how many were taken."""
        taken = sum(not self.write(f"object-{number}") for number in range(writes))
        self.at += 1
        return taken


def test_the_second_write_of_an_object_within_a_second_is_refused() -> None:
    """In the words that Cloud Storage has for it."""
    bucket = Bucket(ONE_A_SECOND)
    assert bucket.write("a") == ""
    bucket.at += 0.999
    assert bucket.write("a") == (
        "The object jobs/a exceeded the rate limit for object mutation operations (create, update, and "
        "delete). Please reduce your request rate. See https://cloud.google.com/storage/docs/gcs429."
    )


def test_a_second_later_it_is_taken_however_often_it_was_refused_in_between() -> None:
    """A refusal is no write."""
    bucket = Bucket(ONE_A_SECOND)
    bucket.write("a")
    for _ in range(4):
        bucket.at += 0.25
        refused = bucket.write("a")
    assert refused == ""


def test_other_objects_and_other_buckets_do_not_count() -> None:
    """The limit is one of a name in a bucket."""
    bucket = Bucket(ONE_A_SECOND)
    assert [bucket.write("a"), bucket.write("b"), bucket.write("a", "others")] == ["", "", ""]


def test_a_limit_of_zero_is_none() -> None:
    """As for decisions that are tested without time."""
    bucket = Bucket(Limits(object_writes=0, bucket_writes=0))
    assert {bucket.write("a") for _ in range(2000)} == {""}


def test_what_is_a_second_old_is_forgotten() -> None:
    """A bucket of a hundred thousand objects costs no memory that stays."""
    bucket = Bucket(ONE_A_SECOND)
    for number in range(100):
        bucket.write(f"object-{number}")
    bucket.at += 1
    bucket.write("a")
    assert list(bucket._writes._last) == [("jobs", "a")]


def test_a_bucket_takes_so_many_writes_a_second_and_says_why_it_takes_no_more() -> None:
    """In the next second it takes as many again."""
    bucket = Bucket(TEN_A_BUCKET)
    assert [bucket.load(12), bucket.load(3), bucket.load(12)] == [10, 3, 10]
    bucket.load(0)
    for number in range(10):
        bucket.write(f"object-{number}")
    assert bucket.write("one more").startswith("You have exceeded your bucket's IO capacity.")


def test_a_bucket_that_is_loaded_takes_twice_as_much_after_20_minutes() -> None:
    """And four times after 40."""
    bucket = Bucket(TEN_A_BUCKET)
    taken = [bucket.load(100) for _ in range(2401)]
    assert (taken[0], taken[600], taken[1200], taken[2400]) == (10, 14, 20, 40)


@pytest.mark.parametrize(("used", "grown"), [(0.5, 200), (0.49, 100)])
def test_only_a_bucket_that_is_used_by_half_grows(used: float, grown: int) -> None:
    """One that has less to do gains nothing by waiting."""
    bucket, capacity = Bucket(Limits(object_writes=0, bucket_writes=100)), 100.0
    for _ in range(1200):
        bucket.load(math.ceil(used * capacity))
        capacity *= 2 ** ((used >= 0.5) / 1200)
    assert bucket.load(300) == grown
