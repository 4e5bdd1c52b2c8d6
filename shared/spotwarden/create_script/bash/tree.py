"""The shapes of commands after reading, before anything is run."""

from typing import TypeAlias

import msgspec

from spotwarden.create_script.bash.words import Assignment, Word


class Document(msgspec.Struct, kw_only=True):
    """A here-document: its end word, and its text as soon as that has been reached."""

    end: str
    expands: bool
    strips: bool
    line: int
    body: Word | None = None


class Redirect(msgspec.Struct, frozen=True, kw_only=True):
    """A redirection: `2> file`, `<<EOF` and their like."""

    operator: str
    target: Word | Document
    line: int
    descriptor: int | None = None
    variable: str | None = None


class Simple(msgspec.Struct, frozen=True, kw_only=True):
    """Assignments, words and redirections: the command that does something."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word | Assignment, ...]
    redirects: tuple[Redirect, ...]
    line: int


class Pipeline(msgspec.Struct, frozen=True):
    """`! a | b`."""

    commands: tuple["Node", ...]
    negated: bool
    line: int


class AndOr(msgspec.Struct, frozen=True):
    """`a && b || c`: pairs of operator and command behind the first."""

    first: "Node"
    rest: tuple[tuple[str, "Node"], ...]
    line: int


class Background(msgspec.Struct, frozen=True):
    """`a &`."""

    body: "Node"
    line: int


class Block(msgspec.Struct, frozen=True):
    """Commands one after the other."""

    nodes: tuple["Node", ...]


class GroupCommand(msgspec.Struct, frozen=True):
    """`{ …; }`."""

    body: Block
    line: int


class Subshell(msgspec.Struct, frozen=True):
    """`( … )`."""

    body: Block
    line: int


class If(msgspec.Struct, frozen=True):
    """`if`: pairs of condition and branch, and the branch behind `else`."""

    branches: tuple[tuple[Block, Block], ...]
    otherwise: Block | None
    line: int


class Loop(msgspec.Struct, frozen=True):
    """`while`, or `until`."""

    until: bool
    condition: Block
    body: Block
    line: int


class For(msgspec.Struct, frozen=True):
    """`for name in words`; without `in`, over the positional parameters."""

    name: str
    words: tuple[Word, ...] | None
    body: Block
    line: int


class Select(msgspec.Struct, frozen=True):
    """`select name in words`."""

    body: Block
    line: int


class ForArithmetic(msgspec.Struct, frozen=True):
    """`for ((start; condition; step))`."""

    start: Word
    condition: Word
    step: Word
    body: Block
    line: int


class Clause(msgspec.Struct, frozen=True):
    """One `pattern | pattern) … ;;` of a case; `end` is `;;`, `;&` or `;;&`."""

    patterns: tuple[Word, ...]
    body: Block
    end: str


class CaseClause(msgspec.Struct, frozen=True):
    """`case word in … esac`."""

    word: Word
    clauses: tuple[Clause, ...]
    line: int


class FunctionDefinition(msgspec.Struct, frozen=True):
    """`name() { … }`."""

    name: str
    body: "Node"
    line: int


class ArithmeticCommand(msgspec.Struct, frozen=True):
    """`((…))`."""

    expression: Word
    line: int


class Test(msgspec.Struct, frozen=True):
    """One operator of `[[ … ]]`: `-f`, `==`, `&&`, `!`, `word`, …; operands are words or tests."""

    operator: str
    operands: tuple["Word | Test", ...]


class Condition(msgspec.Struct, frozen=True):
    """`[[ … ]]`."""

    test: Test
    line: int


class Redirected(msgspec.Struct, frozen=True):
    """A compound command with redirections behind it."""

    body: "Node"
    redirects: tuple[Redirect, ...]
    line: int


Node: TypeAlias = (
    Simple
    | Pipeline
    | AndOr
    | Background
    | GroupCommand
    | Subshell
    | If
    | Loop
    | For
    | Select
    | ForArithmetic
    | CaseClause
    | FunctionDefinition
    | ArithmeticCommand
    | Condition
    | Redirected
)
