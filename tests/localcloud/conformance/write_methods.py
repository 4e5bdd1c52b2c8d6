"""Derives what is known of all methods of the APIs, and the tables of infra/localcloud/METHODS.md.

Run it after an update of google-api-python-client, or when a method is added:
`python -m tests.localcloud.conformance.write_methods`.
"""

import asyncio
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from googleapiclient.discovery_cache import get_static_doc
from starlette.routing import Match, Route

from localcloud.cloud import LocalCloud, Options
from localcloud.deployed.bases import BASES
from localcloud.methods.choosing import ANY, LEAF
from localcloud.storage import undone
from tests.localcloud.conformance.ignored import IGNORED

ROOT = Path(__file__).parents[3]
METHODS = ROOT / "infra" / "localcloud" / "methods" / "methods.txt"
ANSWERS = METHODS.with_name("answers.json")
PARAMETERS = METHODS.with_name("parameters.json")
BOUND = ("logging", "cloudscheduler", "cloudresourcemanager", "iam")
"""APIs whose parameters are bound by a table. Not Compute: its document lacks `returnPartialSuccess`."""
PAGE = ROOT / "infra" / "localcloud" / "METHODS.md"
BEGIN, END = "<!-- methods: generated -->", "<!-- methods: end -->"
APIS: Mapping[str, tuple[str, str]] = {
    "storage": ("v1", "Cloud Storage"),
    "compute": ("v1", "Compute Engine"),
    "pubsub": ("v1", "Pub/Sub"),
    "monitoring": ("v3", "Cloud Monitoring"),
    "logging": ("v2", "Cloud Logging"),
    "cloudscheduler": ("v1", "Cloud Scheduler"),
    "cloudresourcemanager": ("v1", "Cloud Resource Manager"),
    "iam": ("v1", "Identity and Access Management"),
    "cloudfunctions": ("v2", "Cloud Functions"),
    "run": ("v1", "Cloud Run"),
    "secretmanager": ("v1", "Secret Manager"),
    "serviceusage": ("v1", "Service Usage"),
}
_PARAMETER = re.compile(r"\{\+?\w+\}")


class ApiMethod(NamedTuple):
    """A method: its id without the API's name, its verb, its path below the base, its query parameters."""

    name: str
    verb: str
    path: str
    parameters: Sequence[str]
    body: str
    answer: str


@cache
def document(api: str) -> Mapping[str, Any]:
    """Google's discovery document."""
    found: Mapping[str, Any] = json.loads(get_static_doc(api, APIS[api][0]))
    return found


def base_of(api: str) -> str:
    """What the paths of an API begin with here."""
    return BASES.get(api, "") + str(document(api)["servicePath"])


def methods(api: str) -> list[ApiMethod]:
    """Every method of an API, in the order of names. Uploads and downloads are those of their paths."""
    return sorted(_read(api, document(api)))


def _read(api: str, resource: Mapping[str, Any]) -> Iterator[ApiMethod]:
    for raw in resource.get("methods", {}).values():
        parameters = raw.get("parameters", {})
        yield ApiMethod(
            name=raw["id"].removeprefix(f"{api}."),
            verb=raw["httpMethod"],
            path=_PARAMETER.sub("{}", raw.get("flatPath", raw["path"])),
            parameters=sorted(key for key, value in parameters.items() if value["location"] == "query"),
            body=raw.get("request", {}).get("$ref", ""),
            answer=raw.get("response", {}).get("$ref", ""),
        )
    for inner in resource.get("resources", {}).values():
        yield from _read(api, inner)


def listed() -> str:
    """The text of `methods.txt`."""
    lines = []
    for api in APIS:
        lines.append(f"{api} {base_of(api)}")
        lines += [f" {method.name} {method.verb} {method.path}" for method in methods(api)]
    return "\n".join(lines) + "\n"


def answered() -> str:
    """The text of `answers.json`: which fields the answer of each method that is done can have."""
    found: dict[str, str] = {}
    shapes: dict[str, Any] = {}
    for api in APIS:
        names = {method.name: method.answer for method in methods(api) if is_done(api, method)}
        found |= {f"{api}.{name}": f"{api}.{answer}" for name, answer in names.items() if answer}
        shapes |= _shapes(api, {answer for answer in names.values() if answer})
    return _table("methods", found) + ",\n" + _table("messages", dict(sorted(shapes.items()))) + "\n}\n"


