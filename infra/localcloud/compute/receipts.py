"""`requestId`: the same request sent twice is carried out once ("Handling API responses", AIP-155)."""

import hashlib
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from localcloud.compute.refusals import invalid_field

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What was made of a request: its operation, found by scope and name."""

    digest: bytes
    scope: str
    operation: str


class Receipts:
    """Remembers requests by their ids, for as long as the local cloud runs."""

    def __init__(self) -> None:
        self._by_id: dict[str, Receipt] = {}

    def find(self, request_id: str, digest: bytes) -> Receipt | None:
        """The receipt of the same request, if it was carried out before.

        Raises:
            ApiError: 400 when the id is no UUID or zero, or belongs to another request.
        """
        if not request_id:
            return None
        if not _UUID.fullmatch(request_id) or not uuid.UUID(request_id).int:
            why = "The request ID must be a valid UUID, and not the zero UUID."
            raise invalid_field("requestId", request_id, why)
        receipt = self._by_id.get(request_id.lower())
        if receipt and receipt.digest != digest:
            raise invalid_field("requestId", request_id, "It was used before, for a different request.")
        return receipt

    def keep(self, request_id: str, receipt: Receipt) -> None:
        """Remember what was made of a request; one without an id is not remembered."""
        if request_id:
            self._by_id[request_id.lower()] = receipt


def digest(method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any]) -> bytes:
    """What makes two requests the same: everything but the id and the form of the answer."""
    rest = {
        key: value for key, value in query.items() if key not in {"requestId", "alt", "fields", "prettyPrint"}
    }
    return hashlib.sha256(msgspec.json.encode([method, path, rest, body], order="sorted")).digest()
