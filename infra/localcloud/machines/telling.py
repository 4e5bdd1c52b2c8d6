"""What the guest agent of a virtual machine sends to Cloud Logging: its scripts' output, line by line.

Google's writes each line with the name of the script before it as `jsonPayload.message` of the log
`google_metadata_script_runner` (older ones `GCEMetadataScripts`), and the VM's name as a label
(GoogleCloudPlatform/guest-agent, `google_metadata_script_runner`).
"""

from datetime import datetime

from localcloud.clock import rfc3339
from localcloud.machines.host import Host
from localcloud.machines.measuring import labels
from localcloud.ports import Resource

SENDER = "google_metadata_script_runner"


def send(host: Host, instance: Resource, at: datetime, process: str, message: str) -> None:
    """Send one line of the console, if it is the guest agent's and the machine tells of its log at all."""
    name = str(instance["name"])
    if not process.startswith(SENDER) or not host.agents.runs(name):
        return
    where = labels(instance)
    host.write(
        {
            "logName": f"projects/{where['project_id']}/logs/{SENDER}",
            "resource": {"type": "gce_instance", "labels": where},
            "labels": {"instance_name": name},
            "severity": "INFO",
            "timestamp": at.isoformat().replace("+00:00", "Z"),
            "jsonPayload": {"message": message, "localTimestamp": rfc3339(at)},
        }
    )
