"""What goes wrong outside of us is told in a sentence, and a fault of ours with its traceback."""

import errno

import pytest
from click.testing import CliRunner
from google.api_core.exceptions import Forbidden, NotFound
from google.auth.exceptions import DefaultCredentialsError, RefreshError

from spotwarden.cli.complaints import complaint
from spotwarden.cli.main import main
from spotwarden.cli.next_steps import role_to_ask_for
from spotwarden.layout import NotInLayoutError
from spotwarden.ports import BrokenError, RejectedError, UnansweredError
from tests.contract.served import PROJECT

SETTINGS = {"SPOTWARDEN_PROJECT": PROJECT, "SPOTWARDEN_BUCKET": "no-bucket", "SPOTWARDEN_NOTICES": "notices"}


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            UnansweredError("timed out"),
            (
                "Google Cloud doesn't respond: timed out\nCheck your network. If you use the local cloud,"
                " check it with: spotwarden local status"
            ),
        ),
        (
            UnansweredError(
                "RetryError: Timeout of 20.0s exceeded, last exception: HTTPConnectionPool(host='127.0.0.1',"
                " port=9): Max retries exceeded with url: /storage/v1/b/b/o (Caused by NewConnectionError("
                "\"HTTPConnection(host='127.0.0.1', port=9): Failed to establish a new connection: "
                '[Errno 111] Connection refused"))'
            ),
            (
                "Google Cloud doesn't respond: 127.0.0.1:9: Connection refused\nCheck your network. If you"
                " use the local cloud, check it with: spotwarden local status"
            ),
        ),
        (
            UnansweredError(
                "HTTPConnectionPool(host='metadata.google.internal', port=80): Max retries exceeded"
            ),
            "this machine has no Google Cloud credentials\nTo log in: gcloud auth application-default login",
        ),
        (
            RefreshError("Failed to retrieve http://metadata.google.internal/computeMetadata/v1/universe"),
            "this machine has no Google Cloud credentials\nTo log in: gcloud auth application-default login",
        ),
        (
            DefaultCredentialsError("no credentials"),
            (
                "no usable Google Cloud credentials: no credentials\n"
                "To log in: gcloud auth application-default login"
            ),
        ),
        (
            RejectedError("forbidden", "Required 'compute.instances.list' permission"),
            (
                "Google Cloud refused the request: forbidden: Required 'compute.instances.list' permission\n"
                "Ask an administrator of the project for roles/compute.viewer on the project (to launch and"
                " stop jobs: roles/compute.instanceAdmin.v1)"
                ". Roles: docs/deploy/permissions.md\nThen run the command again"
            ),
        ),
        (
            Forbidden("storage.objects.create denied"),
            (
                "Google Cloud refused the request: 403 storage.objects.create denied\n"
                "Ask an administrator of the project for roles/storage.objectUser on the bucket"
                ". Roles: docs/deploy/permissions.md\nThen run the command again"
            ),
        ),
        (
            Forbidden(
                "GET https://storage.googleapis.com/storage/v1/b/jobs/o: ada lacks storage.objects.list"
            ),
            (
                "Google Cloud refused the request: 403 ada lacks storage.objects.list\n"
                "Ask an administrator of the project for roles/storage.objectViewer on the bucket (to"
                " launch jobs: roles/storage.objectUser)"
                ". Roles: docs/deploy/permissions.md\nThen run the command again"
            ),
        ),
        (
            Forbidden(
                'POST https://storage.googleapis.com/u: {"error":{"message":"ada does not have'
                ' storage.objects.create access.","errors":[{"message":"ada"}]}}: (\'Request failed\', 403)'
            ),
            (
                "Google Cloud refused the request: 403 ada does not have storage.objects.create access.\n"
                "Ask an administrator of the project for roles/storage.objectUser on the bucket"
                ". Roles: docs/deploy/permissions.md\nThen run the command again"
            ),
        ),
        (
            Forbidden('POST https://storage.googleapis.com/u: {"error":{"message":"a \\x b"}}'),
            (
                'Google Cloud refused the request: 403 {"error":{"message":"a \\x b"}}\n'
                "Ask an administrator of the project for the role that this needs"
                ". Roles: docs/deploy/permissions.md\nThen run the command again"
            ),
        ),
        (
            UnansweredError("no answer within 20 s; last: rateLimitExceeded: Quota exceeded"),
            (
                "Google Cloud refuses further requests for now: no answer within 20 s; last:"
                " rateLimitExceeded: Quota exceeded\nThe project makes too many requests. Wait a minute, then"
                " run the command again"
            ),
        ),
        (
            NotFound("Resource not found (resource=n)."),
            (
                "there is no Pub/Sub topic 'n'\nCheck its name with: spotwarden config list\n"
                "To change it: spotwarden config set notices my-topic"
            ),
        ),
        (NotFound("no object"), "Google Cloud refused the request: 404 no object"),
        (RejectedError("refused", "no such mailbox"), "refused: no such mailbox"),
        (BrokenError("x.json: truncated"), "x.json: truncated"),
        (NotInLayoutError("x", "no job"), "'x': no job"),
        (
            OSError(errno.ENOSPC, "No space left on device", "a/b"),
            "this machine doesn't allow it: No space left on device: a/b",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied"),
            "this machine doesn't allow it: Permission denied",
        ),
        (OSError(errno.ENOENT, "No such file or directory", "x"), ""),
        (KeyError("x"), ""),
        (ValueError("x"), ""),
    ],
)
def test_a_person_is_told_what_a_person_can_mend(error, says):
    """Of a fault of ours the traceback says more."""
    assert complaint(error) == says


