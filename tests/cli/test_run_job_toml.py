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
