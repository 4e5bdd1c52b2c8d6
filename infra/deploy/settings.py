# ruff: noqa: INP001 - a script, and no package
"""What a deployment was told, kept from one to the next: `settings.py merge OLD NEW NAME=VALUE…`.

`settings.py get FILE NAME` prints one. Only what is said changes; a list that is said at all is said anew.
Run by whatever Python there is: it needs nothing but the standard library.
"""

import json
import sys
from pathlib import Path

LISTS = {"job_vms", "act_as", "viewers"}
NEEDED = {
    "region": "--region R",
    "bucket": "--bucket B",
    "alert_email": "--alert-email E",
}
FIXED = ("region", "bucket", "prefix")
VERSIONS = "secret_versions"
"""A name such as `secret_versions.SPOTWARDEN_SMTP` sets one of a map."""


def merge(kept: dict[str, object], said: list[str]) -> dict[str, object]:
    """What holds now; `SystemExit` says what is missing, or what cannot be changed."""
    lists: dict[str, list[str]] = {}
    new: dict[str, object] = {}
    versions: dict[str, object] = {}
    for one in said:
        name, _, value = one.partition("=")
        if name in LISTS:
            lists.setdefault(name, []).append(value)
        elif name.startswith(f"{VERSIONS}."):
            versions[name.removeprefix(f"{VERSIONS}.")] = value
        else:
            new[name] = value
    for name in FIXED:
        if name in kept and new.get(name, kept[name]) != kept[name]:
            sys.exit(
                f"deploy.sh: this project's deployment has {name} {kept[name]!r}, and now it is to be"
                f" {new[name]!r}; remove it first: --destroy"
            )
    merged = {**kept, **new, **lists}
    if versions:
        merged[VERSIONS] = versions
    if missing := [flag for name, flag in NEEDED.items() if not merged.get(name)]:
        sys.exit(f"deploy.sh: a first deployment needs {', '.join(missing)} as well")
    return merged


def main() -> None:
    """Do as the first word says."""
    match sys.argv[1:]:
        case ["merge", old, new, *said]:
            kept = json.loads(Path(old).read_text(encoding="utf-8"))
            text = json.dumps(merge(kept, said), indent=2, sort_keys=True)
            Path(new).write_text(text + "\n", encoding="utf-8")
        case ["get", file, name]:
            print(json.loads(Path(file).read_text(encoding="utf-8")).get(name, ""))  # noqa: T201 - for the shell
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
