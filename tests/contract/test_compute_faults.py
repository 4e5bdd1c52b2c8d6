"""Compute Engine on a bad day: answers that are lost, storms, and many who ask at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier

import pytest

from spotwarden.gcp.compute import ComputeEngine
from spotwarden.ports import RejectedError, UnansweredError
from tests.contract.local_world import LocalWorld
from tests.contract.retry_policies import SHORT
from tests.contract.served import PROJECT, Served
from tests.contract.worlds import ZONE, World, finished, spot

Faults = Callable[..., str]

RACERS = 16
REQUEST_ID = "6f2d7a52-3a1c-5c1e-9d0b-8f6f1b7b3f11"
ANOTHER_ID = "6f2d7a52-3a1c-5c1e-9d0b-8f6f1b7b3f12"
LAUNCH = {"service": "compute", "method": "POST", "path": "/instances$"}
OUTAGE = [
    pytest.param({"cut": True}, id="connection cut"),
    pytest.param({"status": 503}, id="503"),
    pytest.param({"status": 429}, id="429"),
    pytest.param({"status": 403}, id="403 rateLimitExceeded"),
]


@pytest.fixture
def hasty(local_world: LocalWorld) -> Iterator[ComputeEngine]:
    """The adapter when it soon gives up."""
    engine = ComputeEngine(project=PROJECT, endpoint=local_world.url, retry_policy=SHORT)
    yield engine
    engine.close()


def names(world: World) -> list[str]:
    """The VMs that are listed."""
    return [one.name for one in world.compute.instances().items]


@pytest.mark.parametrize("after_work", [True, False], ids=["after the work", "before the work"])
@pytest.mark.parametrize("outage", OUTAGE)
def test_a_launch_without_an_answer_is_one_launch(
    local_world: LocalWorld, faults: Faults, outage: dict[str, object], *, after_work: bool
):
    """Asked again with the same request id: one VM, and the operation that started it."""
    faults(**LAUNCH, **outage, after_work=after_work, count=2)
    operation = local_world.compute.launch(spot("node"), REQUEST_ID)
    assert finished(local_world, operation).error == ""
    assert [(one.name, one.id) for one in local_world.compute.instances().items] == [
        ("node", operation.target_id)
    ]


@pytest.mark.parametrize("outage", OUTAGE)
def test_a_delete_without_an_answer_is_no_absence(
    local_world: LocalWorld, faults: Faults, outage: dict[str, object]
):
    """Done and not told, then asked again: the operation is told, not that nobody is called so."""
    vm_id = finished(local_world, local_world.compute.launch(spot("node"), REQUEST_ID)).target_id
    faults(service="compute", method="DELETE", **outage, after_work=True, count=2)
    operation = local_world.compute.delete(ZONE, vm_id, ANOTHER_ID)
    assert finished(local_world, operation).error == ""
    assert names(local_world) == []


def test_a_launch_that_nobody_answers_can_be_asked_for_later(
    served: Served, local_world: LocalWorld, hasty: ComputeEngine, faults: Faults
):
    """The next sweep, with the same request id, finds what this one has done without knowing."""
    faults(**LAUNCH, status=503, after_work=True)
    with pytest.raises(UnansweredError):
        hasty.launch(spot("node"), REQUEST_ID)
    served.run(served.faults.clear)
    operation = local_world.compute.launch(spot("node"), REQUEST_ID)
    assert [one.id for one in local_world.compute.instances().items] == [operation.target_id]


@pytest.mark.parametrize("outage", OUTAGE)
def test_a_storm_that_passes_goes_unnoticed(
    local_world: LocalWorld, faults: Faults, outage: dict[str, object]
):
    """Lists and looks get through once Compute Engine answers again."""
    operation = local_world.compute.launch(spot("node"), REQUEST_ID)
    faults(service="compute", **outage, count=3)
    assert names(local_world) == ["node"]
    faults(service="compute", **outage, count=3)
    assert len(local_world.compute.operations(local_world.now()).items) == 1
    faults(service="compute", **outage, count=3)
    assert local_world.compute.operation(ZONE, operation.name).name == operation.name


@pytest.mark.parametrize("outage", OUTAGE)
@pytest.mark.parametrize(
    "call",
    [
        lambda engine: engine.instances(),
        lambda engine: engine.operations(datetime(2026, 1, 5, tzinfo=UTC)),
        lambda engine: engine.launch(spot("node"), REQUEST_ID),
        lambda engine: engine.operation(ZONE, "operation-1"),
        lambda engine: engine.start(ZONE, "17", REQUEST_ID),
        lambda engine: engine.delete(ZONE, "17", REQUEST_ID),
        lambda engine: engine.resource(ZONE, "17"),
        lambda engine: engine.offers("e2-medium", []),
    ],
    ids=["instances", "operations", "launch", "operation", "start", "delete", "resource", "offers"],
)
def test_a_storm_that_does_not_pass_is_no_answer(
    hasty: ComputeEngine,
    faults: Faults,
    outage: dict[str, object],
    call: Callable[[ComputeEngine], object],
):
    """It must be neither an empty list nor a refusal: nobody knows."""
    faults(service="compute", **outage)
    with pytest.raises(UnansweredError):
        call(hasty)


def test_many_who_ask_with_one_request_id_get_one_vm(world: World):
    """All of them are told of the same operation."""
    barrier = Barrier(RACERS)

    def launch(_racer: int) -> str:
        barrier.wait()
        return world.compute.launch(spot("node"), REQUEST_ID).name

    with ThreadPoolExecutor(RACERS) as pool:
        told = set(pool.map(launch, range(RACERS)))
    assert len(told) == 1
    assert names(world) == ["node"]


def test_many_who_ask_for_one_name_get_one_vm(world: World):
    """One is accepted; the others learn that the name is taken."""
    barrier = Barrier(RACERS)

    def launch(racer: int) -> str:
        barrier.wait()
        try:
            return world.compute.launch(spot("node"), REQUEST_ID[:-2] + f"{racer:02x}").target_id
        except RejectedError as refused:
            return refused.code

    with ThreadPoolExecutor(RACERS) as pool:
        told = list(pool.map(launch, range(RACERS)))
    assert told.count("alreadyExists") == RACERS - 1
    assert [one.id in told for one in world.compute.instances().items] == [True]
