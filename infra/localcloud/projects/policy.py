"""The IAM policy of the project: kept and given back, not enforced here."""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from localcloud.rpc import RpcError

Policy = Mapping[str, Any]

FIELDS = ("bindings", "etag", "version", "auditConfigs")
DEFAULT_MASK = ("bindings", "etag")
"""What is written where a request names no fields (`SetIamPolicyRequest.updateMask`)."""


class ProjectPolicy:
    """One policy, replaced as a whole or in the fields that a request names."""

    def __init__(self, bindings: Sequence[Mapping[str, Any]]) -> None:
        self.present = _tagged({"version": 1, "bindings": list(bindings)})

    def replace(self, given: Policy, mask: str) -> Policy:
        """Replace it; an etag that is given must be that of the present one.

        Raises:
            RpcError: ABORTED when another has changed it meanwhile, INVALID_ARGUMENT for an unknown field.
        """
        if given.get("etag") not in (None, "", self.present["etag"]):
            text = (
                "There were concurrent policy changes. Please retry the whole read-modify-write with"
                " exponential backoff."
            )
            raise RpcError("ABORTED", text)
        wanted = [name.strip() for name in mask.split(",")] if mask else DEFAULT_MASK
        if unknown := [name for name in wanted if name not in FIELDS]:
            raise RpcError("INVALID_ARGUMENT", f"Invalid update mask: a policy has no field {unknown[0]!r}.")
        _check(given.get("bindings", []))
        kept = {key: value for key, value in self.present.items() if key not in wanted}
        self.present = _tagged({**kept, **{key: given[key] for key in wanted if key in given}})
        return self.present


def _check(bindings: Sequence[Mapping[str, Any]]) -> None:
    for binding in bindings:
        if "/" not in binding.get("role", ""):
            raise RpcError("INVALID_ARGUMENT", f"Role {binding.get('role', '')} is not a role's name.")
        for member in binding.get("members", []):
            if ":" not in member and member not in ("allUsers", "allAuthenticatedUsers"):
                raise RpcError(
                    "INVALID_ARGUMENT", f"Invalid member {member}: it has no type, as user: is one."
                )


def _tagged(policy: Policy) -> Policy:
    content = {key: value for key, value in policy.items() if key != "etag"}
    number = zlib.crc32(json.dumps(content, sort_keys=True).encode())
    etag = base64.b64encode(b"\x07" + number.to_bytes(7, "big")).decode()
    return {"version": 1, "bindings": [], **content, "etag": etag}
