"""The messages of Google's APIs, without the clients that come with them.

The package of an API imports its clients at once, and they what calls Google Cloud with credentials: 21 MB
that a server never uses. Here only its `types` are imported; its own code runs where somebody asks for more.
"""

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.cloud.monitoring_v3 import types as monitoring
    from google.pubsub_v1 import types as pubsub

__all__ = ["monitoring", "pubsub"]


def types_of(package: str) -> ModuleType:
    """The module `types` of a package, whose own code is not run for it.

    Raises:
        ImportError: there is no such package.
    """
    if package not in sys.modules:
        sys.modules[package] = _empty(package)
    return importlib.import_module(f"{package}.types")


def _empty(package: str) -> ModuleType:
    """The package with nothing in it; whoever asks for more than a module of it runs its code."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no package {package}")
    module, loader = importlib.util.module_from_spec(spec), spec.loader

    def fill(name: str) -> Any:
        # Whoever looks through all modules, as `warnings` does, asks for such names.
        if name.startswith("__") and name != "__all__":
            raise AttributeError(name)
        if importlib.util.find_spec(f"{package}.{name}"):
            return importlib.import_module(f"{package}.{name}")
        vars(module).pop("__getattr__", None)
        loader.exec_module(module)
        return getattr(module, name)

    vars(module)["__getattr__"] = fill
    return module


if not TYPE_CHECKING:
    monitoring = types_of("google.cloud.monitoring_v3")
    pubsub = types_of("google.pubsub_v1")
