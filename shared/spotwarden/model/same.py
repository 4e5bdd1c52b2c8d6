"""Keys of caches for what has no hash: a policy's values, or what holds JSON."""

from typing import Generic, TypeVar

Kept = TypeVar("Kept")


class Same(Generic[Kept]):
    """A key that equals only a key of the very same thing."""

    __slots__ = ("it",)

    def __init__(self, it: Kept) -> None:
        self.it = it

    def __hash__(self) -> int:
        return id(self.it)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.it is self.it
