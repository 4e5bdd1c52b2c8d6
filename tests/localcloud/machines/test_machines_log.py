"""What a virtual machine's scripts print is in Cloud Logging, as Google's guest agent has it."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from localcloud.machines import ProcessMachines


@dataclass
class Heard:
    """The entries that the machines sent."""

    entries: list[Any] = field(default_factory=list)

    @property
    def messages(self) -> list[str]:
        """What they say."""
        return [entry["jsonPayload"]["message"] for entry in self.entries]


@pytest.fixture
def heard(monkeypatch) -> Heard:
    """Whatever the machines of this test send."""
    heard, make = Heard(), ProcessMachines.__init__
    monkeypatch.setattr(
        ProcessMachines, "__init__", lambda self, **what: make(self, **what, write=heard.entries.append)
    )
    return heard


def test_each_line_is_an_entry_of_its_instance(heard, run, vm):
    """Found by the instance's id, whatever the VM is called; what the kernel says is not of them."""

    async def scene():
        machine = await vm(startup_script="echo one; echo two >&2; exit 7")
        await machine.finished()
        return machine

    machine = run(scene())
    said = [text for text in heard.messages if text.startswith("startup-script:")]
    assert said == ["startup-script: one", "startup-script: two"]
    assert heard.messages[-2] == "startup-script exit status 7"
    assert "Booting." not in heard.messages
    entry = heard.entries[0]
    assert entry["logName"] == "projects/demo/logs/google_metadata_script_runner"
    assert entry["resource"]["type"] == "gce_instance"
    assert entry["resource"]["labels"]["instance_id"] == machine.id
    assert entry["labels"] == {"instance_name": "test-vm"}


def test_a_machine_without_an_agent_sends_nothing(heard, run, vm, machines):
    """Its console has it all the same."""
    machines.agents._without.add("test-vm")

    async def scene():
        machine = await vm(startup_script="echo one")
        await machine.finished()
        return machine.console

    assert "startup-script: one" in run(scene())
    assert heard.entries == []
