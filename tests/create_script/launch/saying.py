"""What a script says in these tests."""

from spotwarden.create_script import requests
from spotwarden.model.request import Request
from tests.create_script.launch.ran import CONFIGURED

IMAGE = "debian-12-bookworm-v20260114"
FLAGS = (
    *("--machine-type=n1-standard-8", "--accelerator=type=nvidia-tesla-t4,count=2", "--boot-disk-size=50GB"),
    *("--provisioning-model=SPOT", "--instance-termination-action=DELETE", "--maintenance-policy=TERMINATE"),
    *("--metadata=mode=a,secret=s3cret", "--labels=team=vision", "--tags=train", "--boot-disk-type=pd-ssd"),
    *(f"--image={IMAGE}", "--image-project=debian-cloud", "--network=default"),
)
SCRIPT = ("create", "trainer", "--zone=us-central1-a")


def request_of(*words: str) -> Request:
    """The request of a create command."""
    text = " ".join(["gcloud compute instances", *words])
    (request,) = requests(text.encode(), defaults=CONFIGURED)
    return request
