"""Everyday commands of gcloud, tried one after the other on one local cloud: `commands.txt`.

A line is a command without `gcloud`, its name and its arguments apart by ` :: `. `!` before it says that the
local cloud refuses it by design, and what is then said stands behind ` # `. A line `[title]` begins a group.
The commands of a group build on each other, and on no other group's.

After a change: `python -m tests.localcloud.gcloud.commands`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
FILE = Path(__file__).with_name("commands.txt")
PAGE = ROOT / "docs" / "local-cloud-reference.md"
BEGIN, END = "<!-- gcloud: generated -->", "<!-- gcloud: end -->"


@dataclass(frozen=True, kw_only=True)
class GcloudCommand:
    """One command, without `gcloud`. `refusal` is what it says where it is refused, "" where it works."""

    group: str
    line: str
    refusal: str = ""

    @property
    def name(self) -> str:
        """The words before the first flag or argument that is no part of the command's name."""
        return self.line.partition(" :: ")[0]

    @property
    def words(self) -> str:
        """What a shell runs."""
        return self.line.replace(" :: ", " ")


def commands() -> list[GcloudCommand]:
    """All of them, in the order in which they are run."""
    return [*_read(FILE.read_text(encoding="utf-8"))]


def _read(text: str) -> Iterator[GcloudCommand]:
    group = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("["):
            group = line.strip("[]")
        else:
            command, _, refusal = line.removeprefix("! ").partition(" # ")
            yield GcloudCommand(group=group, line=command, refusal=refusal)


def table() -> str:
    """What stands between the two marks of the page."""
    every = commands()
    refused = list(dict.fromkeys(f"`{item.name}`" for item in every if item.refusal))
    works = sum(not command.refusal for command in every)
    counted = f"{works} of {len(every)} everyday commands work with gcloud 528 and 578"
    told = [
        f"{counted} (`tests/localcloud/gcloud/commands.txt`).",
        f"Refused by design, with the name of what is not done: {', '.join(refused)}.",
    ]
    return "\n".join([BEGIN, "", *told, "", END])


def page(text: str) -> str:
    """The page with this table in place of its own."""
    before, _, rest = text.partition(BEGIN)
    return before + table() + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
