"""Each staged function, built as Google builds it and with only its requirements, starts and answers."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tests.infra.clean_room import EXPORTED, ROOT, Running, build, furnish, local_cloud, pushed
from tests.long import long, some

ROWS = yaml.safe_load((ROOT / "infra/functions.yaml").read_text())["functions"]
NAMES = [row["name"] for row in ROWS]
PAGES = {row["name"] for row in ROWS if "http" in row}


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A local cloud in a process of its own: the environment of a function in it."""
    with local_cloud(tmp_path_factory.mktemp("state")) as environment:
        yield environment


@pytest.fixture(scope="module")
def site(staging: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder with a function's packages, shared by all that need the same."""
    made: dict[str, Path] = {}

    def of(name: str) -> Path:
        requirements = staging / name / "requirements.txt"
        if (text := requirements.read_text()) not in made:
            made[text] = tmp_path_factory.mktemp("site")
            furnish(requirements, made[text])
        return made[text]

    return of


@pytest.fixture
def start(
    staging: Path, site: Callable[[str], Path], cloud: dict[str, str], tmp_path: Path
) -> Callable[..., Running]:
    """Build a staged function as the platform does, and start it."""

    def started(name: str, *, epoch: bool = True) -> Running:
        build(staging / f"{name}.zip", tmp_path / "workspace", epoch=epoch)
        return Running(tmp_path / "workspace", name, site(name), cloud)

    return started


def recompiled(folder: Path) -> int:
    """How many modules Python compiled anew since the image was made."""
    return sum(one.stat().st_mtime != EXPORTED for one in folder.rglob("*.pyc"))


@pytest.mark.parametrize("name", some(NAMES))
def test_a_staged_function_answers_its_first_event(name: str, start: Callable[..., Running], tmp_path: Path):
    """A tick as Pub/Sub pushes it, or its page opened without a link; nothing is compiled for it."""
    with start(name) as running:
        status = running.ask() if name in PAGES else running.push(pushed("tick", name))
    assert status in ({200, 400} if name in PAGES else {200}), running.said
    assert recompiled(tmp_path) == 0


@long
def test_without_the_date_of_the_source_all_would_be_compiled_at_each_start(
    start: Callable[..., Running], tmp_path: Path
):
    """Why our deployment sets it: the builder's own files are dated, and the image's dates are all one."""
    with start("check_compliance", epoch=False) as running:
        assert running.push(pushed("tick", "check_compliance")) == 200, running.said
    assert recompiled(tmp_path) > 50


def test_a_tick_without_data_would_be_refused(start: Callable[..., Running]):
    """Why every Scheduler job sends some: the framework takes a push without data for something else."""
    with start("check_compliance") as running:
        assert running.push(pushed("tick without data", "check_compliance")) >= 400
        assert running.push(pushed("tick", "check_compliance")) == 200
