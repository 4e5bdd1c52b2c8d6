"""Least privilege: what a function is granted it needs, and what it needs it is granted.

Each scene plays one function through a real local cloud, which holds it to its row of `functions.yaml`. A
permission that no scene needs is named here; without any one that is granted, a scene fails.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest

from tests.localcloud.permissions import (  # noqa: F401 - they register scenes
    governing,
    recovering,
    reporting,
    slicing,
    telling,
)
from tests.localcloud.permissions.scenes import SCENES, Scene
from tests.localcloud.permissions.stage import all_of, manifest, row
from tests.long import some

Needed = Mapping[Scene, tuple[frozenset[str], float]]
"""The permissions that a scene needs and the patterns it writes by; its cost, in processor seconds."""

NAMES = [function.name for function in manifest().functions]
ALL_PAIRS = [(name, permission) for name in NAMES for permission in all_of(name)]


def chosen() -> list[tuple[str, str]]:
    """Each permission once, of the function chosen least so far, or some of them (tests/long.py).

    SPOTWARDEN_PERMISSIONS=all are those of all functions.

    Without any one of the others a scene is refused something as well, and the fixture says so.
    """
    if os.environ.get("SPOTWARDEN_PERMISSIONS") == "all":
        return ALL_PAIRS
    pairs: dict[str, str] = {}
    for permission in sorted({permission for _, permission in ALL_PAIRS}):
        having = [name for name, held in ALL_PAIRS if held == permission]
        pairs[permission] = min(having, key=lambda name: list(pairs.values()).count(name))
    return list(some([(name, permission) for permission, name in pairs.items()]))


PAIRS = chosen()
WRITES = some([(one.name, pattern) for one in manifest().functions for pattern in one.bucket_writes])


@pytest.fixture(scope="module")
def needed() -> Needed:
    """Every scene, played once with all that is granted."""
    return dict(_played())


def _played() -> Iterator[tuple[Scene, tuple[frozenset[str], float]]]:
    for scene in SCENES:
        before = os.times()
        with scene.stage() as stage:
            scene.play(stage)
            used = frozenset(stage.account.used | stage.account.written)
            refused = dict(stage.account.refused)
        assert refused == {}, f"{scene.name} is refused {sorted(refused)}"
        yield scene, (used, os.times().user - before.user)


@pytest.mark.parametrize("function", NAMES)
def test_a_function_needs_all_that_it_is_granted(needed: Needed, function: str):
    """What no scene needs is named: a permission, or a pattern of the objects that it may write."""
    used = {name for scene, (names, _) in needed.items() if scene.function == function for name in names}
    assert sorted({*all_of(function), *row(function).bucket_writes} - used) == []


@pytest.mark.parametrize(("function", "permission"), PAIRS, ids=["-".join(pair) for pair in PAIRS])
def test_without_a_permission_a_function_fails(needed: Needed, function: str, permission: str):
    """It is refused, and does not do its work: the shortest scene that needs it shows so."""
    refused = play_without(needed, function, permission)
    assert refused[permission] > 0


@pytest.mark.parametrize(("function", "pattern"), WRITES, ids=[": ".join(pair) for pair in WRITES])
def test_without_some_of_the_bucket_a_function_fails(needed: Needed, function: str, pattern: str):
    """As without a permission: it has something to write, or to delete, there."""
    refused = play_without(needed, function, pattern)
    assert refused["storage.objects.create"] + refused["storage.objects.delete"] > 0


def play_without(needed: Needed, function: str, what: str) -> Counter[str]:
    """Play the scenes of a function that use this, without it, until one fails; gives what that was refused.

    The shortest comes first. A scene may use what it can do without: what it has seen is then not on record.
    """
    fitting = {
        scene: seconds
        for scene, (names, seconds) in needed.items()
        if scene.function == function and what in names
    }
    assert fitting, f"no scene of {function} uses {what}"
    for scene in sorted(fitting, key=lambda scene: fitting[scene]):
        with scene.stage(without=what) as stage:
            try:
                scene.play(stage)
            except Exception:  # noqa: BLE001 - whatever comes of it first
                return stage.account.refused
    pytest.fail(f"each scene of {function} does without {what}: {[scene.name for scene in fitting]}")
