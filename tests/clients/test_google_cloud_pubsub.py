"""google-cloud-pubsub's own system tests, from its source distribution."""

from tests.clients.installing import source, venv
from tests.clients.lane import asked
from tests.clients.outcomes import differences, expected
from tests.clients.suite import play_suite

pytestmark = asked

GRPC = "not rest"
"""With an emulator the library's REST transport cannot be made at all: it takes no channel."""


def test_its_system_tests_come_out_as_expected(cloud, home):
    """Over gRPC, as the library goes by default."""
    wanted = expected("google_cloud_pubsub")
    python = venv("google_cloud_pubsub", wanted.install) / "python"
    suite = source(wanted.install[0])
    words = ["-n", "4", "--timeout=120", "-k", GRPC, f"--rootdir={suite}", suite / "tests/system.py"]
    outcomes, said = play_suite(python, words, cloud, home)
    assert differences(wanted, outcomes) == [], said
