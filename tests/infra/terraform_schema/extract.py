"""Take the schema of what we use out of the npm package @cdktf/provider-google: `extract.py PACKAGE`.

PACKAGE is the unpacked package (`npm pack @cdktf/provider-google@VERSION`, then tar). It is generated from
the provider's own schema: each class is a resource or a block of one, a comment before each member says
whether it is computed, optional or required, and how it is read says its type. Written to google.json.
"""

import base64
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TERRAFORM = HERE.parents[2] / "infra/terraform"
SIMPLE = {
    "getStringAttribute": "string",
    "getNumberAttribute": "number",
    "getBooleanAttribute": "bool",
    "getListAttribute": ["list", "string"],
    "getNumberListAttribute": ["list", "number"],
    "getStringMapAttribute": ["map", "string"],
    "getBooleanMapAttribute": ["map", "bool"],
}
CLASS = re.compile(r"^export class (\w+) extends cdktf\.(\w+) \{$(.*?)^\}$", re.MULTILINE | re.DOTALL)
MEMBER = re.compile(
    r"// (\w+) - computed: (true|false), optional: (true|false), required: (true|false)\n(.*?)"
    r"(?=\n  // \w+ - computed|\n  // =|\Z)",
    re.DOTALL,
)


def source(package: Path, folder: str) -> str:
    """The TypeScript that a module was made from, out of its source map."""
    script = (package / "lib" / folder / "index.js").read_text(encoding="utf-8")
    encoded = script.rsplit("sourceMappingURL=data:application/json;base64,", 1)[1]
    return str(json.loads(base64.b64decode(encoded))["sourcesContent"][0])


def schema(text: str) -> Mapping[str, Any]:
    """The schema of the module's resource or data source."""
    classes = {name: (kind, body) for name, kind, body in CLASS.findall(text)}
    root = next(
        name for name, (kind, _) in classes.items() if kind in {"TerraformResource", "TerraformDataSource"}
    )
    return _block(text, classes, root)


def _block(text: str, classes: Mapping[str, tuple[str, str]], name: str) -> dict[str, Any]:
    found: dict[str, Any] = {"attributes": {}, "blocks": {}}
    nested = _nested(text, name)
    for member, computed, optional, required, rest in MEMBER.findall(classes[name][1]):
        flags = {"computed": computed, "optional": optional, "required": required}
        says = [flag for flag, is_so in flags.items() if is_so == "true"]
        inner = re.search(r"new (\w+?)(List|OutputReference)\(this, \"\w+\"(?:, (true|false))?\)", rest)
        if inner is None:
            found["attributes"][member] = {"type": _simple(rest), "is": says}
            continue
        below = _block(text, classes, f"{inner[1]}OutputReference")
        if nested.get(member):
            many = inner[2] == "List"
            nesting = "single" if member == "timeouts" else "set" if inner[3] == "true" else "list"
            found["blocks"][member] = {"many": many, "nesting": nesting, "is": says, **below}
        else:
            found["attributes"][member] = {"type": ["list", _object(below)], "is": says}
    return found


def _nested(text: str, name: str) -> Mapping[str, bool]:
    """Which members of a class are blocks, by how they are written as HCL."""
    struct = name.removesuffix("OutputReference")
    function = re.search(
        rf"^export function {struct[0].lower()}{struct[1:]}ToHclTerraform\(.*?^\}}$",
        text,
        re.MULTILINE | re.DOTALL,
    )
    body = function[0] if function else text[text.rfind("synthesizeHclAttributes") :]
    pairs = re.findall(r"(\w+): \{\s+value: [^\n]*\n\s+isBlock: (true|false),", body)
    return {member: block == "true" for member, block in pairs}


def _simple(rest: str) -> Any:
    if found := re.search(r"cdktf\.Fn\.tolist\(this\.(get\w+Attribute)\('", rest):
        return ["set", SIMPLE[found[1]][1]]
    if found := re.search(r"this\.(get\w+Attribute)\('", rest):
        return SIMPLE[found[1]]
    if "cdktf.StringMap(" in rest:
        return ["map", "string"]
    raise ValueError(rest)


def _object(below: Mapping[str, Any]) -> Any:
    return ["object", {name: one["type"] for name, one in below["attributes"].items()}]


def used(folder: Path) -> Mapping[str, set[str]]:
    """The types that the configuration names, by kind of block."""
    found: dict[str, set[str]] = {"resource": set(), "data": set()}
    for file in folder.rglob("*.tf"):
        for kind, name in re.findall(
            r'^(resource|data) "google_(\w+)"', file.read_text(encoding="utf-8"), re.MULTILINE
        ):
            found[kind].add(name)
    return found


def main(package: Path) -> None:
    """Write google.json."""
    kinds = used(TERRAFORM)
    folders = {"resource": "", "data": "data-google-"}
    schemas = {
        kind: {
            f"google_{name}": schema(source(package, folders[kind] + name.replace("_", "-")))
            for name in sorted(names)
        }
        for kind, names in kinds.items()
    }
    text = source(package, "provider")
    version = re.search(r"hashicorp/google/([0-9.]+)/", text)
    told = {
        "package": json.loads((package / "package.json").read_text(encoding="utf-8"))["name"],
        "package_version": json.loads((package / "package.json").read_text(encoding="utf-8"))["version"],
        "provider_version": version[1] if version else "",
        "license": "MPL-2.0",
        **schemas,
    }
    # A line for each type: a new version then shows what has changed.
    text = json.dumps(told, sort_keys=True).replace('"google_', '\n"google_')
    (HERE / "google.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