@pytest.mark.parametrize(
    ("said", "role"),
    [
        ("Required 'compute.instances.create' permission", "roles/compute.instanceAdmin.v1 on the project."),
        ("ada lacks storage.objects.delete access", "roles/storage.objectUser on the bucket."),
        ("ada does not have access to service account 'x'", "roles/iam.serviceAccountUser on the service"),
        ("logging.logEntries.list denied", "roles/logging.viewer on the project."),
        ("pubsub.topics.publish denied", "roles/pubsub.publisher on the topic"),
        ("storage.buckets.get denied", "the role that this needs."),
        ("Forbidden", "the role that this needs."),
    ],
)
def test_a_missing_permission_comes_with_the_role_that_has_it(said, role):
    """A role is named only for a permission that Google named and that the role has."""
    asked = role_to_ask_for(said)
    assert asked.startswith(f"Ask an administrator of the project for {role}")
    assert asked.endswith("docs/deploy/permissions.md")


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("command", [("cases", "list"), ("jobs",)])
def test_a_bucket_that_is_not_there_is_said_so(command):
    """With its name; the exit status is 1."""
    done = CliRunner().invoke(main, list(command), env=SETTINGS)
    assert done.exit_code == 1
    assert done.output.startswith("Error: there is no bucket 'no-bucket'\n")
    assert "spotwarden config set bucket" in done.output
    assert "http" not in done.output


@pytest.mark.parametrize(
    ("known", "missing"),
    [
        ({}, ["project my-project", "bucket my-bucket", "notices spotwarden-notices"]),
        ({"SPOTWARDEN_PROJECT": "p", "SPOTWARDEN_BUCKET": "b"}, ["notices spotwarden-notices"]),
    ],
)
def test_a_setting_that_is_missing_comes_with_the_command_that_sets_it(tmp_path, known, missing):
    """Each that is missing, and no other."""
    unset = dict.fromkeys(SETTINGS)
    unset = {**unset, "SPOTWARDEN_LOCAL_URL": None, "XDG_CONFIG_HOME": str(tmp_path)}
    done = CliRunner().invoke(main, ["jobs"], env={**unset, **known})
    typed = [line.strip() for line in done.output.splitlines() if line.startswith("  ")]
    assert typed == [f"spotwarden config set {setting}" for setting in missing]
    assert 'eval "$(spotwarden local env)"' in done.output


def test_a_local_cloud_without_functions_is_told_how_to_get_a_bucket(tmp_path):
    """Its `env` was just typed, so that is no advice."""
    unset = {**dict.fromkeys(SETTINGS), "XDG_CONFIG_HOME": str(tmp_path)}
    done = CliRunner().invoke(main, ["jobs"], env={**unset, "SPOTWARDEN_LOCAL_URL": "http://127.0.0.1:1"})
    assert "spotwarden local serve --functions" in done.output
    assert "local env" not in done.output


@pytest.mark.parametrize(("typed", "meant"), [("rnu", "run"), ("job", "jobs"), ("statsu", ""), ("xyz", "")])
def test_a_mistyped_command_is_told_which_was_meant(typed, meant):
    """Where one is near; nothing is guessed else."""
    done = CliRunner().invoke(main, [typed])
    assert done.exit_code == 2
    assert (f"did you mean `{meant}`?" in done.output) is bool(meant)
    assert typed in done.output


def test_a_prefix_that_cannot_be_one_is_said_so():
    """With how to write it."""
    done = CliRunner().invoke(main, ["cases", "list"], env={**SETTINGS, "SPOTWARDEN_PREFIX": "users"})
    assert "SPOTWARDEN_PREFIX is 'users'; " in done.output
    assert "such as users/" in done.output
