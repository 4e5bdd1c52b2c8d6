"""What the doctor holds against the manifest, one fault at a time; the whole of it is tried in tests/e2e."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from spotwarden.cli.deployment import examining
from spotwarden.cli.deployment.examining import Check, CheckState, CheckSubject, archive_of, examine
from spotwarden.cli.deployment.manifest import MANIFEST, DeployedFunction, read_manifest
from spotwarden.cli.deployment.trying import Trial, _observed, run
from spotwarden.gcp.deployed import Deployed
from spotwarden.layout import AuditRecord, Layout
from spotwarden.ports import RejectedError, UnansweredError
from tests.cli.conftest import Workstation
from tests.fakes.cloud import memory_cloud

WHERE = CheckSubject(project="p", bucket="b", prefix="users/")
REAP = DeployedFunction(
    name="reap_vms",
    schedule="*/5 * * * *",
    permissions=("compute.instances.list", "pubsub.topics.publish"),
    secrets=("SPOTWARDEN_HOOKS",),
)
TOPIC = "projects/p/topics/spotwarden-reap-vms"
MARKER = "spotwarden-doctor-1"
ROBOT = "serviceAccount:spotwarden-reap-vms@p.iam.gserviceaccount.com"

SUBSCRIPTION = {
    "topic": TOPIC,
    "pushConfig": {"pushEndpoint": "https://f/", "oidcToken": {"serviceAccountEmail": "x"}},
    "deadLetterPolicy": {"deadLetterTopic": "d"},
}
TARGET = {"topicName": TOPIC, "attributes": {"spotwarden-tick": "reap_vms"}, "data": "dGljaw=="}
SCHEDULE = {"state": "ENABLED", "schedule": REAP.schedule, "pubsubTarget": TARGET}
FUNCTION = {
    "state": "ACTIVE",
    "labels": {"app": "spotwarden", "archive": "abc"},
    "buildConfig": {"source": {"storageSource": {"object": "reap-vms/function-source.zip"}}},
    "serviceConfig": {
        "environmentVariables": {"SPOTWARDEN_BUCKET": "b"},
        "secretEnvironmentVariables": [{"key": "SPOTWARDEN_HOOKS"}],
    },
}
ROLE = {"includedPermissions": ["compute.instances.list"]}


class Google:
    """A deployment of reap_vms alone, as Google would show it; a test changes one thing of it."""

    at_google = True

    def __init__(self, **other):
        shown = {
            "topic": {},
            "subscription": SUBSCRIPTION,
            "tick": SCHEDULE,
            "function": FUNCTION,
            "role": ROLE,
        }
        self._shown = {**shown, **other}
        self._members = other.get("members", {ROBOT})

    def __getattr__(self, kind):
        def show(_name):
            shown = self._shown[kind]
            if isinstance(shown, Exception):
                raise shown
            return shown

        return show

    def members(self, _role):
        """Who has the role."""
        return self._members


def findings(**other):
    """What is found, as what → finding."""
    manifest = SimpleNamespace(functions=(REAP,), topics={"notices": "spotwarden-notices"})
    return {one.what: one for one in examine(Google(**other), manifest, WHERE)}


def bad(**other):
    """The one thing that is wrong, and why."""
    (one,) = [one for one in findings(**other).values() if one.state is not CheckState.GOOD]
    return one


def changed(shown, **fields):
    """The same with these fields."""
    return {**shown, **fields}


def test_what_is_as_it_should_be_is_good():
    """One line each, and nothing to do."""
    found = findings()
    assert {one.state for one in found.values()} == {CheckState.GOOD}
    assert list(found) == [
        "topic spotwarden-notices",
        "function reap-vms",
        "permissions of reap-vms",
        "topic spotwarden-reap-vms",
        "subscription spotwarden-reap-vms",
        "schedule spotwarden-reap-vms",
    ]


@pytest.mark.parametrize(
    ("kind", "shown", "why"),
    [
        ("subscription", None, "it is not there"),
        ("subscription", changed(SUBSCRIPTION, topic="projects/p/topics/x"), "it is of projects/p/topics/x"),
        ("subscription", changed(SUBSCRIPTION, topic="_deleted-topic_"), "it is of _deleted-topic_"),
        ("subscription", changed(SUBSCRIPTION, pushConfig={}), "it has no push endpoint"),
        ("subscription", changed(SUBSCRIPTION, detached=True), "it is detached"),
        (
            "subscription",
            changed(SUBSCRIPTION, pushConfig={"pushEndpoint": "x"}),
            "it pushes without a token",
        ),
        ("subscription", changed(SUBSCRIPTION, deadLetterPolicy={}), "it has no dead-letter topic"),
        ("tick", changed(SCHEDULE, state="PAUSED"), "it is PAUSED: resume it"),
        ("tick", changed(SCHEDULE, schedule="* * * * *"), "its schedule is '* * * * *'"),
        ("tick", changed(SCHEDULE, pubsubTarget=changed(TARGET, data="")), "it carries no data"),
        ("tick", changed(SCHEDULE, pubsubTarget=changed(TARGET, attributes={})), "has no attribute"),
        ("tick", changed(SCHEDULE, pubsubTarget=changed(TARGET, topicName="x")), "it goes to x"),
        ("function", changed(FUNCTION, state="FAILED", stateMessages=[{"message": "no build"}]), "no build"),
        ("function", changed(FUNCTION, serviceConfig={}), "it uses the bucket None"),
        (
            "function",
            changed(
                FUNCTION,
                serviceConfig={
                    **FUNCTION["serviceConfig"],
                    "secretEnvironmentVariables": [{"key": "SPOTWARDEN_SMTP"}],
                },
            ),
            "must not have: SPOTWARDEN_SMTP",
        ),
        ("role", {"includedPermissions": []}, "missing: compute.instances.list"),
        ("role", {"includedPermissions": ["a.b.c", "compute.instances.list"]}, "more than it needs: a.b.c"),
        ("role", changed(ROLE, deleted=True), "its role is deleted"),
        ("members", frozenset(), f"{ROBOT} does not have its role"),
    ],
)
def test_a_fault_is_named(kind, shown, why):
    """With what it should be, and that a deployment mends it."""
    found = bad(**{kind: shown})
    assert found.state is CheckState.BAD
    assert why in found.why
    assert found.todo


@pytest.mark.parametrize(
    "error", [RejectedError("forbidden", "pubsub.topics.get is missing"), UnansweredError("x")]
)
def test_what_may_not_be_seen_is_not_taken_for_missing(error):
    """The message names the permission."""
    found = findings(topic=error)["topic spotwarden-reap-vms"]
    assert found.state is CheckState.UNKNOWN
    assert str(error) in found.why


def test_another_version_is_named(tmp_path):
    """By the checksum in the archive's name; without anything staged here nobody can tell."""
    assert archive_of(REAP, tmp_path) == ""
    (tmp_path / "reap_vms.zip").write_bytes(b"new")
    staged = archive_of(REAP, tmp_path)
    assert examining.function_faults(FUNCTION, REAP, staged, WHERE) == [
        f"it runs another version: abc, staged here is {staged}"
    ]
    assert examining.function_faults(FUNCTION, REAP, "abc", WHERE) == []


