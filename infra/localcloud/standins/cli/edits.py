"""`gcloud compute instances add-metadata`, `remove-metadata`, `add-labels`, `remove-labels`."""

import os
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from localcloud.standins.cli.command import SWITCH, VALUE, Command, Run
from localcloud.standins.cli.compute import Api, targets

Edit = Callable[[Mapping[str, str]], dict[str, str]]
Request = Callable[[Mapping[str, Any]], dict[str, Any]]


def pairs(run: Run, flag: str) -> dict[str, str]:
    """Read `KEY=VALUE,KEY=VALUE`, with gcloud's other delimiters: `^;^KEY=a,b;KEY=c`."""
    text, delimiter = run.flags.get(flag, ""), ","
    if match := re.match(r"\^(.+?)\^", text):
        delimiter, text = match[1], text[match.end() :]
    found: dict[str, str] = {}
    for pair in filter(None, text.split(delimiter)):
        key, equals, value = pair.partition("=")
        if not equals or not key:
            run.fail(f"argument {flag}: Bad syntax for dict arg: [{pair}].", 2)
        found[key] = value
    return found


def _add_metadata(run: Run) -> None:
    values = pairs(run, "--metadata")
    for key, path in pairs(run, "--metadata-from-file").items():
        values[key] = _text_of(run, path)
    if not values:
        run.fail("At least one of --metadata or --metadata-from-file must be specified.", 2)
    _edit_metadata(run, lambda items: {**items, **values})


def _text_of(run: Run, path: str) -> str:
    if not os.path.isfile(path):
        run.fail(f"Unable to read file [{path}]: there is no such file")
    with open(path, encoding="utf-8") as file:
        return file.read()


def _remove_metadata(run: Run) -> None:
    _edit_metadata(run, _without(_chosen(run, "--keys")))


def _add_labels(run: Run) -> None:
    values = pairs(run, "--labels")
    if not values:
        run.fail("argument --labels: Must be specified.", 2)
    _edit_labels(run, lambda labels: {**labels, **values})


def _remove_labels(run: Run) -> None:
    _edit_labels(run, _without(_chosen(run, "--labels")))


def _chosen(run: Run, flag: str) -> list[str] | None:
    """The names that a flag lists, or None for `--all`."""
    if ("--all" in run.flags) == (flag in run.flags):
        run.fail(f"Exactly one of (--all | {flag}) must be specified.", 2)
    return None if "--all" in run.flags else run.flags[flag].split(",")


def _without(names: list[str] | None) -> Edit:
    return lambda values: {} if names is None else {key: values[key] for key in values if key not in names}


def _edit_metadata(run: Run, edit: Edit) -> None:
    def request(instance: Mapping[str, Any]) -> dict[str, Any]:
        metadata = instance.get("metadata", {})
        items = edit({item["key"]: item.get("value", "") for item in metadata.get("items", [])})
        listed = [{"key": key, "value": value} for key, value in sorted(items.items())]
        return {"fingerprint": metadata.get("fingerprint", ""), "items": listed}

    _edit(run, "setMetadata", request)


def _edit_labels(run: Run, edit: Edit) -> None:
    def request(instance: Mapping[str, Any]) -> dict[str, Any]:
        labels = edit(instance.get("labels", {}))
        return {"labelFingerprint": instance.get("labelFingerprint", ""), "labels": labels}

    _edit(run, "setLabels", request)


def _edit(run: Run, method: str, request: Request) -> None:
    """Read the instance, change what was read, write it back under its fingerprint."""
    api = Api(run)
    for target in targets(run):
        operation = api.call("POST", f"{target.path}/{method}", body=request(api.get(target)))
        api.wait(target, operation)
        sys.stderr.write(f"Updated [{operation.get('targetLink', target.path)}].\n")


ZONE = {"--zone": VALUE}
ALL = {**ZONE, "--all": SWITCH}
NOUN = "INSTANCE_NAME"

COMMANDS = {
    "add-metadata": Command(
        _add_metadata, {**ZONE, "--metadata": VALUE, "--metadata-from-file": VALUE}, NOUN, 1, 1
    ),
    "remove-metadata": Command(_remove_metadata, {**ALL, "--keys": VALUE}, NOUN, 1, 1),
    "add-labels": Command(_add_labels, {**ZONE, "--labels": VALUE}, NOUN, 1, 1),
    "remove-labels": Command(_remove_labels, {**ALL, "--labels": VALUE}, NOUN, 1, 1),
}
