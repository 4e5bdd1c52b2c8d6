"""gcloud's properties: from the environment, the file that `gcloud config set` writes, the metadata."""

import contextlib
import os

from localcloud.standins.transport import CloudError, metadata

KNOWN = ("core/project", "core/account", "compute/zone", "compute/region")
"""The properties that make a difference to the stand-in."""


def full_name(name: str) -> str:
    """`project` → `core/project`."""
    return name if "/" in name else f"core/{name}"


class Properties:
    """Values by full name. What is set in the environment wins over the file, and that over the metadata."""

    def __init__(self) -> None:
        folder = os.environ.get("CLOUDSDK_CONFIG") or os.path.expanduser("~/.config/gcloud")
        self._path = os.path.join(folder, "configurations", "config_default")

    def get(self, name: str) -> str:
        """The value of a property, "" where there is none."""
        section, _, key = name.partition("/")
        return (
            os.environ.get(f"CLOUDSDK_{section.upper()}_{key.upper()}")
            or self._load().get(name)
            or self._from_metadata(name)
        )

    def set(self, name: str, value: str | None) -> None:
        """Write a property to the file, or with None remove it."""
        values = self._load()
        if value is None:
            values.pop(name, None)
        else:
            values[name] = value
        self._save(values)

    def _load(self) -> dict[str, str]:
        values: dict[str, str] = {}
        section = ""
        with contextlib.suppress(FileNotFoundError), open(self._path, encoding="utf-8") as file:
            for line in map(str.strip, file):
                if line.startswith("["):
                    section = line.strip("[]")
                elif "=" in line:
                    key, _, value = line.partition("=")
                    values[f"{section}/{key.strip()}"] = value.strip()
        return values

    def _save(self, values: dict[str, str]) -> None:
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        section = ""
        with open(self._path, "w", encoding="utf-8") as file:
            for name in sorted(values):
                if name.partition("/")[0] != section:
                    section = name.partition("/")[0]
                    file.write(f"[{section}]\n")
                file.write(f"{name.partition('/')[2]} = {values[name]}\n")

    @staticmethod
    def _from_metadata(name: str) -> str:
        paths = {
            "core/project": "project/project-id",
            "core/account": "instance/service-accounts/default/email",
        }
        try:
            return metadata(paths[name]) if name in paths else ""
        except CloudError:
            return ""


def machine_zone() -> str:
    """The zone of the machine itself, which gcloud proposes where none is named."""
    return metadata("instance/zone").rpartition("/")[2]
