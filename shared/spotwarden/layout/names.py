"""Object names, built and read by the table."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from functools import cache, lru_cache
from urllib.parse import quote, unquote_to_bytes

import msgspec

from spotwarden.layout.object_names import Code, InstanceId, ObjectName
from spotwarden.layout.table import (
    FIELDS,
    HEARTBEATS,
    MARKERS,
    MAX_NAME_BYTES,
    OURS,
    READERS,
    RESERVED_JOBS,
    TEMPLATES,
)


class NotInLayoutError(ValueError):
    """This name is not one of ours: `name` is the whole name, `reason` what is wrong with it."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name!r}: {reason}")
        self.name = name
        self.reason = reason


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """Made when it is first needed: a process that reads few kinds of names starts sooner."""
    parts = re.split(r"\{(\w+)\}", template)
    return re.compile(
        "".join(
            f"(?P<{part}>{FIELDS[part][0]})" if index % 2 else re.escape(part)
            for index, part in enumerate(parts)
        )
    )


@cache
def _kinds(top: str) -> Sequence[tuple[str, type[ObjectName], str]]:
    """What may lie in this folder of the bucket: how its name goes on at least, its kind and its template.

    "" stands for the folder of any job.
    """
    inside = [
        (folder, inner, kind, template)
        for kind, template in TEMPLATES.items()
        for folder, _, inner in [template.partition("/")]
    ]
    return tuple(
        (inner.partition("{")[0], kind, template)
        for folder, inner, kind, template in inside
        if folder == (top or "{job}")
    )


_FIELD_PATTERNS = {name: re.compile(pattern) for name, (pattern, _) in FIELDS.items()}


def _problem(field: str, text: str) -> str | None:
    """Why this text cannot be that part of a name; None where it can."""
    if not _FIELD_PATTERNS[field].fullmatch(text):
        return f"{text!r} is not {FIELDS[field][1]}"
    if field == "job" and text in RESERVED_JOBS:
        return f"{text!r} is reserved, so it can't be a job's name"
    if field == "path" and not {"", ".", ".."}.isdisjoint(text.split("/")):
        return f"{text!r} is not {FIELDS[field][1]}"
    if field in {"key", "person"} and quote(unquote_to_bytes(text), safe="") != text:
        return f"{text!r} is not {FIELDS[field][1]}"
    return _unreal_day(text) if field == "day" else None


def _unreal_day(text: str) -> str | None:
    try:
        date.fromisoformat(text)
    except ValueError:
        return f"{text!r} is not a calendar date"
    return None


def job_problem(job: str) -> str | None:
    """Why this cannot be a job's name; None where it can."""
    return _problem("job", job)


