"""One value of a TOML file is changed, and everything else stays as it is."""

import tomllib
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotwarden.cli.toml_lines import UnsafeTomlError, line_number, with_value, without


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'max = "4h"\n'),
        ("a = 1", 'a = 1\nmax = "4h"\n'),
        ("a = 1\n", 'a = 1\nmax = "4h"\n'),
        ('max = "2h" # mine\nb = 2\n', 'max = "4h" # mine\nb = 2\n'),
        ("# head\n[rules.idle]\nmax = 1\n", '# head\nmax = "4h"\n\n[rules.idle]\nmax = 1\n'),
        ('"max" = "2h"\n[t]\n', '"max" = "4h"\n[t]\n'),
        ("maximal = 1\n", 'maximal = 1\nmax = "4h"\n'),
        ('max = """\n2h\n"""\n', 'max = "4h"\n'),
        ("max = [\n1, # one\n2]\nb = 2\n", 'max = "4h"\nb = 2\n'),
        ('note = """\nmax = 1\n"""\n', 'note = """\nmax = 1\n"""\nmax = "4h"\n'),
    ],
)
def test_a_value_is_set_where_it_belongs(before, after):
    """At the top, before any table, in place of the one that was there."""
    assert with_value(before, "max", "4h") == after


@pytest.mark.parametrize("text", ["max = {\n", "= 3", "max.x = 1\n", "[max]\nx = 1\n", "x = nan\n"])
def test_what_cannot_be_changed_alone_is_left_alone(text):
    """A file that is no TOML, a table of that name, a file of which nobody can say that it is the same."""
    for change in (lambda: with_value(text, "max", "4h"), lambda: without(text, "max")):
        with pytest.raises(UnsafeTomlError):
            change()


def test_a_value_is_taken_out():
    """Over however many lines it goes; what is not there need not be."""
    assert without('a = 1\nmax = "2h"\n[t]\nmax = 3\n', "max") == "a = 1\n[t]\nmax = 3\n"
    assert without("# a\na = 1\n[t]\nmax = 3", "max") == "# a\na = 1\n[t]\nmax = 3"
    assert without("max = [\n1]\nb = 2 # two\n", "max") == "b = 2 # two\n"


def test_a_moment_and_a_day_are_what_they_are():
    """Not texts that look like one."""
    day, moment = date(2026, 12, 31), datetime(2026, 12, 31, 18, tzinfo=UTC)
    assert tomllib.loads(with_value("", "at", day)) == {"at": day}
    assert tomllib.loads(with_value("at = 1\n", "at", moment)) == {"at": moment}


def test_a_line_is_found_by_its_number():
    """From 1; 0 for none."""
    assert [line_number("a = 1\n\nb = 2\n[t]\nc = 3\n", name) for name in "abc"] == [1, 3, 0]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_written_so_that_it_is_read_again(text):
    """Control characters and quotes too."""
    assert tomllib.loads(with_value("a = 1\n[t]\n", "x", text)) == {"a": 1, "t": {}, "x": text}
