"""What `run` says of a value in a job.toml that can't be followed: where, and what to write."""

from pathlib import Path

import pytest

PLAIN = (
    "run",
    "--job",
    "job",
    "--machine",
    "e2-small",
    "--zone",
    "us-central1-a",
    "--no-code",
    "--script-only",
)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("max_runtim = 5", "unknown setting `max_runtim`; did you mean `max_runtime`?"),
        ("xyz = 5", "unknown setting `xyz`"),
        ('nodes = "8"', "invalid range in nodes; write the fewest and the most nodes, such as 8:16"),
        ('nodes = "0:4"', "invalid range in nodes;"),
        ('nodes = "9:4"', "the first number must be less than the second"),
        ('work = "-4h"', "invalid duration in work; write 90m, 8h or 2d"),
        ('max_runtime = "99999999999999d"', "invalid duration in max_runtime;"),
        ("max_runtime = 8", "invalid duration in max_runtime;"),
        ('ladder = [{model = "spot", up_to = -3}]', "invalid duration in ladder[0].up_to;"),
        ("max_restarts = -5", "Expected `int` >= 0 - at `$.max_restarts`"),
        ("on_demand_after = -1", "Expected `int` >= 0 - at `$.on_demand_after`"),
        ("move = 7", "Expected `bool`, got `int` - at `$.move`"),
    ],
)
def test_a_value_that_cannot_be_followed_is_told_with_what_to_write(
    workstation, monkeypatch, tmp_path, line, says
):
    """In the words of job.toml, not of a format that nobody writes."""
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text(f"{line}\n")
    done = workstation.run(*PLAIN, "--job-toml", "own.toml", "--", "true")
    assert done.exit_code == 2
    assert says in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("patience = 500", "patience works only with metric, which isn't in the file"),
        ('metric = "loss"', "metric works only with patience, which isn't in the file"),
        ('metric = "loss"\npatience = 500', ""),
        ("unreal = true", ""),
    ],
)
def test_half_of_an_early_stop_is_warned_of(workstation, monkeypatch, tmp_path, line, says):
    """The training would run on however bad it is; the policy may have the other half."""
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text(f"[rules.early_stop]\n{line}\n")
    done = workstation.run(*PLAIN, "--job-toml", "own.toml", "--", "true")
    assert done.exit_code == 0
    assert says in done.output
    assert ("works only with" in done.output) == bool(says)


def test_a_file_from_an_editor_on_windows_may_begin_with_a_byte_order_mark(
    workstation, monkeypatch, tmp_path
):
    """What the options say is written before it."""
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_bytes(b"\xef\xbb\xbfmax_restarts = 3\r\n")
    done = workstation.run(*PLAIN, "--job-toml", "own.toml", "--max-runtime", "8h", "--", "true")
    assert done.exit_code == 0, done.output
    (written,) = Path(".spotwarden").rglob("job.toml")
    assert written.read_bytes().count(b"\xef\xbb\xbf") == 0
