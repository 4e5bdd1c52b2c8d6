"""The fake bucket and the real adapter, side by side through anything one can do to a bucket."""

import itertools
from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spotwarden.ports import ConflictError, Store
from tests.contract.retry_policies import OpenStore
from tests.fakes.store import MemoryStore
from tests.long import examples

NAMES = st.sampled_from(["a", "a/b", "a/b/c", "ab/c", "é", "*", "m/1", "m/2"])
DATA = st.sampled_from([b"", b"1", b"22", b"333"])
# A generation by its age: 0 is "nothing there", -1 the newest that was made, -2 the one before it, and so on.
AGES = st.sampled_from([0, 0, None, -1, -1, -1, -2, -3])
STEPS = st.one_of(
    st.tuples(st.just("write"), NAMES, DATA, AGES),
    st.tuples(st.just("delete"), NAMES, st.sampled_from([-1, -1, -2])),
    st.tuples(st.just("read"), NAMES, st.sampled_from([0, 1, 2, 9])),
    st.tuples(
        st.just("entries"), st.sampled_from(["", "a", "a/", "z"]), st.sampled_from(["", "**/?", "a/*"])
    ),
    st.tuples(st.just("folders"), st.sampled_from(["", "a/", "a/b/"])),
)
numbers = itertools.count()


class Walker:
    """Takes steps on one store and tells what it saw, generations as the order in which they were made."""

    def __init__(self, store: Store, prefix: str) -> None:
        self._store = store
        self._prefix = prefix
        self._made: list[int] = []

    def step(self, kind: str, *args: object) -> object:
        """Take one step; errors are part of what is seen."""
        walk: Callable[..., object] = getattr(self, f"_{kind}")
        try:
            return walk(*args)
        except (ConflictError, ValueError) as error:
            return type(error).__name__

    def _generation(self, age: int | None) -> int | None:
        if age is None or age == 0:
            return age
        return self._made[age] if -age <= len(self._made) else 1

    def _write(self, name: str, data: bytes, age: int | None) -> int:
        made = self._store.write(self._prefix + name, data, generation=self._generation(age))
        assert made not in self._made
        self._made.append(made)
        return len(self._made)

    def _delete(self, name: str, age: int) -> bool:
        return self._store.delete(self._prefix + name, generation=self._generation(age) or 1)

    def _read(self, name: str, at_most: int) -> object:
        found = self._store.read(self._prefix + name, at_most=at_most)
        return None if found is None else (found.data, self._made.index(found.generation))

    def _entries(self, prefix: str, glob: str) -> list[tuple[str, int, int]]:
        found = self._store.entries(self._prefix + prefix, glob=glob and self._prefix + glob)
        return [
            (entry.name.removeprefix(self._prefix), entry.size, self._made.index(entry.generation))
            for entry in found
        ]

    def _folders(self, prefix: str) -> list[str]:
        return self._store.folders(self._prefix + prefix)


@given(steps=st.lists(STEPS, max_size=25))
@settings(
    max_examples=examples(75), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_fake_and_adapter_see_the_same(open_store: OpenStore, steps: list[tuple[object, ...]]):
    """What holds for the fake, in every test and simulation that uses it, holds for the real thing."""
    prefix = f"{next(numbers)}/"
    real, fake = Walker(open_store(), prefix), Walker(MemoryStore(), prefix)
    for step in steps:
        assert real.step(*step) == fake.step(*step)