AGENT = "serviceAccount:service-1@gs-project-accounts.iam.gserviceaccount.com"
WRITER = "serviceAccount:service-1@gcp-sa-logging.iam.gserviceaccount.com"


@pytest.mark.parametrize("lacking", [(), (AGENT,), (WRITER,), (AGENT, WRITER)])
def test_whoever_brings_events_must_be_let_in(lacking):
    """A tick finds what an event would have told, a minute later: nobody would notice."""
    woken = DeployedFunction(
        name="reap_vms", log_events="a=b", bucket_events={"OBJECT_FINALIZE": "preempted-jobs/"}
    )
    google = Google(sink={"writerIdentity": WRITER}, publishers={AGENT, WRITER} - set(lacking))
    google.storage_agent, google.notifications = lambda: AGENT, lambda _bucket: ()
    manifest = SimpleNamespace(functions=(woken,), topics={})
    found = {one.what: one for one in examine(google, manifest, WHERE)}["publishers of spotwarden-reap-vms"]
    assert found.state is (CheckState.BAD if lacking else CheckState.GOOD)
    assert all(one in found.why for one in lacking)


def test_who_publishes_is_read_from_the_grants_on_the_topic(monkeypatch):
    """By the one role that lets them, and in the name that Cloud Storage gives."""
    answers = {
        "pubsub /v1/projects/p/topics/t:getIamPolicy": {
            "bindings": [
                {"role": "roles/pubsub.publisher", "members": [AGENT]},
                {"role": "roles/pubsub.viewer", "members": [WRITER]},
            ]
        },
        "storage /storage/v1/projects/p/serviceAccount": {"email_address": AGENT.partition(":")[2]},
    }
    deployed = Deployed(project="p", region="r")
    monkeypatch.setattr(deployed, "_get", lambda service, path: answers[f"{service} {path}"])
    assert deployed.publishers("t") == {AGENT}
    assert deployed.storage_agent() == AGENT


