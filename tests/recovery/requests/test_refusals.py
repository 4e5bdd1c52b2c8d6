"""What an error of Compute Engine means for the next try."""

import pytest

from spotwarden.recovery.requests.refusals import LASTING, RefusalKind, refusal

STOCKOUT = "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: The zone does not have enough resources."


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("ZONE_RESOURCE_POOL_EXHAUSTED: no", RefusalKind.STOCKOUT),
        (f"{STOCKOUT} [reason=resource_availability]", RefusalKind.STOCKOUT),
        (f"{STOCKOUT} [reason=configuration_availability]", RefusalKind.NOT_OFFERED),
        ("VM_MIN_COUNT_NOT_REACHED: 1 of 2", RefusalKind.STOCKOUT),
        ("QUOTA_EXCEEDED: Quota 'PREEMPTIBLE_NVIDIA_L4_GPUS' exceeded. Limit: 8.0", RefusalKind.QUOTA),
        ("quotaExceeded: no", RefusalKind.QUOTA),
        ("alreadyExists: The resource 'x' already exists", RefusalKind.NAME_TAKEN),
        ("RESOURCE_ALREADY_EXISTS: 'x'", RefusalKind.NAME_TAKEN),
        ("invalid: no such machine type", RefusalKind.FAULTY),
        ("forbidden: required 'compute.instances.create' permission", RefusalKind.FORBIDDEN),
        ("PERMISSION_DENIED: no", RefusalKind.FORBIDDEN),
        ("http403: no explanation was given", RefusalKind.FORBIDDEN),
        ("badRequest: The user does not have access to service account 'a@b'.", RefusalKind.FORBIDDEN),
        ("forbidden: This user agent is not allowed to use the machine type [ct5lp].", RefusalKind.FAULTY),
        ("rateLimitExceeded: Rate Limit Exceeded (insert: 403)", RefusalKind.OTHER),
        ("quotaExceeded: Quota 'GPUS' exceeded (insert: 403)", RefusalKind.QUOTA),
        ("notFound: the image", RefusalKind.FAULTY),
        ("UNSUPPORTED_OPERATION: not with this machine", RefusalKind.NOT_OFFERED),
        ("INTERNAL_ERROR: code 1234", RefusalKind.OTHER),
        ("", RefusalKind.OTHER),
    ],
)
def test_an_error_means_what_it_says(error, kind):
    """By Compute's own word first, then by what stands in the message."""
    assert refusal(error) is kind


@pytest.mark.parametrize("error", ["invalid: quota", "notFound: alreadyExists"])
def test_computes_own_word_comes_before_the_message(error):
    """A faulty request stays faulty, whatever its message talks about."""
    assert refusal(error) is RefusalKind.FAULTY


def test_a_right_that_is_missing_is_told_by_the_word_alone():
    """Whatever its message talks about."""
    assert refusal("forbidden: not supported") is RefusalKind.FORBIDDEN


def test_only_what_asking_again_cannot_change_lasts():
    """A stockout, a quota, a right that is missing and a taken name pass."""
    assert {RefusalKind.NOT_OFFERED, RefusalKind.FAULTY, RefusalKind.NOTICE} == LASTING
