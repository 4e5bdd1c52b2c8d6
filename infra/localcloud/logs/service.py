"""Logging, put together: entries in, entries out, and sinks."""

import asyncio
import base64
import json
from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcloud.clock import Clock
from localcloud.http import Json, RawRoute
from localcloud.logs.entries import Entry, KeptEntry, Log, matching
from localcloud.logs.query import earliest, entry_filter
from localcloud.logs.sinks import SinkBody, Sinks, shown
from localcloud.methods import refusing
from localcloud.ports import Publish, Resource
from localcloud.rpc import RpcError, page
from localcloud.rpc.parameters import binding
from localcloud.rpc.rest import Body, read_body
from localcloud.rpc.shapes import stored_shapes

MOST_ENTRIES = 100_000
MOST_A_PAGE = 1000
UNDONE = ("customWriterIdentity", "filter", "resourceNames")
"""Query parameters that are not done."""


class ListBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A `ListLogEntriesRequest`."""

    resource_names: list[str] = []
    project_ids: list[str] = []
    filter: str = ""
    order_by: str = "timestamp asc"
    page_size: int = 50
    page_token: str = ""


class WriteBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A `WriteLogEntriesRequest`."""

    entries: list[dict[str, Any]] = []
    log_name: str = ""
    resource: dict[str, Any] = {}
    labels: dict[str, str] = {}
    partial_success: bool = False
    dry_run: bool = False


class LogService:
    """The Logging of one project: the last 100,000 entries in memory, sinks to Pub/Sub."""

    def __init__(self, *, project: str, clock: Clock, publish: Publish, most: int = MOST_ENTRIES) -> None:
        self._project = project
        self._log = Log(project=project, clock=clock, most=most)
        self._sinks = Sinks(project=project, clock=clock, publish=publish)

    def write(self, entry: Resource) -> None:
        """Write one entry and route it; this method is the `Audit` that services take.

        Raises:
            RpcError: INVALID_ARGUMENT for what is no log entry.
        """
        self._keep(self._log.complete(entry))

    def routes(self) -> list[BaseRoute]:
        """The REST paths under `/v2/`."""
        sinks, sink = "/v2/projects/{project}/sinks", "/v2/projects/{project}/sinks/{sink}"
        methods = [
            Route("/v2/entries:list", self._list, methods=["POST"]),
            Route("/v2/entries:write", self._write, methods=["POST"]),
            Route("/v2/projects/{project}/logs", self._list_logs, methods=["GET"]),
            RawRoute("/v2/projects/{project}/logs/{log}", self._delete_log, methods=["DELETE"]),
            Route(sinks, self._create_sink, methods=["POST"]),
            Route(sinks, self._list_sinks, methods=["GET"]),
            Route(sink, self._get_sink, methods=["GET"]),
            Route(sink, self._update_sink, methods=["PUT", "PATCH"]),
            Route(sink, self._delete_sink, methods=["DELETE"]),
        ]
        return [*binding(refusing(methods, UNDONE))]

    def admin_routes(self) -> list[BaseRoute]:
        """`/local/sinks`: what each sink has routed."""
        return [Route("/local/sinks", self._overview, methods=["GET"])]

    def _keep(self, entry: Entry) -> None:
        self._log.keep(entry)
        self._sinks.route(entry)

    async def _write(self, request: Request) -> Response:
        body = await _body(request, WriteBody, "WriteLogEntriesRequest")
        if not body.entries:
            raise RpcError("INVALID_ARGUMENT", "There are no entries to write.")
        complete, refused = self._complete(body)
        if refused and not body.partial_success:
            raise refused[0]
        if not body.dry_run:
            for entry in complete:
                self._keep(entry)
        if refused:
            raise refused[0]
        return Json({})

    def _complete(self, body: WriteBody) -> tuple[list[Entry], list[RpcError]]:
        complete: list[Entry] = []
        refused: list[RpcError] = []
        for given in body.entries:
            try:
                complete.append(self._log.complete(_with_defaults(given, body)))
            except RpcError as error:
                refused.append(error)
        return complete, refused

    async def _list(self, request: Request) -> Response:
        body = await _body(request, ListBody, "ListLogEntriesRequest")
        self._check_parents(body)
        if body.order_by not in ("", "timestamp asc", "timestamp desc"):
            text = f'orderBy must be "timestamp asc" or "timestamp desc", not {body.order_by!r}.'
            raise RpcError("INVALID_ARGUMENT", text)
        if body.page_size < 0:
            raise RpcError("INVALID_ARGUMENT", f"page_size must not be negative, but it is {body.page_size}.")
        wanted, after = entry_filter(body.filter), _read_token(body.page_token)
        # 100,000 entries take longer than the loop may be held up.
        found, token = await asyncio.to_thread(_page, self._log.snapshot(), wanted, body, after)
        return Json({"entries": found, "nextPageToken": token} if token else {"entries": found})

    def _check_parents(self, body: ListBody) -> None:
        parents = [*body.resource_names, *(f"projects/{each}" for each in body.project_ids)]
        if not parents:
            raise RpcError("INVALID_ARGUMENT", "resource_names must name at least one parent resource.")
        for parent in parents:
            if parent.split("/")[:2] != ["projects", self._project]:
                raise RpcError(
                    "NOT_FOUND", f"There are no logs of {parent!r}; this is project {self._project!r}."
                )

    def _check_project(self, request: Request) -> None:
        if request.path_params["project"] != self._project:
            raise RpcError("NOT_FOUND", f"The project {request.path_params['project']!r} does not exist.")

    async def _list_logs(self, request: Request) -> Response:
        self._check_project(request)
        names, token = _named_page(request, self._log.names())
        return Json({"logNames": names, **token})

    async def _delete_log(self, request: Request) -> Response:
        self._check_project(request)
        name = request.path_params["log"].replace("/", "%2F")
        if not self._log.delete(f"projects/{self._project}/logs/{name}"):
            raise RpcError("NOT_FOUND", f"Log {name} does not exist")
        return Json({})

    async def _create_sink(self, request: Request) -> Response:
        self._check_project(request)
        return Json(self._sinks.create(await _body(request, SinkBody, "LogSink")))

    async def _list_sinks(self, request: Request) -> Response:
        self._check_project(request)
        names, token = _named_page(request, self._sinks.found)
        return Json({"sinks": [shown(self._sinks.get(name)) for name in names], **token})

    async def _get_sink(self, request: Request) -> Response:
        self._check_project(request)
        return Json(shown(self._sinks.get(request.path_params["sink"])))

    async def _update_sink(self, request: Request) -> Response:
        self._check_project(request)
        body = await _body(request, SinkBody, "LogSink")
        mask = request.query_params.get("updateMask", "")
        return Json(self._sinks.update(request.path_params["sink"], body, mask))

    async def _delete_sink(self, request: Request) -> Response:
        self._check_project(request)
        self._sinks.delete(request.path_params["sink"])
        return Json({})

    async def _overview(self, _request: Request) -> Response:
        counts = [
            {**shown(sink), "routed": sink.routed, "failed": sink.failed, "lastError": sink.last_error}
            for _, sink in sorted(self._sinks.found.items())
        ]
        return Json({"sinks": counts})


