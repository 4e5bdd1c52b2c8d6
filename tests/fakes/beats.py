"""Heartbeats as the job kit writes them: an empty object, and all that they tell in its custom metadata."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from spotwarden.layout import Layout, NodeHeartbeat
from tests.fakes.store import MemoryStore


def kit_beat(store: MemoryStore, node: str, *, layout: Layout = Layout(), **said: Any) -> None:
    """A node writes a heartbeat; metrics are a mapping, moments are moments."""
    told = {"status": "running", **said}
    metadata = {name: _text(value) for name, value in told.items() if value is not None}
    store.put(layout.build(NodeHeartbeat(node=node)), b"", metadata)


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value) if isinstance(value, Mapping) else str(value)
