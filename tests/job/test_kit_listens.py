"""What happens to a job is told by words in a pipe, and none is lost, whenever it comes."""

import pytest

LISTEN = """
mkfifo events
exec 5<>events
{ printf '%%s' '%s'; sleep 1.5; echo '%s'; } >events &
listen 1
echo "first:$TAKEN$FENCED$PEERS_SAY"
listen 5
echo "then:$TAKEN$FENCED$PEERS_SAY"
"""


@pytest.mark.parametrize(
    ("half", "rest", "heard"),
    [
        ("preem", "pted", "preempted"),
        ("", "preempted", "preempted"),
        ("preempted", "", "preempted"),
        ("f", "enced", "1"),
        ("peers ", "changed", "changed"),
        ("peers", " lost", "lost"),
    ],
)
def test_a_word_that_comes_as_the_time_is_over_is_heard(shell, half, rest, heard):
    """The one about a preemption is never said again: the program would train on until the power is off."""
    assert shell.run(LISTEN % (half, rest)).splitlines()[-2:] == ["first:", f"then:{heard}"]