def node_problem(node: str) -> str | None:
    """Why this cannot be a node's name; None where it can."""
    return _problem("node", node)


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """Builds and reads object names below a bucket-wide prefix ("" or, say, "users/")."""

    prefix: str = ""

    def __post_init__(self) -> None:
        if not self.prefix:
            return
        if not self.prefix.endswith("/") or _problem("path", self.prefix[:-1]):
            raise NotInLayoutError(self.prefix, "a bucket prefix is empty or a path that ends in '/'")

    def build(self, object_name: ObjectName) -> str:
        """The name of this thing; `NotInLayoutError` where a part does not fit."""
        return _build(self.prefix, object_name)

    def parse(self, name: str) -> ObjectName:
        """What the object of this name is; `NotInLayoutError` where it is nothing of ours."""
        return _parse(self.prefix, name)

    def markers(self) -> str:
        """The prefix of all markers."""
        return f"{self.prefix}{MARKERS}/"

    def heartbeats(self) -> str:
        """The prefix of the heartbeats of all nodes."""
        return f"{self.prefix}{HEARTBEATS}/"

    def folder(self, job: str) -> str:
        """The prefix of all objects of a job."""
        return self.build(Code(job=job)).removesuffix("my-code.tar")

    def open_jobs(self) -> str:
        """The prefix of the list of open jobs."""
        return f"{self.prefix}{OURS}/open/"

    def turns(self) -> str:
        """The prefix of the turns of all functions."""
        return f"{self.prefix}{OURS}/turns/"

    def cases(self) -> str:
        """The prefix of the open cases of all rules."""
        return f"{self.prefix}{OURS}/cases/"

    def cases_of(self, rules: Collection[str]) -> str:
        """A glob (`matchGlob` of objects.list) for the open cases of these rules."""
        named = ",".join(sorted(rules))
        return f"{self.cases()}{{{named}}}/*" if len(rules) > 1 else f"{self.cases()}{named}/*"

    def sweeps(self, function: str) -> str:
        """The prefix of what a function's sweeps saw."""
        return f"{self.prefix}{OURS}/sweeps/{function}/"

    def outbox(self, channel: str = "", person: str = "") -> str:
        """The prefix of what waits to be sent, to one recipient or to all."""
        return f"{self.prefix}{OURS}/outbox/" + (f"{channel}/{person}/" if channel else "")

    def delivered(self, notice: str) -> str:
        """The prefix of the records that a notice arrived."""
        return f"{self.prefix}{OURS}/delivered/{notice}/"

    def undelivered(self, channel: str = "", person: str = "") -> str:
        """The prefix of what could not be sent, to one recipient or to all."""
        return f"{self.prefix}{OURS}/undelivered/" + (f"{channel}/{person}/" if channel else "")

    def quarantine(self) -> str:
        """The prefix of what was put aside."""
        return f"{self.prefix}{OURS}/quarantine/"

    def metadata(self, job: str) -> str:
        """The prefix of a job's metadata."""
        return f"{self.folder(job)}metadata/"

    def crowded(self, job: str) -> tuple[str, ...]:
        """The folders of a job's metadata that any job VM may fill, in the order of names."""
        return tuple(f"{self.metadata(job)}{folder}/" for folder in ("heartbeat", "logs", "metrics"))

    def all_metadata(self) -> str:
        """A glob (`matchGlob` of objects.list) for the metadata of all jobs."""
        return f"{self.prefix}*/metadata/**"

    def inputs(self, job: str) -> str:
        """The prefix of what a job works on."""
        return f"{self.folder(job)}input/"

    def staged(self, job: str) -> str:
        """The prefix of what launches of a job have sent and not put in place."""
        return f"{self.folder(job)}staged/"

    def metrics(self, job: str) -> str:
        """The prefix of what a job's heartbeats have said, all nodes and attempts."""
        return f"{self.folder(job)}metadata/metrics/"

    def logs(self, job: str) -> str:
        """The prefix of what a job's programs have printed, all nodes and attempts."""
        return f"{self.folder(job)}metadata/logs/"

    def report(self) -> str:
        """The prefix of the report."""
        return f"{self.prefix}{OURS}/report/"

    def outputs(self, job: str) -> str:
        """The prefix of what a job produces."""
        return f"{self.folder(job)}output/"

    def outputs_of(self, jobs: Collection[str]) -> str:
        """A glob (`matchGlob` of objects.list) for what these jobs produce."""
        return f"{self.prefix}{{{','.join(sorted(jobs))}}}/output/**"

    def attempts(self, job: str) -> str:
        """The prefix of a job's ledger."""
        return f"{self.folder(job)}metadata/attempts/"

    def launched(self, job: str) -> str:
        """The prefix of what was launched as a job's attempts."""
        return f"{self.folder(job)}metadata/launched/"

    def files(self, job: str) -> str:
        """The prefix of the files stored beside a job's create script."""
        return f"{self.folder(job)}metadata/files/"

    def registrations(self, nodes: Collection[str]) -> str:
        """A glob (`matchGlob` of objects.list) for the registrations of these nodes in any job."""
        name = self.build(InstanceId(job="job", node="node")).removeprefix(f"{self.prefix}job/")
        return f"{self.prefix}*/" + name.replace("/node-", f"/{{{','.join(sorted(nodes))}}}-", 1)


@lru_cache(maxsize=16_384)
def _build(prefix: str, object_name: ObjectName) -> str:
    parts = {field: str(getattr(object_name, field)) for field in object_name.__struct_fields__}
    name = prefix + TEMPLATES[type(object_name)].format(**parts)
    for field, text in parts.items():
        if problem := _problem(field, text):
            raise NotInLayoutError(name, problem)
    if len(name.encode()) > MAX_NAME_BYTES:
        raise NotInLayoutError(name, f"longer than {MAX_NAME_BYTES} bytes")
    return name


@lru_cache(maxsize=16_384)
def _parse(prefix: str, name: str) -> ObjectName:
    if not name.startswith(prefix):
        raise NotInLayoutError(name, f"outside the bucket prefix {prefix!r}")
    if len(name.encode(errors="surrogatepass")) > MAX_NAME_BYTES:
        raise NotInLayoutError(name, f"longer than {MAX_NAME_BYTES} bytes")
    rest = name.removeprefix(prefix)
    top, _, inner = rest.partition("/")
    for begins, kind, template in _kinds(top if top in RESERVED_JOBS else ""):
        if inner.startswith(begins) and (match := _pattern(template).fullmatch(rest)):
            return _read(kind, name, match.groupdict())
    raise NotInLayoutError(name, _why(rest))


def _read(kind: type[ObjectName], name: str, parts: Mapping[str, str]) -> ObjectName:
    for field, text in parts.items():
        if problem := _problem(field, text):
            raise NotInLayoutError(name, problem)
    return kind(**{field: READERS.get(field, str)(text) for field, text in parts.items()})


def _why(rest: str) -> str:
    """The reason a person needs, for a name that matches no row of the table."""
    top, slash, inner = rest.partition("/")
    if top in {MARKERS, HEARTBEATS}:
        return _problem("node", inner) or "no object of the layout has this name"
    if top == OURS:
        return f"nothing of ours has this name below {OURS}/"
    if not slash:
        return "a job's objects must be in the job's own folder"
    return _problem("job", top) or "no object of the layout has this name inside a job"
