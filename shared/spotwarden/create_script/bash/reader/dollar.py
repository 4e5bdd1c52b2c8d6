"""What a dollar sign begins: variables, `${…}`, `$((…))`, `$(…)`."""

import re

from spotwarden.create_script.bash.reader.cursor import Cursor
from spotwarden.create_script.bash.reader.operand import read_expression, read_operand
from spotwarden.create_script.bash.reader.words import make_word
from spotwarden.create_script.bash.words import Arithmetic, Literal, Parameter, Part, Substitution, Word

_NAME = re.compile(r"\$([A-Za-z_]\w*|[0-9@*#?$!-])", re.ASCII)
_BRACED_NAME = re.compile(r"[A-Za-z_]\w*|\d+|[@*#?$!-]", re.ASCII)
_OPERATOR = re.compile(r":[-=?+]|[-=?+]|##?|%%?|//|/#|/%|/|\^\^?|,,?|@[A-Za-z]|:")
_NAMES = re.compile(r"[*@](?=\})")
# Behind these bash reads the operand as it reads text in double quotes, if the whole stands in them.
_TEXT_OPERATORS = frozenset([":-", ":=", ":?", ":+", "-", "=", "?", "+"])
_REPLACEMENTS = frozenset(["/", "//", "/#", "/%"])


def read_dollar(cursor: Cursor, quoted: bool) -> Part:  # noqa: FBT001 — the one signature of a grammar rule
    """Read the part that the `$` here begins; a `$` before anything else is itself."""
    line = cursor.line()
    found = _NAME.match(cursor.text, cursor.position)
    if found is not None:
        cursor.position = found.end()
        if cursor.at("{") and not quoted:
            # bash expands the brace first, so `$a{b,c}` means `$ab $ac`.
            raise cursor.refused(f"write ${{{found.group(1)}}} where a brace follows")
        return Parameter(name=found.group(1), quoted=quoted, line=line)
    if cursor.take("$(("):
        return _arithmetic(cursor, quoted=quoted)
    if cursor.take("$("):
        return Substitution(cursor.grammar.block(cursor), quoted, line)
    if cursor.take("${"):
        with cursor.deeper():
            return _braced(cursor, quoted=quoted)
    if cursor.take("$["):
        return _old_arithmetic(cursor, quoted=quoted)
    if cursor.at("$\\\n"):
        raise cursor.refused("a `$` at the end of a joined line is not supported")
    cursor.position += 1
    return Literal("$", quoted)


def _arithmetic(cursor: Cursor, *, quoted: bool) -> Arithmetic:
    expression = read_expression(cursor, ")")
    if not cursor.take("))"):
        raise cursor.refused("`$((` without `))`: for a subshell in a substitution write `$( (`")
    return Arithmetic(expression, quoted)


def _old_arithmetic(cursor: Cursor, *, quoted: bool) -> Arithmetic:
    expression = read_expression(cursor, "]")
    cursor.require("]", "`$[`")
    return Arithmetic(expression, quoted)


def _braced(cursor: Cursor, *, quoted: bool) -> Parameter:
    line = cursor.line()
    if cursor.at("#") and not cursor.at("#}"):
        return _length(cursor, quoted=quoted, line=line)
    indirect = cursor.at("!") and not cursor.at("!}") and cursor.take("!")
    name = _name(cursor)
    if indirect and _NAMES.match(cursor.text, cursor.position):
        sign = make_word([Literal(cursor.peek(), quoted=True)], line)
        cursor.position += 1
        return _closed(
            cursor, Parameter(name=name, quoted=quoted, line=line, operator="names", subscript=sign)
        )
    subscript = _subscript(cursor)
    if indirect and subscript is not None and subscript.text in ("@", "*") and cursor.at("}"):
        keys = Parameter(name=name, quoted=quoted, line=line, operator="keys", subscript=subscript)
        return _closed(cursor, keys)
    operator = cursor.match(_OPERATOR) or ""
    parameter = Parameter(
        name=name,
        quoted=quoted,
        line=line,
        operator=operator,
        subscript=subscript,
        indirect=bool(indirect),
        arguments=_arguments(cursor, operator, quoted=quoted),
    )
    return _closed(cursor, parameter)


def _length(cursor: Cursor, *, quoted: bool, line: int) -> Parameter:
    cursor.position += 1
    name = _name(cursor)
    subscript = _subscript(cursor)
    length = Parameter(name=name, quoted=quoted, line=line, operator="length", subscript=subscript)
    return _closed(cursor, length)


def _name(cursor: Cursor) -> str:
    name = cursor.match(_BRACED_NAME)
    if name is None:
        raise cursor.refused("`${` needs a valid variable name")
    return name


def _closed(cursor: Cursor, parameter: Parameter) -> Parameter:
    if cursor.ended:
        raise cursor.broken("a `${` is never closed")
    if not cursor.take("}"):
        raise cursor.refused(
            f"`${{{parameter.name}…}}` is not valid in bash; write ${{NAME}}, or quote the text"
        )
    return parameter


def _subscript(cursor: Cursor) -> Word | None:
    if not cursor.take("["):
        return None
    subscript = read_expression(cursor, "]")
    cursor.require("]", "a subscript")
    return subscript


def _arguments(cursor: Cursor, operator: str, *, quoted: bool) -> tuple[Word, ...]:
    if operator in _REPLACEMENTS:
        pattern = read_operand(cursor, stops="/}", quoted=False, slash_first=operator == "//")
        return (pattern, read_operand(cursor, stops="}", quoted=False)) if cursor.take("/") else (pattern,)
    if operator == ":":
        offset = read_expression(cursor, ":}")
        return (offset, read_expression(cursor, "}")) if cursor.take(":") else (offset,)
    if operator in _TEXT_OPERATORS:
        return (read_operand(cursor, stops="}", quoted=quoted),)
    if operator and operator[0] in "#%^,":
        return (read_operand(cursor, stops="}", quoted=False),)
    return ()
