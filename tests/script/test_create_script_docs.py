"""Every example of docs/create-scripts.md is what the page says it is."""

import re
from pathlib import Path

import pytest

from spotwarden.script import Defaults, Refused, requests

PAGE = (Path(__file__).resolve().parents[2] / "docs/create-scripts.md").read_text()
BLOCKS = re.findall(r"(?ms)^```bash(?: refused: ([^\n]*))?\n(.*?)^```$", PAGE)
DEFAULTS = Defaults(project="demo-project")


@pytest.mark.parametrize("text", [text for reason, text in BLOCKS if not reason])
def test_an_example_that_is_understood_comes_to_requests(text):
    """Each of them launches something."""
    assert requests(text.encode(), defaults=DEFAULTS)


@pytest.mark.parametrize(("reason", "text"), [(reason, text) for reason, text in BLOCKS if reason])
def test_an_example_that_is_refused_says_so_in_these_words(reason, text):
    """The page quotes the message that a person gets."""
    with pytest.raises(Refused, match=re.escape(reason)):
        requests(text.encode(), defaults=DEFAULTS)


def test_the_page_has_examples_of_both():
    """A page without examples would pass everything else."""
    assert sum(not reason for reason, _ in BLOCKS) >= 5
    assert sum(bool(reason) for reason, _ in BLOCKS) >= 8
