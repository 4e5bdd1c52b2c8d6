"""What is remembered of places is read once a sweep, however many jobs ask for it at once."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError

from msgspec.structs import replace

from spotwarden.recovery.places.memory import PlaceMemory

MEET_SECONDS = 0.2


def test_two_jobs_at_once_read_the_memory_once(world, some, policy, tick):
    """The second waits for what the first has read; each read would be two calls."""
    job = some.job(launch=replace(some.launch(), machine="g2-standard-4"))
    cloud, reads, both = world.cloud.ports(), [], Barrier(2)
    read = world.cloud.store.read

    def met(name, **how):
        reads.append(name)
        with suppress(BrokenBarrierError):
            both.wait(MEET_SECONDS)
        return read(name, **how)

    world.cloud.store.read = met
    places = PlaceMemory(cloud, world.layout, policy, tick)
    with ThreadPoolExecutor(2) as pool:
        known = [*pool.map(places.recall, [job, job])]
    assert sorted(reads) == ["spotwarden/avoided-zones.json", "spotwarden/placement/g2-standard-4.json"]
    assert known[0].places == known[1].places


def test_an_answer_that_lacks_zones_is_asked_for_again(world, some, policy, tick):
    """It would send jobs to the other zones alone for a day; what was known of the missing ones stands."""
    job = some.job(launch=replace(some.launch(), machine="g2-standard-4"))
    cloud = world.cloud.ports()
    everywhere = PlaceMemory(cloud, world.layout, policy, tick).recall(job).places
    later = replace(tick, now=tick.now + policy.placement.offers_fresh)
    world.cloud.compute.hide("us-central1-b")
    partly = PlaceMemory(cloud, world.layout, policy, later).recall(job).places
    assert (partly.offered, partly.offered_at) == (everywhere.offered, everywhere.offered_at)
    world.cloud.compute.show("us-central1-b")
    whole = PlaceMemory(cloud, world.layout, policy, later).recall(job).places
    assert (whole.offered, whole.offered_at) == (everywhere.offered, later.now)
