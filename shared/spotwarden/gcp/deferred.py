"""Parts of Google's libraries, and of what they need, that are dear to import and that no sweep ever uses.

A function has its token from the metadata server: it signs nothing and speaks no gRPC. Yet `google.auth`
imports all of cryptography, and `google.api_core` protobuf, at once: with the others here an eighth of a cold
start, and a sixth of its memory (`tests/bench/cold_start.py`). A module that is deferred is the real one, not
yet run; it is when somebody asks for anything of it.
"""

import gc
import importlib
import importlib.util
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

DEFERRED: Mapping[str, Mapping[str, str]] = {
    # requests guesses the encoding of a text that does not say it; ours is JSON. It asks for the version.
    "charset_normalizer": {"__version__": "charset_normalizer.version"},
    # Classes derive from these two, so they are there from the start; they cost nothing.
    "google.auth.crypt": {"Signer": "google.auth.crypt.base", "Verifier": "google.auth.crypt.base"},
    "google.auth.jwt": {},
    "google.protobuf.duration_pb2": {},
    "google.protobuf.timestamp_pb2": {},
    "google.rpc.error_details_pb2": {},
    "opentelemetry.trace": {},
}
"""Each module, with the names that it has before it is run and where they are from."""

_lock = threading.RLock()


@contextmanager
def importing() -> Iterator[None]:
    """Around the imports of an adapter: what is dear and not needed is deferred, and no garbage looked for.

    Nothing that is imported ever becomes garbage, and going through all of it once costs a tenth of a cold
    start; so it is also left out of every later search.
    """
    defer()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def defer() -> None:
    """Have these modules run only when something of them is asked for; what is imported stays as it is."""
    with _lock:
        for name, early in DEFERRED.items():
            if name not in sys.modules:
                _defer(name, early)


def _defer(name: str, early: Mapping[str, str]) -> None:
    parent, _, child = name.rpartition(".")
    package = importlib.import_module(parent) if parent else None
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        # Another version of the library has no such part: nothing to defer.
        return
    module = importlib.util.module_from_spec(spec)
    module.__class__ = _Deferred
    sys.modules[name] = module
    if package:
        setattr(package, child, module)
    for one, source in early.items():
        setattr(module, one, getattr(importlib.import_module(source), one))


class _Deferred(ModuleType):
    """A module that has not been run; asked for a name that it does not have yet, it is."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
        with _lock:
            if type(self) is _Deferred:
                self.__class__ = ModuleType  # type: ignore[assignment]
                self.__loader__.exec_module(self)  # type: ignore[union-attr]
        return getattr(self, name)
