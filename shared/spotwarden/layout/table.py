"""The table of all object names: what each is called, and what its variable parts may be."""

from collections.abc import Callable, Mapping
from datetime import date

from spotwarden.layout.object_names import (
    AttemptRecord,
    AuditRecord,
    AvoidedZones,
    CaseRecord,
    Code,
    CreateScript,
    DeliveredRecord,
    DeliveryRound,
    Heartbeat,
    InputName,
    InstanceId,
    JobFileName,
    LaunchedRecord,
    LogFile,
    MarkerName,
    MetricsFile,
    NodeHeartbeat,
    ObjectName,
    OpenJob,
    OutboxEntry,
    Output,
    PlacementMemory,
    PreferenceRecord,
    Quarantined,
    ReportPart,
    ResolvedScript,
    RunRecord,
    ScriptFile,
    StagedFile,
    StatusCode,
    SweepRecord,
    SweepTurn,
    UndeliveredRecord,
    UsageRecord,
    UsedOffer,
)

MARKERS = "preempted-jobs"
HEARTBEATS = "heartbeats"
OURS = "spotwarden"
RESERVED_JOBS = frozenset({MARKERS, HEARTBEATS, OURS})
MAX_NAME_BYTES = 1024
"""Cloud Storage's limit for an object name (Google: "About Cloud Storage objects")."""

LABEL = "[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?"
"""An RFC 1035 label as Compute Engine takes it for the name of an instance."""


TEMPLATES: Mapping[type[ObjectName], str] = {
    Code: "{job}/my-code.tar",
    StagedFile: "{job}/staged/{digest}",
    Output: "{job}/output/{path}",
    CreateScript: "{job}/metadata/create-instance.sh",
    ResolvedScript: "{job}/metadata/create-instance.resolved.sh",
    ScriptFile: "{job}/metadata/files/{path}",
    InstanceId: "{job}/metadata/{node}-instance-id",
    StatusCode: "{job}/metadata/status-code",
    JobFileName: "{job}/metadata/job.toml",
    Heartbeat: "{job}/metadata/heartbeat/{node}",
    MetricsFile: "{job}/metadata/metrics/{node}/{attempt}.jsonl",
    LogFile: "{job}/metadata/logs/{node}/{attempt}.log",
    RunRecord: "{job}/metadata/run.json",
    InputName: "{job}/input/{path}",
    AttemptRecord: "{job}/metadata/attempts/{attempt}.json",
    LaunchedRecord: "{job}/metadata/launched/{attempt}.json",
    MarkerName: MARKERS + "/{node}",
    NodeHeartbeat: HEARTBEATS + "/{node}",
    OpenJob: OURS + "/open/{job}.json",
    SweepTurn: OURS + "/turns/{function}.json",
    CaseRecord: OURS + "/cases/{rule}/{key}.json",
    Quarantined: OURS + "/quarantine/{key}@{generation}",
    OutboxEntry: OURS + "/outbox/{channel}/{person}/{notice}.json",
    DeliveryRound: OURS + "/rounds/{channel}/{person}.json",
    DeliveredRecord: OURS + "/delivered/{notice}/{channel}/{person}.json",
    UndeliveredRecord: OURS + "/undelivered/{channel}/{person}/{notice}.json",
    PreferenceRecord: OURS + "/preferences/{person}.json",
    UsedOffer: OURS + "/answers/{entry}.json",
    PlacementMemory: OURS + "/placement/{machine}.json",
    AvoidedZones: OURS + "/avoided-zones.json",
    UsageRecord: OURS + "/usage/{day}.json",
    AuditRecord: OURS + "/audit/{day}/{entry}.json",
    SweepRecord: OURS + "/sweeps/{function}/{day}/{entry}.json.gz",
    ReportPart: OURS + "/report/{path}",
}

_NUMBER = "[1-9][0-9]{0,19}"
FIELDS: Mapping[str, tuple[str, str]] = {
    "job": (LABEL, "a valid name: lowercase letters, digits and hyphens, a letter first, at most 63"),
    "node": (LABEL, "a valid name: lowercase letters, digits and hyphens, a letter first, at most 63"),
    "path": ("[^\r\n]+", "a relative path without '.', '..' or empty parts"),
    "attempt": (_NUMBER, "a number from 1"),
    "generation": (_NUMBER, "a number from 1"),
    "instance_id": (_NUMBER, "an instance's numeric id"),
    "rule": ("[a-z][a-z0-9_-]*", "a rule's name"),
    "key": ("[A-Za-z0-9._~%-]+", "a percent-encoded name"),
    "person": ("[A-Za-z0-9._~%-]+", "a percent-encoded address"),
    "channel": ("[a-z][a-z0-9_]*", "a channel's name"),
    "digest": ("[0-9a-f]{64}", "a SHA-256, 64 hexadecimal digits"),
    "notice": ("[0-9a-f]{32}", "a notice's key, 32 hexadecimal digits"),
    "machine": ("[a-z][a-z0-9-]*", "a machine type's name"),
    "function": ("[a-z][a-z0-9_]*", "a function's name"),
    "day": ("[0-9]{4}-[0-9]{2}-[0-9]{2}", "a day as YYYY-MM-DD"),
    "entry": ("[A-Za-z0-9][A-Za-z0-9._-]*", "letters, digits, '.', '_' and '-'"),
}
READERS: Mapping[str, Callable[[str], object]] = {
    "attempt": int,
    "generation": int,
    "day": date.fromisoformat,
}
