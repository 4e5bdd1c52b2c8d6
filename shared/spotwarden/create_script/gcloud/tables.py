"""Tables of names, written as blocks of text."""


def words(text: str) -> frozenset[str]:
    """Give the words of a block of text as a set."""
    return frozenset(text.split())
