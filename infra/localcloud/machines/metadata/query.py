"""The query parameters of the metadata server."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from localcloud.machines.metadata.refusal import Refusal

FORMS = ("", "json", "text")


@dataclass(frozen=True, kw_only=True)
class MetadataQuery:
    """How to answer: in which form (`alt`), with all below or not, now or when something has changed."""

    alt: str
    recursive: bool
    wait: bool
    last_etag: str
    timeout: timedelta | None

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Self:
        """Read the parameters; raises `Refusal` 400 for one that makes no sense."""
        alt = parameters.get("alt", "").lower()
        if alt not in FORMS:
            raise Refusal(400, f"alt must be json or text, not {alt!r}.")
        return cls(
            alt=alt,
            recursive=_flag(parameters, "recursive"),
            wait=_flag(parameters, "wait_for_change"),
            last_etag=parameters.get("last_etag", ""),
            timeout=_seconds(parameters.get("timeout_sec", "")),
        )


def _flag(parameters: Mapping[str, str], name: str) -> bool:
    return parameters.get(name, "false").lower() in ("", "true", "1")


def _seconds(text: str) -> timedelta | None:
    if not text:
        return None
    if not text.isdecimal():
        raise Refusal(400, f"timeout_sec must be a number of seconds, not {text!r}.")
    return timedelta(seconds=int(text))
