"""What would pass for a policy, value by value, and yet could not be meant."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from spotwarden.model.gcloud import VERSIONS
from spotwarden.model.governance import Calendar, Exemption, GovernanceLimits, Limits
from spotwarden.model.limits import AdmissionLimits, NotifyLimits, PlacementLimits, RecoveryLimits
from spotwarden.model.opening import DAYS, MIDNIGHT, clock_of, hours_of, is_zone
from spotwarden.model.policy import RULES, Team
from spotwarden.model.rule_limits import (
    ComplianceLimits,
    EarlyStopLimits,
    IdleLimits,
    InstanceCap,
    JobCap,
    OwnerCap,
)
from spotwarden.model.values import meant, no_remedy, written

SHORTEST_LEASE = timedelta(minutes=3)
SHORTEST_SENDING = timedelta(seconds=90)
PROVISIONING = ("STANDARD", "SPOT", "FLEX_START", "RESERVATION_BOUND")
"""Compute Engine's provisioning models (Google: "REST Resource: instances")."""
_LABEL = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_URL = re.compile(r"https?://[!-~]+")
_ADDRESS = re.compile(r"[^\s@,;:<>()\[\]\"\\]+@[^\s@,;:<>()\[\]\"\\]+")
"""One address without a name: notices to anything else would arrive nowhere."""
_ZONE = re.compile(r".+-[a-z]")
_PLACE = re.compile(r"[a-z]+(?:-[a-z0-9]+)+")


class Slip(NamedTuple):
    """What is wrong with a value, perhaps only `beside` another of the same table."""

    name: str
    what: str
    beside: str = ""


Said = Iterator[Slip]


def nonsense(limits: msgspec.Struct) -> Said:
    """What is wrong between or with the values of one table."""
    for kind, check in _CHECKS.items():
        if isinstance(limits, kind):
            yield from check(limits)


def _remedy(limits: Limits) -> Said:
    if wrong := no_remedy(type(limits), limits.remedy):
        yield Slip("remedy", wrong)


def _recovery(limits: RecoveryLimits) -> Said:
    if limits.lease < SHORTEST_LEASE:
        why = "clocks may be a minute apart and nothing is sent in a lease's last minute"
        least = written(SHORTEST_LEASE)
        yield Slip("lease", f"it is {written(limits.lease)}; it must be {least} at least, for {why}")
    if limits.gcloud_version not in VERSIONS:
        known = " or ".join(map(str, VERSIONS))
        yield Slip("gcloud_version", f"it is {limits.gcloud_version}; create scripts are read as {known}")
    yield from _backoff(limits)


def _backoff(limits: RecoveryLimits | NotifyLimits) -> Said:
    if limits.first_backoff > limits.longest_backoff:
        yield Slip(
            "first_backoff",
            f"it is longer than longest_backoff, {written(limits.longest_backoff)}",
            "longest_backoff",
        )


def _admission(limits: AdmissionLimits) -> Said:
    for name in ("machine_types", "images", "service_accounts", "networks", "projects"):
        yield from _patterns(name, getattr(limits, name))
    for image in limits.images:
        if "/" not in image and image != "*":
            yield Slip(
                "images", f"{image!r} names no project; write it as debian-cloud/family/* or project/name"
            )


def _notify(limits: NotifyLimits) -> Said:
    yield from _backoff(limits)
    yield from _timezone(limits.timezone)
    for address, zone in limits.timezones.items():
        yield from _patterns("timezones", (address,))
        yield from _timezone(zone, "timezones")
    try:
        if limits.quiet and hours_of(limits.quiet) == (0, MIDNIGHT):
            yield Slip("quiet", "it is the whole day, so most messages would never be sent")
    except ValueError as error:
        yield Slip("quiet", str(error))
    try:
        clock_of(limits.daily_at)
    except ValueError as error:
        yield Slip("daily_at", str(error))
    if limits.lease < SHORTEST_SENDING:
        least = written(SHORTEST_SENDING)
        why = "clocks may be a minute apart and a message may take 20 s"
        yield Slip("lease", f"it is {written(limits.lease)}; it must be {least} at least, for {why}")
    if limits.report and not _URL.fullmatch(limits.report):
        yield Slip("report", f"{limits.report!r} is not a valid URL; write https://report.example.com/")
    if limits.flood < 1:
        yield Slip("flood", f"it is {limits.flood}; it must be 1 at least")


def _mail(key: str, said: str) -> Said:
    if said and not _ADDRESS.fullmatch(said):
        yield Slip(key, f"{said!r} is not a valid email address; write one, such as ml-ops@example.com")


def _timezone(name: str, key: str = "timezone") -> Said:
    if not is_zone(name):
        yield Slip(key, f"unknown time zone {name!r}; write one such as Europe/Berlin or UTC")


def _calendar(calendar: Calendar) -> Said:
    yield from _timezone(calendar.timezone)
    for day in calendar.days:
        if day not in DAYS:
            yield Slip("days", f"{day!r} is not a day of the week; {meant(day, DAYS)}")
    if not calendar.days:
        yield Slip(
            "days",
            'it names no day, so nothing would ever be done. To only observe, write mode = "observe"',
        )
    try:
        hours_of(calendar.hours)
    except ValueError as error:
        yield Slip("hours", str(error))


