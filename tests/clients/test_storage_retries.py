"""Google's retry conformance scenarios for clients of Cloud Storage, as google-cloud-storage plays them."""

from tests.clients.installing import source, venv
from tests.clients.lane import asked
from tests.clients.outcomes import differences, expected
from tests.clients.suite import play_suite

pytestmark = asked


def test_the_scenarios_come_out_as_expected(serve, home):
    """The suite starts Google's testbench by docker; where it listens, the local cloud does."""
    wanted = expected("storage_retries")
    python = venv("storage_retries", wanted.install) / "python"
    suite = source(wanted.install[0])
    docker = home / "docker"
    docker.write_text("#!/bin/sh\n")
    docker.chmod(0o755)
    words = [
        "-n",
        "6",
        "--timeout=120",
        f"--rootdir={suite}",
        suite / "tests/conformance/test_conformance.py",
    ]
    with serve("--no-machines", "--project", "my-project-id") as cloud:
        more = {"PATH": f"{home}:{cloud.get('PATH', '/usr/bin:/bin')}"}
        outcomes, said = play_suite(python, words, cloud, home, more=more, limit=560)
    assert differences(wanted, outcomes) == [], said