async def _body(request: Request, kind: type[Body], message: str) -> Body:
    return await read_body(request, kind, message=message, shapes=stored_shapes(__package__))


def _with_defaults(given: Mapping[str, Any], body: WriteBody) -> Entry:
    """An entry with what the request says for all of them."""
    entry = dict(given)
    if body.log_name:
        entry.setdefault("logName", body.log_name)
    entry.setdefault("resource", body.resource or {"type": "global"})
    if body.labels:
        entry["labels"] = {**body.labels, **entry.get("labels", {})}
    return entry


def _page(kept: list[KeptEntry], wanted: Any, body: ListBody, after: Any) -> tuple[list[Entry], str]:
    newest_first = body.order_by == "timestamp desc"
    # Whoever follows a log asks for its last seconds, again and again: the rest is not even looked at.
    since = earliest(body.filter)
    found = matching([each for each in kept if each.moment >= since], wanted, newest_first=newest_first)
    if after is not None:
        found = (each for each in found if (each.key < after if newest_first else each.key > after))
    size = min(body.page_size or MOST_A_PAGE, MOST_A_PAGE)
    shown_now = list(islice(found, size + 1))
    token = _write_token(shown_now[size - 1]) if len(shown_now) > size else ""
    return [each.entry for each in shown_now[:size]], token


def _write_token(kept: KeptEntry) -> str:
    key = [kept.moment.isoformat(), kept.insert_id]
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode()


def _read_token(token: str) -> tuple[datetime, str] | None:
    if not token:
        return None
    try:
        moment, insert_id = json.loads(base64.b64decode(token.encode(), altchars=b"-_", validate=True))
        return datetime.fromisoformat(moment), str(insert_id)
    except (ValueError, TypeError) as error:
        raise RpcError("INVALID_ARGUMENT", "page_token is not one that this listing handed out.") from error


def _named_page(request: Request, names: Any) -> tuple[list[str], Mapping[str, str]]:
    size, token = request.query_params.get("pageSize", "0"), request.query_params.get("pageToken", "")
    if not size.lstrip("-").isdecimal():
        raise RpcError("INVALID_ARGUMENT", f"pageSize must be a number, not {size!r}.")
    found, following = page(names, size=int(size), token=token)
    return found, {"nextPageToken": following} if following else {}
