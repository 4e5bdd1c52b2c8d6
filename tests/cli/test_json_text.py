"""What `--json` prints."""

import json

import pytest

from spotwarden.cli.json_text import json_text


@pytest.mark.parametrize("text", ["\x9b31m red", "\x7f", "a\u202eb", "\u2028", "\x1b[2J"])
def test_what_steers_a_terminal_is_escaped_and_means_the_same(text):
    """Nothing unprintable is left, and whoever reads the JSON gets what was written."""
    said = json_text({"job": text})
    assert all(char.isprintable() or char in "\n " for char in said)
    assert json.loads(said) == {"job": text}


def test_what_people_write_stays_readable():
    """Letters of any language stay as they are."""
    assert json_text(["größe 模型"]) == '[\n  "größe 模型"\n]'
