"""Listing: any prefix, delimiter, offsets and page size against a plain model; globs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localcloud.errors import ApiError
from localcloud.storage.glob import compile_glob
from localcloud.storage.listing import ObjectQuery, list_page

NAMES = st.text(alphabet="ab/-\u00fc\U0010ffff", min_size=1, max_size=6)


@dataclass(frozen=True)
class Asked:
    """The parameters of a listing."""

    prefix: str
    delimiter: str
    start: str
    end: str
    trailing: bool
    size: int

    def query(self, token: str) -> ObjectQuery:
        """As the service reads them."""
        given = {
            "prefix": self.prefix,
            "delimiter": self.delimiter,
            "startOffset": self.start,
            "endOffset": self.end,
            "includeTrailingDelimiter": str(self.trailing).lower(),
            "maxResults": str(self.size),
            "pageToken": token,
        }
        return ObjectQuery.read({key: value for key, value in given.items() if value})


ASKED = st.builds(
    Asked,
    prefix=st.one_of(st.just(""), NAMES),
    delimiter=st.sampled_from(["", "/", "-", "ab", "\u00fc"]),
    start=st.one_of(st.just(""), NAMES),
    end=st.one_of(st.just(""), NAMES),
    trailing=st.booleans(),
    size=st.integers(1, 5),
)


def _scan(names: set[str]):
    rows = sorted(name.encode() for name in names)

    def scan(start: tuple[bytes, int], end: bytes | None) -> Iterator[tuple[bytes, int, bytes]]:
        for name in rows:
            if (name, 1) >= start and (not end or name < end):
                yield name, 1, name

    return scan


def _model(names: set[str], asked: Asked) -> tuple[list[str], list[str]]:
    """Items and prefixes as the documentation of `objects.list` describes them, straight from the set."""
    items, prefixes = [], set()
    for name in sorted(names, key=str.encode):
        raw = name.encode()
        if not name.startswith(asked.prefix) or raw < asked.start.encode():
            continue
        if asked.end and raw >= asked.end.encode():
            continue
        head, found, tail = name[len(asked.prefix) :].partition(asked.delimiter or "\0")
        if not found:
            items.append(name)
            continue
        prefixes.add(asked.prefix + head + found)
        if asked.trailing and not tail:
            items.append(name)
    return items, sorted(prefixes, key=str.encode)


@settings(deadline=None)
@given(names=st.sets(NAMES, max_size=25), asked=ASKED)
def test_all_pages_together_are_what_the_model_says(names: set[str], asked: Asked):
    """Nothing is lost, doubled or out of order, and no page is larger than asked for."""
    items: list[str] = []
    prefixes: list[str] = []
    token = ""
    while True:
        page = list_page(_scan(names), asked.query(token))
        own = [row.decode() for row in page.rows]
        counted = [name for name in own if name not in page.prefixes]
        assert len(counted) + len(page.prefixes) <= asked.size
        items += own
        prefixes += page.prefixes
        token = page.token
        if not token:
            break
        assert counted or page.prefixes
    assert (items, prefixes) == _model(names, asked)


def test_a_folder_is_skipped_by_a_seek():
    """Listing folders reads one name of each, not every name below it."""
    read: list[bytes] = []
    scan = _scan({f"{folder}/{number:03}" for folder in "abc" for number in range(500)})

    def counting(start: tuple[bytes, int], end: bytes | None) -> Iterator[tuple[bytes, int, bytes]]:
        for name, generation, row in scan(start, end):
            read.append(name)
            yield name, generation, row

    page = list_page(counting, ObjectQuery(delimiter=b"/"))
    assert page.prefixes == ["a/", "b/", "c/"]
    assert len(read) == 3


@pytest.mark.parametrize("token", ["x", "bm90IGpzb24=", "WzEsMl0="])
def test_a_page_token_of_another_kind_is_refused(token: str):
    """It is the caller's mistake: 400, naming the parameter."""
    with pytest.raises(ApiError, match="page token") as refused:
        ObjectQuery.read({"pageToken": token})
    assert refused.value.location == "pageToken"


@pytest.mark.parametrize("size", ["0", "-1", "many"])
def test_a_page_size_that_is_none_is_refused(size: str):
    """`maxResults` is a positive number."""
    with pytest.raises(ApiError) as refused:
        ObjectQuery.read({"maxResults": size})
    assert refused.value.status == 400


@pytest.mark.parametrize(
    ("glob", "matches", "others"),
    [
        ("a/*.txt", ["a/b.txt", "a/.txt"], ["a/b/c.txt", "a/b.txt2", "ba/b.txt"]),
        ("a/**", ["a/b", "a/b/c", "a/"], ["a", "ab"]),
        ("**/x", ["x", "a/x", "a/b/x"], ["ax", "a/xy"]),
        ("a?c", ["abc", "a.c"], ["a/c", "ac"]),
        ("a[bc]d", ["abd", "acd"], ["aed", "ad"]),
        ("a[!b]d", ["acd"], ["abd", "a/d"]),
        ("{a,b/c}/*", ["a/x", "b/c/x"], ["b/x", "c/x"]),
        ("a,b", ["a,b"], ["a", "b"]),
        (r"a\*b", ["a*b"], ["axb"]),
        ("a.b+(c)", ["a.b+(c)"], ["axb+(c)"]),
    ],
)
def test_a_glob_matches_as_documented(glob: str, matches: list[str], others: list[str]):
    """`*` and `?` stop at a slash, `**` does not, braces choose, a backslash makes it literal."""
    pattern = compile_glob(glob)
    assert [name for name in matches + others if pattern.fullmatch(name)] == matches


@pytest.mark.parametrize("glob", ["a[b", "a{b", "a}b"])
def test_a_glob_that_does_not_pair_up_is_refused(glob: str):
    """The refusal shows the glob."""
    with pytest.raises(ApiError, match=re.escape(glob)):
        compile_glob(glob)


def test_a_glob_narrows_a_listing():
    """Only names that match are listed, under whatever fixed beginning it has."""
    names = {"a/1.log", "a/1.txt", "a/b/2.txt", "b/3.txt"}
    page = list_page(_scan(names), ObjectQuery.read({"matchGlob": "a/**.txt"}))
    assert [row.decode() for row in page.rows] == ["a/1.txt", "a/b/2.txt"]
