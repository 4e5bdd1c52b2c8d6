"""Compound commands: `if`, loops, `case`, groups, functions."""

import re
from collections.abc import Callable

from spotwarden.create_script.bash.reader.braces import expand_braces
from spotwarden.create_script.bash.reader.commands import read_redirect
from spotwarden.create_script.bash.reader.conditions import read_condition
from spotwarden.create_script.bash.reader.cursor import Cursor
from spotwarden.create_script.bash.reader.heredoc import skip_lines
from spotwarden.create_script.bash.reader.operand import read_expression
from spotwarden.create_script.bash.reader.words import read_word
from spotwarden.create_script.bash.tree import (
    ArithmeticCommand,
    Block,
    CaseClause,
    Clause,
    For,
    ForArithmetic,
    FunctionDefinition,
    GroupCommand,
    If,
    Loop,
    Node,
    Redirect,
    Redirected,
    Select,
    Subshell,
)
from spotwarden.create_script.bash.words import Word

_FUNCTION = re.compile(r"([^\s|&;()<>$'\"`\\={}#~]+)[ \t]*\([ \t]*\)")
_FUNCTION_NAME = re.compile(r"[^\s|&;()<>$'\"`\\]+")
_PARENTHESES = re.compile(r"[ \t]*\([ \t]*\)")
_NAME = re.compile(r"[A-Za-z_]\w*(?=[ \t\n;]|\\\n|\Z)", re.ASCII)
_CLAUSE_END = re.compile(r";;&?|;&")


def _commands(cursor: Cursor, *ends: str) -> Block:
    """Read commands up to one of these words, at least one command."""
    block = cursor.grammar.commands(cursor, frozenset(ends))
    if not block.nodes:
        raise cursor.broken(f"there is no command before `{cursor.peek(4).split()[0]}`")
    return block


def _keyword(cursor: Cursor, word: str) -> None:
    skip_lines(cursor)
    if not cursor.take(word):
        raise cursor.broken(f"`{word}` is expected here")


def _if(cursor: Cursor) -> Node:
    line = cursor.line()
    branches: list[tuple[Block, Block]] = []
    otherwise = None
    cursor.position += len("if")
    while True:
        condition = _commands(cursor, "then")
        cursor.position += len("then")
        branches.append((condition, _commands(cursor, "elif", "else", "fi")))
        if not cursor.take("elif"):
            break
    if cursor.take("else"):
        otherwise = _commands(cursor, "fi")
    cursor.position += len("fi")
    return If(tuple(branches), otherwise, line)


def _while(cursor: Cursor) -> Node:
    line = cursor.line()
    until = cursor.at("until")
    cursor.position += len("while")
    condition = _commands(cursor, "do")
    return Loop(until, condition, _do(cursor), line)


def _do(cursor: Cursor) -> Block:
    skip_lines(cursor)
    word, end = ("{", "}") if cursor.at("{") else ("do", "done")
    _keyword(cursor, word)
    body = _commands(cursor, end)
    cursor.position += len(end)
    return body


def _for(cursor: Cursor) -> Node:
    line = cursor.line()
    cursor.position += len("for")
    cursor.blanks()
    if cursor.take("(("):
        return _count(cursor, line)
    name, words = _names(cursor)
    return For(name, words, _do(cursor), line)


def _select(cursor: Cursor) -> Node:
    line = cursor.line()
    cursor.position += len("select")
    cursor.blanks()
    _names(cursor)
    return Select(_do(cursor), line)


def _names(cursor: Cursor) -> tuple[str, tuple[Word, ...] | None]:
    """Read `name [in words];` of a loop."""
    name = cursor.match(_NAME)
    if name is None:
        raise cursor.broken("`for` and `select` need the name of a variable")
    skip_lines(cursor)
    if not cursor.take("in"):
        cursor.take(";")
        return name, None
    words: list[Word] = []
    cursor.blanks()
    while (word := read_word(cursor)) is not None:
        words.extend(expand_braces(word, cursor.budget))
        cursor.blanks()
    if not (cursor.take(";") or cursor.at("\n")):
        raise cursor.broken("the words of a loop end with a line or a semicolon")
    return name, tuple(words)


