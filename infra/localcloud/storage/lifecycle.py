"""Lifecycle rules of a bucket, read as Cloud Storage reads them, not acted on."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from localcloud.errors import ApiError

CLASSES = ("STANDARD", "NEARLINE", "COLDLINE", "ARCHIVE")
OLDER_CLASSES = ("MULTI_REGIONAL", "REGIONAL", "DURABLE_REDUCED_AVAILABILITY")
MOST_RULES = 100
MOST_AFFIXES = 1000
"""Prefixes and suffixes of one condition together."""
_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")


def check_rules(lifecycle: Any) -> None:
    """Raise `ApiError` 400 unless each rule has one action that exists and conditions that can be."""
    if lifecycle is None:
        return
    rules = lifecycle.get("rule", []) if isinstance(lifecycle, Mapping) else None
    if not isinstance(rules, list):
        raise _invalid("lifecycle.rule must be a list")
    if len(rules) > MOST_RULES:
        raise _invalid(f"a bucket takes {MOST_RULES} lifecycle rules, not {len(rules)}")
    for rule in rules:
        _check_rule(rule if isinstance(rule, Mapping) else {})


def _check_rule(rule: Mapping[str, Any]) -> None:
    action, condition = rule.get("action") or {}, rule.get("condition") or {}
    kind, storage_class = action.get("type"), action.get("storageClass")
    if kind not in ("Delete", "SetStorageClass", "AbortIncompleteMultipartUpload"):
        raise _invalid(f"a lifecycle rule's action cannot be {kind!r}")
    if kind == "SetStorageClass" and storage_class not in CLASSES:
        raise _invalid(f"a lifecycle rule cannot set the storage class {storage_class!r}")
    if kind != "SetStorageClass" and storage_class:
        raise _invalid(f"the action {kind} takes no storageClass")
    if not condition:
        raise _invalid("a lifecycle rule must have at least one condition")
    for name, value in condition.items():
        if name not in _CONDITIONS:
            raise _invalid(f"a lifecycle rule has no condition {name!r}")
        if not _CONDITIONS[name](value):
            raise _invalid(f"the condition {name} of a lifecycle rule cannot be {value!r}")
    if kind == "AbortIncompleteMultipartUpload" and (more := set(condition) - _OF_UPLOADS):
        raise _invalid(f"the action {kind} takes no condition {min(more)}")
    if sum(len(condition.get(name, ())) for name in ("matchesPrefix", "matchesSuffix")) > MOST_AFFIXES:
        raise _invalid(f"a condition takes {MOST_AFFIXES} prefixes and suffixes")


def _days(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def _date(value: Any) -> bool:
    return isinstance(value, str) and _DATE.fullmatch(value) is not None


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _classes(value: Any) -> bool:
    return isinstance(value, list) and all(item in (*CLASSES, *OLDER_CLASSES) for item in value)


def _affixes(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


_OF_UPLOADS = frozenset({"age", "matchesPrefix", "matchesSuffix"})
_CONDITIONS: Mapping[str, Callable[[Any], bool]] = {
    "age": _days,
    "createdBefore": _date,
    "customTimeBefore": _date,
    "daysSinceCustomTime": _days,
    "daysSinceNoncurrentTime": _days,
    "isLive": _flag,
    "matchesPrefix": _affixes,
    "matchesStorageClass": _classes,
    "matchesSuffix": _affixes,
    "noncurrentTimeBefore": _date,
    "numNewerVersions": _days,
}


def _invalid(why: str) -> ApiError:
    return ApiError(400, "invalid", f"Invalid argument: {why}.")
