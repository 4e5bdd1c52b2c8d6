"""Adapters that are imported and opened when something of them is asked for."""

import gc
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar, cast


@contextmanager
def importing() -> Iterator[None]:
    """Around the imports of an adapter: no garbage is looked for meanwhile, nor among them later.

    Nothing that is imported ever becomes garbage, and going through all of it once costs a tenth of a cold
    start; so it is also left out of every later search. Where all of it was there before, nothing is left
    out: what a sweep before has thrown away meanwhile would stay for good.
    """
    enabled = gc.isenabled()
    imported = len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) != imported:
            gc.freeze()
        if enabled:
            gc.enable()


T = TypeVar("T")


def calls() -> Mapping[str, int]:
    """How often each of Google's services was asked so far."""
    from spotwarden.gcp.tally import calls as counted  # noqa: PLC0415 - first use

    return counted()


def clock_ahead() -> timedelta | None:
    """How far our clock is ahead of Google's, by the newest answer; None where none has told."""
    from spotwarden.gcp.tally import clock_ahead as told  # noqa: PLC0415 - first use

    return told()


def on_first_use(opener: Callable[[], T]) -> T:
    """What `opener` opens, once something of it is asked for."""
    return cast("T", _OnFirstUse(opener))


def open_now(*adapters: object) -> None:
    """Open these, which `on_first_use` gave, as if something of them were asked for."""
    for adapter in adapters:
        if isinstance(adapter, _OnFirstUse):
            adapter()


class _OnFirstUse:
    """Stands in for an adapter until something of it is asked for."""

    def __init__(self, opener: Callable[[], object]) -> None:
        self._opener = opener
        self._lock = threading.Lock()
        self._opened: object | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self(), name)

    def __call__(self) -> object:
        """The adapter; whoever asks first opens it."""
        with self._lock:
            if self._opened is None:
                with importing():
                    self._opened = self._opener()
        return self._opened
