"""Sole tenants: the nodes on which a machine may run."""

from typing import Any

from spotwarden.create_script.gcloud.scene import GcloudScene
from spotwarden.create_script.gcloud.values import Misfit, Raw
from spotwarden.create_script.gcloud.yamls import load

# Flag → the label of nodes that it asks for.
_LABELS = {
    "node-group": "compute.googleapis.com/node-group-name",
    "node": "compute.googleapis.com/node-name",
    "node-project": "compute.googleapis.com/project",
}
_OPERATORS = ("IN", "NOT_IN", "OPERATOR_UNSPECIFIED")


def node_affinities(scene: GcloudScene) -> list[dict[str, Any]]:
    """Give the labels that a node must have: those of the file, then those of the flags."""
    found = _from_file(scene) if scene.args.given("node-affinity-file") else []
    for flag, label in _LABELS.items():
        if scene.args.given(flag):
            found.append({"key": label, "operator": "IN", "values": [scene.args[flag]]})
    return found


def _from_file(scene: GcloudScene) -> list[dict[str, Any]]:
    flag = "node-affinity-file"
    with scene.blame(flag):
        wanted = load(scene.parsed_text(flag, scene.args[flag]))
        if not isinstance(wanted, list) or not wanted:
            raise Misfit("the file must hold a list of labels, each with key, operator and values")
        return [_affinity(item) for item in wanted]


def _affinity(item: Raw) -> dict[str, Any]:
    if not isinstance(item, dict) or not item.get("key") or not isinstance(item["key"], str):
        raise Misfit(f"{item!r} has no key")
    strange = sorted(map(str, item.keys() - {"key", "operator", "values"}))
    if strange:
        raise Misfit(f"the label {item['key']!r} has the unknown field {strange[0]!r}")
    if item.get("operator", "IN") not in _OPERATORS:
        raise Misfit(
            f"the operator {item['operator']!r} of {item['key']!r} is not one of {', '.join(_OPERATORS)}"
        )
    values = item.get("values") or []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise Misfit(f"the values of {item['key']!r} must be a list of texts")
    return {name: value for name, value in item.items() if value not in (None, [])}
