"""What the rules look at."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from spotwarden.create_script.gcloud import Note
from spotwarden.create_script.request.command import SimpleCommand, Unknown
from spotwarden.model.request import Request


class LintFinding(NamedTuple):
    """Something that bites people: the line, the rule's name, and what to do about it."""

    line: int
    rule: str
    text: str


class LintLaunch(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One create command with what it sends."""

    command: SimpleCommand
    requests: tuple[Request, ...]
    others: Mapping[int, tuple[Request, ...]] = {}
    """What other versions of gcloud send for it, those that take it."""

    @cached_property
    def words(self) -> tuple[tuple[str, int], ...]:
        """The words of the command with their lines."""
        return tuple((str(word.value), word.line) for word in self.command.words)

    @cached_property
    def flags(self) -> tuple[tuple[str, int], ...]:
        """The names of the flags in their order, with their lines."""
        return tuple((word.partition("=")[0], line) for word, line in self.words if word.startswith("--"))

    def given(self, *names: str) -> bool:
        """Whether one of these flags is given."""
        return any(flag in names for flag, _ in self.flags)

    def line_of(self, *names: str) -> int:
        """The line of the first of these flags, or of the command."""
        return next((line for flag, line in self.flags if flag in names), self.command.line)

    @cached_property
    def instances(self) -> tuple["LintInstance", ...]:
        """What each request says about its machines."""
        return tuple(LintInstance(request) for request in self.requests)


class LintInstance:
    """The properties of the machines of one request, for single and bulk creates alike."""

    def __init__(self, request: Request) -> None:
        self.request = request
        body = request.body
        inner = body.get("properties", body) if self.template else body
        self.properties: Mapping[str, Any] = body.get("instanceProperties", inner)
        self.scheduling: Mapping[str, Any] = self.properties.get("scheduling", {})

    @property
    def template(self) -> bool:
        """Whether the request makes an instance template."""
        return self.request.path.endswith("/global/instanceTemplates")

    @property
    def spot(self) -> bool:
        """Whether Compute Engine may take the machine away at any time."""
        return bool(self.scheduling.get("preemptible")) or self.scheduling.get("provisioningModel") == "SPOT"

    @property
    def machine_type(self) -> str:
        """The bare name of the machine type; empty where a template names it."""
        return str(self.properties.get("machineType", "")).rsplit("/", 1)[-1]

    @property
    def accelerators(self) -> str:
        """The accelerators in words; empty where there are none."""
        found = self.properties.get("guestAccelerators", ())
        return " and ".join(
            f"{card.get('acceleratorCount', 1)} x {str(card['acceleratorType']).rsplit('/', 1)[-1]}"
            for card in found
        )

    def metadata(self) -> Iterator[tuple[str, str]]:
        """The metadata items."""
        for item in self.properties.get("metadata", {}).get("items", ()):
            yield str(item["key"]), str(item.get("value", ""))

    def has_metadata(self, *keys: str) -> bool:
        """Whether one of these keys is set."""
        return any(key in keys for key, _ in self.metadata())

    @property
    def from_template(self) -> bool:
        """Whether a template or machine image fills in what the request does not say."""
        sources = ("sourceInstanceTemplate", "sourceMachineImage")
        return any(key in self.request.query or key in self.request.body for key in sources)


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """A script as far as it could be read: its text always, the rest only where it is not refused."""

    source: str
    launches: tuple[LintLaunch, ...] = ()
    notes: tuple[Note, ...] = ()
    remarks: tuple[Unknown, ...] = ()
    ended: Unknown | None = None

    def instances(self) -> Iterator[tuple[LintLaunch, LintInstance]]:
        """Every request of every create command."""
        for launch in self.launches:
            for instance in launch.instances:
                yield launch, instance
