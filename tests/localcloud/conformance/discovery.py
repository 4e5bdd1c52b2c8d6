"""Requests and answers held against Google's own description of an API, its discovery document.

    api = Discovery.load("compute", "v1")
    assert api.check(exchange) == []

Where a real client or the real API goes beyond the document, `exceptions.py` names it with the reason.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Self
from urllib.parse import unquote

import msgspec
from googleapiclient.discovery_cache import get_static_doc

from tests.localcloud.conformance.exceptions import is_allowed
from tests.localcloud.conformance.schema import Schema, findings, scalar_findings


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One request and its answer. `path` is as sent; a body is its JSON value, or None for no JSON."""

    method: str
    path: str
    query: list[tuple[str, str]] = field(default_factory=list)
    request: Any = None
    status: int
    response: Any = None

    def __str__(self) -> str:
        return f"{self.method} {self.path} → {self.status}"


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method of the API at one of its paths; `media` when a body or an answer may be content, not JSON."""

    id: str
    path: re.Pattern[str]
    http_method: str
    parameters: Mapping[str, Schema]
    request: Schema | None
    response: Schema | None
    upload: bool = False
    download: bool = False


class Discovery:
    """One API, as its discovery document describes it."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._schemas: Mapping[str, Schema] = document["schemas"]
        self._common: Mapping[str, Schema] = document["parameters"]
        self._prefix = "/" + document["servicePath"]
        self._methods = sorted(self._read_methods(document), key=lambda method: method.path.groups)

    @classmethod
    @cache
    def load(cls, name: str, version: str) -> Self:
        """Load a document that google-api-python-client ships."""
        return cls(msgspec.json.decode(get_static_doc(name, version)))

    def covers(self, path: str) -> bool:
        """Whether a path belongs to this API, batches left out."""
        return re.match(rf"(/upload|/download|/resumable/upload)?{self._prefix}", path) is not None

    def method(self, exchange: Exchange) -> Method | None:
        """The method that a request calls."""
        for method in self._methods:
            if method.http_method == exchange.method and method.path.fullmatch(exchange.path):
                return method
        return None

    def check(self, exchange: Exchange) -> list[str]:
        """Say everything about an exchange that the document does not allow, but for the named exceptions."""
        found = [text for text in self._check(exchange) if not is_allowed(text)]
        return [f"{exchange}: {text}" for text in found]

    def _check(self, exchange: Exchange) -> Iterator[str]:
        method = self.method(exchange)
        if method is None:
            if exchange.status not in {404, 405}:
                yield "there is no such method"
            return
        if exchange.status != 400:  # else the caller was told
            yield from self._check_path(exchange, method)
            yield from self._check_query(exchange, method)
            yield from self._check_request(exchange, method)
        yield from self._check_response(exchange, method)

    def _check_path(self, exchange: Exchange, method: Method) -> Iterator[str]:
        match = method.path.fullmatch(exchange.path)
        for name, value in (match.groupdict() if match else {}).items():
            for text in scalar_findings(unquote(value), method.parameters.get(name, {})):
                yield f"path {name}: {text}"

    def _check_query(self, exchange: Exchange, method: Method) -> Iterator[str]:
        known = {
            **self._common,
            **{name: schema for name, schema in method.parameters.items() if schema["location"] == "query"},
        }
        names = [name for name, _ in exchange.query]
        for name, schema in known.items():
            if names.count(name) > 1 and not schema.get("repeated"):
                yield f"query {name}: it is given twice"
            if schema.get("required") and name not in names and exchange.status < 400:
                yield f"query {name}: it is required"
        for name, value in exchange.query:
            for text in _parameter_findings(value, known.get(name)):
                yield f"query {name}: {text}"

    def _check_request(self, exchange: Exchange, method: Method) -> Iterator[str]:
        if method.upload or exchange.request is None:
            return
        if method.request is None:
            if exchange.request != {}:
                yield "request: this method takes no body"
            return
        yield from findings(exchange.request, method.request, self._schemas, "request")
        if exchange.status < 400:
            yield from self._missing(exchange.request, method)

    def _missing(self, body: Mapping[str, Any], method: Method) -> Iterator[str]:
        schema = self._schemas[method.request["$ref"]] if method.request else {}
        for name, property_schema in schema.get("properties", {}).items():
            if method.id in property_schema.get("annotations", {}).get("required", ()) and name not in body:
                yield f"request.{name}: it is required"

    def _check_response(self, exchange: Exchange, method: Method) -> Iterator[str]:
        if exchange.status >= 400:
            yield from _error_findings(exchange)
        elif ("alt", "media") in exchange.query:
            return
        elif exchange.response is None:
            if method.response and not method.upload and not method.download and exchange.status == 200:
                yield "response: there is no body"
        elif method.response is None:
            if exchange.response != {}:
                yield "response: this method answers with no body"
        else:
            yield from findings(exchange.response, method.response, self._schemas, "response")
            if all(name != "fields" for name, _ in exchange.query):  # else the caller chose what is there
                yield from self._check_kind(exchange.response, method)

    def _check_kind(self, body: Any, method: Method) -> Iterator[str]:
        schema = self._schemas[method.response["$ref"]] if method.response else {}
        kind = schema.get("properties", {}).get("kind", {}).get("default")
        if kind and isinstance(body, dict) and body.get("kind") != kind:
            yield f"response.kind: {body.get('kind')!r} is not {kind}"

    def _read_methods(self, document: Mapping[str, Any]) -> Iterator[Method]:
        for raw in _raw_methods(document):
            yield _method(raw, self._prefix + raw["path"])
            if raw.get("supportsMediaDownload"):
                yield _method(raw, "/download" + self._prefix + raw["path"], download=True)
            for protocol in raw.get("mediaUpload", {}).get("protocols", {}).values():
                yield _method(raw, protocol["path"], upload=True)
                # The URL that an upload gets back is used with PUT, and with DELETE to cancel it.
                for verb in ("PUT", "DELETE"):
                    yield _method({**raw, "httpMethod": verb}, protocol["path"], upload=True)


