"""Whatever bash hands to gcloud, we compute: the same words, in the same order."""

from collections.abc import Callable
from pathlib import Path

import pytest

SNIPPETS = (Path(__file__).parent / "snippets.txt").read_text().split("\n%%\n")
ODD_BYTES = {
    "bytes that are no UTF-8": b'gcloud \xff "\xfe"',
    "carriage returns are part of words": b'gcloud a\rb "c\r"\r',
    "a byte order mark makes the first word a strange command": b"\xef\xbb\xbfgcloud a\ngcloud b",
    "vertical tabs and form feeds are no blanks": b"gcloud a\x0bb\x0cc",
    "a non-breaking space is no blank": b"gcloud \xc2\xa0x",
    "a backslash before a carriage return joins no lines": b"gcloud a \\\r\n b\r\n",
    "a keyword with a carriage return is none": b"gcloud a\r\nif true; then\r\ngcloud b\r\nfi\r\n",
    "nothing at all": b"",
    "only a comment without an end": b"# gcloud a",
}
Reader = Callable[[bytes], list[list[str]]]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda text: text.replace("\n", " ")[:50])
def test_a_pure_script_gives_the_words_that_bash_gives(snippet: str, ours: Reader, bash: Reader):
    """Every feature that needs nothing from outside comes out as in bash."""
    assert ours(snippet.encode()) == bash(snippet.encode())


@pytest.mark.parametrize("text", ODD_BYTES.values(), ids=ODD_BYTES.keys())
def test_odd_bytes_are_taken_as_bash_takes_them(text: bytes, ours: Reader, bash: Reader):
    """Bytes that a text should not hold are plain parts of words."""
    assert ours(text) == bash(text)


def test_the_snippets_do_reach_gcloud(ours: Reader):
    """The comparison above compares something: most snippets hand words to gcloud."""
    reached = [snippet for snippet in SNIPPETS if ours(snippet.encode())]
    assert len(reached) > 0.8 * len(SNIPPETS)
