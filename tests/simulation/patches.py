"""Patches of the product by name, at run time: whoever holds the thing that is patched meets the new one."""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import msgspec

Make = Callable[[Any], Any]
OURS = ("spotwarden", "simulated_", "tests.", "test_")


class Patch(msgspec.Struct, frozen=True, kw_only=True):
    """`target` is `module:name`, or `module:Class.name`; `make` makes the new thing of the old one."""

    target: str
    make: Make

    @property
    def original(self) -> Any:
        """What there is now; `AttributeError` where nothing of that name is there any more."""
        return getattr(*self._place())

    def _place(self) -> tuple[Any, str]:
        module, _, name = self.target.partition(":")
        *holders, last = name.split(".")
        place: Any = importlib.import_module(f"spotwarden.{module}")
        for holder in holders:
            place = getattr(place, holder)
        return place, last

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Have the new thing everywhere until the end of the block."""
        place, name = self._place()
        old = getattr(place, name)
        new = self.make(old)
        holders = [place] if not isinstance(place, ModuleType) else _modules()
        changed = [change for holder in holders for change in _changes(holder, old, new)]
        if not changed:
            raise LookupError(f"nothing holds {self.target}")
        before = [(holder, attribute, vars(holder)[attribute]) for holder, attribute, _ in changed]
        for holder, attribute, value in changed:
            setattr(holder, attribute, value)
        try:
            yield
        finally:
            for holder, attribute, value in before:
                setattr(holder, attribute, value)


def _modules() -> list[ModuleType]:
    return [module for name, module in list(sys.modules.items()) if name.startswith(OURS) and module]


def _changes(holder: Any, old: Any, new: Any) -> Iterator[tuple[Any, str, Any]]:
    """Names that hold the old thing, and tuples and mappings of functions in which it stands."""
    for name, value in list(vars(holder).items()):
        if value is old:
            yield holder, name, new
        elif callable(old) and isinstance(value, tuple) and any(item is old for item in value):
            yield holder, name, tuple(new if item is old else item for item in value)
        elif callable(old) and isinstance(value, dict) and any(item is old for item in value.values()):
            yield holder, name, {key: new if item is old else item for key, item in value.items()}


def gives(value: Any) -> Make:
    """The function gives this, whatever it is asked."""

    def make(_old: Any) -> Any:
        return lambda *_arguments, **_named: value

    return make


def turns(change: Callable[[Any], Any]) -> Make:
    """What the function gives is changed."""

    def make(old: Any) -> Any:
        return lambda *arguments, **named: change(old(*arguments, **named))

    return make


def instead(change: Callable[..., Any]) -> Make:
    """Another function is asked, which gets the old one first."""

    def make(old: Any) -> Any:
        return lambda *arguments, **named: change(old, *arguments, **named)

    return make


def becomes(change: Callable[[Any], Any]) -> Make:
    """The value is another one."""
    return change