def _exemption(exemption: Exemption) -> Said:
    yield from _patterns("owner", (exemption.owner,))
    for rule in exemption.rules:
        if rule not in RULES:
            yield Slip("rules", f"there is no rule {rule!r}; {meant(rule, RULES)}")


def _named(team: Team) -> Said:
    if not team.owners:
        yield Slip("owners", 'it is empty; write a list such as ["*@vision.example.com"]')
    yield from _patterns("owners", team.owners)
    yield from _mail("email", team.email)
    if team.timezone:
        yield from _timezone(team.timezone)


def _idle(idle: IdleLimits) -> Said:
    yield from _ascending(idle.warn)
    if not idle.warn:
        return
    last, act = idle.warn[-1], idle.act
    room = act - idle.warn[0]
    if last >= act:
        yield Slip("warn", f"the last is {written(last)}; it must be before act, {written(act)}", "act")
    elif idle.grace > room:
        what = f"it is {written(idle.grace)}; from the first warning to act there are only {written(room)}"
        yield Slip("grace", what, "act")


def _early_stop(limits: EarlyStopLimits) -> Said:
    if limits.patience is not None and not limits.metric:
        yield Slip(
            "patience",
            'the metric is missing; name it, such as metric = "val_loss"',
            "metric",
        )
    for name in limits.over.keys() & limits.under.keys():
        if limits.over[name] < limits.under[name]:
            yield Slip(
                "over", f"{name} is below its bound in under: every value would be beyond one", "under"
            )


def _shares(cap: JobCap | InstanceCap | OwnerCap) -> Said:
    yield from _ascending(cap.warn)
    if cap.warn and cap.warn[-1] >= 1:
        yield Slip("warn", "the last is 1; it must be a share below 1, before the limit is reached")


def _ascending(warn: tuple[Any, ...]) -> Said:
    if not warn:
        yield Slip("warn", "it is empty; at least one warning is needed before any action")
    elif not warn[0]:
        yield Slip("warn", "the first is 0; it must be more than 0")
    if any(first >= second for first, second in pairwise(warn)):
        ordered = ", ".join(map(written, sorted(set(warn))))
        yield Slip("warn", f"they must be in ascending order, each once: {ordered}")


def _extensions(cap: JobCap) -> Said:
    if cap.longest is not None and cap.max_runtime is not None and cap.longest < cap.max_runtime:
        what = f"it is {written(cap.longest)}, less than max_runtime, {written(cap.max_runtime)}"
        yield Slip("longest", what, "max_runtime")
    if cap.dearest is not None and cap.budget is not None and cap.dearest < cap.budget:
        yield Slip("dearest", f"it is {cap.dearest:g}, less than budget, {cap.budget:g}", "budget")


def _placement(limits: PlacementLimits) -> Said:
    for entry in filter(None, limits.avoid):
        if not _PLACE.fullmatch(entry.zone):
            yield Slip("avoid", f"{entry.zone!r} is not a zone or a region; write us-central1-a")
    for rung in filter(None, limits.ladder[:-1]):
        if not rung.up_to:
            yield Slip("ladder", f"{rung.model.value!r} has no up_to, so nothing after it is asked for")


def _compliance(limits: ComplianceLimits) -> Said:
    for label in limits.labels:
        if not _LABEL.fullmatch(label):
            yield Slip("labels", f"{label!r} cannot be the name of a label, which is like cost-center")
    yield from _patterns("machine_types", limits.machine_types)
    yield from _patterns("regions", limits.regions)
    for region in limits.regions:
        if _ZONE.fullmatch(region):
            yield Slip("regions", f"{region!r} is a zone; write its region, {region[:-2]!r}")
    for model in limits.provisioning:
        if model not in PROVISIONING:
            yield Slip("provisioning", f"there is no {model!r}; {meant(model.upper(), PROVISIONING)}")


def _patterns(name: str, patterns: Iterable[str]) -> Said:
    """A glob that fits nothing, or whose bracket stays open, is a slip of the pen."""
    for pattern in patterns:
        if not pattern.strip() or pattern != pattern.strip():
            yield Slip(name, f"{pattern!r} can never match; write a name or a pattern such as a2-*")
        elif pattern.count("[") != pattern.count("]"):
            yield Slip(name, f"{pattern!r} has a bracket that is not closed")


_CHECKS: Mapping[type[msgspec.Struct], Callable[[Any], Said]] = {
    Limits: _remedy,
    RecoveryLimits: _recovery,
    NotifyLimits: _notify,
    AdmissionLimits: _admission,
    PlacementLimits: _placement,
    GovernanceLimits: lambda limits: _mail("ops", limits.ops),
    Calendar: _calendar,
    Exemption: _exemption,
    Team: _named,
    EarlyStopLimits: _early_stop,
    IdleLimits: _idle,
    JobCap: lambda cap: (slip for check in (_shares, _extensions) for slip in check(cap)),
    InstanceCap: _shares,
    OwnerCap: _shares,
    ComplianceLimits: _compliance,
}
