"""Reads the tokens of a filter expression into a tree."""

from dataclasses import dataclass

from localcloud.filters.tokens import FilterError, Kind, Token, tokens
from localcloud.filters.tree import All, AnyOf, Bare, Comparison, FunctionCall, Node, Not, Text, Value

# Deeper ones come from a generator or an attacker; Python's own stack ends at 1,000 frames.
DEEPEST = 60


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """Where the services' languages differ.

    `juxtaposition`: two terms side by side are joined by AND. `mixing`: AND and OR may stand side by side
    without parentheses, and OR then binds tighter, as in "Logging query language" and AIP-160.
    """

    juxtaposition: bool = True
    mixing: bool = True


def parse(text: str, grammar: Grammar) -> Node | None:
    """The tree of an expression; None when there is nothing in it.

    Raises:
        FilterError: it is no expression of this grammar; says where and what was expected.
    """
    parser = _Parser(tokens(text), grammar)
    if parser.ahead.kind is Kind.END:
        return None
    tree = parser.expression()
    parser.take(Kind.END)
    return tree


_TERM_STARTS = {Kind.ITEM, Kind.OPEN, Kind.NOT}


class _Parser:
    def __init__(self, found: list[Token], grammar: Grammar) -> None:
        self._tokens = found
        self._grammar = grammar
        self._next = 0
        self._depth = 0

    @property
    def ahead(self) -> Token:
        return self._tokens[self._next]

    def take(self, kind: Kind) -> Token:
        token = self.ahead
        if token.kind is not kind:
            raise FilterError(f"expected {kind.value}, found {token.text or token.kind.value!r}", token.at)
        self._next += kind is not Kind.END
        return token

    def _skip(self, kind: Kind) -> bool:
        found = self.ahead.kind is kind
        self._next += found
        return found

    def expression(self) -> Node:
        """Factors joined by AND, each of terms joined by OR."""
        start = self.ahead
        self._descend()
        factors = [self._factor()]
        while self._joined():
            factors.append(self._factor())
        self._depth -= 1
        if len(factors) > 1 and not self._grammar.mixing and any(isinstance(f, AnyOf) for f in factors):
            raise FilterError("AND and OR side by side need parentheses", start.at)
        return _one_of(All, factors)

    def _joined(self) -> bool:
        return self._skip(Kind.AND) or (self._grammar.juxtaposition and self.ahead.kind in _TERM_STARTS)

    def _descend(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise FilterError(f"more than {DEEPEST} levels of nesting", self.ahead.at)

    def _factor(self) -> Node:
        terms = [self._term()]
        while self._skip(Kind.OR):
            terms.append(self._term())
        return _one_of(AnyOf, terms)

    def _term(self) -> Node:
        negated = False
        while self._skip(Kind.NOT):
            negated = not negated
        node = self._group() if self.ahead.kind is Kind.OPEN else self._leaf()
        return Not(term=node) if negated else node

    def _group(self) -> Node:
        self.take(Kind.OPEN)
        inner = self.expression()
        self.take(Kind.CLOSE)
        # Wrapped, a group is never taken for an OR that stands beside an AND without parentheses.
        return All(terms=(inner,)) if isinstance(inner, AnyOf) else inner

    def _leaf(self) -> Node:
        item = self.take(Kind.ITEM)
        if self.ahead.kind is Kind.OPERATOR:
            operator = self.take(Kind.OPERATOR)
            return self._comparison(item, operator)
        return Bare(value=self._value_of(item), at=item.at)

    def _comparison(self, item: Token, operator: Token) -> Node:
        if not self._skip(Kind.OPEN):
            value = self._value_of(self.take(Kind.ITEM))
            return Comparison(path=item.parts, operator=operator.text, value=value, at=item.at)
        node = self._alternatives(item, operator)
        self.take(Kind.CLOSE)
        return node

    def _alternatives(self, item: Token, operator: Token) -> Node:
        """`field = ("a" OR "b" AND NOT "c")`: the comparison is made with each value."""
        self._descend()
        factors: list[Node] = []
        while not factors or self._skip(Kind.AND):
            terms = [self._alternative(item, operator)]
            while self._skip(Kind.OR):
                terms.append(self._alternative(item, operator))
            factors.append(_one_of(AnyOf, terms))
        self._depth -= 1
        return _one_of(All, factors)

    def _alternative(self, item: Token, operator: Token) -> Node:
        negated = self._skip(Kind.NOT)
        node = self._comparison(item, operator)
        return Not(term=node) if negated else node

    def _value_of(self, item: Token) -> Value:
        if item.quoted or not self._skip(Kind.OPEN):
            return _text(item)
        arguments = []
        while self.ahead.kind is not Kind.CLOSE:
            arguments.append(_text(self.take(Kind.ITEM)))
            if not self._skip(Kind.COMMA):
                break
        self.take(Kind.CLOSE)
        return FunctionCall(name=item.text, arguments=tuple(arguments), at=item.at)


def _text(item: Token) -> Text:
    return Text(value=item.text, quoted=item.quoted, parts=item.parts)


def _one_of(join: type[All] | type[AnyOf], nodes: list[Node]) -> Node:
    return nodes[0] if len(nodes) == 1 else join(terms=tuple(nodes))
