"""A provider for the real Terraform that has the google provider's schema and no cloud behind it.

Terraform takes it for the real one (`TF_REATTACH_PROVIDERS`, plugin protocol 5): it checks every block and
argument against the schema, resolves all references, plans and applies. What Google would fill in is made up.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import msgspec

SCHEMA: Mapping[str, Any] = json.loads((Path(__file__).parent / "google.json").read_text())
ADDRESS = "registry.terraform.io/hashicorp/google"
UNKNOWN = msgspec.msgpack.Ext(0, b"\0")
NESTING = {"single": 1, "list": 2, "set": 3}
TEXT, WHOLE = 2, 0
PROVIDER = {
    "attributes": {
        **{name: {"type": "string", "is": ["optional"]} for name in ("project", "region", "billing_project")},
        "user_project_override": {"type": "bool", "is": ["optional"]},
        "default_labels": {"type": ["map", "string"], "is": ["optional"]},
    },
    "blocks": {},
}


class Google:
    """What the provider answers, call by call: protobuf in, protobuf out, both as numbered fields."""

    def get_schema(self, _asked: Mapping[int, Any]) -> list[tuple[int, Any]]:
        """The schema of everything."""
        kinds = ((2, "resource"), (3, "data"))
        return [
            (1, _schema(PROVIDER)),
            *(
                (number, [(1, name), (2, _schema(block))])
                for number, kind in kinds
                for name, block in SCHEMA[kind].items()
            ),
        ]

    def prepare(self, asked: Mapping[int, Any]) -> list[tuple[int, Any]]:
        """The provider's own configuration, as it is."""
        return [(1, asked[1])]

    def nothing(self, _asked: Mapping[int, Any]) -> list[tuple[int, Any]]:
        """No objection: Terraform itself has checked it against the schema."""
        return []

    def upgrade(self, asked: Mapping[int, Any]) -> list[tuple[int, Any]]:
        """A state of the past, which was stored as JSON."""
        state = json.loads(_fields(asked[3])[1])
        return [(1, [(1, msgspec.msgpack.encode(state))])]

    def read(self, asked: Mapping[int, Any]) -> list[tuple[int, Any]]:
        """What is there is what was made."""
        return [(1, asked[2])]

    def plan(self, asked: Mapping[int, Any]) -> list[tuple[int, Any]]:
        """As it is wanted; what Google would fill in is not known yet."""
        wanted = _value(asked[3])
        if wanted is not None:
            _fill(wanted, SCHEMA["resource"][asked[1].decode()], lambda *_: UNKNOWN)
        return [(1, _packed(wanted)), (5, 1)]

    def apply(self, asked: Mapping[int, Any]) -> list[tuple[int, Any]]:
        """As it was planned; what Google would fill in is made up."""
        wanted = _value(asked[3])
        if wanted is not None:
            _settle(asked[1].decode(), wanted, SCHEMA["resource"][asked[1].decode()])
        return [(1, _packed(wanted)), (4, 1)]

    def look(self, asked: Mapping[int, Any]) -> list[tuple[int, Any]]:
        """A data source: made up as well."""
        name, wanted = asked[1].decode(), _value(asked[2])
        _fill(wanted, SCHEMA["data"][name], lambda *_: UNKNOWN)
        _settle(name, wanted, SCHEMA["data"][name])
        return [(1, _packed(wanted))]

    @property
    def calls(self) -> Mapping[str, Callable[[Mapping[int, Any]], list[tuple[int, Any]]]]:
        """By the names of the plugin protocol."""
        return {
            "GetSchema": self.get_schema,
            "PrepareProviderConfig": self.prepare,
            "Configure": self.nothing,
            "ValidateResourceTypeConfig": self.nothing,
            "ValidateDataSourceConfig": self.nothing,
            "UpgradeResourceState": self.upgrade,
            "ReadResource": self.read,
            "PlanResourceChange": self.plan,
            "ApplyResourceChange": self.apply,
            "ReadDataSource": self.look,
            "Stop": self.nothing,
        }


