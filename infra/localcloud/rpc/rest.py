"""Methods as REST routes, by the rules of `google.api.http` (Google's "HTTP and gRPC Transcoding")."""

import inspect
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl

import msgspec
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from localcloud.errors import ApiError
from localcloud.http import Json, RawRoute, read_json
from localcloud.methods import choose
from localcloud.rpc.codes import RpcError
from localcloud.rpc.described import shapes_of
from localcloud.rpc.fields import bind
from localcloud.rpc.method import Method
from localcloud.rpc.shapes import Shapes

_TEMPLATE = re.compile(r"\{(?P<field>[\w.]+)(?:=(?P<pattern>[^}]+))?\}")


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """One HTTP rule: `path` is Starlette's, `names` says how its parts make up each field."""

    verb: str
    path: str
    body: str
    names: Mapping[str, str]
    method: Method


def rest_routes(methods: Iterable[Method]) -> list[BaseRoute]:
    """The routes of every method that has an HTTP rule, the more specific paths first."""
    tables: defaultdict[str, dict[str, _Rule]] = defaultdict(dict)
    for method in methods:
        for http in method.http:
            rule = _rule(http, method)
            tables[rule.path][rule.verb] = rule
    # `…/{name}:publish` must be asked before `…/{name}`, which would match it too, and `{name:path}` last.
    ordered = sorted(tables.items(), key=lambda item: (":path}" in item[0], -item[0].count(":"), item[0]))
    return [_route(path, rules) for path, rules in ordered]


def _rule(http: str, method: Method) -> _Rule:
    verb, template, body = (http + " ").split(" ")[:3]
    names: dict[str, str] = {}

    def plain(match: re.Match[str]) -> str:
        parts = []
        for number, piece in enumerate((match["pattern"] or "*").split("/")):
            key = f"{match['field'].replace('.', '__')}_{number}"
            parts.append({"*": f"{{{key}}}", "**": f"{{{key}:path}}"}.get(piece, piece))
        names[match["field"]] = "/".join(parts)
        return names[match["field"]]

    path = _TEMPLATE.sub(plain, template)
    return _Rule(verb=verb, path=path, body=body, names=names, method=method)


def _route(path: str, rules: Mapping[str, _Rule]) -> BaseRoute:
    async def endpoint(request: Request) -> Response:
        # A list whose filter is too long for a URL comes as a POST with its query in the body.
        override = request.headers.get("x-http-method-override", "").upper()
        verb = override if request.method == "POST" and override else request.method
        if verb == "HEAD":
            verb = "GET"
        if verb not in rules:
            raise ApiError(
                405, "httpMethodNotAllowed", f"{path} takes {', '.join(sorted(rules))}, not {verb}."
            )
        return await _answer(rules[verb], request, overridden=verb != request.method)

    verbs = {*rules} | ({"POST"} if "GET" in rules else set())
    return RawRoute(path, endpoint, methods=sorted(verbs))


async def _answer(rule: _Rule, request: Request, *, overridden: bool) -> Response:
    message = rule.method.request()
    if rule.body and not overridden:
        _fill(message, rule.body, await read_json(request))
    query = request.query_params.multi_items()
    if overridden:
        query = [*query, *parse_qsl((await request.body()).decode(errors="replace"), keep_blank_values=True)]
        if fields := dict(query).get("fields"):
            choose(request.scope, rule.verb, fields)
    bind(message, query)
    bind(message, [(field, _joined(shape, request.path_params)) for field, shape in rule.names.items()])
    answer = await _called(rule.method.call, message)
    return Json((rule.method.render or rendered)(answer))


def _joined(shape: str, params: Mapping[str, str]) -> str:
    return shape.replace(":path}", "}").format(**params)


def _fill(message: Message, field: str, body: dict[str, Any]) -> None:
    descriptor = cast("Descriptor", message.DESCRIPTOR)
    given = body if field == "*" else {field: body}
    try:
        json_format.ParseDict(shapes_of(descriptor).read(descriptor.full_name, given), message)
    except json_format.ParseError as error:
        what = str(error).partition("\n")[0]
        raise RpcError("INVALID_ARGUMENT", f"Invalid value: {what}") from error


async def _called(call: Callable[[Any], Any | Awaitable[Any]], message: Message) -> Any:
    answer = call(message)
    return await answer if inspect.isawaitable(answer) else answer


def rendered(answer: Message) -> Mapping[str, Any]:
    """The JSON form of an answer: camel case, default values left out."""
    return json_format.MessageToDict(answer)


Body = TypeVar("Body", bound=msgspec.Struct)


async def read_body(request: Request, kind: type[Body], *, message: str, shapes: Shapes) -> Body:
    """Read a request's body, the `message` of an API, as `kind`, which has the fields that are done here.

    Raises:
        RpcError: INVALID_ARGUMENT, with the field that does not fit; UNIMPLEMENTED, with one not done here.
    """
    given = shapes.read(message, await read_json(request))
    done = {field.encode_name for field in msgspec.structs.fields(kind)}
    for name in given:
        if name not in done:
            raise RpcError("UNIMPLEMENTED", f"The local cloud does not do {message}.{name}.")
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise RpcError("INVALID_ARGUMENT", f"Invalid value: {error}") from error
