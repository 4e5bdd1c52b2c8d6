"""Outcomes of clients: what is expected and what came, and the table of them in the documentation."""

import os
import subprocess
import sys

import pytest

from tests.clients.outcomes import Expected, differences, everything, of_lines
from tests.clients.programs import PLUGIN
from tests.clients.write_clients import PAGE, page

COPIER = Expected(
    client="copier",
    version="1",
    install=(),
    does="2 operations",
    passed=1,
    refused={"lock": "there are no locks"},
    skipped={"mount": "no FUSE"},
)

SUITE = """
import pytest

@pytest.fixture
def bucket():
    pytest.fail("no bucket", pytrace=False)

@pytest.fixture
def clean():
    yield
    pytest.fail("no clean", pytrace=False)

def test_good(): pass
def test_left_out(): pytest.skip("not here")
def test_without_a_bucket(bucket): pass
@pytest.mark.parametrize("word", ["one/two"])
def test_not_cleaned(clean, word): pass
"""


def test_what_came_as_expected_is_no_difference():
    """One passes, one is refused, one is left out by the client."""
    assert differences(COPIER, {"copy": "passed", "lock": "501", "mount": "skipped"}) == []


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ({"copy": "404", "lock": "501", "mount": "skipped"}, ["copy does not pass: 404", "0 pass, not 1"]),
        ({"copy": "passed", "lock": "passed", "mount": "skipped"}, ["lock passes now", "2 pass, not 1"]),
        ({"copy": "skipped", "lock": "501", "mount": "skipped"}, ["copy is skipped", "0 pass, not 1"]),
        ({"copy": "passed", "mount": "skipped"}, ["lock was not played"]),
    ],
)
def test_each_difference_is_named(outcomes, said):
    """A client that suddenly does better is one as well: its row is wrong then."""
    assert differences(COPIER, outcomes) == said


def test_outcomes_of_a_suite_are_read_whatever_phase_fails(tmp_path):
    """An error while setting up or tearing down counts as a failure."""
    (tmp_path / "outcomes_plugin.py").write_text(PLUGIN)
    (tmp_path / "test_suite.py").write_text(SUITE)
    lines = tmp_path / "lines"
    own = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "OUTCOMES": str(lines),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "outcomes_plugin",
        "-p",
        "no:cacheprovider",
        "test_suite.py",
    ]
    subprocess.run(words, cwd=tmp_path, env=own, capture_output=True, check=False)
    found = {name: outcome[-8:] for name, outcome in of_lines(lines.read_text()).items()}
    assert found == {
        "test_suite.py::test_good": "passed",
        "test_suite.py::test_left_out": "skipped",
        "test_suite.py::test_without_a_bucket": "no bucket"[-8:],
        "test_suite.py::test_not_cleaned[one/two]": "no clean"[-8:],
    }


def test_lines_of_a_program_are_read_among_others():
    """A client may print what it likes beside them."""
    text = 'Copying…\n{"operation": "copy", "outcome": "passed"}\n{"other": 1}\n'
    assert of_lines(text) == {"copy": "passed"}


def test_the_table_in_the_documentation_is_the_expected():
    """`python -m tests.clients.write_clients` writes it."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_each_expectation_has_a_module_that_plays_it(request):
    """And that module says so by its name: `test_NAME.py`."""
    modules = {path.stem.removeprefix("test_") for path in request.path.parent.glob("test_*.py")}
    assert set(everything()) <= modules
