"""What goes wrong outside of us is told in a sentence, and a fault of ours with its traceback."""

import errno

import pytest
from click.testing import CliRunner
from google.api_core.exceptions import Forbidden
from google.auth.exceptions import DefaultCredentialsError

from spotwarden.cli.complaints import complaint
from spotwarden.cli.main import main
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
            DefaultCredentialsError("no credentials"),
            (
                "Google Cloud refused the request: no credentials\n"
                "To log in: gcloud auth application-default login"
            ),
        ),
        (
            RejectedError("forbidden", "Required 'compute.instances.list' permission"),
            (
                "Google Cloud refused the request: forbidden: Required 'compute.instances.list' permission\n"
                "Ask whoever runs the project for the role. docs/deploy/permissions.md lists who needs which"
            ),
        ),
        (
            Forbidden("storage.objects.create denied"),
            (
                "Google Cloud refused the request: 403 storage.objects.create denied\n"
                "Ask whoever runs the project for the role. docs/deploy/permissions.md lists who needs which"
            ),
        ),
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


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("command", [("cases", "list"), ("jobs",)])
def test_a_bucket_that_is_not_there_is_said_so(command):
    """With its name; the exit status is 1."""
    done = CliRunner().invoke(main, list(command), env=SETTINGS)
    assert done.exit_code == 1
    assert done.output.startswith("Error: Google Cloud refused the request: 404")
    assert "no-bucket" in done.output
    assert "spotwarden config set bucket" in done.output


def test_a_prefix_that_cannot_be_one_is_said_so():
    """With how to write it."""
    done = CliRunner().invoke(main, ["cases", "list"], env={**SETTINGS, "SPOTWARDEN_PREFIX": "users"})
    assert "SPOTWARDEN_PREFIX is 'users'; " in done.output
    assert "such as users/" in done.output
