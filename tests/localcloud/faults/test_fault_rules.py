"""Which calls a rule hits, how often and for how long."""

import msgspec
import pytest

from localcloud.errors import ApiError
from localcloud.faults import Faults, Rule, service_of


def _hits(faults: Faults, calls: int = 10) -> int:
    return sum(faults.plan("compute", "GET", "/compute/v1/x") is not None for _ in range(calls))


@pytest.mark.parametrize(
    ("path", "service"),
    [
        ("/compute/v1/projects/p/zones", "compute"),
        ("/batch/compute/v1", "compute"),
        ("/storage/v1/b", "storage"),
        ("/upload/storage/v1/b/bucket/o", "storage"),
        ("/download/storage/v1/b/bucket/o/a", "storage"),
        ("/batch/storage/v1", "storage"),
        ("/v1/projects/p/topics/t", "pubsub"),
        ("/v1/projects/p/subscriptions/s:pull", "pubsub"),
        ("/v1/projects/p/locations/l/jobs", "scheduler"),
        ("/v2/entries:list", "logging"),
        ("/v3/projects/p/timeSeries", "monitoring"),
        ("/computeMetadata/v1/", "metadata"),
        ("/elsewhere/compute/v1", ""),
    ],
)
def test_the_service_is_known_by_the_path(path: str, service: str):
    """Every URL of a service, uploads and batches included, belongs to it; others to none."""
    assert service_of(path) == service


MATCHING = Rule(service="compute", method="POST", path=r"/instances$", status=503)


@pytest.mark.parametrize(
    ("service", "method", "path", "hit"),
    [
        ("compute", "POST", "/compute/v1/projects/p/zones/z/instances", True),
        ("compute", "post", "/compute/v1/projects/p/zones/z/instances", True),
        ("storage", "POST", "/compute/v1/projects/p/zones/z/instances", False),
        ("compute", "GET", "/compute/v1/projects/p/zones/z/instances", False),
        ("compute", "POST", "/compute/v1/projects/p/zones/z/instances/vm", False),
    ],
)
def test_a_rule_hits_only_its_service_method_and_path(service: str, method: str, path: str, *, hit: bool):
    """All that a rule names must fit; one difference and the call goes through."""
    assert MATCHING.matches(service, method, path) is hit


def test_a_rule_that_names_nothing_hits_every_call():
    """An empty service, method and path mean any."""
    assert Rule(cut=True).matches("", "DELETE", "/anything")


def test_a_rule_with_a_count_hits_that_many_calls():
    """The first calls are hit, the next goes through."""
    faults = Faults()
    faults.add(Rule(status=503, count=3))
    assert [_hits(faults, 1) for _ in range(5)] == [1, 1, 1, 0, 0]


def test_a_rule_without_a_count_hits_until_it_is_removed():
    """There is no hidden limit."""
    faults = Faults()
    rule_id = faults.add(Rule(status=503))
    assert _hits(faults) == 10
    faults.remove(rule_id)
    assert _hits(faults) == 0


def test_a_rule_ends_after_its_time(ticker):
    """It hits until the last moment before, and not from the moment on."""
    faults = Faults(now=ticker)
    faults.add(Rule(status=503, for_seconds=60))
    ticker.seconds = 59.9
    assert _hits(faults) == 10
    ticker.seconds = 60.0
    assert _hits(faults) == 0


def test_chance_repeats_with_its_seed():
    """The same seed hits the same calls; another one others; about as many as the probability says."""

    def draw(seed: int) -> list[int]:
        faults = Faults()
        faults.add(Rule(status=503, probability=0.5, seed=seed))
        return [_hits(faults, 1) for _ in range(200)]

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)
    assert 70 < sum(draw(1)) < 130


def test_the_first_rule_that_applies_decides():
    """A spent rule leaves the call to the next one."""
    faults = Faults()
    faults.add(Rule(status=429, count=1))
    faults.add(Rule(status=503))
    effects = [faults.plan("compute", "GET", "/") for _ in range(2)]
    assert [effect.error.status for effect in effects if effect and effect.error] == [429, 503]


def _error(rule: Rule, service: str) -> ApiError:
    error = rule.effect(service).error
    assert error is not None
    return error


@pytest.mark.parametrize(
    ("service", "status", "reason", "says"),
    [
        ("storage", 429, "rateLimitExceeded", "object mutation operations"),
        ("compute", 429, "rateLimitExceeded", "Rate Limit Exceeded"),
        ("compute", 403, "rateLimitExceeded", "compute.googleapis.com"),
        ("storage", 403, "forbidden", "Forbidden"),
        ("storage", 503, "backendError", "Backend Error"),
        ("storage", 418, "backendError", "Backend Error"),
    ],
)
def test_the_error_is_worded_as_the_service_words_it(service: str, status: int, reason: str, says: str):
    """A rate limit of Compute Engine is a 403, one of Cloud Storage a 429 that names its page."""
    error = _error(Rule(status=status), service)
    assert error.reason == reason
    assert says in error.message


def test_reason_and_message_can_be_set():
    """What a rule says comes before the table."""
    error = _error(Rule(status=403, reason="quotaExceeded", message="No."), "compute")
    assert (error.reason, error.message) == ("quotaExceeded", "No.")


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ({}, "nothing would happen"),
        ({"status": 503, "cut": True}, "exclude each other"),
        ({"status": 200}, "status"),
        ({"cut": True, "path": "("}, "no regular expression"),
        ({"cut": True, "service": "computer"}, "no service 'computer'; there are compute, logging"),
        ({"cut": True, "count": 0}, "count"),
        ({"cut": True, "probability": 1.5}, "probability"),
        ({"cut": True, "colour": "red"}, "colour"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(rule: dict[str, object], complaint: str):
    """The refusal names what is wrong."""
    with pytest.raises(msgspec.ValidationError, match=complaint):
        msgspec.convert(rule, Rule)
