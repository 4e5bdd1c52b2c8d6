"""Least privilege: what a function is granted it needs, and what it needs it is granted.

Each scene plays one function through a real local cloud, which holds it to its row of `functions.yaml`. A
permission that no scene needs is named here; without any one that is granted, a scene fails.
"""

import os
from collections.abc import Iterator, Mapping

import pytest

from tests.localcloud.permissions import governing, recovering, telling  # noqa: F401 - they register scenes
from tests.localcloud.permissions.scenes import SCENES, Scene
from tests.localcloud.permissions.stage import all_of, manifest

Needed = Mapping[Scene, tuple[frozenset[str], float]]
"""What a scene needs, and how many seconds of the processor it takes."""

NAMES = [function.name for function in manifest().functions]
PAIRS = [(name, permission) for name in NAMES for permission in all_of(name)]


@pytest.fixture(scope="module")
def needed() -> Needed:
    """Every scene, played once with all that is granted."""
    return dict(_played())


def _played() -> Iterator[tuple[Scene, tuple[frozenset[str], float]]]:
    for scene in SCENES:
        before = os.times()
        with scene.stage() as stage:
            scene.play(stage)
            used, refused = frozenset(stage.account.used), dict(stage.account.refused)
        assert refused == {}, f"{scene.name} is refused {sorted(refused)}"
        yield scene, (used, os.times().user - before.user)


@pytest.mark.parametrize("function", NAMES)
def test_a_function_needs_all_that_it_is_granted(needed: Needed, function: str):
    """And each permission stands in the register with a scene of its own function."""
    used = {name for scene, (names, _) in needed.items() if scene.function == function for name in names}
    assert sorted(set(all_of(function)) - used) == []


@pytest.mark.parametrize(("function", "permission"), PAIRS, ids=["-".join(pair) for pair in PAIRS])
def test_without_a_permission_a_function_fails(needed: Needed, function: str, permission: str):
    """It is refused, and does not do its work: the shortest scene that needs it shows so."""
    fitting = {
        scene: seconds
        for scene, (names, seconds) in needed.items()
        if scene.function == function and permission in names
    }
    assert fitting, f"no scene of {function} needs {permission}"
    scene = min(fitting, key=lambda one: fitting[one])
    with scene.stage(without=permission) as stage:
        with pytest.raises(Exception):  # noqa: B017, PT011 - whatever comes of it first
            scene.play(stage)
        assert stage.account.refused[permission] > 0
