"""What an object of the bucket can be."""

from datetime import date

import msgspec


class ObjectName(msgspec.Struct, frozen=True, kw_only=True):
    """What an object of the bucket is; its fields are the variable parts of the name."""


class Code(ObjectName, frozen=True, kw_only=True, tag=True):
    """The job's code as one tarball."""

    job: str


class StagedFile(ObjectName, frozen=True, kw_only=True, tag=True):
    """A file of a launch that is not on record yet, or whose files are being put in place."""

    job: str
    digest: str


class Output(ObjectName, frozen=True, kw_only=True, tag=True):
    """Something the job produced; the newest one counts as progress."""

    job: str
    path: str


class CreateScript(ObjectName, frozen=True, kw_only=True, tag=True):
    """The developer's stored create script."""

    job: str


class ResolvedScript(ObjectName, frozen=True, kw_only=True, tag=True):
    """The commands that the developer's machine made of a script that is not pure."""

    job: str


class ScriptFile(ObjectName, frozen=True, kw_only=True, tag=True):
    """A local file that the create script names, stored beside it."""

    job: str
    path: str


class InstanceId(ObjectName, frozen=True, kw_only=True, tag=True):
    """The numeric id of a node's instance."""

    job: str
    node: str


class StatusCode(ObjectName, frozen=True, kw_only=True, tag=True):
    """The exit status of the training program: present means ended."""

    job: str


class JobFileName(ObjectName, frozen=True, kw_only=True, tag=True):
    """The job's own settings."""

    job: str


class Heartbeat(ObjectName, frozen=True, kw_only=True, tag=True):
    """Written by a training loop itself, in whatever words; the job kit writes a `NodeHeartbeat`."""

    job: str
    node: str


class NodeHeartbeat(ObjectName, frozen=True, kw_only=True, tag=True):
    """That a node is alive: an empty object, whose custom metadata say of which job, and how far it is."""

    node: str


class MetricsFile(ObjectName, frozen=True, kw_only=True, tag=True):
    """What a node's heartbeats have said in one attempt, a line of JSON each."""

    job: str
    node: str
    attempt: int


class LogFile(ObjectName, frozen=True, kw_only=True, tag=True):
    """What a node's program has printed in one attempt, the newest of it."""

    job: str
    node: str
    attempt: int


class InputName(ObjectName, frozen=True, kw_only=True, tag=True):
    """A file that the job works on, put there by its developer."""

    job: str
    path: str


class RunRecord(ObjectName, frozen=True, kw_only=True, tag=True):
    """How a job was asked for by `spotwarden run`."""

    job: str


class AttemptRecord(ObjectName, frozen=True, kw_only=True, tag=True):
    """One entry of the ledger."""

    job: str
    attempt: int


class LaunchedRecord(ObjectName, frozen=True, kw_only=True, tag=True):
    """What was launched as an attempt: the resources of its instances."""

    job: str
    attempt: int


class MarkerName(ObjectName, frozen=True, kw_only=True, tag=True):
    """Says: this node was shut down while its job was running."""

    node: str


class OpenJob(ObjectName, frozen=True, kw_only=True, tag=True):
    """An entry in the list of open jobs."""

    job: str


class SweepTurn(ObjectName, frozen=True, kw_only=True, tag=True):
    """Whose turn it is to sweep over everything."""

    function: str


class CaseRecord(ObjectName, frozen=True, kw_only=True, tag=True):
    """An open case of a rule; `key` is an instance id, a job, or an owner made safe by `quarantine_key`."""

    rule: str
    key: str


class Quarantined(ObjectName, frozen=True, kw_only=True, tag=True):
    """What we could not use; `key` is a marker's name made safe by `quarantine_key`."""

    key: str
    generation: int


class OutboxEntry(ObjectName, frozen=True, kw_only=True, tag=True):
    """A notice that waits to be sent. `person` is an address made safe, `notice` a key by `notice_key`."""

    channel: str
    person: str
    notice: str


class DeliveryRound(ObjectName, frozen=True, kw_only=True, tag=True):
    """What is remembered of one recipient between messages."""

    channel: str
    person: str


class DeliveredRecord(ObjectName, frozen=True, kw_only=True, tag=True):
    """That a notice arrived at a recipient."""

    notice: str
    channel: str
    person: str


class UndeliveredRecord(ObjectName, frozen=True, kw_only=True, tag=True):
    """A notice that could not be brought to its recipient."""

    channel: str
    person: str
    notice: str


class PreferenceRecord(ObjectName, frozen=True, kw_only=True, tag=True):
    """How often a person wants to hear of what is not urgent."""

    person: str


class UsedOffer(ObjectName, frozen=True, kw_only=True, tag=True):
    """An answer that was given by a link; `entry` is the offer's id."""

    entry: str


class PlacementMemory(ObjectName, frozen=True, kw_only=True, tag=True):
    """What we remember of the zones for one machine type."""

    machine: str


class AvoidedZones(ObjectName, frozen=True, kw_only=True, tag=True):
    """The zones that no job is launched in for a while, by command."""


class UsageRecord(ObjectName, frozen=True, kw_only=True, tag=True):
    """What each VM of a day used, by whom."""

    day: date


class AuditRecord(ObjectName, frozen=True, kw_only=True, tag=True):
    """One action of ours."""

    day: date
    entry: str


class SweepRecord(ObjectName, frozen=True, kw_only=True, tag=True):
    """The facts that one sweep saw."""

    function: str
    day: date
    entry: str


class ReportPart(ObjectName, frozen=True, kw_only=True, tag=True):
    """A part of the report: a summary, an index, or a page of the copy that needs no server."""

    path: str
