"""Arithmetic expressions, sign by sign."""

import re

from spotwarden.create_script.refusal import ScriptRefused

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d[\w#@]*)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign><<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&^|]=|[-+*/%<>=!~&^|?:,()\[\]]))",
    re.ASCII,
)


class Scanner:
    """Walks over the numbers, names and signs of an expression."""

    def __init__(self, text: str, line: int) -> None:
        self.text = text
        self.line = line
        self.position = 0
        self.kind = self.lexeme = ""
        self.advance()

    def advance(self) -> None:
        """Step to the next token; at the end the kind is `end`, and the token what is left over."""
        found = _TOKEN.match(self.text, self.position)
        if found is None:
            self.kind, self.lexeme = "end", self.text[self.position :].strip()
            return
        self.position = found.end()
        self.kind = found.lastgroup or ""
        self.lexeme = found.group(self.kind)

    def error(self, what: str) -> ScriptRefused:
        """Return a refusal that quotes the expression."""
        return ScriptRefused(f"the arithmetic `{self.text.strip()}` {what}", line=self.line)

    def take(self, sign: str) -> bool:
        """Step over a sign if it comes next."""
        found = self.kind == "sign" and self.lexeme == sign
        if found:
            self.advance()
        return found

    def require(self, sign: str) -> None:
        """Step over a sign; raise `ScriptRefused` if it does not come next."""
        if not self.take(sign):
            raise self.error(f"lacks a `{sign}`")

    def closing_bracket(self) -> int:
        """Return where the bracket that has just been opened is closed."""
        level = 1
        for position in range(self.position, len(self.text)):
            level += {"[": 1, "]": -1}.get(self.text[position], 0)
            if level == 0:
                return position
        raise self.error("lacks a `]`")
