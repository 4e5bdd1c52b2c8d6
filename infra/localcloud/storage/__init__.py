"""Cloud Storage on loopback: the JSON API, over SQLite and files."""

from localcloud.storage.index import StateInUseError
from localcloud.storage.service import StorageService

__all__ = ["StateInUseError", "StorageService"]
