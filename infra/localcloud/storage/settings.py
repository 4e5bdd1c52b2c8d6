"""The settings of a bucket that have members of their own, and what of them Cloud Storage refuses. Pure."""

from collections.abc import Mapping

import msgspec

from localcloud.errors import ApiError
from localcloud.labels import MOST_LABELS, is_label

STORAGE_CLASSES = (
    "STANDARD",
    "NEARLINE",
    "COLDLINE",
    "ARCHIVE",
    "MULTI_REGIONAL",
    "REGIONAL",
    "DURABLE_REDUCED_AVAILABILITY",
)


class _Setting(msgspec.Struct, kw_only=True, rename="camel"):
    """Members of a wrong type are refused, others that there are not are ignored."""


class Versioning(_Setting):
    """Whether earlier generations are kept."""

    enabled: bool | None = None


class Website(_Setting):
    """The objects that a web page is made of."""

    main_page_suffix: str | None = None
    not_found_page: str | None = None


class UsageLog(_Setting):
    """Where usage logs go."""

    log_bucket: str | None = None
    log_object_prefix: str | None = None


class Cors(_Setting):
    """Which web pages may call."""

    max_age_seconds: int | str | None = None
    method: list[str] | None = None
    origin: list[str] | None = None
    response_header: list[str] | None = None


def check_class(name: str | None) -> None:
    """Raise `ApiError` 400 for a storage class that there is not."""
    if name is not None and name not in STORAGE_CLASSES:
        raise ApiError(400, "invalid", f"Invalid argument: storage class '{name}'.")


def check_labels(labels: Mapping[str, str | None]) -> None:
    """Raise `ApiError` 400, which says no more in Cloud Storage either, for labels that cannot be."""
    wrong = any(not is_label(key, value or "") for key, value in labels.items())
    if wrong or len(labels) > MOST_LABELS:
        raise ApiError(400, "invalid", "Invalid argument.")
