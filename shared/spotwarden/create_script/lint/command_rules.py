"""Rules on how a create command is written."""

import re
from collections import Counter
from collections.abc import Iterator

from spotwarden.create_script.lint.facts import Facts, LintFinding
from spotwarden.create_script.request.slice import makes_slice

_FLAG_AS_COMMAND = re.compile(r"`(--?[a-z][^` ]*)` is taken for a command")
_GLUED = re.compile(r"[\w\"')\]](--[a-z]+(?:-[a-z]+)+(?:=|$)|--zone=)")
_ZONE = re.compile(r"[a-z]+(?:-[a-z]+)+\d+-[a-z]")
_ZONE_OF_PATH = re.compile(r"/zones/([^/]+)/")
_URL_NAME = re.compile(r"(?:^|/)zones/")
# Given twice, these add up or are merged; of any other flag gcloud takes the last.
_ADDING_NAMES = """
--disk --create-disk --local-ssd --network-interface --labels --resource-manager-tags --container-env
--container-arg --container-mount-disk --container-mount-host-path --container-mount-tmpfs --flags-file
--quiet
"""
_ADDING = frozenset(_ADDING_NAMES.split())


def several_creates(facts: Facts) -> Iterator[LintFinding]:
    """More than one request that makes VMs: recovery would not know which of them is the job."""
    sent = [(launch, request) for launch in facts.launches for request in launch.requests]
    if len(sent) > 1 and not makes_slice([request for _, request in sent]):
        text = (
            f"it makes {len(sent)} create requests, and submit takes a script of exactly one; write a script"
            " for each job, or bulk create for a gang"
        )
        yield LintFinding(sent[1][0].command.line, "several-creates", text)


def cut_off_flags(facts: Facts) -> Iterator[LintFinding]:
    """Flags that stand on a line of their own: the line before has lost its backslash, or is a comment."""
    lines = facts.source.split("\n")
    for remark in facts.remarks:
        found = _FLAG_AS_COMMAND.search(remark.reason)
        if found is None:
            continue
        before = lines[remark.line - 2].strip() if remark.line > 1 else ""
        why = (
            "a comment in between ends the command"
            if before.startswith("#")
            else "the line before has no backslash at its end"
        )
        text = f"{found.group(1)} and what follows it are lost: {why}"
        yield LintFinding(remark.line, "cut-off-flags", text)


def glued_flags(facts: Facts) -> Iterator[LintFinding]:
    """Two flags that became one, since no blank stands before a backslash or after it."""
    for launch in facts.launches:
        for word, line in launch.words:
            found = _GLUED.search(word)
            if found and "\n" not in word and " " not in word:
                text = f"{found.group(1)} became part of {word!r}: put a space before the backslash"
                yield LintFinding(line, "glued-flags", text)


def repeated_flags(facts: Facts) -> Iterator[LintFinding]:
    """A flag given twice of which only the last counts."""
    for launch in facts.launches:
        counts = Counter(flag for flag, _ in launch.flags)
        for flag, count in counts.items():
            if count > 1 and flag not in _ADDING:
                text = f"{flag} is given {count} times, and only the last counts"
                yield LintFinding(launch.line_of(flag), "repeated-flag", text)


def reservation_without_affinity(facts: Facts) -> Iterator[LintFinding]:
    """A reservation that is named and not used."""
    for launch in facts.launches:
        if launch.given("--reservation") and not launch.given("--reservation-affinity"):
            text = "--reservation does nothing without --reservation-affinity=specific"
            yield LintFinding(launch.line_of("--reservation"), "unused-reservation", text)


def zone_from_configuration(facts: Facts) -> Iterator[LintFinding]:
    """A create that leaves the zone to whoever runs it."""
    for launch in facts.launches:
        named = launch.given("--zone", "--region", "--flags-file") or any(
            _URL_NAME.search(word) for word, _ in launch.words
        )
        if not named and not all(instance.template for instance in launch.instances):
            text = "no --zone: the job is launched in the zone that happens to be configured"
            yield LintFinding(launch.command.line, "no-zone", text)


def strange_zone(facts: Facts) -> Iterator[LintFinding]:
    """A zone that cannot be one, as of `--zone=zone=us-central1-a`."""
    for launch in facts.launches:
        for request in launch.requests:
            found = _ZONE_OF_PATH.search(request.path)
            if found and not _ZONE.fullmatch(found.group(1)):
                text = f"{found.group(1)!r} is not a valid zone name; write --zone=us-central1-a"
                yield LintFinding(launch.line_of("--zone"), "strange-zone", text)


def stops_early(facts: Facts) -> Iterator[LintFinding]:
    """A script that bash does not run to its end."""
    if facts.ended is not None and facts.launches and "syntax error" in facts.ended.reason:
        text = f"{facts.ended.reason}; nothing after it runs"
        yield LintFinding(facts.ended.line, "stops-early", text)
