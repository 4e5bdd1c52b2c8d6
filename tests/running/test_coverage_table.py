"""What `SPOTWARDEN_COVERAGE=1 tests/run` prints in the end."""

import os
import subprocess
from pathlib import Path

import pytest
from coverage.exceptions import NoDataError

from tests.coverage_table import NAME, measured, package_of, table
from tests.long import long

ROOT = Path(__file__).resolve().parents[2]


def counted(lines, run, branches, taken):
    """One file of coverage's report."""
    return {
        "summary": {
            "num_statements": lines,
            "covered_lines": run,
            "num_branches": branches,
            "covered_branches": taken,
        }
    }


def test_files_of_one_package_are_one_line_and_all_together_the_last():
    """Lines and branches by themselves, and both."""
    head, *rows = table(
        {
            "shared/spotwarden/recovery/a.py": counted(10, 10, 4, 2),
            "shared/spotwarden/recovery/deep/b.py": counted(10, 5, 0, 0),
            "shared/spotwarden/clock.py": counted(2, 2, 0, 0),
            "functions/reap_vms/main.py": counted(8, 0, 0, 0),
        }
    )
    assert head.split() == ["package", "lines", "run", "branches", "taken", "both"]
    assert [row.split() for row in rows] == [
        ["(top)", "2", "100.0%", "0", "-", "100.0%"],
        ["functions", "8", "0.0%", "0", "-", "0.0%"],
        ["recovery", "20", "75.0%", "4", "50.0%", "70.8%"],
        ["total", "30", "56.7%", "4", "50.0%", "55.9%"],
    ]


@pytest.mark.parametrize(
    ("file", "package"),
    [
        ("shared/spotwarden/__init__.py", "(top)"),
        ("shared/spotwarden/report/views/x.py", "report"),
        ("/somewhere/shared/spotwarden/cli/main.py", "cli"),
        ("functions/recover_spot/main.py", "functions"),
    ],
)
def test_a_file_counts_for_the_package_that_it_is_in(file, package):
    """Whether its path is whole or not."""
    assert package_of(file) == package


def test_nothing_measured_is_no_table(tmp_path):
    """A lane that has measured nothing is not taken for one that ran nothing."""
    with pytest.raises(NoDataError):
        measured(tmp_path)


@long
def test_a_lane_measures_where_it_is_asked_to(tmp_path):
    """The product alone, with its branches, and what the tests of the lane ran."""
    test = tmp_path / "test_it.py"
    test.write_text(
        "from spotwarden.model.opening import hours_of\n\ndef test_it():\n    assert hours_of('09-18')\n"
    )
    told = tmp_path / "told"
    told.mkdir()
    done = subprocess.run(
        [str(ROOT / "tests/lane"), "300", "-q", "-p", "no:cacheprovider", "--noconftest", str(test)],
        cwd=ROOT,
        env={**os.environ, "SPOTWARDEN_COVERAGE": "1", "COVERAGE_FILE": str(told / NAME)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = measured(told)
    opening = found["shared/spotwarden/model/opening.py"]["summary"]
    assert 0 < opening["covered_branches"] < opening["num_branches"]
    assert not [name for name in found if not name.startswith(("shared/spotwarden/", "functions/"))]
