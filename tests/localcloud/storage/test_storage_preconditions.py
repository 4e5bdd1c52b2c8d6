"""Preconditions: what they mean, and that they are exact for any number of callers at once."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from google.api_core import exceptions
from google.cloud import storage

UPLOAD = "/upload/storage/v1/b/bucket/o"
OBJECT = "/storage/v1/b/bucket/o/a"


def _write(http: httpx.Client, **conditions: int) -> int:
    params = {"uploadType": "media", "name": "a", **conditions}
    return http.post(UPLOAD, params=params, content=b"x").status_code


@pytest.fixture
def generation(bucket: storage.Bucket) -> int:
    """Of the object `a`, which is there."""
    blob = bucket.blob("a")
    blob.upload_from_string("x")
    return blob.generation


def test_a_write_where_nothing_is(http: httpx.Client, bucket: storage.Bucket):
    """Generation 0 means "there is none": it holds for a match, not for a difference."""
    assert _write(http, ifGenerationNotMatch=0) == 412
    assert _write(http, ifGenerationMatch=1) == 412
    assert _write(http, ifMetagenerationMatch=1) == 412
    assert not bucket.blob("a").exists()
    assert _write(http, ifGenerationMatch=0) == 200


def test_a_write_where_something_is(http: httpx.Client, generation: int):
    """It must be the generation and metageneration that is named, or must not be."""
    assert _write(http, ifGenerationMatch=0) == 412
    assert _write(http, ifGenerationMatch=generation + 1) == 412
    assert _write(http, ifGenerationNotMatch=generation) == 412
    assert _write(http, ifMetagenerationMatch=2) == 412
    assert _write(http, ifMetagenerationNotMatch=1) == 412
    assert _write(http, ifGenerationMatch=generation, ifMetagenerationMatch=1) == 200
    assert _write(http, ifGenerationNotMatch=generation) == 200


def test_the_error_is_the_real_one(http: httpx.Client, generation: int):
    """Message and reason are those that people's scripts look for."""
    error = http.delete(OBJECT, params={"ifGenerationMatch": generation + 1}).json()["error"]
    assert error["message"] == "At least one of the pre-conditions you specified did not hold."
    assert error["errors"][0]["reason"] == "conditionNotMet"


@pytest.mark.parametrize(
    ("conditions", "status"),
    [
        ({"ifGenerationMatch": 1}, 412),
        ({"ifMetagenerationMatch": 2}, 412),
        ({"ifMetagenerationNotMatch": 1}, 304),
        ({"ifMetagenerationMatch": 1}, 200),
    ],
)
def test_a_read_depends_on_the_version(
    http: httpx.Client, generation: int, conditions: dict[str, int], status: int
):
    """A difference that does not hold means "not modified" for a read."""
    assert generation
    assert http.get(OBJECT, params=conditions).status_code == status
    assert http.get(OBJECT, params={"alt": "media", **conditions}).status_code == status


def test_not_modified_has_no_body(http: httpx.Client, generation: int):
    """304 says all."""
    answer = http.get(OBJECT, params={"ifGenerationNotMatch": generation})
    assert (answer.status_code, answer.content) == (304, b"")


@pytest.mark.parametrize("method", ["PATCH", "PUT", "DELETE"])
def test_a_change_depends_on_the_version(http: httpx.Client, generation: int, method: str):
    """412 when it is another version, also when a difference does not hold; otherwise it is made."""
    body = None if method == "DELETE" else {"contentType": "a/b"}
    for wrong in (
        {"ifGenerationMatch": 1},
        {"ifGenerationNotMatch": generation},
        {"ifMetagenerationMatch": 2},
    ):
        assert http.request(method, OBJECT, params=wrong, json=body).status_code == 412
    right = {"ifGenerationMatch": generation, "ifMetagenerationMatch": 1}
    assert http.request(method, OBJECT, params=right, json=body).is_success


def test_what_is_not_there_is_404_whatever_the_condition(http: httpx.Client, bucket: storage.Bucket):
    """For a change of an object, existence comes first."""
    assert bucket.exists()
    assert http.delete(OBJECT, params={"ifGenerationMatch": 1}).status_code == 404


@pytest.mark.parametrize("value", ["x", "-1", "1.0", "", str(1 << 63)])
def test_a_condition_that_is_no_number_is_refused(http: httpx.Client, generation: int, value: str):
    """400 names the parameter, and the object stays."""
    assert generation
    answer = http.delete(OBJECT, params={"ifGenerationMatch": value})
    assert answer.status_code == 400
    assert answer.json()["error"]["errors"][0]["location"] == "ifGenerationMatch"
    assert http.get(OBJECT).status_code == 200


THREADS = 16


def _race(work: Callable[[int], object]) -> list[object]:
    """Results, or exceptions, of all threads, released at one moment."""
    barrier = threading.Barrier(THREADS)

    def run(number: int) -> object:
        barrier.wait(timeout=60)
        try:
            return work(number)
        except exceptions.GoogleAPICallError as error:
            return error.code

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def test_one_of_sixteen_creates_an_object(connect: Callable[[], storage.Client], bucket: storage.Bucket):
    """16 clients create the same object if it is not there: one wins, 15 get 412; fifty times over."""
    clients = [connect() for _ in range(THREADS)]
    for round_number in range(50):
        name = f"claim-{round_number}"

        def claim(number: int, name: str = name) -> object:
            blob = clients[number].bucket(bucket.name).blob(name)
            blob.upload_from_string(str(number), if_generation_match=0)
            return number

        outcomes = _race(claim)
        assert outcomes.count(412) == THREADS - 1
        (winner,) = [outcome for outcome in outcomes if outcome != 412]
        assert bucket.blob(name).download_as_bytes() == str(winner).encode()


def test_no_increment_is_lost(connect: Callable[[], storage.Client], bucket: storage.Bucket):
    """16 clients count up one object under its generation: in the end it has counted every success."""
    clients = [connect() for _ in range(THREADS)]
    bucket.blob("count").upload_from_string("0")

    def count(number: int) -> int:
        successes = 0
        for _ in range(6):
            blob = clients[number].bucket(bucket.name).get_blob("count")
            try:
                value = int(blob.download_as_bytes())  # of the generation just seen, or not found
                blob.upload_from_string(str(value + 1), if_generation_match=blob.generation)
            except (exceptions.PreconditionFailed, exceptions.NotFound):
                continue
            successes += 1
        return successes

    outcomes = _race(count)
    assert int(bucket.blob("count").download_as_bytes()) == sum(map(int, outcomes)) > 0


def test_every_change_of_metadata_counts(connect: Callable[[], storage.Client], bucket: storage.Bucket):
    """16 unconditional patches make 16 metagenerations, and each key is there."""
    clients = [connect() for _ in range(THREADS)]
    bucket.blob("a").upload_from_string("x")

    def patch(number: int) -> None:
        blob = clients[number].bucket(bucket.name).blob("a")
        blob.metadata = {f"key-{number}": "1"}
        blob.patch()

    _race(patch)
    blob = bucket.get_blob("a")
    assert blob.metageneration == 1 + THREADS
    assert len(blob.metadata) == THREADS
