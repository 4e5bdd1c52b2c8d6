"""Read out of one Google Cloud SDK, by its own parser, what its create commands take, and print it as JSON.

    python infra/gcloud/read_surface.py /usr/lib/google-cloud-sdk

The SDK is loaded into this process, so one process reads one SDK. Its commands are built and never run.
What it prints is data in gcloud as well: names, words to choose from, defaults, keys, fields of its
messages, names of commands. How a value is read is code in gcloud, and in `spotwarden.create_script.gcloud`.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

COMMANDS = {
    "c": ("compute", "instances", "create"),
    "b": ("compute", "instances", "bulk", "create"),
    "k": ("compute", "instances", "create-with-container"),
    "t": ("compute", "instance-templates", "create"),
    "g": ("compute", "instance-groups", "managed", "create"),
    "p": ("compute", "resource-policies", "create", "workload-policy"),
}
TRACKS = {"v1": (), "beta": ("beta",), "alpha": ("alpha",), "preview": ("preview",)}
# Levels of commands among which a misspelt create is told from another command.
LEVELS = ((), ("compute",), ("compute", "instances"))
# What the requests of the three commands are made of.
_MESSAGES = ("Instance", "BulkInsertInstanceResource")
# Every command has these; `-h` and `---flag-file-line-` are no flags of a script.
_NO_FLAGS = ("--document", "--flags-file", "--help", "---flag-file-line-")


def flags_of(command: Any) -> dict[str, dict[str, Any]]:
    """Give the flags of one command of gcloud, each with what is data in it."""
    actions = command.ai.parser._actions if hasattr(command.ai, "parser") else command._parser._actions
    by_flag = {
        option: action
        for action in actions
        for option in action.option_strings
        if option.startswith("--") and option not in _NO_FLAGS
    }
    found = {}
    for option, action in sorted(by_flag.items()):
        positive = by_flag.get("--" + option.removeprefix("--no-")) if option.startswith("--no-") else None
        if positive is not None and positive.dest == action.dest:
            continue
        negated = by_flag.get("--no-" + option.removeprefix("--"))
        found[option.removeprefix("--")] = {
            "negatable": negated is not None and negated.dest == action.dest,
            "choices": sorted(map(str, action.choices or ())),
            "default": action.default if isinstance(action.default, str | bool) else None,
            "keys": sorted(getattr(action.type, "spec", None) or ()),
        }
    return found


def read_flags(top: Any) -> dict[str, dict[str, Any]]:
    """Give the flags of each create command in each track that this SDK has."""
    found: dict[str, dict[str, Any]] = {}
    for track, words in TRACKS.items():
        for letter, path in COMMANDS.items():
            command = top.LoadSubElementByPath([*words, *path])
            if command is not None:
                found.setdefault(track, {})[letter] = flags_of(command)
    return found


def read_commands(sdk: Path) -> dict[str, list[str]]:
    """Give the names of commands and groups, level by level, in whatever track."""
    found = {}
    for level in LEVELS:
        names: set[str] = set()
        for track in ((), *((word,) for word in ("alpha", "beta", "preview"))):
            folder = sdk / "lib/surface" / Path(*track, *level)
            names |= {path.stem.strip("_").replace("_", "-") for path in folder.glob("[a-z]*")}
        found["/".join(level)] = sorted(names)
    return found


def read_fields() -> list[str]:
    """Give the path of each field that a request of v1 may hold."""
    package = "googlecloudsdk.generated_clients.apis.compute.v1.compute_v1_messages"
    messages = import_module(package)
    message_field = import_module("apitools.base.protorpclite.messages").MessageField

    def walk(message: Any, path: str, seen: tuple[str, ...]) -> Iterator[str]:
        for field in message.all_fields():
            here = f"{path}{field.name}"
            yield here
            if isinstance(field, message_field) and field.type.__name__ not in seen:
                yield from walk(field.type, f"{here}.", (*seen, field.type.__name__))

    return sorted({path for name in _MESSAGES for path in walk(getattr(messages, name), "", (name,))})


def main() -> None:
    """Read the SDK whose folder is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sdk", type=Path)
    sdk: Path = parser.parse_args().sdk.resolve()
    sys.path[:0] = [str(sdk / "lib"), str(sdk / "lib/third_party")]
    with tempfile.TemporaryDirectory() as configuration:
        os.environ["CLOUDSDK_CONFIG"] = configuration
        cli = import_module("googlecloudsdk.gcloud_main").CreateCLI([])
        top = cli._TopElement()
        found = {"flags": read_flags(top), "commands": read_commands(sdk), "fields": read_fields()}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
