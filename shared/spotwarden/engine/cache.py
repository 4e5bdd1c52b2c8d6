"""What a warm function remembers of the bucket: what one generation of an object says never changes."""

from typing import Any, ClassVar, Generic, TypeVar

Value = TypeVar("Value")


class GenerationCache(Generic[Value]):
    """Values by object name and generation. Safe to use from several threads; nothing rests on it.

    With more than `most` of them it forgets all, rather than grow for as long as the function is warm.
    """

    _all: ClassVar[list["GenerationCache[Any]"]] = []

    def __init__(self, most: int = 20_000) -> None:
        self._most = most
        self._values: dict[tuple[str, int], Value] = {}
        self._all.append(self)

    def get(self, name: str, generation: int) -> Value | None:
        """What this generation says, if it was read before."""
        return self._values.get((name, generation))

    def keep(self, name: str, generation: int, value: Value) -> Value:
        """Remember it; gives it back."""
        if len(self._values) >= self._most:
            self._values = {}
        self._values[name, generation] = value
        return value

    def clear(self) -> None:
        """Remember nothing of this."""
        self._values = {}

    @classmethod
    def forget(cls) -> None:
        """Know nothing of any bucket."""
        for cache in cls._all:
            cache.clear()
