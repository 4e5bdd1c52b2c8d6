"""google-cloud-storage's own system tests, from its source distribution."""

from tests.clients.installing import source, venv
from tests.clients.lane import asked
from tests.clients.outcomes import differences, expected
from tests.clients.suite import play_suite, service_account_key

pytestmark = asked

ELSEWHERE = ["test_rapid.py", "test_kms_integration.py"]
"""What only real services can answer: gRPC to zonal buckets, and Cloud KMS."""

TRACES = "DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA"
"""A setting of `spotwarden local env` that some of the tests are about."""

TOKENS = "not w_access_token"
"""Those two ask iamcredentials.googleapis.com, whatever the endpoint is."""


def test_its_system_tests_come_out_as_expected(cloud, home):
    """With a service account's key, and the endpoint overridden; so less is skipped than with an emulator."""
    wanted = expected("google_cloud_storage")
    python = venv("google_cloud_storage", wanted.install) / "python"
    suite = source(wanted.install[0].replace("[grpc]", "")) / "tests/system"
    ours = {name: value for name, value in cloud.items() if name not in {"STORAGE_EMULATOR_HOST", TRACES}}
    more = {
        "API_ENDPOINT_OVERRIDE": cloud["STORAGE_EMULATOR_HOST"],
        "GOOGLE_APPLICATION_CREDENTIALS": str(
            service_account_key(cloud["STORAGE_EMULATOR_HOST"], home / "key.json")
        ),
    }
    left_out = [f"--ignore={suite / name}" for name in ELSEWHERE]
    words = ["-n", "4", "--timeout=120", *left_out, "-k", TOKENS, f"--rootdir={suite.parent.parent}", suite]
    outcomes, said = play_suite(python, words, ours, home, more=more)
    assert differences(wanted, outcomes) == [], said
