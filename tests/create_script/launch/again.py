"""How launches from what ran are looked at."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from spotwarden.create_script.request.launched import launch_of_resources
from spotwarden.model.launch import Launch, NoLaunch
from tests.create_script.launch.ran import Resources

T = TypeVar("T")

SPOT = ("--provisioning-model=SPOT", "--instance-termination-action=DELETE")
RICH = (
    *(
        "create",
        "trainer",
        "--machine-type=n1-standard-8",
        "--accelerator=type=nvidia-tesla-t4,count=2",
        *SPOT,
    ),
    *("--metadata=^~^step=1~note=a,b", "--labels=team=vision", "--tags=train", "--local-ssd=interface=NVME"),
    *("--maintenance-policy=TERMINATE", "--create-disk=size=20,type=pd-ssd", "--max-run-duration=1h"),
    *SPOT,
)
GANG = ("bulk", "create", "--name-pattern=w-#", "--count=3", "--zone=us-central1-a", *SPOT)


def again(run: Callable[..., tuple[Resources, Resources]], *words: str) -> Launch:
    """The launch that makes again what a create command made."""
    launch = launch_of_resources(*run(*words))
    assert isinstance(launch, Launch), launch
    return launch


def refusal(resources: Resources, disks: Resources | None = None) -> str:
    """Why there is no launch."""
    launch = launch_of_resources(resources, disks)
    assert isinstance(launch, NoLaunch)
    return launch.reason


def only(mapping: Mapping[str, T]) -> T:
    """The one value of a mapping."""
    (value,) = mapping.values()
    return value
