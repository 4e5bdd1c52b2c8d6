"""Commands as a user types them, against a bucket of the local cloud."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from spotwarden.cli.main import main
from spotwarden.gcp.storage import CloudStorage
from spotwarden.layout import CaseRecord, Layout
from spotwarden.model.case import Case
from tests.contract.local_world import LocalWorld
from tests.contract.retry_policies import QUICK
from tests.contract.served import PROJECT, Served

_buckets = itertools.count(1)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The local cloud's storage, and Google's own variable pointing at it."""
    with Served(tmp_path_factory.mktemp("storage")) as services, pytest.MonkeyPatch.context() as patch:
        patch.setenv("STORAGE_EMULATOR_HOST", services.url)
        patch.setenv("DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA", "true")
        yield services


class Workstation:
    """A developer at a shell, and the bucket that the commands work on."""

    def __init__(self, store: CloudStorage, bucket: str, policy: str, pubsub: str) -> None:
        self.store = store
        self.bucket = bucket
        self.policy = policy
        self.layout = Layout()
        self._environment = {
            "SPOTWARDEN_PROJECT": PROJECT,
            "SPOTWARDEN_BUCKET": bucket,
            "SPOTWARDEN_NOTICES": "notices",
            "SPOTWARDEN_OWNER": "ada@example.com",
            "SPOTWARDEN_POLICY": policy,
            "SPOTWARDEN_PUBSUB_ENDPOINT": pubsub,
            # Whoever runs the tests may have configured something: it is not theirs to decide here.
            "XDG_CONFIG_HOME": str(Path(policy).parent / "config"),
        }

    def run(self, *words: str) -> Result:
        """Run `spotwarden …` and give what came of it."""
        return CliRunner().invoke(main, list(words), env=self._environment)

    def ok(self, *words: str) -> str:
        """Run it, expect success, give its output."""
        done = self.run(*words)
        assert done.exit_code == 0, done.output
        return done.output

    def refused(self, *words: str) -> str:
        """Run it, expect a refusal, give its words."""
        done = self.run(*words)
        assert done.exit_code in {1, 2}, done.output
        return done.output

    def file(self, case: Case) -> None:
        """Put a case on record."""
        name = self.layout.build(CaseRecord(rule=case.rule, key=case.key))
        self.store.write(name, msgspec.json.encode(case), generation=None)

    def case(self, rule: str, key: str) -> Case:
        """A case as it is on record."""
        stored = self.store.read(self.layout.build(CaseRecord(rule=rule, key=key)))
        assert stored is not None
        return msgspec.json.decode(stored.data, type=Case)


@pytest.fixture
def world(served: Served) -> Iterator[LocalWorld]:
    """Compute Engine of the local cloud, which knows its zones."""
    world = LocalWorld(served)
    yield world
    world.close()


@pytest.fixture
def workstation(served: Served, tmp_path: Path) -> Iterator[Workstation]:
    """A shell with a bucket of its own, and no policy file."""
    bucket = f"commands-{next(_buckets)}"
    served.run(lambda: served.storage.ensure_bucket(bucket))
    store = CloudStorage(bucket=bucket, retry_policy=QUICK)
    yield Workstation(store, bucket, str(tmp_path / "policy.toml"), f"http://{served.grpc}")
    store.close()
