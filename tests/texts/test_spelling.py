"""The spelling of what people read: American English, by a dictionary."""

import subprocess
import sys

from tests.texts.source import ROOT
from tests.texts.write_texts import SNAPSHOT

DICTIONARIES = "clear,en-GB_to_en-US"
SPARED = {
    "cancelled": "the name of a gRPC status, in a decision record",
    "labelled": "a name in the code of an example",
    "thresold": "a slip that a page shows on purpose",
}
"""Words that the dictionary would change, with the reason."""


def checked(*paths):
    """What codespell says of these files and folders, a line each."""
    command = [sys.executable, "-m", "codespell_lib", "--builtin", DICTIONARIES, "--skip", "*.json"]
    done = subprocess.run(
        [*command, "--ignore-words-list", ",".join(SPARED), *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


def test_texts_and_pages_are_spelled_as_in_the_united_states():
    """Every text of the product, the README and the pages."""
    assert checked(SNAPSHOT, ROOT / "README.md", ROOT / "docs") == []


def test_a_british_word_is_found(tmp_path):
    """The dictionary is the one that is asked for."""
    (tmp_path / "page.md").write_text("The colour of a machine.\n")
    [found] = checked(tmp_path)
    assert "colour ==> color" in found