def test_each_log_sink_is_compared_as_a_whole():
    """Its filter, where it leads, whether it is on."""
    wanted = DeployedFunction(name="reap_vms", log_events="a=b")
    right = {"filter": "a=b", "destination": f"pubsub.googleapis.com/{TOPIC}"}
    assert examining.sink_faults(right, wanted, TOPIC) == []
    for wrong in ({"filter": "a=c"}, {"destination": "x"}, {"disabled": True}):
        assert len(examining.sink_faults({**right, **wrong}, wanted, TOPIC)) == 1


def test_a_bucket_tells_of_markers_once_below_its_prefix():
    """None wakes nobody, two wake everybody twice, another prefix is somebody else's."""
    one = {
        "topic": f"//pubsub.googleapis.com/{TOPIC}",
        "event_types": ["OBJECT_FINALIZE"],
        "object_name_prefix": "users/preempted-jobs/",
    }
    wanted = ("OBJECT_FINALIZE", "preempted-jobs/")

    def faults(*items):
        return examining.notification_faults({"items": items}, wanted, "spotwarden-reap-vms", WHERE)

    assert faults(one) == []
    assert faults() == ["it is not there"]
    assert faults(one, one) == ["there are 2, so each event comes 2 times"]
    assert "not of users/preempted-jobs/" in faults(changed(one, object_name_prefix="preempted-jobs/"))[0]
    assert faults(changed(one, topic="//pubsub.googleapis.com/projects/p/topics/x")) == ["it is not there"]


@pytest.mark.parametrize(
    ("entry", "seen"),
    [
        ("123058-recover_spot-abc-0001", True),
        ("123101-recover_spot-abc-0001", True),
        ("123058-cap_runtime-abc-0001", False),
        ("122959-recover_spot-abc-0001", False),
    ],
)
def test_a_marker_that_was_only_observed_is_found_in_the_audit(entry, seen):
    """By its name, in a record of recover_spot since then, of the next minute as well."""
    ports, layout = memory_cloud().ports(), Layout()
    context = SimpleNamespace(cloud=ports, settings=SimpleNamespace(layout=layout))
    began = datetime(2026, 11, 21, 12, 30, 58, tzinfo=UTC)
    now = began + timedelta(seconds=4)
    assert not _observed(context, MARKER, began, now)
    name = layout.build(AuditRecord(day=now.date(), entry=entry))
    ports.store.write(name, f'[{{"detail": {{"name": "{MARKER}"}}}}]'.encode(), generation=0)
    assert _observed(context, MARKER, began, now) is seen
    assert not _observed(context, "spotwarden-doctor-2", began, now)


def test_the_minute_after_midnight_is_of_another_day():
    """The audit has a folder for each day."""
    ports, layout = memory_cloud().ports(), Layout()
    context = SimpleNamespace(cloud=ports, settings=SimpleNamespace(layout=layout))
    began = datetime(2026, 11, 21, 23, 59, 59, tzinfo=UTC)
    now = began + timedelta(seconds=4)
    name = layout.build(AuditRecord(day=now.date(), entry="000001-recover_spot-abc-0001"))
    ports.store.write(name, MARKER.encode(), generation=0)
    assert _observed(context, MARKER, began, now)


def trial(what, ended, cleaned):
    """One that ends like this, or never."""
    late = Check(what=what, state=CheckState.BAD, why="late")
    good = Check(what=what, state=CheckState.GOOD)
    return Trial(
        what=what, look=lambda: good if ended else None, late=late, clean=lambda: cleaned.append(what)
    )


def test_what_does_not_end_in_time_is_told_and_cleared_up():
    """The others are told as they end; each clears up after itself."""
    cleaned = []
    began = [trial("slow", ended=False, cleaned=cleaned), trial("quick", ended=True, cleaned=cleaned)]
    found = list(run(began, timedelta(milliseconds=1)))
    assert [(one.what, one.state) for one in found] == [("quick", CheckState.GOOD), ("slow", CheckState.BAD)]
    assert cleaned == ["slow", "quick"]


def test_the_manifest_is_read_as_it_is():
    """Every row, whatever fields others add to it."""
    assert {one.name for one in read_manifest(MANIFEST).functions} >= {"recover_spot", "answer_notice"}


def test_a_manifest_that_is_not_there_is_named(workstation: Workstation):
    """A user who has only the package must say where it is."""
    done = workstation.run("doctor", "--look-only", "--manifest", "/no/functions.yaml")
    assert done.exit_code == 1
    assert "name the manifest with --manifest" in done.output
