"""The operators of `${…}`, by their sign; here those for what is missing, and for names and lengths."""

from spotwarden.create_script.bash.evaluator import surgery
from spotwarden.create_script.bash.evaluator.fields import Active, Piece, Quoted, Split, to_text
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import assign
from spotwarden.create_script.bash.evaluator.names import outside
from spotwarden.create_script.bash.evaluator.operands import Expander, Operator, each
from spotwarden.create_script.bash.evaluator.references import Values, count_of, keys_of
from spotwarden.create_script.bash.words import Parameter
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import Unknown


def _missing(part: Parameter, values: Values) -> bool | Unknown:
    """Whether the operator finds the value missing: not set, or with a colon also empty."""
    if isinstance(values.items, Unknown):
        return values.items
    if not part.operator.startswith(":"):
        return not values.items
    unknown = next((item for item in values.items if isinstance(item, Unknown)), None)
    return unknown if unknown is not None else not any(values.items)


def _operand(shell: Shell, part: Parameter, expander: Expander) -> list[Piece]:
    """Expand the operand in place: what stands in it outside quotes is split, as any expansion is."""
    pieces = expander.pieces(shell, part.arguments[0])
    if part.quoted:
        return pieces or [Quoted("")]
    return [Split(piece.text) if isinstance(piece, Active) else piece for piece in pieces]


def _default(shell: Shell, part: Parameter, values: Values, expander: Expander) -> Values | list[Piece]:
    missing = _missing(part, values)
    if isinstance(missing, Unknown):
        return Values(missing, values.many)
    return _operand(shell, part, expander) if missing else values


def _alternative(shell: Shell, part: Parameter, values: Values, expander: Expander) -> Values | list[Piece]:
    missing = _missing(part, values)
    if isinstance(missing, Unknown):
        return Values(missing, values.many)
    if missing:
        return [Quoted("")] if part.quoted and values.many != "@" else []
    return _operand(shell, part, expander)


def _assigned(shell: Shell, part: Parameter, values: Values, expander: Expander) -> Values | list[Piece]:
    missing = _missing(part, values)
    if isinstance(missing, Unknown):
        return Values(missing, values.many)
    if not missing:
        return values
    if not values.name.isidentifier():
        raise ScriptRefused(f"${values.name} cannot be assigned to", line=part.line)
    value = to_text(expander.pieces(shell, part.arguments[0]))
    assign(shell, values.name, value, subscript=values.subscript)
    return Values([value])


def _required(shell: Shell, part: Parameter, values: Values, expander: Expander) -> Values | list[Piece]:
    missing = _missing(part, values)
    if isinstance(missing, Unknown):
        return Values(missing, values.many)
    if missing:
        message = expander.text(shell, part.arguments[0])
        told = message if isinstance(message, str) and message else "parameter not set"
        raise ScriptRefused(f"{part.name} is not set, so bash stops here: {told}", line=part.line)
    return values


def _length(shell: Shell, part: Parameter, values: Values, _: Expander) -> Values:
    count = count_of(shell, part, values.many or values.subscript)
    if count is not None:
        return Values([count])
    return each(values, lambda text: str(len(text))) if values.items else Values(["0"])


def _names(shell: Shell, part: Parameter, _: Values, expander: Expander) -> Values:
    many = _many(shell, part, expander)
    unknown = outside(part.name, part.line)
    shell.budget.items(shell.state.size)
    found = sorted(name for name in shell.state.variables() if name.startswith(part.name))
    return Values(unknown or [*found], many)


def _keys(shell: Shell, part: Parameter, _: Values, expander: Expander) -> Values:
    return keys_of(shell, part, _many(shell, part, expander))


def _many(shell: Shell, part: Parameter, expander: Expander) -> str:
    assert part.subscript is not None
    return str(expander.text(shell, part.subscript))


# These have a say where the variable is not set, so `set -u` leaves them alone.
SUBSTITUTES = frozenset([":-", "-", ":=", "=", ":?", "?", ":+", "+", "names", "keys"])
OPERATORS: dict[str, Operator] = {
    **dict.fromkeys((":-", "-"), _default),
    **dict.fromkeys((":=", "="), _assigned),
    **dict.fromkeys((":?", "?"), _required),
    **dict.fromkeys((":+", "+"), _alternative),
    **dict.fromkeys(("#", "##", "%", "%%"), surgery.cut_match),
    **dict.fromkeys(("/", "//", "/#", "/%"), surgery.replace_matches),
    **dict.fromkeys(("^", "^^", ",", ",,"), surgery.change_letters),
    **{f"@{letter}": surgery.transform for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"},
    ":": surgery.take_slice,
    "length": _length,
    "names": _names,
    "keys": _keys,
}
