"""Who takes part: jobs of every kind, and VMs that are nobody's job."""

from enum import Enum
from random import Random
from typing import Any

import msgspec

from spotwarden.create_script.request.stored import launch_of
from spotwarden.model.launch import Launch, StoredScript
from spotwarden.model.request import Request
from tests.e2e.chaos.cloud import BASE, BUCKET, PROJECT, Cloud

ZONES = ("us-central1-a", "us-central1-b", "us-central1-c")
SHUTDOWN = f"""#!/bin/bash
META=http://metadata.google.internal/computeMetadata/v1/instance
ask() {{ curl -sf -H "Metadata-Flavor: Google" "$META/$1"; }}
[ "$(ask preempted)" = TRUE ] || exit 0
BODY="{{\\"node\\": \\"$(ask name)\\"; \\"instance_id\\": \\"$(ask id)\\"}}"
gsutil -q cp - "gs://{BUCKET}/preempted-jobs/$(ask name)" <<< "${{BODY//;/,}}"
"""
BEAT = f"""#!/bin/bash
META=http://metadata.google.internal/computeMetadata/v1/instance
NAME=$(curl -sf -H "Metadata-Flavor: Google" "$META/name")
date -u | gsutil -q cp - "gs://{BUCKET}/JOB/metadata/heartbeat/$NAME"
"""
RUNNING, TERMINATED = "RUNNING", "TERMINATED"


class Kind(Enum):
    """What kind of VMs a job has."""

    PLAIN = "one VM, deleted when it is preempted"
    BEATING = "the same, with a startup script that writes a heartbeat"
    SILENT = "one VM without a shutdown script, so it never writes a marker"
    KEPT = "one VM, stopped when it is preempted"
    GANG = "a gang of two"


class Fate(Enum):
    """What became of a job, as far as its owner knows."""

    OPEN = "open"
    ENDED = "ended"
    DELETED = "deleted by its owner"


class Job(msgspec.Struct, kw_only=True):
    """A job. `last` are the ids of the VMs that it had when its owner was done with it."""

    name: str
    kind: Kind
    zone: str
    fate: Fate = Fate.OPEN
    last: frozenset[str] = frozenset()

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of its VMs."""
        if self.kind is Kind.GANG:
            return (f"{self.name}-1", f"{self.name}-2")
        return (self.name,)

    @property
    def script_name(self) -> str:
        """The object that holds its create script."""
        return f"{self.name}/metadata/create-instance.sh"

    @property
    def script(self) -> bytes:
        """Its create script."""
        action = "STOP" if self.kind is Kind.KEPT else "DELETE"
        what = f"create {self.name}"
        if self.kind is Kind.GANG:
            what = f"bulk create --name-pattern={self.name}-# --count=2"
        return (
            f"#!/bin/bash\ngcloud compute instances {what} --zone={self.zone} --machine-type=e2-small \\\n"
            "  --image-family=debian-12 --image-project=debian-cloud --scopes=cloud-platform \\\n"
            f"  --provisioning-model=SPOT --instance-termination-action={action}{self._metadata()}\n"
        ).encode()

    def _metadata(self) -> str:
        scripts = {
            **({} if self.kind is Kind.SILENT else {"shutdown-script": SHUTDOWN}),
            **({"startup-script": BEAT.replace("JOB", self.name)} if self.kind is Kind.BEATING else {}),
        }
        if not scripts:
            return ""
        pairs = "^@@^" + "@@".join(f"{key}={text}" for key, text in scripts.items())
        return f" \\\n  --metadata='{pairs}'"

    @property
    def request(self) -> Request:
        """What gcloud sends for that script; that it does is tested where scripts are read."""
        stored = StoredScript(name=self.script_name, text=self.script, generation=1)
        launch = launch_of(stored, PROJECT)
        if not isinstance(launch, Launch):
            raise TypeError(launch.reason)
        return launch.request

    def launch(self, cloud: Cloud) -> None:
        """Do what its developer does: store the script, run it."""
        cloud.write(self.script_name, self.script)
        cloud.post(self.request.path, self.request.body)

    def register(self, cloud: Cloud, found: list[dict[str, Any]]) -> None:
        """Do what its startup script does: write down the ids of its VMs."""
        for vm in found:
            cloud.write(f"{self.name}/metadata/{vm['name']}-instance-id", vm["id"].encode())


class Stranger(msgspec.Struct, frozen=True, kw_only=True):
    """A VM that is nobody's job. One is called as a job's object might be."""

    name: str
    zone: str
    spot: bool

    def launch(self, cloud: Cloud) -> None:
        """Create it."""
        scheduling = {"provisioningModel": "SPOT", "instanceTerminationAction": "STOP"} if self.spot else {}
        image = {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}
        body = {
            "name": self.name,
            "machineType": f"zones/{self.zone}/machineTypes/e2-small",
            "disks": [{"boot": True, "autoDelete": True, "initializeParams": image}],
            "networkInterfaces": [{"network": "global/networks/default"}],
            **({"scheduling": scheduling} if scheduling else {}),
        }
        cloud.post(f"{BASE}/zones/{self.zone}/instances", body)


def cast(dice: Random, count: int, kinds: tuple[Kind, ...]) -> list[Job]:
    """So many jobs, every kind among them, each in some zone."""
    return [
        Job(name=f"job-{number}", kind=kinds[number % len(kinds)], zone=dice.choice(ZONES))
        for number in range(count)
    ]


def strangers(dice: Random, count: int) -> list[Stranger]:
    """So many VMs of others, some of them spot VMs that will be preempted too."""
    return [
        Stranger(name=f"stranger-{number}", zone=dice.choice(ZONES), spot=number % 2 == 0)
        for number in range(count)
    ]
