"""JSON by protobuf's rules ("ProtoJSON Format"): what all REST services take alike, and how they refuse."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import httpx
import pytest
from google.cloud.monitoring_v3 import TimeSeries
from hypothesis import given
from hypothesis import strategies as st

from localcloud.clock import Clock
from localcloud.compute import ComputeService, Timings
from localcloud.logs import LogService
from localcloud.machines import NoMachines
from localcloud.pubsub import PubSubService
from localcloud.rpc import RpcError
from localcloud.rpc.described import shapes_of
from localcloud.rpc.shapes import Shapes, camel
from localcloud.scheduler import SchedulerService
from tests.localcloud.compute.world import IMAGE, ZONE
from tests.localcloud.rpc.write_schemas import TABLES, table
from tests.localcloud.stand import PROJECT, Stand

SHAPES = Shapes({
    "Outer": {
        "plainText": "string",
        "count": "int32",
        "bigCount": "int64",
        "share": "double",
        "done": "boolean",
        "data": "byte",
        "state": {"enum": ["UNKNOWN", "ON"]},
        "inner": "#Inner",
        "inners": ["#Inner"],
        "labels": {"*": "string"},
        "payload": {"*": "any"},
    },
    "Inner": {"firstName": "string"},
})  # fmt: skip


def refusal(body: object) -> str:
    """Why a body is refused."""
    with pytest.raises(RpcError) as refused:
        SHAPES.read("Outer", body)
    assert refused.value.code == "INVALID_ARGUMENT"
    return refused.value.message


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"plainText": "x"}, {"plainText": "x"}),
        ({"plain_text": "x"}, {"plainText": "x"}),
        ({"inners": [{"first_name": "x"}]}, {"inners": [{"firstName": "x"}]}),
        ({"plainText": None, "inner": None}, {}),
        ({"plainText": None, "plain_text": "x"}, {"plainText": "x"}),
        (None, {}),
        ({"bigCount": 7}, {"bigCount": "7"}),
        ({"bigCount": "7"}, {"bigCount": "7"}),
        ({"count": "7"}, {"count": 7}),
        ({"count": 7.0}, {"count": 7}),
        ({"share": "0.5"}, {"share": 0.5}),
        ({"share": "NaN"}, {"share": "NaN"}),
        ({"data": "_-8"}, {"data": "/+8="}),
        ({"state": "ON"}, {"state": "ON"}),
        ({"state": 1}, {"state": 1}),
        ({"labels": {"snake_key": "x"}}, {"labels": {"snake_key": "x"}}),
        ({"payload": {"snake_key": None}}, {"payload": {"snake_key": None}}),
    ],
)
def test_what_protobuf_takes_is_taken(given: Any, read: dict[str, Any]):
    """Either name, null as nothing, numbers as text, both alphabets; keys of maps are nobody's names."""
    assert SHAPES.read("Outer", given) == read


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"plaintext": 1}, 'Invalid JSON payload received. Unknown name "plaintext": Cannot find field.'),
        (
            {"inners": [{"first": 1}]},
            "Invalid JSON payload received. Unknown name \"first\" at 'inners[0]': Cannot find field.",
        ),
        ({"plain_text": 7}, "Invalid value at 'plain_text' (TYPE_STRING), 7"),
        ({"bigCount": str(2**63)}, f"Invalid value at 'big_count' (TYPE_INT64), \"{2**63}\""),
        ({"count": 2**31}, f"Invalid value at 'count' (TYPE_INT32), {2**31}"),
        ({"count": 7.5}, "Invalid value at 'count' (TYPE_INT32), 7.5"),
        ({"count": True}, "Invalid value at 'count' (TYPE_INT32), true"),
        ({"share": "much"}, "Invalid value at 'share' (TYPE_DOUBLE), \"much\""),
        ({"done": "yes"}, "Invalid value at 'done' (TYPE_BOOL), \"yes\""),
        ({"data": "?"}, "Invalid value at 'data' (TYPE_BYTES), \"?\""),
        ({"state": "OFF"}, "Invalid value at 'state' (TYPE_ENUM), \"OFF\""),
        ({"inner": []}, "Invalid value at 'inner' (an object), []"),
        ({"inners": {}}, "Invalid value at 'inners' (a list), {}"),
        ({"labels": {"a": None}}, "Invalid value at 'labels[a]' (TYPE_STRING), null"),
    ],
)
def test_what_protobuf_does_not_take_is_refused(given: Any, why: str):
    """In the words of Google's front end, with the place in the names of the `.proto` file."""
    assert refusal(given) == why


