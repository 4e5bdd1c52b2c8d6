"""Checks of single values: names, labels, tags, metadata."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from localcloud.compute.refusals import invalid_field
from localcloud.errors import ApiError
from localcloud.labels import MOST_LABELS, is_label

NAME = r"(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)"
_METADATA_KEY = re.compile(r"[a-zA-Z0-9_-]{1,128}")
MOST_METADATA_BYTES = 512 * 1024
MOST_METADATA_VALUE_BYTES = 256 * 1024
_LABEL_RULES = (
    "Label keys must start with a lowercase letter; keys and values have at most 63 lowercase letters,"
    " digits, underscores and dashes."
)


def check_name(name: str, field: str = "resource.name") -> None:
    """A name of a resource (RFC 1035).

    Raises:
        ApiError: 400 when it is none.
    """
    if not re.fullmatch(NAME, name):
        raise invalid_field(field, name, f"Must be a match of regex '{NAME}'")


def check_labels(labels: Mapping[str, str], field: str = "resource.labels") -> None:
    """Labels ("Labeling resources": requirements).

    Raises:
        ApiError: 400 when there are too many, or one is against the rules.
    """
    if len(labels) > MOST_LABELS:
        raise invalid_field(field, f"{len(labels)} labels", f"At most {MOST_LABELS} labels are allowed.")
    for key, value in labels.items():
        if not is_label(key, value):
            raise invalid_field(f"{field}.{key}", value, _LABEL_RULES)


def check_tags(tags: Iterable[str], field: str = "resource.tags") -> None:
    """Network tags.

    Raises:
        ApiError: 400 when one is no name.
    """
    for at, tag in enumerate(tags):
        check_name(tag, f"{field}.items[{at}]")


def check_metadata(items: Iterable[Mapping[str, Any]], field: str = "resource.metadata") -> None:
    """Metadata entries ("About VM metadata": limitations).

    Raises:
        ApiError: 400 when a key is malformed or stands there twice, 413 when it is too much.
    """
    seen, total = set(), 0
    for at, item in enumerate(items):
        key, value = item.get("key", ""), item.get("value", "")
        if not _METADATA_KEY.fullmatch(key):
            why = "Must be 1 to 128 letters, digits, underscores or dashes."
            raise invalid_field(f"{field}.items[{at}].key", key, why)
        if key in seen:
            raise invalid_field(f"{field}.items[{at}].key", key, "Metadata has duplicate key.")
        seen.add(key)
        size = len(value.encode())
        total += len(key) + size
        if size > MOST_METADATA_VALUE_BYTES or total > MOST_METADATA_BYTES:
            raise _too_large(key, field)


def _too_large(key: str, field: str) -> ApiError:
    value, total = MOST_METADATA_VALUE_BYTES // 1024, MOST_METADATA_BYTES // 1024
    message = f"Value for field '{field}.items' is too large: with '{key}' it is over {value} KB a value"
    return ApiError(413, "uploadTooLarge", f"{message} or {total} KB in all.")
