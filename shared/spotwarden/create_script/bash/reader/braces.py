"""Brace expansion: `a{b,c}`, `{1..3}`. It works on the text of a word before anything else."""

import re

from spotwarden.create_script.bash.limits import MAX_BRACES, Budget, nested
from spotwarden.create_script.bash.reader.words import make_word
from spotwarden.create_script.bash.words import Literal, Part, Word
from spotwarden.create_script.refusal import ScriptRefused

_NUMBERS = re.compile(r"(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?", re.ASCII)
_LETTERS = re.compile(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?\d+))?")
_MAX_DIGITS = 15
_SIGNS = re.compile(r"[{},]|[^{},]+")


def expand_braces(word: Word, budget: Budget) -> list[Word]:
    """Return the words that bash makes of the braces in `word`."""
    if word.text is not None or not any(_opens(part) for part in word.parts):
        return [word]
    tokens = [token for part in word.parts for token in _tokens(part)]
    budget.items(len(tokens), word.line)
    if len(tokens) > MAX_BRACES:
        raise ScriptRefused(f"a word with braces has more than {MAX_BRACES} parts", line=word.line)
    words = _expand(tokens, word.line, 0, budget)
    for parts in words:
        budget.node(lambda: word.line)
        budget.pieces(len(parts), word.line)
        budget.text(sum(len(part.text) for part in parts if isinstance(part, Literal)), word.line)
    # What a choice leaves empty, as `{a,}` does, is no word at all.
    return [make_word(parts, word.line) for parts in words if parts]


def _opens(part: Part) -> bool:
    return isinstance(part, Literal) and not part.quoted and "{" in part.text


def _tokens(part: Part) -> list[Part]:
    if not isinstance(part, Literal) or part.quoted:
        return [part]
    return [Literal(text, quoted=False) for text in _SIGNS.findall(part.text)]


def _expand(tokens: list[Part], line: int, depth: int, budget: Budget) -> list[list[Part]]:
    depth = nested(depth, line)
    budget.pieces(len(tokens), line)
    pairs = _pairs(tokens)
    words: list[list[Part]] = [[]]
    index = 0
    while index < len(tokens):
        choices = _choices(tokens, index, pairs, line, depth, budget)
        if choices is None:
            budget.items(len(words), line)
            words = _product(words, [[tokens[index]]], line)
            index += 1
        else:
            budget.items(len(words) * len(choices), line)
            words = _product(words, choices, line)
            index = pairs[index][0] + 1
    return words


def _product(words: list[list[Part]], choices: list[list[Part]], line: int) -> list[list[Part]]:
    if len(words) * len(choices) > MAX_BRACES or sum(map(len, words)) > MAX_BRACES * 5:
        raise ScriptRefused(f"a brace expansion makes more than {MAX_BRACES} words", line=line)
    if len(choices) == 1:
        for word in words:
            word.extend(choices[0])
        return words
    return [word + choice for word in words for choice in choices]


def _pairs(tokens: list[Part]) -> dict[int, tuple[int, list[int]]]:
    """Return, for each opening brace that is closed, where, and where the commas of its level are."""
    pairs: dict[int, tuple[int, list[int]]] = {}
    waiting: list[tuple[int, list[int]]] = []
    for index, token in enumerate(tokens):
        sign = token.text if isinstance(token, Literal) and not token.quoted else ""
        if sign == "{":
            waiting.append((index, []))
        elif sign == "}" and waiting:
            opening, commas = waiting.pop()
            pairs[opening] = (index, commas)
        elif sign == "," and waiting:
            waiting[-1][1].append(index)
    return pairs


def _choices(  # noqa: PLR0917 — a place in a word, and what may be spent there
    tokens: list[Part],
    index: int,
    pairs: dict[int, tuple[int, list[int]]],
    line: int,
    depth: int,
    budget: Budget,
) -> list[list[Part]] | None:
    if index not in pairs:
        return None
    closing, commas = pairs[index]
    if commas:
        starts = [index, *commas]
        pieces = zip(starts, [*commas, closing], strict=True)
        return [
            choice
            for start, end in pieces
            for choice in _expand(tokens[start + 1 : end], line, depth, budget)
        ]
    inner = tokens[index + 1 : closing]
    if len(inner) == 1 and isinstance(inner[0], Literal) and not inner[0].quoted:
        return _sequence(inner[0].text, line)
    return None


def _sequence(text: str, line: int) -> list[list[Part]] | None:
    numbers = _NUMBERS.fullmatch(text)
    if numbers is not None and max(map(len, numbers.group(1, 2))) <= _MAX_DIGITS:
        first, last, step = numbers.groups()
        width = max(len(first), len(last)) if _padded(first) or _padded(last) else 0
        values = [f"{number:0{width}d}" for number in _steps(int(first), int(last), step, line)]
    else:
        letters = _LETTERS.fullmatch(text)
        if letters is None:
            return None
        if letters[1].islower() != letters[2].islower():
            raise ScriptRefused(f"{{{text}}} includes characters that are not letters", line=line)
        values = [chr(code) for code in _steps(ord(letters[1]), ord(letters[2]), letters[3], line)]
    return [[Literal(value, quoted=True)] for value in values]


def _padded(number: str) -> bool:
    digits = number.removeprefix("-")
    return len(digits) > 1 and digits.startswith("0")


def _steps(first: int, last: int, step: str | None, line: int) -> range:
    size = abs(int(step[:_MAX_DIGITS])) if step and step not in ("0", "-0") else 1
    steps = range(first, last + 1, size) if first <= last else range(first, last - 1, -size)
    if len(steps) > MAX_BRACES:
        raise ScriptRefused(f"a brace expansion makes more than {MAX_BRACES} words", line=line)
    return steps
