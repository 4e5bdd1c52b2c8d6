"""What Cloud Logging tells of VMs: the fake, and the adapter against the local cloud's Logging, over HTTP."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Protocol

import pytest

from localcloud.clock import Clock
from localcloud.faults import Rule
from localcloud.logs import LogService
from spotwarden.gcp.logs import MOST_A_PAGE, MOST_IDS, CloudLogging
from spotwarden.ports import Logs, RejectedError, UnansweredError
from tests.contract.retry_policies import QUICK, SHORT
from tests.fakes.logs import MemoryLogs
from tests.localcloud.stand import PROJECT, Stand

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
HOUR_AGO = NOW - timedelta(hours=1)
VM, OTHER = "4000000000000000001", "4000000000000000002"


class Told(Protocol):
    """A Logging and VMs that write to it."""

    @property
    def logs(self) -> Logs:
        """The port."""

    def say(self, instance_id: str, at: datetime, *texts: str) -> None:
        """Have the scripts of a VM print lines."""


class Faked:
    """`Told` in memory."""

    def __init__(self) -> None:
        self.logs = MemoryLogs()
        self.say = self.logs.say


class Served:
    """`Told` over HTTP."""

    def __init__(self, stand: Stand) -> None:
        self.stand = stand
        self._service = stand.call(LogService, project=PROJECT, clock=Clock(), publish=lambda *_: "1")
        stand.serve([self._service])
        self.http = stand.client()
        self.logs = CloudLogging(project=PROJECT, endpoint=stand.http, retry_policy=QUICK)

    def forget(self) -> None:
        """Begin anew."""
        self.stand.call(self._service._log._ring.clear)
        self.stand.call(self.stand.faults.clear)

    def say(self, instance_id: str, at: datetime, *texts: str) -> None:
        """As `Told.say`."""
        self.enter(
            *(
                {"jsonPayload": {"message": f"startup-script: {text}", "localTimestamp": at.isoformat()}}
                for text in texts
            ),
            instance_id=instance_id,
            at=at,
        )

    def enter(
        self,
        *entries: dict[str, object],
        instance_id: str = VM,
        at: datetime = NOW,
        log: str = "google_metadata_script_runner",
    ) -> None:
        """Write entries as they are."""
        labels = {"project_id": PROJECT, "instance_id": instance_id, "zone": "us-central1-a"}
        body = {
            "logName": f"projects/{PROJECT}/logs/{log}",
            "resource": {"type": "gce_instance", "labels": labels},
            "entries": [{"timestamp": at.isoformat(), **entry} for entry in entries],
        }
        self.http.post("/v2/entries:write", json=body).raise_for_status()


@pytest.fixture(scope="module")
def logging() -> Iterator[Served]:
    """One Logging for all; in the end all that was asked must fit Google's document."""
    stand = Stand()
    found = Served(stand)
    yield found
    found.logs.close()
    found.http.close()
    stand.close()
    assert stand.findings("logging", "v2") == []


@pytest.fixture
def served(logging: Served) -> Served:
    """A Logging without entries."""
    logging.forget()
    return logging


@pytest.fixture(params=["fake", "adapter"])
def told(request: pytest.FixtureRequest) -> Told:
    """Both sides of the contract."""
    if request.param == "fake":
        return Faked()
    found: Served = request.getfixturevalue("served")
    return found


def texts(logs: Logs, *ids: str, since: datetime = HOUR_AGO, newest: int = 0) -> list[str]:
    """What there is."""
    return [line.text for line in logs.lines(ids, since, newest=newest)]


def test_lines_come_oldest_first_and_only_of_the_instances_asked_for(told):
    """Whatever the order in which they arrived."""
    told.say(VM, NOW + SECOND, "epoch 2")
    told.say(OTHER, NOW, "another's")
    told.say(VM, NOW, "epoch 1", "loss=0.5")
    assert texts(told.logs, VM) == ["epoch 1", "loss=0.5", "epoch 2"]
    assert texts(told.logs, VM, OTHER)[-1] == "epoch 2"
    assert texts(told.logs, "1") == []


def test_no_instance_has_said_nothing(told):
    """And nobody is asked."""
    told.say(VM, NOW, "x")
    assert texts(told.logs) == []


def test_lines_count_from_the_moment_on(told):
    """The moment itself included."""
    told.say(VM, NOW - SECOND, "before")
    told.say(VM, NOW, "at")
    assert texts(told.logs, VM, since=NOW) == ["at"]


def test_the_newest_lines_are_told_oldest_first(told):
    """As many as were asked for, or all where there are fewer."""
    for number in range(4):
        told.say(VM if number % 2 else OTHER, NOW + number * SECOND, f"line {number}")
    assert texts(told.logs, VM, OTHER, newest=3) == ["line 1", "line 2", "line 3"]
    assert texts(told.logs, VM, OTHER, newest=9) == [f"line {number}" for number in range(4)]


