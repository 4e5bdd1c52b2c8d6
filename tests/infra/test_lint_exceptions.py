"""Where lint and types are set aside: rarely, for named rules, and with a reason beside each."""

import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST = 162
"""Half of what there was; a new one takes the place of one that is mended."""

EXCEPTION = re.compile(r"#\s*(?:ruff:\s*)?noqa|#\s*type:\s*ignore|#\s*pragma:\s*no")
FOUNDED = re.compile(
    r"# noqa: [A-Z]+\d+(, [A-Z]+\d+)* [-—] \S.*"  # lint
    r"|# type: ignore\[[a-z-]+(, [a-z-]+)*\]  ?# \S.*"  # types
)


def exceptions(source: str) -> Iterator[str]:
    """The comments of a file that set a check aside."""
    if not EXCEPTION.search(source):
        return  # most files have none, and need not be taken apart
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and EXCEPTION.search(token.string):
            yield token.string


@pytest.fixture(scope="module")
def found() -> list[tuple[str, str]]:
    """All of the repository's, each with its file."""
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    files = [ROOT / name for name in names.stdout.splitlines() if (ROOT / name).is_file()]
    return [
        (str(file.relative_to(ROOT)), comment)
        for file in files
        for comment in exceptions(file.read_text(encoding="utf-8"))
    ]


def test_each_exception_names_its_rule_and_its_reason(found):
    """So that whoever comes later sees whether it still holds."""
    assert [each for each in found if not FOUNDED.fullmatch(each[1])] == []


def test_there_are_no_more_exceptions_than_there_were(found):
    """A rule that does not fit a folder is named in pyproject.toml, with the reason, once."""
    assert 0 < len(found) <= MOST


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "# noqa: S603",
        "# noqa: S603 -",
        "# ruff: noqa: S603 - for the whole file",
        "# type: ignore",
        "# type: ignore[misc]",
        "# type: ignore[misc] # ",
        "# pragma: no cover",
        "# pragma: no cover - as it is",
    ],
)
def test_a_planted_exception_without_rule_or_reason_is_found(comment):
    """Also one for a whole file, which would hide what comes later."""
    (planted,) = exceptions(f"call()  {comment}\n")
    assert not FOUNDED.fullmatch(planted.rstrip())


@pytest.mark.parametrize(
    "comment", ["# noqa: S603, S607 - our own command", "# type: ignore[misc]  # as above"]
)
def test_an_exception_with_rule_and_reason_is_fine(comment):
    """Both are on its line."""
    (planted,) = exceptions(f"call()  {comment}\n")
    assert FOUNDED.fullmatch(planted)


def test_a_text_that_speaks_of_exceptions_is_none():
    """Only comments are looked at."""
    assert list(exceptions('words = "# noqa"\n')) == []
