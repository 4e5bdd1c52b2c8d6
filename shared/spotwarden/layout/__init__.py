"""The names of all objects in the bucket: the contract between jobs, developers and functions.

This is the one place that builds or reads such a name. `Layout.build` and `Layout.parse` are each
other's inverse; a name that is not in the table is refused with a reason, never guessed.
"""

from spotwarden.layout.names import (
    MARKERS,
    MAX_NAME_BYTES,
    OURS,
    RESERVED_JOBS,
    Layout,
    NotInLayoutError,
    job_problem,
    node_problem,
    quarantine_key,
)
from spotwarden.layout.owner import job_of
from spotwarden.layout.things import (
    AttemptRecord,
    AuditRecord,
    CaseRecord,
    Code,
    CreateScript,
    Heartbeat,
    InstanceId,
    JobFile,
    LaunchedRecord,
    MarkerName,
    OpenJob,
    Output,
    PlacementMemory,
    Quarantined,
    ResolvedScript,
    ScriptFile,
    StatusCode,
    SweepRecord,
    SweepTurn,
    Thing,
)

__all__ = [
    "MARKERS",
    "MAX_NAME_BYTES",
    "OURS",
    "RESERVED_JOBS",
    "AttemptRecord",
    "AuditRecord",
    "CaseRecord",
    "Code",
    "CreateScript",
    "Heartbeat",
    "InstanceId",
    "JobFile",
    "LaunchedRecord",
    "Layout",
    "MarkerName",
    "NotInLayoutError",
    "OpenJob",
    "Output",
    "PlacementMemory",
    "Quarantined",
    "ResolvedScript",
    "ScriptFile",
    "StatusCode",
    "SweepRecord",
    "SweepTurn",
    "Thing",
    "job_of",
    "job_problem",
    "node_problem",
    "quarantine_key",
]