def test_a_line_is_told_from_its_like(told):
    """The same words at the same moment are two lines, each with a key of its own, the same at each look."""
    told.say(VM, NOW, "step", "step")
    first, second = told.logs.lines([VM], HOUR_AGO)
    assert (first.text, first.at, first.instance_id) == ("step", NOW, VM)
    assert first.key != second.key
    assert [one.key for one in told.logs.lines([VM], HOUR_AGO)] == [first.key, second.key]


def test_more_lines_than_a_page_holds_are_all_there(served, monkeypatch):
    """The next page is asked for only when somebody wants it."""
    asked, ask = [], served.logs._page
    monkeypatch.setattr(served.logs, "_page", lambda body: asked.append(body) or ask(body))
    served.say(VM, NOW, *(str(number) for number in range(MOST_A_PAGE + 1)))
    assert sorted(map(int, texts(served.logs, VM))) == list(range(MOST_A_PAGE + 1))
    assert len(asked) == 2
    next(iter(served.logs.lines([VM], HOUR_AGO)))
    assert len(asked) == 3


def test_more_instances_than_a_filter_holds_are_asked_in_turn(served):
    """Their lines are still in the order of time."""
    ids = [str(10**18 + number) for number in range(MOST_IDS + 1)]
    served.say(ids[-1], NOW, "first")
    served.say(ids[0], NOW + SECOND, "second")
    assert texts(served.logs, *ids) == ["first", "second"]
    assert texts(served.logs, *ids, newest=1) == ["second"]


def test_what_google_writes_of_a_vm_is_left_out_and_so_are_copies(served):
    """The Ops Agent sends the system's log, in which each line of the script stands once more."""
    for log in ("cloudaudit.googleapis.com%2Factivity", "GCEGuestAgent", "syslog", "ops-agent-health"):
        served.enter({"textPayload": "not theirs"}, log=log)
    served.enter({"textPayload": "theirs"}, log="my-training")
    assert texts(served.logs, VM) == ["theirs"]


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"textPayload": "plain"}, "plain"),
        ({"jsonPayload": {"message": "startup-script-url: from afar"}}, "from afar"),
        ({"jsonPayload": {"message": "shutdown-script: going"}}, "shutdown-script: going"),
        ({"jsonPayload": {"message": "say startup-script: twice"}}, "say startup-script: twice"),
        ({"jsonPayload": {"loss": 0.5}}, '{"loss":0.5}'),
        ({"jsonPayload": {"message": 7}}, '{"message":7}'),
    ],
)
def test_each_form_of_an_entry_has_its_text(served, entry, text):
    """What was written as an object without a message is shown as such."""
    served.enter(entry)
    assert texts(served.logs, VM) == [text]


def test_an_entry_without_text_is_passed_over(served):
    """It says nothing that a person could read."""
    served.enter(
        {"protoPayload": {"@type": "type.googleapis.com/google.protobuf.Empty"}}, {"textPayload": "x"}
    )
    assert texts(served.logs, VM) == ["x"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Starting startup scripts (version 20250101.00).", False),
        ("Found startup-script in metadata.", False),
        ("startup-script exit status 0", False),
        ("Finished running startup scripts.", False),
        ("No shutdown scripts to run.", False),
        ("startup-script exit status 7", True),
        ('Script "startup-script" failed with error: exit status 7', True),
        ("startup-script: Found startup-script in metadata.", True),
    ],
)
def test_the_guest_agent_is_heard_only_when_something_is_wrong(served, text, told):
    """A program may say the same, and another log has no guest agent's words."""
    served.enter({"jsonPayload": {"message": text}})
    assert bool(texts(served.logs, VM)) is told
    served.enter({"textPayload": text}, log="my-training", instance_id=OTHER)
    assert texts(served.logs, OTHER)


def test_who_may_not_read_them_hears_so(served):
    """With Google's own reason."""
    served.stand.call(served.stand.faults.add, Rule(path="/v2/entries:list", status=403))
    with pytest.raises(RejectedError):
        texts(served.logs, VM)


def test_no_answer_is_no_empty_log(served):
    """It is asked for again, and in the end said."""
    served.stand.call(served.stand.faults.add, Rule(path="/v2/entries:list", status=503, count=1))
    served.say(VM, NOW, "here")
    assert texts(served.logs, VM) == ["here"]
    served.stand.call(served.stand.faults.add, Rule(path="/v2/entries:list", status=503))
    hasty = CloudLogging(project=PROJECT, endpoint=served.stand.http, retry_policy=SHORT)
    with pytest.raises(UnansweredError):
        texts(hasty, VM)
    hasty.close()
