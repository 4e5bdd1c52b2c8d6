"""The Logging query language: what an entry must be to match, and what is no query."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcloud.logs.query import ALWAYS, earliest, entry_filter
from localcloud.rpc import RpcError

EIGHT = datetime(2026, 11, 21, 8, tzinfo=UTC)
ENTRY = {
    "logName": "projects/p/logs/cloudaudit.googleapis.com%2Fsystem_event",
    "timestamp": "2026-11-21T08:00:00.5Z",
    "receiveTimestamp": "2026-11-21T08:00:01Z",
    "severity": "WARNING",
    "insertId": "abc",
    "labels": {"team": "ml", "compute.googleapis.com/resource_name": "test-vm"},
    "resource": {"type": "gce_instance", "labels": {"instance_id": "42", "zone": "us-central1-a"}},
    "operation": {"id": "op", "first": True},
    "protoPayload": {
        "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
        "methodName": "compute.instances.preempted",
        "authenticationInfo": {"principalEmail": "system@google.com"},
        "status": {"code": 5, "message": "gone"},
        "authorizationInfo": [{"permission": "a.b"}, {"permission": "c.d"}],
        "requestMetadata": {"callerIp": "10.1.2.3"},
    },
}


@pytest.mark.parametrize(
    "query",
    [
        "",
        'protoPayload.methodName="compute.instances.preempted"',
        "protoPayload.methodName=compute.instances.preempted",
        'protoPayload.methodName="COMPUTE.instances.Preempted"',
        'protoPayload.methodName:"preempted"',
        "protoPayload.methodName:PREEMPTED",
        'protoPayload.methodName=~"^compute\\\\.instances\\\\.(preempted|delete)$"',
        'protoPayload.methodName!~"insert"',
        'protoPayload.methodName="x" OR resource.type="gce_instance"',
        'resource.type="gce_instance" protoPayload.status.code=5',
        'resource.type="gce_instance"\nprotoPayload.status.code>=5 -- a comment',
        'protoPayload.methodName=("x" OR "compute.instances.preempted")',
        'protoPayload.methodName:("compute" AND "preempted")',
        "NOT protoPayload.methodName:insert",
        "-protoPayload.methodName:insert",
        "operation.first=true",
        "operation.last=false",
        "NOT operation.last=true",
        "severity>=WARNING",
        "severity>=warning",
        "severity<500",
        'severity=(WARNING OR "ERROR")',
        'timestamp>="2026-11-21T08:00:00Z"',
        'timestamp>="2026-11-21"',
        'timestamp<"2026-11-21T10:00:00+01:00"',
        'logName="projects/p/logs/cloudaudit.googleapis.com%2Fsystem_event"',
        "logName:system_event",
        'log_id("cloudaudit.googleapis.com/system_event")',
        'labels.team="ml"',
        'labels."compute.googleapis.com/resource_name"="test-vm"',
        "labels:team",
        "labels.team:*",
        "resource.labels.instance_id=42",
        'protoPayload.authorizationInfo.permission="c.d"',
        "protoPayload.authenticationInfo.principalEmail:google",
        'protoPayload:"gone"',
        "proto_payload.methodName:preempted",
        '"Test-VM"',
        "preempted gone",
        "NOT missing_word",
        "NOT jsonPayload.x=1",
        'jsonPayload.x=1 OR "test-vm"',
        'SEARCH("gone preempted")',
        'SEARCH(protoPayload.methodName, "preempted")',
        'ip_in_net(protoPayload.requestMetadata.callerIp, "10.0.0.0/8")',
        "sample(insertId, 1)",
        'textPayload=""',
        "httpRequest.status=0",
    ],
)
def test_an_entry_that_a_query_describes_matches(query: str):
    """Each form of the language, met."""
    assert entry_filter(query)(ENTRY)


@pytest.mark.parametrize(
    "query",
    [
        'protoPayload.methodName="compute.instances"',
        'protoPayload.methodName=~"PREEMPTED"',
        'protoPayload.methodName!~"preempted"',
        'resource.type="gce_instance" AND protoPayload.methodName="x"',
        'resource.type="x" OR resource.type="y"',
        "operation.last=true",
        "severity>WARNING",
        "severity=ERROR",
        'timestamp>"2026-11-21T08:00:00.5Z"',
        'timestamp>="2026-11-22"',
        'log_id("cloudaudit.googleapis.com/activity")',
        'labels.team="m"',
        "labels.other:*",
        "labels:other",
        "jsonPayload.x=1",
        "jsonPayload.x!=1",
        "jsonPayload:*",
        'textPayload:"gone"',
        "protoPayload.status.code>5",
        "protoPayload.status.code<10 AND protoPayload.status.code>=6",
        "absent",
        'SEARCH("prempted")',
        'SEARCH(resource.type, "gone")',
        'ip_in_net(protoPayload.requestMetadata.callerIp, "10.2.0.0/16")',
        "sample(insertId, 0)",
    ],
)
def test_an_entry_that_a_query_does_not_describe_does_not_match(query: str):
    """Each form, missed by one fact."""
    assert not entry_filter(query)(ENTRY)


def test_ids_of_nineteen_digits_are_told_apart():
    """As floats the two would be one number."""
    entry = {"resource": {"labels": {"instance_id": "4000000000000000001"}}}
    assert entry_filter('resource.labels.instance_id="4000000000000000001"')(entry)
    assert not entry_filter('resource.labels.instance_id="4000000000000000002"')(entry)


@pytest.mark.parametrize(
    ("query", "moment"),
    [
        ("", ALWAYS),
        ("severity=ERROR", ALWAYS),
        ('timestamp>="2026-11-21T08:00:00Z"', EIGHT),
        ('severity=ERROR AND timestamp>"2026-11-21T08:00:00Z" AND timestamp>="2026-11-20"', EIGHT),
        ('timestamp<"2026-11-21T08:00:00Z"', ALWAYS),
        ('severity=ERROR OR timestamp>="2026-11-21T08:00:00Z"', ALWAYS),
        ('NOT timestamp>="2026-11-21T08:00:00Z"', ALWAYS),
        ('receiveTimestamp>="2026-11-21T08:00:00Z"', ALWAYS),
    ],
)
def test_a_query_says_from_when_on_it_can_match(query, moment):
    """Only what holds for every entry that matches: what came before need not be looked at."""
    assert earliest(query) == moment


def test_or_binds_tighter_than_and():
    """`a OR NOT b AND NOT c OR d` is `(a OR (NOT b)) AND ((NOT c) OR d)`, says the documentation."""
    query = "severity=WARNING OR NOT operation.first=true AND NOT severity=WARNING OR operation.last=true"
    assert not entry_filter(query)(ENTRY)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("thud=1", "a log entry has no field 'thud'"),
        ("operation.thud=1", "operation has no field 'thud'"),
        ("textPayload.x=1", "textPayload has no field 'x'"),
        ("severity>=LOUD", "'LOUD' is no severity"),
        ('timestamp>"yesterday"', "'yesterday' is no time"),
        ('logName=~"("', "is no regular expression"),
        ('logName=~"(?=x)"', "which RE2 does not know"),
        ("logName=", "expected a name or value"),
        ("(logName=x", "expected )"),
        ("logName='x", "never closed"),
        ("nothing(logName)", "there is no function 'nothing'"),
        ("log_id()", "takes 1 arguments, not 0"),
        ("sample(insertId, x)", "'x' is no fraction"),
        ("x" * 20_001, "longer than 20000 characters"),
    ],
)
def test_what_is_no_query_is_refused_with_a_reason(query: str, reason: str):
    """It says what cannot be read and where."""
    with pytest.raises(RpcError, match=re.escape(reason)) as refused:
        entry_filter(query)
    assert refused.value.code == "INVALID_ARGUMENT"
    assert refused.value.message.startswith("Unparseable filter: ")


PIECES = st.sampled_from([
    *'()-,.:=x"~', " ", "logName", "protoPayload.a", "severity", "timestamp", '"a"', "labels",
    "operation.first", "AND", "OR", "NOT", "!=", ">", "=~", '"["', "log_id(", "SEARCH(", "sample(",
    "ip_in_net(", "*", "\n--",
])  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=60))
def test_no_text_does_worse_than_being_refused(text: str):
    """Any text is a query or an INVALID_ARGUMENT, and any query can be asked of any entry."""
    try:
        matches = entry_filter(text)
    except RpcError as error:
        assert error.code == "INVALID_ARGUMENT"
    else:
        assert matches(ENTRY) in (True, False)
        assert matches({}) in (True, False)