def _raw_methods(resource: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from resource.get("methods", {}).values()
    for inner in resource.get("resources", {}).values():
        yield from _raw_methods(inner)


def _method(raw: Mapping[str, Any], path: str, *, upload: bool = False, download: bool = False) -> Method:
    pattern = re.sub(
        r"\\{(\\\+)?(\w+)\\}",
        lambda match: f"(?P<{match[2]}>{'.+' if match[1] else '[^/]+'})",
        re.escape(path),
    )
    return Method(
        id=raw["id"],
        path=re.compile(pattern),
        http_method=raw["httpMethod"],
        parameters=raw.get("parameters", {}),
        request=raw.get("request"),
        response=raw.get("response"),
        upload=upload,
        download=download,
    )


def _parameter_findings(value: str, schema: Schema | None) -> Iterator[str]:
    """A query parameter is text; its type says what the text must be."""
    if schema is None:
        yield "there is no such parameter"
        return
    kind = schema["type"]
    if kind == "boolean" and value not in {"true", "false"}:
        yield f"{value!r} is no boolean"
    elif kind == "integer" and not re.fullmatch(r"-?\d+", value):
        yield f"{value!r} is no integer"
    else:
        yield from scalar_findings(int(value) if kind == "integer" else value, schema)


def _error_findings(exchange: Exchange) -> Iterator[str]:
    """An error answer has Google's shape ("Errors", Google Cloud APIs)."""
    body = exchange.response
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        if exchange.status != 499:  # to one who is gone, or a cancelled upload, there is nothing to say
            yield f"response: {body!r:.60} is no error body"
        return
    if error.get("code") != exchange.status:
        yield f"response.error.code: {error.get('code')!r} is not the status"
    if not isinstance(error.get("message"), str) or not error["message"]:
        yield "response.error.message: there is none"
    items = error.get("errors")
    if not isinstance(items, list) or not all(
        isinstance(item, dict) and item.get("reason") for item in items
    ):
        yield "response.error.errors: it must be a list of objects with a reason"
