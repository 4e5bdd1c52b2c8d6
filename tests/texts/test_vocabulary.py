"""The words that people read: none that the style refuses, and how long their sentences are."""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.texts.source import ROOT
from tests.texts.write_texts import SNAPSHOT

LISTED = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text(encoding="utf-8"))
SPARED = ("style.md", "CHANGELOG.md", "adr/")
"""Pages that quote what they refuse, and what was written down once and stays as it was."""
SENTENCE = re.compile(r"[^.!?]+[.!?](?:\s|$)")


def snapshot() -> list[str]:
    """The lines of the snapshot, each with the file or command that it is of."""
    named, lines = "", []
    for line in SNAPSHOT.read_text(encoding="utf-8").splitlines():
        named = line.removeprefix("### ") if line.startswith("### ") else named
        lines.append(f"{named}: {line}")
    return lines


def pages() -> Iterator[str]:
    """The lines of docs/."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT / "docs").as_posix()
        if not name.startswith(SPARED):
            yield from (f"{name}: {line}" for line in path.read_text(encoding="utf-8").splitlines())


def refused(lines: list[str]) -> list[str]:
    """Each line with a refused word, with what to write instead; exceptions are left out."""
    allowed = tuple(exception["text"] for exception in LISTED.get("exceptions", ()))
    found = []
    for entry in LISTED["refused"]:
        pattern = re.compile(entry["pattern"], re.IGNORECASE)
        bad = (line for line in lines if pattern.search(line) and not any(text in line for text in allowed))
        found += [f"{line} → {entry['say']}" for line in bad]
    return found


def test_no_text_has_a_word_that_the_style_refuses():
    """`tests/texts/vocabulary.toml` says what to write instead, and which exceptions there are."""
    assert refused(snapshot()) == []


def test_no_page_has_a_word_that_the_style_refuses():
    """The same list; pages that quote such words are spared."""
    assert refused([*pages()]) == []


def test_a_refused_word_is_found():
    """The check sees what it is for, whatever its case."""
    assert refused(["x: Nobody knows whether it runs"])
    assert not refused(["x: We couldn't check whether it runs"])


def test_every_exception_is_used_and_has_a_reason():
    """What no text has any more needs none."""
    lines = "\n".join((*snapshot(), *pages()))
    for exception in LISTED.get("exceptions", ()):
        assert exception["reason"]
        assert exception["text"] in lines


def test_the_length_of_sentences_is_told(capsys):
    """Words a sentence and a reading grade (Flesch-Kincaid) of each kind: printed, and no gate."""
    text = SNAPSHOT.read_text(encoding="utf-8")
    for part in re.split(r"\n## ", text)[1:]:
        words, sentences, grade = measured(part)
        with capsys.disabled():
            title = part.splitlines()[0]
            sys.stdout.write(f"\n{title:<36} {words / sentences:5.1f} words a sentence, grade {grade:4.1f}")
        assert sentences


def test_the_length_of_sentences_of_pages_is_told(capsys):
    """Of each page without its code and tables; the three hardest are printed, and all together."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    prose = {page.relative_to(ROOT).as_posix(): prose_of(page.read_text(encoding="utf-8")) for page in pages}
    grades = {name: measured(text) for name, text in prose.items() if len(text.split()) > 100}
    hardest = sorted(grades, key=lambda name: -grades[name][2])[:3]
    grades["all pages"] = measured("\n".join(prose.values()))
    with capsys.disabled():
        for name in (*hardest, "all pages"):
            words, sentences, grade = grades[name]
            sys.stdout.write(f"\n{name:<36} {words / sentences:5.1f} words a sentence, grade {grade:4.1f}")
    assert hardest


def prose_of(page: str) -> str:
    """A page without blocks of code and rows of tables."""
    plain = re.sub(r"(?ms)^```.*?^```$", "", page)
    return "\n".join(line for line in plain.splitlines() if not line.startswith(("|", "    ")))


def measured(part: str) -> tuple[int, int, float]:
    """The words and sentences of a part, and its grade; fragments without a full stop count as sentences."""
    lines = [re.sub(r"\{.*?\}|`.*?`|[|>#*-]", " ", line) for line in part.splitlines()[1:]]
    told = [
        piece
        for line in lines
        for piece in (SENTENCE.findall(f"{line}.") or [line])
        if len(piece.split()) > 2
    ]
    words = [word for piece in told for word in re.findall(r"[A-Za-z']+", piece)]
    syllables = sum(max(1, len(re.findall(r"[aeiouy]+", word.lower()))) for word in words)
    grade = 0.39 * len(words) / len(told) + 11.8 * syllables / len(words) - 15.59
    return len(words), len(told), grade
