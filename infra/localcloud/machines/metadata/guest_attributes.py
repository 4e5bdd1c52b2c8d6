"""Values that a guest writes about itself: "Set and query guest attributes" in the documentation."""

import re
from collections.abc import Mapping

from localcloud.machines.metadata.refusal import Refusal, not_found

PATH = ["instance", "guest-attributes"]
SWITCH = "enable-guest-attributes"
NAME = re.compile(r"[A-Za-z0-9_-]+")


class GuestAttributes:
    """Two levels, namespace and key; only where the instance's metadata switches them on."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, str]] = {}

    @property
    def values(self) -> Mapping[str, Mapping[str, str]]:
        """All values by namespace and key."""
        return self._values

    def put(self, path: list[str], value: str) -> None:
        """Set one value; raises `Refusal` 400 for a path that is not NAMESPACE/KEY."""
        namespace, key = self._names(path)
        self._values.setdefault(namespace, {})[key] = value

    def delete(self, path: list[str]) -> None:
        """Remove one value; raises `Refusal` 404 if it is not there."""
        namespace, key = self._names(path)
        if self._values.get(namespace, {}).pop(key, None) is None:
            raise not_found()
        if not self._values[namespace]:
            del self._values[namespace]

    @staticmethod
    def _names(path: list[str]) -> tuple[str, str]:
        match path:
            case [namespace, key] if NAME.fullmatch(namespace) and NAME.fullmatch(key):
                return namespace, key
        raise Refusal(400, "A guest attribute is named NAMESPACE/KEY, both of letters, digits, - and _.")


def require_enabled(attributes: Mapping[str, str]) -> None:
    """Raise `Refusal` 403 unless the instance's metadata switches guest attributes on."""
    if attributes.get(SWITCH, "").upper() != "TRUE":
        raise Refusal(403, "Guest attributes endpoint access is disabled.")