@contextmanager
def google() -> Iterator[Mapping[str, str]]:
    """Run the provider; give the environment in which Terraform finds it."""
    server = grpc.server(ThreadPoolExecutor(8))
    handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
        name: grpc.unary_unary_rpc_method_handler(
            lambda asked, _context, call=call: _message(call(_fields(asked))),
            request_deserializer=None,
            response_serializer=None,
        )
        for name, call in Google().calls.items()
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("tfplugin5.Provider", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    place = {"Network": "tcp", "String": f"127.0.0.1:{port}"}
    told = {"Protocol": "grpc", "ProtocolVersion": 5, "Pid": os.getpid(), "Test": True, "Addr": place}
    try:
        yield {"TF_REATTACH_PROVIDERS": json.dumps({ADDRESS: told})}
    finally:
        server.stop(None).wait()


MADE_UP: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
    "google_service_account": lambda one: {
        "email": f"{one['account_id']}@a-project.iam.gserviceaccount.com",
        "member": f"serviceAccount:{one['account_id']}@a-project.iam.gserviceaccount.com",
        "name": f"projects/a-project/serviceAccounts/{one['account_id']}@a-project.iam.gserviceaccount.com",
        "id": f"projects/a-project/serviceAccounts/{one['account_id']}@a-project.iam.gserviceaccount.com",
    },
    "google_project_iam_custom_role": lambda one: {"name": f"projects/a-project/roles/{one['role_id']}"},
    "google_pubsub_topic": lambda one: {"id": f"projects/a-project/topics/{one['name']}"},
    "google_project": lambda _one: {"number": "123456789012"},
    "google_storage_bucket": lambda _one: {
        "uniform_bucket_level_access": True,
        "project_number": 123456789012,
        "requester_pays": False,
    },
}
"""What the configuration looks at; everything else is made up by its name."""


def _settle(name: str, wanted: dict[str, Any], schema: Mapping[str, Any]) -> None:
    known = MADE_UP[name](wanted) if name in MADE_UP else {}
    called = wanted.get("name") if isinstance(wanted.get("name"), str) else ""

    def make_up(path: str, kind: object) -> object:
        if path in known:
            return known[path]
        plain = {"string": f"{name}/{called}/{path}", "number": 0, "bool": False}
        return (
            plain[kind]
            if isinstance(kind, str)
            else {}
            if isinstance(kind, list) and kind[0] == "map"
            else []
        )

    _fill(wanted, schema, make_up, of=lambda value: isinstance(value, msgspec.msgpack.Ext))


def _fill(
    value: dict[str, Any],
    schema: Mapping[str, Any],
    make: Callable[[str, object], object],
    of: Callable[[object], bool] = lambda value: value is None,
    path: str = "",
) -> None:
    """Put something in place of each computed value that is missing."""
    for name, one in schema["attributes"].items():
        if "computed" in one["is"] and of(value.get(name)):
            value[name] = make(path + name, one["type"])
    for name, block in schema["blocks"].items():
        below = value.get(name)
        for inner in below if isinstance(below, list) else [below] if isinstance(below, dict) else []:
            _fill(inner, block, make, of, f"{path}{name}.")


def _schema(block: Mapping[str, Any]) -> list[tuple[int, Any]]:
    return [(1, 0), (2, _block(block))]


def _block(block: Mapping[str, Any]) -> list[tuple[int, Any]]:
    found: list[tuple[int, Any]] = []
    for name, one in block["attributes"].items():
        flags = [
            (number, 1)
            for number, flag in ((4, "required"), (5, "optional"), (6, "computed"))
            if flag in one["is"]
        ]
        found.append((2, [(1, name), (2, json.dumps(one["type"]).encode()), *flags]))
    for name, one in block["blocks"].items():
        bounds = [(4, 1 if "required" in one["is"] else 0), (5, 0 if one["many"] else 1)]
        single = one["nesting"] == "single"
        found.append(
            (3, [(1, name), (2, _block(one)), (3, NESTING[one["nesting"]]), *([] if single else bounds)])
        )
    return found


def _value(message: bytes) -> Any:
    return msgspec.msgpack.decode(_fields(message)[1])


def _packed(value: object) -> list[tuple[int, Any]]:
    return [(1, msgspec.msgpack.encode(value))]


def _message(fields: list[tuple[int, Any]]) -> bytes:
    """Protobuf's wire format: numbers, bytes, text and messages are all that is needed."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += _varint(number << 3 | WHOLE) + _varint(value)
        else:
            data = (
                value
                if isinstance(value, bytes)
                else value.encode()
                if isinstance(value, str)
                else _message(value)
            )
            out += _varint(number << 3 | TEXT) + _varint(len(data)) + data
    return out


def _fields(message: bytes) -> Mapping[int, Any]:
    found: dict[int, Any] = {}
    at = 0
    while at < len(message):
        key, at = _number(message, at)
        value: int | bytes
        if key & 7 == TEXT:
            size, at = _number(message, at)
            value, at = message[at : at + size], at + size
        else:
            value, at = _number(message, at)
        found[key >> 3] = value
    return found


def _varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def _number(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
