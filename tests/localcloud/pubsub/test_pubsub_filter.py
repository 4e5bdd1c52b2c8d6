"""The filter of a subscription decides by attributes, and what is no filter is refused with a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcloud.pubsub.filter import attribute_filter
from localcloud.rpc import RpcError


@pytest.mark.parametrize(
    ("text", "attributes"),
    [
        ("", {}),
        ("attributes:domain", {"domain": "x"}),
        ('attributes:"iana.org/language_tag"', {"iana.org/language_tag": ""}),
        ('attributes.domain = "com"', {"domain": "com"}),
        ('attributes."a b" = "c"', {"a b": "c"}),
        ('attributes.domain != "com"', {"domain": "org"}),
        ('attributes.domain != "com"', {}),
        ('hasPrefix(attributes.domain, "co")', {"domain": "com"}),
        ("NOT attributes:domain", {}),
        ("-attributes:domain", {}),
        ('attributes:a AND attributes.b = "1"', {"a": "", "b": "1"}),
        ("attributes:a OR attributes:b OR attributes:c", {"c": ""}),
        ("attributes:a AND (attributes:b OR attributes:c)", {"a": "", "c": ""}),
        ("(attributes:a AND attributes:b) OR attributes:c", {"c": ""}),
        ("NOT (attributes:a AND attributes:b)", {"a": ""}),
        ('attributes.a = "\\u0041\\"\\n"', {"a": 'A"\n'}),
    ],
)
def test_a_filter_lets_matching_messages_through(text: str, attributes: dict[str, str]):
    """Each form of the filtering syntax, met."""
    assert attribute_filter(text)(attributes)


@pytest.mark.parametrize(
    ("text", "attributes"),
    [
        ("attributes:domain", {"Domain": "x"}),
        ('attributes.domain = "com"', {"domain": "COM"}),
        ('attributes.domain = "com"', {}),
        ('attributes.domain != "com"', {"domain": "com"}),
        ('hasPrefix(attributes.domain, "co")', {"domain": "dco"}),
        ('hasPrefix(attributes.domain, "")', {}),
        ("NOT attributes:domain", {"domain": ""}),
        ('attributes:a AND attributes.b = "1"', {"a": "", "b": "2"}),
        ("attributes:a AND (attributes:b OR attributes:c)", {"b": "", "c": ""}),
    ],
)
def test_a_filter_keeps_other_messages_out(text: str, attributes: dict[str, str]):
    """Each form of the filtering syntax, missed by one fact."""
    assert not attribute_filter(text)(attributes)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("attributes:", "expected a name or value, found 'the end' (at position 12)"),
        ("attributes.a = b", "a term is one of"),
        ("attributes.a.b = 'c'", "a key with a dot in it needs quotation marks (at position 1)"),
        ("attributes:a OR attributes:b AND attributes:c", "AND and OR side by side need parentheses"),
        ("attributes:a AND attributes:b OR attributes:c", "AND and OR side by side need parentheses"),
        ("attributes:a attributes:b", "expected the end, found 'attributes' (at position 14)"),
        ("attributes.a = 'open", "this quotation mark is never closed (at position 16)"),
        ("data = 'x'", "only attributes.KEY can be compared"),
        ("attributes.a > 'x'", "a term is one of"),
        ("hasSuffix(attributes.a, 'x')", "a term is one of"),
        ("hasPrefix(attributes.a)", "a term is one of"),
        ("(" * 100 + "attributes:a" + ")" * 100, "more than 60 levels of nesting"),
        ("attributes:a" + " " * 245, "longer than 256 bytes"),
    ],
)
def test_what_is_no_filter_is_refused_with_a_reason(text: str, reason: str):
    """The refusal says what does not fit and where."""
    with pytest.raises(RpcError) as refused:
        attribute_filter(text)
    assert refused.value.code == "INVALID_ARGUMENT"
    assert reason in refused.value.message


PIECES = st.sampled_from([
    *'()-,.:=x~!"', "attributes", "attributes.a", '"b"', "'c'", "!=", "=~", "<=", " ", "\n", "--", "\\",
    "AND", "OR", "NOT", "hasPrefix(", '"\\U99999999"',
])  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=60))
def test_no_text_does_worse_than_being_refused(text: str):
    """Any text is a filter or an INVALID_ARGUMENT."""
    try:
        matches = attribute_filter(text)
    except RpcError as error:
        assert error.code == "INVALID_ARGUMENT"
    else:
        assert matches({"a": "b"}) in (True, False)
