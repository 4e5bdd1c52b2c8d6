"""Which names a bucket and an object may have."""

import pytest

from localcloud.errors import ApiError
from localcloud.storage.names import check_bucket, check_object


@pytest.mark.parametrize("name", ["abc", "a-b_c.d", "0ab", "a" * 63, "a" * 63 + "." + "b" * 63])
def test_a_legal_bucket_name_is_taken(name: str):
    """Lower case letters, digits, dashes, underscores; dots between labels of up to 63."""
    assert check_bucket(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "ab",
        "a" * 64,
        "Abc",
        "-abc",
        "abc-",
        "a..b",
        "1.2.3.4",
        "goog-x",
        "my-google",
        "a b",
        "ä-b",
        "",
        None,
        7,
    ],
)
def test_an_illegal_bucket_name_is_refused(name: object):
    """Too short, too long, other characters, an address, Google's own names, and what is no text."""
    with pytest.raises(ApiError) as refused:
        check_bucket(name)
    assert refused.value.status == 400


@pytest.mark.parametrize(
    "name", ["a", "../x", "/", "a//b", "a%2Fb", "ü 🐢", "#?&=", "...", "a" * 1024, "ü" * 512]
)
def test_a_legal_object_name_is_taken(name: str):
    """Almost anything, up to 1,024 bytes of UTF-8."""
    assert check_object(name) == name


@pytest.mark.parametrize(
    "name",
    ["a" * 1025, "ü" * 513, "a\nb", "a\rb", ".", "..", ".well-known/acme-challenge/x", "\ud800", "", None],
)
def test_an_illegal_object_name_is_refused(name: object):
    """Too long, line breaks, the two dots, a reserved prefix, half a character."""
    with pytest.raises(ApiError) as refused:
        check_object(name)
    assert refused.value.status == 400
