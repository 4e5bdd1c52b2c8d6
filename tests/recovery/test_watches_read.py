"""The list of open jobs is read page by page, and one entry that is broken hides no other."""

from typing import Self

import msgspec
import pytest

from spotwarden.engine.cache import GenerationCache
from spotwarden.layout import Layout, OpenJob
from spotwarden.model.watch import Watch
from spotwarden.recovery.folder.open_jobs import read_watches
from tests.fakes.cloud import MemoryCloud, memory_cloud

LAYOUT = Layout()


@pytest.fixture
def cloud() -> MemoryCloud:
    """A bucket that nothing is remembered of."""
    GenerationCache.forget()
    return memory_cloud()


def write(cloud: MemoryCloud, job: str, *, shown: bool = True, data: bytes = b"") -> None:
    """An entry, which lists show or do not."""
    data = data or msgspec.json.encode(Watch(job=job, attempt=1, instances={"node": "17"}))
    cloud.store.write(LAYOUT.build(OpenJob(job=job)), data, generation=None, shown=shown)


def counted_reads(cloud: MemoryCloud) -> list[str]:
    """The names of objects that are read from now on."""
    names: list[str] = []
    read = cloud.store.read

    def counted(name, **how):
        names.append(name)
        return read(name, **how)

    cloud.store.read = counted  # type: ignore[method-assign]  # what is counted
    return names


def test_what_rows_show_is_not_read_and_the_order_is_that_of_names(cloud):
    """Also where one in between has to be read."""
    for job, shown in (("a", True), ("b", False), ("c", True)):
        write(cloud, job, shown=shown)
    reads = counted_reads(cloud)
    assert [entry.watch.job for entry in read_watches(cloud.store, LAYOUT, 4).watched] == ["a", "b", "c"]
    assert reads == [LAYOUT.build(OpenJob(job="b"))]


@pytest.mark.parametrize("shown", [True, False])
def test_a_broken_entry_is_told_and_the_others_are_there(cloud, shown):
    """Whether its row shows it or not."""
    write(cloud, "a")
    write(cloud, "b", shown=shown, data=b"{")
    write(cloud, "c")
    found = read_watches(cloud.store, LAYOUT, 4)
    assert [entry.watch.job for entry in found.watched] == ["a", "c"]
    assert set(found.broken) == {"b"}


class Content(bytes):
    """A row's content, counted for as long as anybody has it."""

    alive = 0

    def __new__(cls, text: bytes) -> Self:
        """One more."""
        cls.alive += 1
        return super().__new__(cls, text)

    def __del__(self) -> None:
        """One less."""
        type(self).alive -= 1


def test_contents_of_rows_are_not_kept_until_all_are_read(cloud):
    """Of very many jobs they would weigh more than what is read of them."""
    for number in range(20):
        write(cloud, f"job-{number:02}")
    rows, alive = list(cloud.store.each_entry(LAYOUT.open_jobs())), []

    def listed(_prefix):
        for row in rows:
            alive.append(Content.alive)
            yield msgspec.structs.replace(row, content=Content(row.content))

    cloud.store.each_entry = listed
    assert len(read_watches(cloud.store, LAYOUT, 1).watched) == 20
    assert max(alive) <= 1
