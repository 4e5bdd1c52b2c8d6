"""What a person reads of a job that Spotwarden has given up."""

import pytest

from spotwarden.model.attempt import AttemptState
from spotwarden.recovery.telling.notices import gave_up
from tests.recovery.facts import NOW


@pytest.mark.parametrize(
    ("number", "started", "what"),
    [
        (1, None, "test-vm couldn't be launched"),
        (1, NOW, "test-vm couldn't be restarted after attempt 1"),
        (2, None, "test-vm couldn't be restarted after attempt 2"),
    ],
)
def test_a_launch_of_which_no_vm_ever_ran_is_no_restart(some, tick, number, started, what):
    """Its owner has just submitted it, with a disk that is not there, say."""
    attempt = some.attempt(number, AttemptState.GAVE_UP, started=started).attempt
    assert gave_up(some.job(), attempt, "notFound", tick).what == what
