"""What holds for all tests."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest
from hypothesis import settings

from tests.long import ALL
from tests.typed.first_use import watched
from tests.watchdog import watch_the_end

pytest_plugins = ["tests.fakes.decisions", "tests.fakes.world"]

# Another gcloud than the one of this machine, for all tests that run it.
if NAMED := os.environ.get("SPOTWARDEN_GCLOUD"):
    os.environ["PATH"] = f"{Path(NAMED).absolute().parent}:{os.environ['PATH']}"

# How long an example takes says nothing about the code: machines differ, and are busy.
# The same examples each time: a change is refused for what it did. SPOTWARDEN_LONG=all looks for new ones.
settings.register_profile("unhurried", deadline=None, max_examples=100 if ALL else 25, derandomize=not ALL)
settings.load_profile("unhurried")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Nothing that a test has left behind keeps the process from ending."""
    watch_the_end()


def pytest_collection_finish() -> None:
    """Thousands of collected tests are there to stay: no search for garbage needs to go over them again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def _one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A client reads one certificate: to read all takes each of httpx 40 ms, even one of plain http."""
    first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----\n")
    file = tmp_path_factory.mktemp("certifi") / "one.pem"
    file.write_text(first + end, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certifi, "where", lambda: str(file))
        yield


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_built_in_a_pool() -> Iterator[None]:
    """Whatever the tests have functions and commands do: each type was built at the import of its reader."""
    with watched() as first_use:
        yield
    assert first_use.late == []
