"""Expansion of words: what stands where a script writes `$x`, `${x:-y}`, `$((…))`, `$(…)`."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from spotwarden.create_script.bash.evaluator.fields import (
    Active,
    Break,
    Piece,
    Quoted,
    Split,
    separators,
    to_pattern,
    to_text,
    to_words,
)
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import calculate, require_set
from spotwarden.create_script.bash.evaluator.operands import Expander
from spotwarden.create_script.bash.evaluator.operators import OPERATORS, SUBSTITUTES
from spotwarden.create_script.bash.evaluator.own_folder import OwnFolder, names_own_folder
from spotwarden.create_script.bash.evaluator.references import Values, values_of
from spotwarden.create_script.bash.evaluator.values import Text
from spotwarden.create_script.bash.limits import PIECE_COST
from spotwarden.create_script.bash.words import (
    Arithmetic,
    Literal,
    Parameter,
    Part,
    Process,
    Quotes,
    Substitution,
    Tilde,
)
from spotwarden.create_script.bash.words import Word as Written
from spotwarden.create_script.request.command import ExpandedWord, Unknown


def expand_words(shell: Shell, written: Written) -> list[ExpandedWord]:
    """Return the words that one written word becomes: none, one, or several."""
    if written.text is not None:
        shell.budget.text(PIECE_COST + len(written.text), written.line)
        return [ExpandedWord(value=written.text, line=written.line)]
    return to_words(shell, _pieces(shell, written.parts), written.line)


def expand_text(shell: Shell, written: Written) -> Text:
    """Return a written word as one text, as in an assignment."""
    if written.text is not None:
        shell.budget.text(PIECE_COST + len(written.text), written.line)
        return written.text
    text = to_text(_pieces(shell, written.parts))
    if isinstance(text, str):
        shell.budget.text(len(text), written.line)
    return text


def expand_pattern(shell: Shell, written: Written) -> Text:
    """Return a written word as a pattern."""
    return to_pattern(_pieces(shell, written.parts))


def expand_expression(shell: Shell, written: Written) -> Text:
    """Return a written word as a regular expression: what was quoted stands for itself."""
    return to_text([_plain_expression(piece) for piece in _pieces(shell, written.parts)])


def _plain_expression(piece: Piece) -> Piece:
    if isinstance(piece, Quoted) and isinstance(piece.text, str):
        return Quoted("".join(f"\\{sign}" if sign in "\\^$.[]|()*+?{}" else sign for sign in piece.text))
    return piece


def _pieces(shell: Shell, parts: tuple[Part, ...]) -> list[Piece]:
    pieces: list[Piece] = []
    for part in parts:
        found = _EXPANDERS[type(part)](shell, part)
        # Each part by itself: a word may name one array many times.
        shell.budget.text(sum(map(_cost, found)), shell.line)
        pieces.extend(found)
    return pieces


def _cost(piece: Piece) -> int:
    return PIECE_COST if isinstance(piece.text, Unknown) else PIECE_COST + len(piece.text)


def _literal(_: Shell, part: Literal) -> list[Piece]:
    return [Quoted(part.text) if part.quoted else Active(part.text)]


def _tilde(shell: Shell, part: Tilde) -> list[Piece]:
    return [Quoted(Unknown(reason=f"{part.text} is a home folder of one machine", line=shell.line))]


def _arithmetic(shell: Shell, part: Arithmetic) -> list[Piece]:
    number = calculate(shell, expand_text(shell, part.expression))
    if isinstance(number, Unknown):
        return [Quoted(replace(number, splits=False, prefix=""))]
    return [Quoted(str(number)) if part.quoted else Split(str(number))]


def _substitution(shell: Shell, part: Substitution) -> list[Piece]:
    body = part.body
    if isinstance(body, str):
        status = shell.child(lambda: shell.programs.text(shell, body, part.line))
    else:
        status = shell.child(lambda: shell.programs.block(shell, body))
    shell.substituted = status
    kind = OwnFolder if names_own_folder(shell, part) else Unknown
    why = kind(
        reason="the output of a command substitution reaches it", line=part.line, splits=not part.quoted
    )
    return [Quoted(why) if part.quoted else Split(why)]


def _process(shell: Shell, part: Process) -> list[Piece]:
    shell.child(lambda: shell.programs.block(shell, part.body))
    return [Quoted(Unknown(reason="a process substitution reaches it", line=part.line))]


def _quotes(shell: Shell, part: Quotes) -> list[Piece]:
    found = [_pieces(shell, (inner,)) for inner in part.parts]
    pieces = [piece for inner in found for piece in inner]
    nothing = not all(found) and all(piece == Quoted("") for piece in pieces)
    return [] if nothing else pieces


def _parameter(shell: Shell, part: Parameter) -> list[Piece]:
    values = values_of(shell, part, expand_text)
    if values.items == [] and not values.many and part.operator not in SUBSTITUTES:
        require_set(shell, part.name)
    if part.operator in OPERATORS:
        result = OPERATORS[part.operator](shell, part, values, _EXPANDER)
        if isinstance(result, list):
            return result
        values = result
    return _as_pieces(shell, values, quoted=part.quoted)


def _as_pieces(shell: Shell, values: Values, *, quoted: bool) -> list[Piece]:
    wrap: Callable[[Text], Piece] = Quoted if quoted else Split
    if isinstance(values.items, Unknown):
        why = values.items
        return [wrap(Unknown(reason=why.reason, line=why.line, splits=bool(values.many) or not quoted))]
    if not values.many:
        if not quoted and not values.items:
            return []
        return [wrap(values.items[0] if values.items else "")]
    if values.many == "*":
        return _starred(shell, values.items, wrap, quoted=quoted)
    return _listed(values.items, wrap, Break(" ", quoted=quoted))


def _starred(shell: Shell, items: list[Text], wrap: Callable[[Text], Piece], *, quoted: bool) -> list[Piece]:
    signs = separators(shell)
    between: Text = signs if isinstance(signs, Unknown) else signs[:1]
    if not quoted:
        return _listed(items, wrap, Break(between if isinstance(between, str) else " ", quoted=False))
    return [wrap(_joined(items, between))]


def _joined(items: list[Text], between: Text) -> Text:
    pieces: list[Piece] = []
    for index, item in enumerate(items):
        pieces.extend([Quoted(between)] if index else [])
        pieces.append(Quoted(item))
    return to_text(pieces)


def _listed(items: list[Text], wrap: Callable[[Text], Piece], between: Break) -> list[Piece]:
    pieces: list[Piece] = []
    for index, item in enumerate(items):
        pieces.extend([between] if index else [])
        pieces.append(wrap(item))
    return pieces


# Any: each function takes the kind of part that it stands under.
_EXPANDERS: dict[type[Part], Callable[[Shell, Any], list[Piece]]] = {
    Literal: _literal,
    Tilde: _tilde,
    Arithmetic: _arithmetic,
    Substitution: _substitution,
    Process: _process,
    Parameter: _parameter,
    Quotes: _quotes,
}
_EXPANDER = Expander(
    text=expand_text,
    pattern=expand_pattern,
    pieces=lambda shell, written: _pieces(shell, written.parts),
)
