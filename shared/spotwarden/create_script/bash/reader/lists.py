"""Lists of commands: `;`, `&`, `&&`, `||`, `|`, line ends; and a whole script, line by line."""

import re
from collections.abc import Iterator

from spotwarden.create_script.bash.limits import Budget
from spotwarden.create_script.bash.reader.commands import read_simple
from spotwarden.create_script.bash.reader.compound import COMPOUNDS, read_function, redirected
from spotwarden.create_script.bash.reader.cursor import Cursor, Grammar
from spotwarden.create_script.bash.reader.dollar import read_dollar
from spotwarden.create_script.bash.reader.heredoc import skip_lines
from spotwarden.create_script.bash.tree import AndOr, Background, Block, Node, Pipeline

_KEYWORD = re.compile(
    r"(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|select|function|coproc|time|\[\[|[{}!])"
    r"(?=[ \t\n|&;()<>]|\Z)"
)
_CLAUSE_END = re.compile(r";;&?|;&")
_AND_OR = re.compile(r"&&|\|\|")
_PIPE = re.compile(r"\|&?(?!\|)")
_TIME_OPTION = re.compile(r"[ \t]+-p(?=[ \t])")
_CLOSING = frozenset(["then", "elif", "else", "fi", "do", "done", "esac", "}"])
_PARENTHESIS = frozenset([")"])


def open_script(text: str, budget: Budget, first_line: int = 1) -> Cursor:
    """Return a cursor at the beginning of a script."""
    return Cursor(text, budget=budget, grammar=_GRAMMAR, first_line=first_line)


def read_lines(cursor: Cursor) -> Iterator[Block]:
    """Yield what bash runs before it reads on: the commands of one line, or of several if they span more.

    Raises:
        Broken: bash finds a syntax error; what was yielded before has been run by then.
        Refused: the script is written in a way that is not supported, or is too large.
    """
    while True:
        skip_lines(cursor)
        if cursor.ended:
            return
        nodes: list[Node] = []
        while _read_node(cursor, nodes, frozenset()):
            cursor.blanks()
            if cursor.ended or cursor.at("\n"):
                break
        if cursor.pending:
            skip_lines(cursor)
        yield Block(tuple(nodes))


def _read_commands(cursor: Cursor, ends: frozenset[str]) -> Block:
    line = cursor.line()
    nodes: list[Node] = []
    with cursor.deeper():
        while True:
            skip_lines(cursor)
            if _at_end(cursor, ends):
                return Block(tuple(nodes))
            if cursor.ended:
                missing = "` or `".join(sorted(ends))
                raise cursor.broken(f"the script ends, but `{missing}` is missing for what line {line} began")
            _read_node(cursor, nodes, ends)


def _read_block(cursor: Cursor) -> Block:
    waiting, cursor.pending = cursor.pending, []
    block = _read_commands(cursor, _PARENTHESIS)
    if cursor.pending:
        raise cursor.refused("a here-document inside a substitution must end before its parenthesis")
    cursor.pending = waiting
    cursor.position += 1
    return block


def _at_end(cursor: Cursor, ends: frozenset[str]) -> bool:
    if ")" in ends and cursor.at(")"):
        return True
    if ";;" in ends and _CLAUSE_END.match(cursor.text, cursor.position):
        return True
    keyword = _KEYWORD.match(cursor.text, cursor.position)
    return keyword is not None and keyword.group() in ends


def _read_node(cursor: Cursor, nodes: list[Node], ends: frozenset[str]) -> bool:
    """Read one command with what separates it from the next; return False at the end of a line."""
    line = cursor.line()
    node = _read_and_or(cursor)
    cursor.blanks()
    if cursor.at("&") and not cursor.at("&&"):
        cursor.position += 1
        nodes.append(Background(node, line))
        return True
    nodes.append(node)
    if cursor.ended or cursor.at("\n"):
        return False
    if _at_end(cursor, ends) and not cursor.at("}"):
        return False
    if _CLAUSE_END.match(cursor.text, cursor.position) or not cursor.take(";"):
        raise cursor.broken(f"`{cursor.peek()}` is not expected here")
    return True


def _read_and_or(cursor: Cursor) -> Node:
    line = cursor.line()
    first = _read_pipeline(cursor)
    rest: list[tuple[str, Node]] = []
    while True:
        cursor.blanks()
        operator = cursor.match(_AND_OR)
        if operator is None:
            return AndOr(first, tuple(rest), line) if rest else first
        skip_lines(cursor)
        rest.append((operator, _read_pipeline(cursor)))


def _read_pipeline(cursor: Cursor) -> Node:
    line = cursor.line()
    negated = prefixed = False
    while (keyword := _KEYWORD.match(cursor.text, cursor.position)) and keyword.group() in ("!", "time"):
        cursor.budget.node(cursor.line)
        prefixed = True
        negated ^= keyword.group() == "!"
        cursor.position = keyword.end()
        cursor.match(_TIME_OPTION)
        cursor.blanks()
    if prefixed and (cursor.ended or cursor.peek() in "\n;"):
        raise cursor.refused("`!` or `time` without a command behind it")
    commands = [_read_command(cursor)]
    while True:
        cursor.blanks()
        if cursor.match(_PIPE) is None:
            break
        skip_lines(cursor)
        commands.append(_read_command(cursor))
    return commands[0] if len(commands) == 1 and not negated else Pipeline(tuple(commands), negated, line)


def _read_command(cursor: Cursor) -> Node:
    line = cursor.line()
    cursor.budget.node(cursor.line)
    keyword = _KEYWORD.match(cursor.text, cursor.position)
    name = keyword.group() if keyword else cursor.peek()
    if name in _CLOSING:
        raise cursor.broken(f"`{name}` is not expected here")
    compound = COMPOUNDS.get(name) if keyword or name == "(" else None
    if compound is not None:
        return redirected(cursor, compound(cursor), line)
    function = read_function(cursor)
    if function is not None:
        return function
    simple = read_simple(cursor)
    if simple is None:
        raise cursor.broken(
            f"`{cursor.peek()}` is not expected here" if cursor.peek() else "a command is missing"
        )
    return simple


_GRAMMAR = Grammar(block=_read_block, commands=_read_commands, dollar=read_dollar)
