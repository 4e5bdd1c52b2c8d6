"""Google's messages are imported without Google's clients, and the clients can still be had."""

import subprocess
import sys

import pytest

UNUSED = ("google.auth", "google.api_core.gapic_v1", "google.pubsub_v1.services", "requests")


def run(code: str) -> str:
    """What a process of its own prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


def test_a_local_cloud_imports_no_client_of_google():
    """They would be a quarter of the memory that it has before anybody asks it for anything."""
    code = f"import localcloud.serving, sys; print([name for name in {UNUSED} if name in sys.modules])"
    assert run(code) == "[]"


@pytest.mark.parametrize(
    ("package", "client"),
    [("google.pubsub_v1", "PublisherClient"), ("google.cloud.monitoring_v3", "MetricServiceClient")],
)
def test_a_client_is_there_for_whoever_asks_for_it_afterwards(package: str, client: str):
    """It takes the very messages of the local cloud."""
    code = (
        "import localcloud.google_types as ours\n"
        f"from {package} import {client}, types\n"
        f"print({client}.__name__, types in (ours.pubsub, ours.monitoring))"
    )
    assert run(code) == f"{client} True"


def test_whoever_looks_through_all_modules_imports_no_client():
    """As Python's own `warnings` does under a test."""
    code = (
        "import localcloud.google_types, sys\n"
        "[getattr(module, '__warningregistry__', None) for module in list(sys.modules.values())]\n"
        "print('google.pubsub_v1.services' in sys.modules)"
    )
    assert run(code) == "False"


def test_a_module_of_a_client_is_imported_by_itself():
    """It needs modules of its package, whose own code may only run after it."""
    code = (
        "import localcloud.google_types\n"
        "from google.cloud.monitoring_v3.services.metric_service import MetricServiceClient\n"
        "from google.cloud import monitoring_v3\n"
        "print(monitoring_v3.MetricServiceClient is MetricServiceClient)"
    )
    assert run(code) == "True"
