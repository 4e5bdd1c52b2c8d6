"""bash's arithmetic: 64-bit integers, C's operators, names of variables in place of their values."""

import re
from collections.abc import Callable
from typing import NamedTuple, Protocol

from spotwarden.script.command import Unknown
from spotwarden.script.refusal import Refused
from spotwarden.script.shell.limits import nested
from spotwarden.script.shell.run.numerals import WIDTH, number, wrap
from spotwarden.script.shell.run.values import Text

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d[\w#@]*)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign><<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&^|]=|[-+*/%<>=!~&^|?:,()\[\]]))",
    re.ASCII,
)
_ASSIGNMENTS = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "<<=", ">>="])
_BINDING = {
    "||": 3, "&&": 4, "|": 5, "^": 6, "&": 7, "==": 8, "!=": 8, "<": 9, ">": 9, "<=": 9, ">=": 9,
    "<<": 10, ">>": 10, "+": 11, "-": 11, "*": 12, "/": 12, "%": 12, "**": 13,
}  # fmt: skip
_COMMA, _ASSIGN, _CHOICE, _POWER, _UNARY = 0, 1, 2, 13, 14


class Memory(Protocol):
    """Where arithmetic finds and stores variables; a subscript is the text between the brackets."""

    def value(self, name: str, subscript: str | None) -> Text | None:
        """Return the value of a variable, None where it is not set."""

    def store(self, name: str, subscript: str | None, value: Text) -> None:
        """Set a variable."""


class Uncertain(Exception):  # noqa: N818 — it carries a value, and no fault
    """The result depends on a value that is not known."""

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(unknown.reason)
        self.unknown = unknown


class _Place(NamedTuple):
    """What can be assigned to."""

    name: str
    subscript: str | None


class _Parser:
    """Computes while it reads; `live` is off in the part that `?:`, `&&` or `||` leave out."""

    def __init__(self, text: str, memory: Memory, line: int, depth: int) -> None:
        self.text = text
        self.memory = memory
        self.line = line
        self.depth = depth
        self.live = True
        self.position = 0
        self.kind, self.token = "", ""
        self.advance()

    def advance(self) -> None:
        found = _TOKEN.match(self.text, self.position)
        if found is None:
            self.kind, self.token = "end", self.text[self.position :].strip()
            return
        self.position = found.end()
        self.kind = found.lastgroup or ""
        self.token = found.group(self.kind)

    def error(self, what: str) -> Refused:
        return Refused(f"the arithmetic `{self.text.strip()}` {what}", line=self.line)

    def take(self, token: str) -> bool:
        found = self.kind == "sign" and self.token == token
        if found:
            self.advance()
        return found

    def require(self, token: str) -> None:
        if not self.take(token):
            raise self.error(f"lacks a `{token}`")

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
            level = _BINDING.get(self.token, -1)
            if self.token == "?" and binding <= _CHOICE:
                value = self.choice(value)
            elif level >= max(binding, _CHOICE + 1):
                value = self.binary(value, level)
            else:
                break
        return value

    def binary(self, left: int, level: int) -> int:
        operator = self.token
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
        operator = self.token
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
        before = self.position, self.kind, self.token
        place = self.place()
        if self.kind == "sign" and self.token in _ASSIGNMENTS:
            return place
        self.position, self.kind, self.token = before
        return None

    def place(self) -> _Place:
        name = self.token
        self.advance()
        if not (self.kind == "sign" and self.token == "["):
            return _Place(name, None)
        end = _closing_bracket(self.text, self.position)
        if end is None:
            raise self.error("lacks a `]`")
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
        for sign, function in _UNARIES.items():
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
            "ends where a number is expected" if not self.token else f"has no meaning at `{self.token}`"
        )

    def numeral(self) -> int:
        text = self.token
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
        return wrap(_OPERATIONS[operator](left, right))


def _closing_bracket(text: str, start: int) -> int | None:
    level = 1
    for position in range(start, len(text)):
        level += {"[": 1, "]": -1}.get(text[position], 0)
        if level == 0:
            return position
    return None


def _quotient(left: int, right: int) -> int:
    size = abs(left) // abs(right)
    return size if (left < 0) == (right < 0) else -size


_UNARIES: dict[str, Callable[[int], int]] = {
    "+": lambda value: value,
    "-": lambda value: wrap(-value),
    "!": lambda value: int(not value),
    "~": lambda value: ~value,
}
_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "||": lambda left, right: int(bool(left or right)),
    "&&": lambda left, right: int(bool(left and right)),
    "|": int.__or__,
    "^": int.__xor__,
    "&": int.__and__,
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<": lambda left, right: int(left < right),
    ">": lambda left, right: int(left > right),
    "<=": lambda left, right: int(left <= right),
    ">=": lambda left, right: int(left >= right),
    "<<": lambda left, right: left << (right % WIDTH),
    ">>": lambda left, right: left >> (right % WIDTH),
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "/": _quotient,
    "%": lambda left, right: left - right * _quotient(left, right),
    "**": lambda left, right: pow(left, right, 1 << WIDTH),
}


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
    if text.isdecimal() and text.isascii() and not text.startswith("0"):
        return number(text)
    if not text.strip():
        return 0
    parser = _Parser(text, memory, line, nested(depth, line))
    value = parser.expression(_COMMA)
    if parser.kind != "end" or parser.token:
        raise parser.error(f"goes on with `{parser.token}` where it should end")
    return value
