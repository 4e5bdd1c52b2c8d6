"""The time as a local cloud tells it: by a number, or by a file that changes while a process runs."""

from datetime import UTC, datetime, timedelta

from spotwarden import clock

SLACK = timedelta(minutes=1)


def ahead():
    """By how much the time that is told is ahead of the machine's."""
    return clock.now() - datetime.now(UTC)


def test_the_time_is_the_machines(monkeypatch):
    """Where nobody says otherwise."""
    monkeypatch.delenv(clock.AHEAD, raising=False)
    monkeypatch.delenv(clock.AHEAD_FILE, raising=False)
    assert abs(ahead()) < SLACK


def test_a_number_lets_it_run_ahead(monkeypatch):
    """A command is told when it starts, and does not live long."""
    monkeypatch.setenv(clock.AHEAD, "7200")
    assert abs(ahead() - timedelta(hours=2)) < SLACK


def test_a_file_is_read_each_time_and_counts_first(monkeypatch, tmp_path):
    """A function goes on while its cloud travels."""
    file = tmp_path / "ahead"
    monkeypatch.setenv(clock.AHEAD, "7200")
    monkeypatch.setenv(clock.AHEAD_FILE, str(file))
    told = []
    for seconds in ("0", "3600.5"):
        file.write_text(seconds)
        told.append(ahead())
    assert abs(told[0]) < SLACK
    assert abs(told[1] - timedelta(hours=1)) < SLACK
