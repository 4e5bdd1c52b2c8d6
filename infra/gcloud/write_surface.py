"""Write `surface_table.py`: what each version of gcloud takes, for the reader of create scripts.

    python infra/gcloud/write_surface.py 528=/usr/lib/google-cloud-sdk 578=/opt/sdk-578
    python infra/gcloud/write_surface.py --discovery compute.v1.json 528=… 578=… 590=/opt/sdk-590

Each SDK is read by `read_surface.py` in a process of its own. The discovery documents, by default those of
the installed google-api-python-client, say which fields Compute Engine has that no gcloud read here can set.
The rows are sorted: what a new gcloud brings is the difference to the file as it was.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

SURFACE = Path(__file__).parents[2] / "shared/spotwarden/create_script/gcloud/surface_table.py"
TRACKS = ("v1", "beta", "alpha")
HEAD = '''\
"""What gcloud's create commands take, by the version of the SDK in which it came or changed.

Written by infra/gcloud/write_surface.py out of gcloud's own parser; a change by hand is lost.
VERSION:V1,BETA,ALPHA: c is create, b is bulk create, k is create-with-container; t, g and p make a
template, a managed group and a workload policy; preview has what v1 has.
A field without a version stands in the discovery document only.
"""

TABLE = """\\
'''
# Branches of an instance that no request sets.
_NOT_SET = re.compile(
    r"^(instanceProperties|resourceStatus)\b|^instanceFlexibilityPolicy\.|\.(nanos|seconds|key|value)$"
)
Read = Mapping[int, Mapping[str, Any]]


def read(sdk: str) -> dict[str, Any]:
    """Read one SDK in a process of its own."""
    program = [sys.executable, "-B", str(Path(__file__).with_name("read_surface.py")), sdk]
    done = subprocess.run(program, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def rows(found: Read, later: Sequence[str]) -> Iterator[str]:
    """Give all rows of the table, in their order."""
    yield f"versions {' '.join(map(str, found))}"
    for version, surface in found.items():
        if surface["flags"].get("preview", surface["flags"]["v1"]) != surface["flags"]["v1"]:
            raise SystemExit(f"gcloud {version}: the track preview takes other flags than v1")
    yield from flag_rows(found)
    yield from part_rows(found, "choice", "choices")
    yield from part_rows(found, "key", "keys")
    yield from command_rows(found)
    yield from field_rows(found, later)


def flag_rows(found: Read) -> Iterator[str]:
    """Give a row for each flag."""
    for name in sorted({name for _, _, name, _ in flags(found)}):
        where = presence(found, lambda flag_name, _, wanted=name: flag_name == wanted)
        held = [flag for _, _, flag_name, flag in flags(found) if flag_name == name]
        row = f"flag {name} {where}"
        if agreed(name, [flag["negatable"] for flag in held]):
            row += " negatable"
        default = agreed(name, [flag["default"] for flag in held])
        yield row if default is None else f"{row} default={json.dumps(default)}"


def agreed(name: str, values: Sequence[Any]) -> Any:
    """Give what all versions, tracks and commands say of a flag; the table has no room for two answers."""
    if any(value != values[0] for value in values):
        raise SystemExit(f"--{name}: versions, tracks or commands differ: {values}")
    return values[0]


def part_rows(found: Read, kind: str, part: str) -> Iterator[str]:
    """Give a row for each word that a flag lets choose, or for each key that it has."""
    pairs = {(name, word) for _, _, name, flag in flags(found) for word in flag[part]}
    for name, word in sorted(pairs):
        where = presence(
            found,
            lambda flag_name, flag, wanted=name, held=word: flag_name == wanted and held in flag[part],
        )
        yield f"{kind} {name} {word} {where}"


def flags(found: Read) -> Iterator[tuple[int, str, str, Mapping[str, Any]]]:
    """Go through all flags: version, track, name, what is known of it."""
    for version, surface in found.items():
        for track in TRACKS:
            for commands in surface["flags"][track].values():
                for name, flag in commands.items():
                    yield version, track, name, flag


def presence(found: Read, holds: Any) -> str:
    """Say where something is: a column for each track, anew for each version in which that changed."""
    columns, said = ",,", []
    for version, surface in found.items():
        here = ",".join(
            "".join(
                letter
                for letter, commands in surface["flags"][track].items()
                if any(holds(name, flag) for name, flag in commands.items())
            )
            for track in TRACKS
        )
        if here != columns:
            said.append(f"{version}:{here}")
        columns = here
    return " ".join(said)


def command_rows(found: Read) -> Iterator[str]:
    """Give a row for each command beside the creates, of whatever version."""
    pairs = {
        (level, name)
        for surface in found.values()
        for level, names in surface["commands"].items()
        for name in names
    }
    for level, name in sorted(pairs):
        yield f"command {level or '-'} {name}"


def field_rows(found: Read, later: Sequence[str]) -> Iterator[str]:
    """Give a row for each field that came after the oldest version, with the first that can send it."""
    versions = list(found)
    known = {path: version for version in reversed(versions) for path in found[version]["fields"]}
    for path in sorted({*known, *later}):
        version = known.get(path)
        if version != versions[0] and not _NOT_SET.search(path):
            yield f"field {path}" + (f" {version}" if version else "")


def fields_of_document(document: Mapping[str, Any]) -> set[str]:
    """Give the path of each field of an instance that a discovery document lets a request set."""
    schemas = document["schemas"]

    def walk(name: str, path: str, seen: tuple[str, ...]) -> Iterator[str]:
        for field, schema in schemas[name].get("properties", {}).items():
            if "[Output Only]" in schema.get("description", "") or schema.get("readOnly"):
                continue
            yield f"{path}{field}"
            inner = schema.get("items", schema).get("$ref")
            if inner and inner not in seen:
                yield from walk(inner, f"{path}{field}.", (*seen, inner))

    return set(walk("Instance", "", ("Instance",)))


def documents(named: Sequence[Path]) -> list[str]:
    """Read the discovery documents: those named, or those of the installed client."""
    folder = files("googleapiclient.discovery_cache") / "documents"
    texts = [path.read_text() for path in named] or [
        (folder / f"compute.{track}.json").read_text() for track in ("v1", "beta")
    ]
    return sorted({path for text in texts for path in fields_of_document(json.loads(text))})


def main() -> None:
    """Read every SDK that is named, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sdks", nargs="+", metavar="VERSION=FOLDER")
    parser.add_argument("--discovery", nargs="*", type=Path, default=[], metavar="FILE")
    parser.add_argument("--output", type=Path, default=SURFACE)
    options = parser.parse_args()
    named = dict(word.split("=", 1) for word in options.sdks)
    found = {int(version): read(named[version]) for version in sorted(named, key=int)}
    table = "\n".join(rows(found, documents(options.discovery)))
    options.output.write_text(f'{HEAD}{table}\n"""\n')


if __name__ == "__main__":
    main()
