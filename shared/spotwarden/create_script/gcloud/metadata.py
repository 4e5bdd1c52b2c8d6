"""Metadata, labels, tags: what a machine carries along."""

import json
import re
from typing import Any

from spotwarden.create_script.gcloud.scene import GcloudScene
from spotwarden.create_script.gcloud.values import Misfit, Raw
from spotwarden.model.gcloud import OLDEST

_TAG_KEY = re.compile(r"""[0-9]+/[a-zA-Z0-9][^"\\'/]*""")
_TAG_VALUE = re.compile(rf"""({_TAG_KEY.pattern})/([a-zA-Z0-9][^"\\'/]*)""")
_TAG_NUMBER = re.compile(r"tagValues/[0-9]+")


def metadata(
    scene: GcloudScene, more: dict[str, str] | None = None, *, always: bool = False
) -> dict[str, Any] | None:
    """Give the metadata, sorted by key; `more` wins over what the user says.

    None leaves it to a template, unless it is `always` sent.
    """
    args = scene.args
    if scene.from_template and not always and not args.given("metadata", "metadata-from-file"):
        return None
    found: dict[str, Any] = dict(args["metadata"] or {})
    for key, value in found.items():
        if not isinstance(value, str):
            raise args.refusal(
                "metadata", f"the value of {key!r} in the flags file must be a text; put quotes around it"
            )
    for key, path in (args["metadata-from-file"] or {}).items():
        if key in found:
            raise args.refusal("metadata-from-file", f"the key {key!r} is also in --metadata")
        with scene.blame("metadata-from-file"):
            found[key] = scene.text("metadata-from-file", _path(path))
    found |= more or {}
    return {"items": [{"key": key, "value": found[key]} for key in sorted(found)]} if found else {}


def _path(path: Raw) -> str:
    if not isinstance(path, str):
        raise Misfit(f"{path!r} is not the name of a file; write it in quotes")
    return path


def resource_manager_tags(scene: GcloudScene) -> dict[str, str] | None:
    """Give the tags of Resource Manager: by number, or from gcloud 578 on by name."""
    given = scene.args["resource-manager-tags"] or {}
    written = _tag_as_named if scene.version > OLDEST else _tag_by_number
    with scene.blame("resource-manager-tags"):
        return dict(sorted(written(key, value) for key, value in given.items())) or None


def _tag_by_number(key: Raw, value: Raw) -> tuple[str, str]:
    if not str(key).startswith("tagKeys/") or not str(value).startswith("tagValues/"):
        raise Misfit(
            f"the numbers behind {key}={value} are known to the API only; write tagKeys/…=tagValues/…"
        )
    return key, value


def _tag_as_named(key: Raw, value: Raw) -> tuple[str, str]:
    """A value may carry its key along; the number behind the name of a key is known to the API only."""
    if not isinstance(key, str) or not isinstance(value, str):
        raise Misfit(f"{key!r} and {value!r} must be texts; put quotes around them")
    named = _TAG_VALUE.fullmatch(value)
    if named:
        return named[1], named[2]
    if _TAG_KEY.fullmatch(key) and _TAG_NUMBER.fullmatch(value):
        return _tag_by_number(key, value)
    return key, value


def secure_tags(scene: GcloudScene) -> list[str] | None:
    """Give the secure tags (alpha) by number."""
    for tag in scene.args["secure-tags"] or []:
        if not tag.startswith("tagValues/"):
            raise scene.args.refusal("secure-tags", f"the number behind {tag!r} is known to the API only")
    return scene.args["secure-tags"] or None


def partner_metadata(scene: GcloudScene) -> dict[str, Any] | None:
    """Give the partner metadata (beta), by namespace."""
    args = scene.args
    if not args["partner-metadata"] and not args["partner-metadata-from-file"]:
        return None
    found = _from_file(scene)
    for path, value in (args["partner-metadata"] or {}).items():
        with scene.blame("partner-metadata"):
            _put(found, path.split("/"), _json(value))
    for namespace, entries in found.items():
        if entries is None or not isinstance(entries, dict) or _has_null(entries):
            raise args.refusal(
                "partner-metadata", f"the entries of {namespace!r} must be objects without null"
            )
    return {namespace: _entries(entries) for namespace, entries in found.items()}


def _from_file(scene: GcloudScene) -> dict[str, Any]:
    flag = "partner-metadata-from-file"
    path = scene.args[flag]
    if not path:
        return {}
    with scene.blame(flag):
        found = _json(scene.parsed_text(flag, path))
        if not isinstance(found, dict) or not all(isinstance(value, dict) for value in found.values()):
            raise Misfit("the file must hold an object of namespaces")
    return {name: value if "entries" in value else {"entries": value} for name, value in found.items()}


def _put(found: dict[str, Any], path: list[str], value: Raw) -> None:
    """Put a value at NAMESPACE/FIELD/…; a namespace alone is replaced."""
    namespace, *fields = path
    target = found.setdefault(namespace, {"entries": {}})
    if not fields:
        found[namespace] = value
        return
    for field in fields[:-1]:
        target = target.setdefault(field, {})
        if not isinstance(target, dict):
            raise Misfit(f"{'/'.join(path)} goes through something that is not an object")
    target[fields[-1]] = value


def _json(text: Raw) -> Raw:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise Misfit(f"is not valid JSON: {error}") from None


def _has_null(entries: dict[str, Any]) -> bool:
    return any(value is None or (isinstance(value, dict) and _has_null(value)) for value in entries.values())


def _entries(entries: dict[str, Any]) -> dict[str, Any] | None:
    """Give what gcloud sends of a namespace: null where it holds no entries."""
    return {"entries": entries["entries"]} if "entries" in entries else None
