"""The register of scenes: each a story in which one function needs some of its permissions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.localcloud.permissions.stage import Stage

Play = Callable[[Stage], None]


@dataclass(frozen=True, eq=False)
class Scene:
    """A story of a function; `play` fails unless the function does its work. `policy` are sections of it."""

    function: str
    play: Play
    policy: dict[str, Any]

    @property
    def name(self) -> str:
        """How it is called."""
        return f"{self.function}: {self.play.__name__}"

    def stage(self, without: str = "") -> Stage:
        """Where it is played; without a permission, if one is named."""
        return Stage(self.function, without=without, **self.policy)


SCENES: list[Scene] = []


def scene(function: str, **policy: Any) -> Callable[[Play], Play]:
    """Put a story into the register."""

    def put(play: Play) -> Play:
        SCENES.append(Scene(function, play, policy))
        return play

    return put
