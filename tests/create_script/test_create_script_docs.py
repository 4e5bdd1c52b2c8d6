"""Every example of docs/create-scripts.md is what the page says it is."""

import re
from pathlib import Path

import pytest

from spotwarden.create_script import Defaults, ScriptRefused, requests
from spotwarden.create_script.request.stored import launch_of, with_choices
from spotwarden.model.launch import StoredScript

PAGE = (Path(__file__).resolve().parents[2] / "docs/create-scripts.md").read_text()
BLOCKS = re.findall(r"(?ms)^```bash(?: (refused|no job): ([^\n]*))?\n(.*?)^```$", PAGE)
DEFAULTS = Defaults(project="demo-project")


def examples(kind):
    """Give the reason and the text of all examples of a kind."""
    return [(reason, text) for word, reason, text in BLOCKS if word == kind]


def launch(text):
    """Give what a stored script comes to."""
    return launch_of(StoredScript(name="create.sh", text=text.encode(), generation=1), "demo-project")


@pytest.mark.parametrize("text", [text for _, text in examples("")])
def test_an_example_that_is_understood_comes_to_requests(text):
    """Each of them launches something."""
    assert requests(text.encode(), defaults=DEFAULTS)


@pytest.mark.parametrize(("reason", "text"), examples("no job"))
def test_an_example_that_is_no_job_is_understood_and_says_why_not(reason, text):
    """It can be printed, and not be brought back."""
    assert requests(text.encode(), defaults=DEFAULTS)
    assert reason in launch(text).reason


def test_the_example_of_a_move_is_what_the_page_says():
    """The name of a node follows, and the bucket stays."""
    (text,) = (text for _, text in examples("") if "MASTER_ADDR" in text)
    moved = with_choices(launch(text), ["europe-west4-b"]).choices[1].request
    data, master = (item["value"] for item in moved.body["instanceProperties"]["metadata"]["items"])
    assert master in PAGE.split("In europe-west4-b that")[1]
    assert data == "gs://runs/us-central1-a"


@pytest.mark.parametrize(("reason", "text"), examples("refused"))
def test_an_example_that_is_refused_says_so_in_these_words(reason, text):
    """The page quotes the message that a person gets."""
    with pytest.raises(ScriptRefused, match=re.escape(reason)):
        requests(text.encode(), defaults=DEFAULTS)


def test_the_page_has_examples_of_both():
    """A page without examples would pass everything else."""
    assert len(examples("")) >= 5
    assert len(examples("no job")) >= 4
    assert len(examples("refused")) >= 8
