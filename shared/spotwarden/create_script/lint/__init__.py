"""What a create script would launch, in plain words, and what in it bites people; pure.

A warning never keeps a script from being stored. A refusal does: recovery could not run it again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from spotwarden.create_script import read
from spotwarden.create_script.gcloud import Defaults
from spotwarden.create_script.gcloud.request import Request
from spotwarden.create_script.gcloud.session import GcloudSession
from spotwarden.create_script.lint import (
    command_rules,
    guest_rules,
    spot_rules,
    text_rules,
    tpu_rules,
    version_rules,
)
from spotwarden.create_script.lint.describe import describe, describe_rest
from spotwarden.create_script.lint.facts import Facts, LintFinding, LintLaunch
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import SimpleCommand
from spotwarden.model.gcloud import VERSIONS

__all__ = ["RULES", "LintFinding", "LintReport", "check"]

Rule: TypeAlias = Callable[[Facts], Iterator[LintFinding]]

RULES: tuple[Rule, ...] = (
    text_rules.windows_line_ends,
    text_rules.byte_order_mark,
    text_rules.typographic_signs,
    text_rules.unset_variables,
    command_rules.several_creates,
    command_rules.cut_off_flags,
    command_rules.glued_flags,
    command_rules.repeated_flags,
    command_rules.reservation_without_affinity,
    command_rules.zone_from_configuration,
    command_rules.strange_zone,
    command_rules.stops_early,
    version_rules.other_requests,
    spot_rules.no_shutdown_script,
    spot_rules.no_termination_action,
    spot_rules.no_maintenance_policy,
    spot_rules.old_preemptible,
    spot_rules.tied_to_its_place,
    tpu_rules.image_without_tpu,
    tpu_rules.tpu_not_created,
    tpu_rules.spot_tpu_that_stops,
    guest_rules.joined_lines,
    guest_rules.never_deletes_itself,
    guest_rules.split_metadata,
    guest_rules.secrets,
)


class LintReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found: sentences on the launch, warnings by line, and the refusal if there is one."""

    launches: tuple[str, ...]
    rest: tuple[str, ...]
    warnings: tuple[LintFinding, ...]
    refusal: ScriptRefused | None

    @property
    def can_run_again(self) -> bool:
        """Whether recovery could launch the job from this script."""
        return self.refusal is None


def check(
    text: bytes, *, files: Mapping[str, bytes] | None = None, defaults: Defaults | None = None
) -> LintReport:
    """Read a script and hold it against every rule; never raises `ScriptRefused`, but reports it."""
    facts, refusal = _facts(text, files or {}, defaults or Defaults())
    found = sorted(
        {warning for rule in RULES for warning in rule(facts)},
        key=lambda warning: (warning.line, warning.rule, warning.text),
    )
    launches = tuple(describe(request) for launch in facts.launches for request in launch.requests)
    if refusal is None and not launches:
        line = facts.ended.line if facts.ended else 0
        reason = facts.ended.reason if facts.ended else "no command in it creates an instance"
        refusal = ScriptRefused(reason, line=line)
    rest = describe_rest(facts.notes, facts.launches)
    return LintReport(launches=launches, rest=rest, warnings=tuple(found), refusal=refusal)


def _of_slice(
    session: GcloudSession,
    commands: Sequence[SimpleCommand],
    others: Mapping[int, GcloudSession],
    requests: Sequence[Request],
) -> Iterator[LintLaunch]:
    """Each command for a part of the slice that the script makes, if it makes one."""
    for index, command in enumerate(commands):
        found = session.slice.parts[index].found
        if isinstance(found, Request) and found in requests:
            elsewhere = {version: other.slice.parts[index].found for version, other in others.items()}
            told = {
                version: (other,) if isinstance(other, Request) else ()
                for version, other in elsewhere.items()
            }
            yield LintLaunch(command=command, requests=(found,), others=told)


def _sent(session: GcloudSession, command: SimpleCommand) -> tuple[Request, ...]:
    before = len(session.requests)
    with suppress(ScriptRefused):  # the script as a whole was read before; another version may refuse it
        session.read(command)
    return tuple(session.requests[before:])


def _facts(text: bytes, files: Mapping[str, bytes], defaults: Defaults) -> tuple[Facts, ScriptRefused | None]:
    source = text.decode("utf-8", "replace")
    try:
        reading = read(text, files=files, defaults=defaults)
    except ScriptRefused as refusal:
        return Facts(source=source), refusal
    session = GcloudSession(defaults)
    others = {
        version: GcloudSession(replace(defaults, gcloud_version=version))
        for version in VERSIONS
        if version != defaults.gcloud_version
    }
    launches, parts = [], []
    for command in reading.commands:
        elsewhere = {version: _sent(other, command) for version, other in others.items()}
        before = len(session.slice.parts)
        sent = _sent(session, command)
        parts += [command] * (len(session.slice.parts) - before)
        if sent:
            launches.append(LintLaunch(command=command, requests=sent, others=elsewhere))
    if not launches:
        launches += _of_slice(session, parts, others, reading.requests)
    facts = Facts(
        source=source,
        launches=tuple(launches),
        notes=reading.notes,
        remarks=reading.remarks,
        ended=reading.ended,
    )
    return facts, None
