"""Paths of output files as names of objects: every path comes back, and no two become one name."""

from hypothesis import given
from hypothesis import strategies as st

from spotwarden.layout.outputs import file_path, object_path

PIECES = st.one_of(
    st.binary(min_size=1, max_size=3),
    st.sampled_from(
        [b"%", b"%0A", b"%0D", b"%25", b"%2", b"%E9", b"%7f", b"\n", b"\r", b"\xc3\xa9", b"\xf0\x9f\x98\x80"]
    ),
    st.characters(codec="utf-8").map(str.encode),
)
PATHS = st.lists(PIECES, max_size=12).map(lambda pieces: b"".join(pieces).replace(b"\0", b""))


@given(PATHS)
def test_every_path_comes_back(path):
    """By a name that Cloud Storage can hold."""
    name = object_path(path)
    name.encode("utf-8")
    assert not {"\n", "\r"} & set(name)
    assert file_path(name) == path


@given(PATHS, PATHS)
def test_no_two_paths_become_one_name(first, second):
    """Else one would be lost."""
    assert (object_path(first) == object_path(second)) is (first == second)


@given(st.text(st.characters(exclude_characters="%\n\r\0", codec="utf-8")))
def test_a_name_that_can_be_held_is_kept(name):
    """Whatever it is made of."""
    assert object_path(name.encode()) == name
    assert file_path(name) == name.encode()


@given(st.lists(st.sampled_from(["%", "25", "0A", "E9", "C3", "A9", "é", "a"])).map("".join))
def test_a_name_from_elsewhere_is_a_path_that_leads_back_or_itself(name):
    """Somebody may have written objects below `output/` by hand."""
    path = file_path(name)
    assert path == name.encode() or object_path(path) == name