@pytest.mark.parametrize(
    ("given", "where", "field", "again"),
    [
        ({"plain_text": "x", "plainText": "x"}, "", "plain_text", "plainText"),
        ({"inners": [{"firstName": "", "first_name": ""}]}, " at 'inners[0]'", "first_name", "first_name"),
    ],
)
def test_a_field_is_given_by_one_of_its_names(given: Any, where: str, field: str, again: str):
    """Not by both, whether they agree or not: nobody could say which of them holds."""
    why = f"oneof field '_{field}' is already set. Cannot set '{again}'"
    assert refusal(given) == f"Invalid value{where} (oneof), {why}"


def test_all_unknown_names_are_named():
    """Google writes a line for each."""
    assert [line.count("Cannot find field.") for line in refusal({"a": 1, "b": 2}).split("\n")] == [1, 1]


@given(
    st.dictionaries(
        st.sampled_from([*SHAPES.messages["Outer"], "big_count", "x"]),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=3)
        | st.just([])
        | st.just({}),
        max_size=4,
    )
)
def test_any_body_is_read_or_refused(body: dict[str, Any]):
    """What is read is in normal form: reading it again changes nothing."""
    try:
        found = SHAPES.read("Outer", body)
    except RpcError as error:
        assert error.status == 400
    else:
        assert SHAPES.read("Outer", found) == found


def test_shapes_come_from_descriptors_too():
    """Maps, enums, repeated fields and messages with a JSON form of their own."""
    descriptor = TimeSeries.pb().DESCRIPTOR
    body = {
        "metric": {"labels": {"a_b": "x"}},
        "value_type": "DOUBLE",
        "points": [{"interval": {"end_time": "2026-11-22T00:00:00Z"}, "value": {"int64_value": 3}}],
    }
    assert shapes_of(descriptor).read(descriptor.full_name, body) == {
        "metric": {"labels": {"a_b": "x"}},
        "valueType": "DOUBLE",
        "points": [{"interval": {"endTime": "2026-11-22T00:00:00Z"}, "value": {"int64Value": "3"}}],
    }


@pytest.mark.parametrize("name", ["pageSize", "page_size"])
def test_a_name_in_camel_case_stays(name: str):
    """And the other becomes it."""
    assert camel(name) == "pageSize"


@pytest.mark.parametrize("package", TABLES)
def test_the_tables_are_those_of_googles_documents(package: str):
    """Derived anew they are the same; `write_schemas.py` brings them up to date."""
    stored = files(f"localcloud.{package}").joinpath("schema.json").read_text(encoding="utf-8")
    assert stored == table(package)


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    """Logging, Scheduler, Pub/Sub and Compute. What is said to them is not held against documents."""
    stand = Stand()
    clock = Clock()

    def publish(_topic: str, _data: bytes, _attributes: object) -> str:
        return "1"

    services = [
        stand.call(LogService, project=PROJECT, clock=clock, publish=publish),
        stand.call(SchedulerService, project=PROJECT, clock=clock, publish=publish, post=stand.outbound.post),
        stand.call(PubSubService, project=PROJECT, clock=clock, post=stand.outbound.post),
        stand.call(
            ComputeService,
            project=PROJECT,
            clock=clock,
            machines=NoMachines(),
            audit=lambda _entry: None,
            base_url=lambda: stand.http,
            timings=Timings(),
        ),
    ]
    stand.serve(services)
    with stand.client() as client:
        yield client
    stand.close()


JOBS = f"/v1/projects/{PROJECT}/locations/us-central1/jobs"
JOB = {
    "name": f"{JOBS.removeprefix('/v1/')}/sweep",
    "schedule": "* * * * *",
    "time_zone": "UTC",
    "pubsub_target": {"topic_name": f"projects/{PROJECT}/topics/tick", "data": "eA"},
    "retry_config": {"retry_count": "2"},
    "description": None,
}


def test_logging_takes_the_names_of_the_proto_file(http: httpx.Client):
    """As google-cloud-logging writes them over HTTP: `dry_run` and `resource_names`."""
    name = f"projects/{PROJECT}/logs/app"
    entry = {"log_name": name, "resource": {"type": "global"}, "text_payload": "x", "trace": None}
    body = {"entries": [entry], "partial_success": True, "dry_run": False}
    assert http.post("/v2/entries:write", json=body).text == "{}"
    listed = http.post("/v2/entries:list", json={"resource_names": [f"projects/{PROJECT}"], "page_size": "5"})
    assert [item["textPayload"] for item in listed.json()["entries"]] == ["x"]


