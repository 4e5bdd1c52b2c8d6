"""What a web hook gets."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from spotwarden.model.letter import Shape
from spotwarden.model.post import Pending


def body(
    pendings: Sequence[Pending],
    *,
    shape: Shape,
    id: str,  # noqa: A002 — the name of its field
    at: datetime,
    again: bool,
) -> bytes:
    """Write the body in the receiver's shape."""
    if shape is Shape.JSON:
        notices = [one.notice for one in pendings]
        return msgspec.json.encode({"schema": 1, "id": id, "at": at, "again": again, "notices": notices})
    return msgspec.json.encode({"text": "\n".join(one.notice.what for one in pendings)})
