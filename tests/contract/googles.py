"""The bucket of an adapter as Google's own library sees it: what somebody else does there."""

from typing import Any

from google.cloud import storage

from spotwarden.gcp.storage import CloudStorage
from tests.contract.served import PROJECT


def googles_blob(store: CloudStorage, name: str) -> Any:
    """The library's own object of this name; nothing is asked."""
    return storage.Client(project=PROJECT).bucket(store._objects.bucket).blob(name)