def _count(cursor: Cursor, line: int) -> Node:
    parts: list[Word] = []
    for _ in range(2):
        parts.append(read_expression(cursor, ";"))
        cursor.require(";", "a part of `for ((…))`")
    parts.append(read_expression(cursor, ")"))
    cursor.require("))", "`for ((`")
    cursor.blanks()
    cursor.take(";")
    return ForArithmetic(parts[0], parts[1], parts[2], _do(cursor), line)


def _case(cursor: Cursor) -> Node:
    line = cursor.line()
    cursor.position += len("case")
    cursor.blanks()
    word = read_word(cursor)
    if word is None:
        raise cursor.broken("`case` without a word")
    _keyword(cursor, "in")
    clauses: list[Clause] = []
    skip_lines(cursor)
    while not cursor.take("esac"):
        clauses.append(_clause(cursor))
        skip_lines(cursor)
    return CaseClause(word, tuple(clauses), line)


def _clause(cursor: Cursor) -> Clause:
    cursor.take("(")
    patterns = [_pattern(cursor)]
    while cursor.take("|"):
        patterns.append(_pattern(cursor))
    cursor.require(")", "a pattern of `case`")
    body = cursor.grammar.commands(cursor, frozenset((";;", "esac")))
    return Clause(tuple(patterns), body, cursor.match(_CLAUSE_END) or ";;")


def _pattern(cursor: Cursor) -> Word:
    cursor.blanks()
    pattern = read_word(cursor)
    if pattern is None:
        raise cursor.broken("a pattern of `case` is missing")
    cursor.blanks()
    return pattern


def _group(cursor: Cursor) -> Node:
    line = cursor.line()
    cursor.position += 1
    body = _commands(cursor, "}")
    cursor.position += 1
    return GroupCommand(body, line)


def _parenthesis(cursor: Cursor) -> Node:
    line = cursor.line()
    if cursor.take("(("):
        expression = read_expression(cursor, ")")
        if not cursor.take("))"):
            raise cursor.refused("`((` without `))`: for a subshell in a subshell write `( (`")
        return ArithmeticCommand(expression, line)
    cursor.position += 1
    body = _commands(cursor, ")")
    cursor.position += 1
    return Subshell(body, line)


def _coprocess(cursor: Cursor) -> Node:
    raise cursor.refused("`coproc` is not supported")


def _function_keyword(cursor: Cursor) -> Node:
    line = cursor.line()
    cursor.position += len("function")
    cursor.blanks()
    name = cursor.match(_FUNCTION_NAME)
    if name is None:
        raise cursor.broken("`function` without a name")
    cursor.match(_PARENTHESES)
    return FunctionDefinition(name, _body(cursor), line)


def redirected(cursor: Cursor, node: Node, line: int) -> Node:
    """Read the redirections behind a compound command."""
    redirects: list[Redirect] = []
    cursor.blanks()
    while (redirect := read_redirect(cursor)) is not None:
        redirects.append(redirect)
        cursor.blanks()
    return Redirected(node, tuple(redirects), line) if redirects else node


def read_function(cursor: Cursor) -> Node | None:
    """Read `name() …`, or return None where something else begins."""
    found = _FUNCTION.match(cursor.text, cursor.position)
    if found is None:
        return None
    line = cursor.line()
    cursor.position = found.end()
    return FunctionDefinition(found.group(1), _body(cursor), line)


def _body(cursor: Cursor) -> Node:
    skip_lines(cursor)
    for word, compound in COMPOUNDS.items():
        if cursor.at(word):
            return redirected(cursor, compound(cursor), cursor.line())
    raise cursor.broken("the body of a function is missing")


COMPOUNDS: dict[str, Callable[[Cursor], Node]] = {
    "if": _if,
    "while": _while,
    "until": _while,
    "for": _for,
    "select": _select,
    "case": _case,
    "{": _group,
    "(": _parenthesis,
    "[[": read_condition,
    "function": _function_keyword,
    "coproc": _coprocess,
}
