"""What a deployment was told, kept from one to the next: `settings.py merge OLD NEW NAME=VALUE…`.

It prints what deploy.sh itself needs of them (`TOLD`), one a line; `settings.py get FILE NAME` prints one.
Only what is said changes; a list that is said at all is said anew.
Run by whatever Python there is, without its packages: it needs nothing but json, so that it starts at once.
"""

import json
import sys

LISTS = {"job_vms", "act_as", "viewers"}
NEEDED = {
    "region": "--region R",
    "bucket": "--bucket B",
    "alert_email": "--alert-email E",
}
FIXED = ("region", "bucket", "prefix")
TOLD = ("region", "bucket", "prefix", "mode", "alert_email")
VERSIONS = "secret_versions"
"""A name such as `secret_versions.SPOTWARDEN_SMTP` sets one of a map."""


def merge(kept: dict[str, object], said: list[str]) -> dict[str, object]:
    """What holds now; `SystemExit` says what is missing, or what cannot be changed."""
    lists: dict[str, list[str]] = {}
    new: dict[str, object] = {}
    versions: dict[str, object] = {}
    for part in said:
        name, _, value = part.partition("=")
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


def _read(file: str) -> dict[str, object]:
    with open(file, encoding="utf-8") as opened:
        kept: dict[str, object] = json.load(opened)
    return kept


def main() -> None:
    """Do as the first word says."""
    match sys.argv[1:]:
        case ["merge", old, new, *said]:
            merged = merge(_read(old), said)
            with open(new, "w", encoding="utf-8") as opened:
                opened.write(json.dumps(merged, indent=2, sort_keys=True) + "\n")
            print(*(merged.get(name, "") for name in TOLD), sep="\n")
        case ["get", file, name]:
            print(_read(file).get(name, ""))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
