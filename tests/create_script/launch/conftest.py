"""Stored scripts, and the launches they come to."""

import shlex
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace

from spotwarden.create_script import requests
from spotwarden.create_script.request.stored import launch_of
from spotwarden.model.launch import Launch, NoLaunch, StoredScript
from tests.create_script.launch.ran import CONFIGURED, Cloud, Resources

PROJECT = "demo-project"


@pytest.fixture
def stored() -> Callable[..., StoredScript]:
    """A create script as it is read from the bucket."""

    def stored(text: str, **fields: object) -> StoredScript:
        return replace(StoredScript(name="create.sh", text=text.encode(), generation=7), **fields)

    return stored


@pytest.fixture
def read(stored: Callable[..., StoredScript]) -> Callable[..., Launch | NoLaunch]:
    """What a script comes to in the project."""

    def read(text: str, project: str = PROJECT) -> Launch | NoLaunch:
        return launch_of(stored(text), project)

    return read


@pytest.fixture
def one(read: Callable[..., Launch | NoLaunch]) -> Callable[..., Launch]:
    """The launch of `instances create trainer` in us-central1-a with these flags."""

    def one(*flags: str, name: str = "trainer") -> Launch:
        words = shlex.join(flags)
        launch = read(f"gcloud compute instances create {name} --zone=us-central1-a {words}")
        assert isinstance(launch, Launch)
        return launch

    return one


@pytest.fixture
def gang(read: Callable[..., Launch | NoLaunch]) -> Callable[..., Launch]:
    """The launch of `instances bulk create` of two, in us-central1-a or in a place of its own."""

    def gang(*flags: str, place: str = "--zone=us-central1-a") -> Launch:
        words = shlex.join(flags or ("--name-pattern=w-#", "--count=2"))
        launch = read(f"gcloud compute instances bulk create {place} {words}")
        assert isinstance(launch, Launch)
        return launch

    return gang


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    """A fresh local cloud."""
    cloud = Cloud()
    yield cloud
    cloud.close()


@pytest.fixture
def run(cloud: Cloud) -> Callable[..., tuple[Resources, Resources]]:
    """Run gcloud's create command in the local cloud; give its instances by name and disks by URL."""

    def run(*words: str) -> tuple[Resources, Resources]:
        text = shlex.join(["gcloud", "compute", "instances", *words])
        (request,) = requests(text.encode(), defaults=CONFIGURED)
        assert cloud.accepts(request)
        return cloud.instances(), cloud.disks()

    return run
