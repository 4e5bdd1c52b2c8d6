"""Terraform's configuration as data, and its layout, without Terraform."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import hcl2

TERRAFORM = Path(__file__).resolve().parents[2] / "infra/terraform"
FOLDERS = {"": TERRAFORM, "service": TERRAFORM / "service"}
FILES = sorted(TERRAFORM.rglob("*.tf"))


class Block(NamedTuple):
    """A resource or data source: its kind, type, name, and what stands in it."""

    kind: str
    type: str
    name: str
    body: Mapping[str, Any]


def load(folder: Path) -> Mapping[str, list[Any]]:
    """All files of a folder as one configuration, by kind of block."""
    found: dict[str, list[Any]] = {}
    for file in sorted(folder.glob("*.tf")):
        with file.open(encoding="utf-8") as text:
            for kind, blocks in hcl2.load(text).items():
                found.setdefault(kind, []).extend(blocks)
    return found


CONFIG = {name: load(folder) for name, folder in FOLDERS.items()}


def things(config: Mapping[str, list[Any]]) -> Iterator[Block]:
    """The resources and data sources."""
    for kind in ("resource", "data"):
        for block in config.get(kind, ()):
            for type_, named in block.items():
                for name, body in named.items():
                    yield Block(kind, plain(type_), plain(name), body)


def plain(text: str) -> str:
    """A label or a literal without its quotes."""
    return text.strip('"')


def inside(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is written in a block, without what the parser adds."""
    return {key: value for key, value in body.items() if not key.startswith("__")}


def texts(value: object) -> Iterator[str]:
    """Every expression and literal below a value, keys of maps included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, below in value.items():
            if key == "__comments__":
                continue
            yield key
            yield from texts(below)
    elif isinstance(value, Sequence):
        for below in value:
            yield from texts(below)


def faults_of_layout(text: str) -> list[str]:
    """Where a file is laid out otherwise than `terraform fmt` does, as far as we use the language."""
    faults: list[str] = []
    depths: list[int] = []
    run: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        bare = _bare(line)
        change = sum(bare.count(bracket) for bracket in "([{") - sum(bare.count(bracket) for bracket in ")]}")
        _close(depths, -change)
        if line and (line != line.rstrip() or len(line) - len(line.lstrip()) != 2 * len(depths)):
            faults.append(f"line {number}: the spaces around it")
        if change > 0:
            depths.append(change)
        if change == 0 and re.match(r"\s*[\w./\"-]+ *= ", line):
            run.append((number, line))
            continue
        faults += _ragged(run)
        run = []
    return [*faults, *_ragged(run)]


def _close(depths: list[int], closed: int) -> None:
    """A line that closes brackets ends as many indentations as its brackets had begun."""
    while closed > 0 and depths:
        depths[-1], closed = depths[-1] - closed, closed - depths[-1]
        if depths[-1] <= 0:
            depths.pop()


def _ragged(run: Sequence[tuple[int, str]]) -> list[str]:
    """The lines of a run whose equals signs are not below each other."""
    if not run:
        return []
    names = (re.match(r"\s*[\w./\"-]+", line) for _, line in run)
    wide = max(name.end() for name in names if name)
    return [f"line {number}: its equals sign" for number, line in run if not line[wide:].startswith(" = ")]


def _bare(line: str) -> str:
    """A line without its literals and comments, so that its brackets are the language's."""
    out, within = "", [""]
    at = 0
    while at < len(line):
        here, two = line[at], line[at : at + 2]
        if within[-1] == '"':
            if two == "${":
                within.append("{")
            elif here == '"':
                within.pop()
            at += 2 if here == "\\" or two == "${" else 1
            continue
        if here == '"':
            within.append('"')
        elif within[-1] == "{" and here in "{}":
            within.append("{") if here == "{" else within.pop()
        elif len(within) == 1 and here == "#":
            break
        elif len(within) == 1:
            out += here
        at += 1
    return out
