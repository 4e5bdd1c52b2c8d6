"""bash's arithmetic: 64-bit integers, C's operators, names of variables in place of their values."""

from typing import NamedTuple, Protocol

from spotwarden.create_script.bash.evaluator.numerals import OPERATIONS, UNARIES, number, wrap
from spotwarden.create_script.bash.evaluator.scanner import Scanner
from spotwarden.create_script.bash.evaluator.values import Text
from spotwarden.create_script.bash.limits import MAX_EXPRESSION, nested
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import Unknown

_ASSIGNMENTS = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "<<=", ">>="])
# From the loosest to the tightest.
_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %", "**")
_BINDING = {sign: level for level, signs in enumerate(_LEVELS, start=3) for sign in signs.split()}
_COMMA, _ASSIGN, _CHOICE, _POWER, _UNARY = 0, 1, 2, 13, 14


class Memory(Protocol):
    """Where arithmetic finds and stores variables; a subscript is the text between the brackets."""

    def value(self, name: str, subscript: str | None) -> Text | None:
        """Return the value of a variable, None where it is not set."""

    def store(self, name: str, subscript: str | None, value: Text) -> None:
        """Set a variable."""

    def charge(self, size: int) -> None:
        """Account for an expression of so many characters; raise `ScriptRefused` where that is too much."""


class Uncertain(Exception):  # noqa: N818 — it carries a value, and no fault
    """The result depends on a value that is not known."""

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(unknown.reason)
        self.unknown = unknown


class _Place(NamedTuple):
    """What can be assigned to."""

    name: str
    subscript: str | None


class _Parser(Scanner):
    """Computes while it reads; `live` is off in the part that `?:`, `&&` or `||` leave out."""

    def __init__(self, text: str, memory: Memory, line: int, depth: int) -> None:
        super().__init__(text, line)
        self.memory = memory
        self.depth = depth
        self.live = True

    def expression(self, binding: int) -> int:
        self.depth = nested(self.depth, self.line)
        value = self.assignment() if binding <= _ASSIGN else self.operand()
        while binding == _COMMA and self.take(","):
            value = self.expression(_ASSIGN)
        if binding > _ASSIGN:
            value = self.operators(value, binding)
        self.depth -= 1
        return value

    def operators(self, value: int, binding: int) -> int:
        while self.kind == "sign":
            level = _BINDING.get(self.lexeme, -1)
            if self.lexeme == "?" and binding <= _CHOICE:
                value = self.choice(value)
            elif level >= max(binding, _CHOICE + 1):
                value = self.binary(value, level)
            else:
                break
        return value

    def binary(self, left: int, level: int) -> int:
        operator = self.lexeme
        self.advance()
        live = self.live
        if operator in ("&&", "||"):
            self.live = live and (bool(left) == (operator == "&&"))
        right = self.expression(level if operator == "**" else level + 1)
        self.live = live
        return self.compute(operator, left, right)

    def choice(self, condition: int) -> int:
        self.advance()
        live = self.live
        self.live = live and condition != 0
        first = self.expression(_ASSIGN)
        self.require(":")
        self.live = live and condition == 0
        second = self.expression(_CHOICE)
        self.live = live
        return first if condition else second

    def assignment(self) -> int:
        place = self.place_ahead()
        if place is None:
            return self.operators(self.operand(), _CHOICE)
        operator = self.lexeme
        self.advance()
        try:
            value = self.expression(_ASSIGN)
            if operator != "=":
                value = self.compute(operator[:-1], self.load(place), value)
        except Uncertain as error:
            self.store(place, error.unknown)
            raise
        self.store(place, str(value))
        return value

    def place_ahead(self) -> _Place | None:
        """Read `name =` or `name[i] +=` and stay on the operator; go back if it is something else."""
        if self.kind != "name":
            return None
        before = self.position, self.kind, self.lexeme
        place = self.place()
        if self.kind == "sign" and self.lexeme in _ASSIGNMENTS:
            return place
        self.position, self.kind, self.lexeme = before
        return None

    def place(self) -> _Place:
        name = self.lexeme
        self.advance()
        if not (self.kind == "sign" and self.lexeme == "["):
            return _Place(name, None)
        end = self.closing_bracket()
        subscript = self.text[self.position : end]
        self.position = end + 1
        self.advance()
        return _Place(name, subscript)

    def operand(self) -> int:
        self.depth = nested(self.depth, self.line)
        try:
            return self.bare_operand()
        finally:
            self.depth -= 1

    def bare_operand(self) -> int:
        for sign in ("++", "--"):
            if self.take(sign):
                return self.step(sign, before=True)
        for sign, function in UNARIES.items():
            if self.take(sign):
                return function(self.expression(_UNARY))
        if self.take("("):
            value = self.expression(_COMMA)
            self.require(")")
            return value
        if self.kind == "number":
            return self.numeral()
        if self.kind == "name":
            return self.variable()
        raise self.error(
            "ends where a number is expected"
            if not self.lexeme
            else f"has `{self.lexeme}` where a number or a variable is expected"
        )

    def numeral(self) -> int:
        text = self.lexeme
        self.advance()
        try:
            return number(text)
        except ValueError as error:
            raise self.error(str(error)) from error

    def step(self, sign: str, *, before: bool, place: _Place | None = None) -> int:
        if place is None and self.kind != "name":
            return self.operand()  # ++5 is +(+5)
        place = place or self.place()
        old = self.load(place)
        new = wrap(old + (1 if sign == "++" else -1))
        self.store(place, str(new))
        return new if before else old

    def variable(self) -> int:
        place = self.place()
        for sign in ("++", "--"):
            if self.take(sign):
                return self.step(sign, before=False, place=place)
        return self.load(place)

    def load(self, place: _Place) -> int:
        if not self.live:
            return 0
        value = self.memory.value(place.name, place.subscript)
        if isinstance(value, Unknown):
            raise Uncertain(value)
        return evaluate_certain(value or "0", self.memory, self.line, self.depth)

    def store(self, place: _Place, value: Text) -> None:
        if self.live:
            self.memory.store(place.name, place.subscript, value)

    def compute(self, operator: str, left: int, right: int) -> int:
        if not self.live:
            return 0
        if operator in ("/", "%") and right == 0:
            raise self.error("divides by zero")
        if operator == "**" and right < 0:
            raise self.error("has a negative exponent")
        return wrap(OPERATIONS[operator](left, right))


def evaluate(text: Text, memory: Memory, line: int) -> int | Unknown:
    """Compute an expression; an unknown value in it makes the result unknown.

    Raises:
        Refused: bash would report an error in the expression.
    """
    if isinstance(text, Unknown):
        return text
    try:
        return evaluate_certain(text, memory, line, 0)
    except Uncertain as error:
        return error.unknown


def evaluate_certain(text: str, memory: Memory, line: int, depth: int) -> int:
    """Compute an expression whose values are all known; raise `Uncertain` otherwise."""
    memory.charge(len(text))
    if text.isdecimal() and text.isascii() and not text.startswith("0"):
        return number(text)
    if not text.strip():
        return 0
    if len(text) > MAX_EXPRESSION:
        raise ScriptRefused(f"an arithmetic expression has more than {MAX_EXPRESSION} characters", line=line)
    parser = _Parser(text, memory, line, nested(depth, line))
    value = parser.expression(_COMMA)
    if parser.kind != "end" or parser.lexeme:
        raise parser.error(f"has `{parser.lexeme}` where it should end")
    return value
