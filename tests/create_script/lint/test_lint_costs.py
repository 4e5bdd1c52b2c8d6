"""What `script check` looks for in the text alone takes no longer than reading it, however it is written."""

import time

import pytest

from spotwarden.create_script import Defaults
from spotwarden.create_script.lint import check

VM = "gcloud compute instances create vm --zone=us-central1-a"
SIZE = 200_000
MOST_SECONDS = 1.0
PUMPED = {
    "open documents": "cat <<'a'\n",
    "documents without end": "cat <<'a'\n x\n",
    "a document of empty lines": "\n",
    "a document of blank lines": "          \n",
    "quotes": "'",
    "blanks": " ",
    "declarations": "declare -x ",
    "names": "${a",
    "backslashes": "\\",
    "arrows": "<<",
}


def unset(text):
    """The lines of which `unset-variable` warns."""
    return [
        one.line
        for one in check(text.encode(), defaults=Defaults(project="p")).warnings
        if one.rule == "unset-variable"
    ]


@pytest.mark.parametrize("unit", PUMPED.values(), ids=PUMPED.keys())
def test_a_text_is_looked_through_in_time(unit):
    """One shape over and over, behind the beginning of a document that has no end."""
    text = f"{VM}\ncat <<'END'\n" + unit * (SIZE // len(unit))
    before = time.process_time()
    check(text.encode(), defaults=Defaults(project="p"))
    assert time.process_time() - before < MOST_SECONDS


@pytest.mark.parametrize("word", ["'END'", '"END"', "\\END", " 'END'"])
def test_a_document_in_which_nothing_is_replaced_names_no_variable(word):
    """And what stands behind it keeps its line."""
    assert unset(f"cat <<{word}\n$INSIDE\n  END\n{VM} --labels=a=$TEAM\n") == [4]


def test_a_document_in_which_values_are_replaced_does():
    """Without quotes around its word it is as any text."""
    assert unset(f"cat <<END\n$INSIDE\nEND\n{VM}\n") == [2]


def test_what_stands_before_a_document_on_its_line_counts():
    """Only the document is no part of the script."""
    assert unset(f"foo $TEAM <<'END'\n$INSIDE\nEND\n{VM}\n") == [1]