def test_scheduler_takes_the_names_of_the_proto_file(http: httpx.Client):
    """In a create and in a patch, whose mask has them as well."""
    made = http.post(JOBS, json=JOB).json()
    assert (made["pubsubTarget"]["data"], made["retryConfig"]["retryCount"]) == ("eA==", 2)
    change = {"retry_config": {"retry_count": 3}, "time_zone": None}
    changed = http.patch(f"/v1/{JOB['name']}?updateMask=retry_config.retry_count", json=change)
    assert changed.json()["retryConfig"]["retryCount"] == 3


def test_compute_takes_the_names_of_the_proto_file(http: httpx.Client):
    """Numbers as text, null for what is absent, and a whole number with a point."""
    boot = {"boot": True, "initialize_params": {"source_image": IMAGE, "disk_size_gb": 20}}
    given = {
        "name": "vm",
        "machine_type": f"zones/{ZONE}/machineTypes/e2-medium",
        "disks": [boot],
        "network_interfaces": [{"network": "global/networks/default"}],
        "scheduling": {"max_run_duration": {"seconds": 600.0, "nanos": "0"}},
        "tags": {"items": ["a"], "fingerprint": None},
        "labels": None,
    }
    instances = f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances"
    assert http.post(instances, json=given).status_code == 200
    made = http.get(f"{instances}/vm").json()
    assert made["machineType"].endswith("/e2-medium")
    assert made["disks"][0]["diskSizeGb"] == "20"
    assert made["scheduling"]["maxRunDuration"] == {"seconds": "600", "nanos": 0}
    assert "labels" not in made


def test_compute_takes_a_body_of_null(http: httpx.Client):
    """It is an empty one: what is missing is said."""
    json = {"content-type": "application/json"}
    path = f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances"
    bodies = [http.post(path, content=content, headers=json) for content in ("null", "{}", "")]
    assert len({answer.text for answer in bodies}) == 1
    assert bodies[0].status_code == 400
    assert "resource.name" in bodies[0].text


def test_scheduler_takes_an_enum_as_its_number(http: httpx.Client):
    """google-cloud-scheduler writes enums so over REST: 5 is DELETE."""
    call = {"name": JOB["name"], "schedule": "* * * * *", "httpTarget": {"uri": "http://x", "httpMethod": 5}}
    assert http.post(JOBS, json=call).json()["httpTarget"]["httpMethod"] == "DELETE"
    assert (
        http.post(JOBS, json=call | {"httpTarget": {"uri": "http://x", "httpMethod": 8}}).status_code == 400
    )


def test_pubsub_refuses_as_the_others(http: httpx.Client):
    """Read with the tables of its descriptors."""
    answer = http.put(f"/v1/projects/{PROJECT}/topics/news", json={"labelz": {}})
    why = 'Invalid JSON payload received. Unknown name "labelz": Cannot find field.'
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, why)
    assert http.put(f"/v1/projects/{PROJECT}/topics/news", json={"kms_key_name": None}).status_code == 200


def test_a_body_of_null_is_an_empty_one(http: httpx.Client):
    """As Go's clients and rclone send where they have nothing to say."""
    json = {"content-type": "application/json"}
    made = http.put(f"/v1/projects/{PROJECT}/topics/news", content="null", headers=json)
    assert made.status_code == 200
    assert http.post("/v2/entries:write", content="null", headers=json).status_code == 400


@pytest.mark.parametrize(
    ("path", "body", "what"),
    [
        (f"/v2/projects/{PROJECT}/sinks", {"name": "s", "bigquery_options": {}}, "LogSink.bigqueryOptions"),
        (
            "/v2/entries:write",
            {
                "entries": [{"logName": f"projects/{PROJECT}/logs/a", "apphub": {}}],
                "resource": {"type": "global"},
            },
            "LogEntry.apphub",
        ),
    ],
)
def test_what_google_knows_and_is_not_done_here_is_said(
    http: httpx.Client, path: str, body: dict[str, Any], what: str
):
    """501 with its name, rather than to be called unknown."""
    answer = http.post(path, json=body)
    assert (answer.status_code, answer.json()["error"]["message"]) == (
        501,
        f"The local cloud does not do {what}.",
    )
