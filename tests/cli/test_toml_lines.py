"""One value of a TOML file is changed, and everything else stays as it is."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotwarden.cli.toml_lines import UnsafeTomlError, line_number, quoted, with_value, without


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'max = "4h"\n'),
        ("a = 1", 'a = 1\nmax = "4h"\n'),
        ("a = 1\n", 'a = 1\nmax = "4h"\n'),
        ('max = "2h" # mine\nb = 2\n', 'max = "4h"\nb = 2\n'),
        ("# head\n[rules.idle]\nmax = 1\n", '# head\nmax = "4h"\n[rules.idle]\nmax = 1\n'),
        ('"max" = "2h"\n[t]\n', 'max = "4h"\n[t]\n'),
        ("maximal = 1\n", 'maximal = 1\nmax = "4h"\n'),
    ],
)
def test_a_value_is_set_where_it_belongs(before, after):
    """At the top, before any table, in place of the one that was there."""
    assert with_value(before, "max", '"4h"') == after


@pytest.mark.parametrize(
    "text",
    [
        'max = """\n2h\n"""\n',
        "max = [\n1,\n2]\n",
        'note = """\nmax = 1\n"""\n',
        "max = {\n",
        "max.x = 1\n",
        "= 3",
    ],
)
def test_what_cannot_be_changed_by_a_line_is_left_alone(text):
    """A value over several lines, a text that only looks like one, a file that is no TOML."""
    with pytest.raises(UnsafeTomlError):
        with_value(text, "max", '"4h"')


def test_a_value_is_taken_out():
    """What is not there need not be."""
    assert without('a = 1\nmax = "2h"\n[t]\nmax = 3\n', "max") == "a = 1\n[t]\nmax = 3\n"
    assert without("a = 1\n[t]\nmax = 3\n", "max") == "a = 1\n[t]\nmax = 3\n"
    with pytest.raises(UnsafeTomlError):
        without("max = [\n1]\n", "max")


def test_a_line_is_found_by_its_number():
    """From 1; 0 for none."""
    assert [line_number("a = 1\n\nb = 2\n[t]\nc = 3\n", name) for name in "abc"] == [1, 3, 0]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_quoted_so_that_it_is_read_again(text):
    """Control characters and quotes too."""
    assert tomllib.loads(f"x = {quoted(text)}") == {"x": text}
