"""What a client's tests or operations came to, and what is expected of them.

An operation is "passed", "skipped" (by the client's own word), or else the error that it ended with.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

EXPECTED = Path(__file__).parent / "expected"


class Expected(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of `expected/`: one client, and each of its operations that does not pass, with the reason.

    `refused` is what the local cloud refuses by design, `failed` what it should do and does not, `skipped`
    what the client itself leaves out. `played` is a date where the lane cannot play it.
    """

    client: str
    version: str
    install: tuple[str, ...]
    does: str
    passed: int
    refused: Mapping[str, str] = {}
    failed: Mapping[str, str] = {}
    skipped: Mapping[str, str] = {}
    played: str = ""


def expected(name: str) -> Expected:
    """What `expected/NAME.toml` says."""
    text = (EXPECTED / f"{name}.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Expected)


def everything() -> Mapping[str, Expected]:
    """Every file of `expected/`, by the names of the clients."""
    return {path.stem: expected(path.stem) for path in sorted(EXPECTED.glob("*.toml"))}


def of_lines(text: str) -> Mapping[str, str]:
    """The outcome of each operation, from lines as `{"operation": "copy", "outcome": "passed"}`."""
    lines = [json.loads(line) for line in text.splitlines() if line.startswith('{"operation"')]
    return {line["operation"]: line["outcome"] for line in lines}


def differences(wanted: Expected, outcomes: Mapping[str, str]) -> list[str]:
    """What came otherwise than expected, in sentences."""
    named = {**wanted.refused, **wanted.failed}
    passed = {name for name, outcome in outcomes.items() if outcome == "passed"}
    skipped = {name for name, outcome in outcomes.items() if outcome == "skipped"}
    failed = set(outcomes) - passed - skipped
    return [
        *(f"{name} does not pass: {outcomes[name][-500:]}" for name in sorted(failed - set(named))),
        *(f"{name} passes now" for name in sorted(passed & {*named, *wanted.skipped})),
        *(f"{name} is skipped" for name in sorted(skipped - set(wanted.skipped))),
        *(f"{name} was not played" for name in sorted({*named, *wanted.skipped} - set(outcomes))),
        *([f"{len(passed)} pass, not {wanted.passed}"] if len(passed) != wanted.passed else []),
    ]
