"""Generation and metageneration preconditions ("Request preconditions", Cloud Storage)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from localcloud.errors import ApiError
from localcloud.storage.model import Blob, Bucket

UNMET = "At least one of the pre-conditions you specified did not hold."


class NotModified(Exception):  # noqa: N818 - an answer, not an error
    """A read whose `…NotMatch` condition says that the caller has this version already: HTTP 304."""


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What must hold for a call to go ahead; None asks for nothing. Generation 0 means "there is none"."""

    generation_is: int | None = None
    generation_is_not: int | None = None
    metageneration_is: int | None = None
    metageneration_is_not: int | None = None

    @classmethod
    def read(cls, query: Mapping[str, str], prefix: str = "if") -> Self:
        """Read `ifGenerationMatch` and its three fellows; `prefix` is `ifSource` for the source of a copy.

        Raises:
            ApiError: 400 when one is no number.
        """
        return cls(
            generation_is=number(query, f"{prefix}GenerationMatch"),
            generation_is_not=number(query, f"{prefix}GenerationNotMatch"),
            metageneration_is=number(query, f"{prefix}MetagenerationMatch"),
            metageneration_is_not=number(query, f"{prefix}MetagenerationNotMatch"),
        )

    def check(self, blob: Blob | None) -> None:
        """Raise `ApiError` 412 unless everything holds for this object (None: there is no live one)."""
        if not self._matches(blob) or not self._differs(blob):
            raise ApiError(412, "conditionNotMet", UNMET)

    def check_read(self, blob: Blob) -> None:
        """As `check`, but a `…NotMatch` that does not hold raises `NotModified`."""
        if not self._matches(blob):
            raise ApiError(412, "conditionNotMet", UNMET)
        if not self._differs(blob):
            raise NotModified

    def check_bucket(self, bucket: Bucket) -> None:
        """Raise `ApiError` 412 unless the metageneration conditions hold for this bucket."""
        now = bucket.metageneration
        if self.metageneration_is not in (None, now) or self.metageneration_is_not == now:
            raise ApiError(412, "conditionNotMet", UNMET)

    def _matches(self, blob: Blob | None) -> bool:
        generation = blob.generation if blob else 0
        metageneration = blob.metageneration if blob else 0
        return self.generation_is in (None, generation) and self.metageneration_is in (None, metageneration)

    def _differs(self, blob: Blob | None) -> bool:
        generation = blob.generation if blob else 0
        metageneration = blob.metageneration if blob else 0
        return self.generation_is_not != generation and self.metageneration_is_not != metageneration


ANYTHING = Conditions()


def flag(query: Mapping[str, str], name: str) -> bool:
    """Read a boolean query parameter, which gcloud writes with a capital letter; absent means false.

    Raises:
        ApiError: 400 when it is something else.
    """
    text = query.get(name, "false")
    if text.lower() not in {"true", "false"}:
        raise ApiError(400, "invalid", f"Invalid value for parameter {name}: '{text}'.", location=name)
    return text.lower() == "true"


def number(query: Mapping[str, str], name: str) -> int | None:
    """Read a query parameter that is a 64-bit number; None when it is absent.

    Raises:
        ApiError: 400 when it is something else.
    """
    text = query.get(name)
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or int(text) >= 1 << 63:
        raise ApiError(400, "invalid", f"Invalid value for parameter {name}: '{text}'.", location=name)
    return int(text)
