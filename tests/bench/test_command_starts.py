"""A short soak of the starts of commands, where all is asked for."""

from tests.bench.command_starts import COMMANDS, soak
from tests.long import longest

TIMES = 6 * len(COMMANDS)


@longest
def test_no_start_of_a_command_fails():
    """Neither by a signal nor with a word; every second round runs with a tiny thread switch interval."""
    statuses, _, ended = soak(TIMES)
    assert ended == []
    assert sum(statuses.values()) == TIMES
    assert {status for _, status in statuses} == {0}