def bound() -> str:
    """The text of `parameters.json`: which query parameters each method that is done has."""
    rows = {
        f"{api}.{method.name}": method.parameters
        for api in BOUND
        for method in methods(api)
        if is_done(api, method)
    }
    lines = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in rows.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _table(name: str, rows: Mapping[str, Any]) -> str:
    lines = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in rows.items())
    return ("{\n" if name == "methods" else "") + f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n}"


def _shapes(api: str, wanted: set[str]) -> Iterator[tuple[str, Any]]:
    """The messages and all that they refer to, each with the shapes of its fields."""
    schemas, seen = document(api)["schemas"], set[str]()
    while left := wanted - seen:
        name = left.pop()
        seen.add(name)
        yield f"{api}.{name}", _answer_shape(api, schemas[name], wanted)


def _answer_shape(api: str, schema: Mapping[str, Any], wanted: set[str]) -> Any:
    if "$ref" in schema:
        wanted.add(schema["$ref"])
        return f"{api}.{schema['$ref']}"
    if schema.get("type") == "array":
        return _answer_shape(api, schema["items"], wanted)
    if schema.get("type") == "any":
        return ANY
    if schema.get("type") != "object":
        return LEAF
    if "additionalProperties" in schema:
        return {"*": _answer_shape(api, schema["additionalProperties"], wanted)}
    return {key: _answer_shape(api, item, wanted) for key, item in schema.get("properties", {}).items()}


@cache
def served() -> Sequence[Route]:
    """The routes of a local cloud."""

    async def routes() -> list[Route]:
        with tempfile.TemporaryDirectory() as folder:
            async with LocalCloud(Options(project="p", state=Path(folder), machines=False)) as cloud:
                return [route for route in cloud._routes() if isinstance(route, Route)]

    return asyncio.run(routes())


def is_done(api: str, method: ApiMethod) -> bool:
    """Whether a route takes it."""
    path = "/" + base_of(api) + method.path.replace("{}", "x")
    return any(_routed(method.verb, prefix + path) for prefix in ("", "/upload"))


def _routed(verb: str, path: str) -> bool:
    scope = {"type": "http", "method": verb, "path": path, "raw_path": path.encode(), "headers": []}
    return any(route.matches(scope)[0] is Match.FULL for route in served())


def rows(api: str) -> Iterator[str]:
    """The lines of an API in the table of methods."""
    done: defaultdict[str, list[str]] = defaultdict(list)
    everything = methods(api)
    for method in everything:
        if is_done(api, method):
            resource, _, verb = method.name.rpartition(".")
            done[resource.removeprefix("projects.")].append(verb)
    alike: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for resource, verbs in sorted(done.items()):
        alike[tuple(verbs)].append(f"`{resource}`")
    words = "; ".join(f"{', '.join(resources)} {', '.join(verbs)}" for verbs, resources in alike.items())
    count = sum(map(len, done.values()))
    yield f"| {APIS[api][1]} {APIS[api][0]} | {words} | {len(everything) - count} of {len(everything)} |"


def tables() -> str:
    """What stands between the two marks of the page."""
    ignored = [
        f"| {APIS[api][1]} | {', '.join(f'`{name}`' for name in names)} | {reason} |"
        for api, groups in IGNORED.items()
        for names, reason in groups
    ]
    settings = ", ".join(f"`{name}`" for name in undone.SETTINGS)
    members = ", ".join(f"`{name}`" for name in undone.OBJECT_FIELDS)
    return "\n".join([
        BEGIN,
        "",
        "| API | methods that are done over REST | answer 501 |",
        "|---|---|---|",
        *(line for api in APIS for line in rows(api)),
        "",
        "| API | taken, without effect | why |",
        "|---|---|---|",
        *ignored,
        "",
        f"Of a bucket {settings} answer 501 unless they are switched off, and of an object {members}.",
        "",
        END,
    ])  # fmt: skip


def page(text: str) -> str:
    """The page with these tables in place of its own."""
    before, _, rest = text.partition(BEGIN)
    return before + tables() + rest.partition(END)[2]


def parameters(api: str, done: Iterable[ApiMethod]) -> set[str]:
    """The query parameters of these methods."""
    return {name for method in done for name in method.parameters}


if __name__ == "__main__":
    METHODS.write_text(listed(), encoding="utf-8")
    ANSWERS.write_text(answered(), encoding="utf-8")
    PARAMETERS.write_text(bound(), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
