"""`cd "$(dirname "$0")"`: scripts go to their own folder, by whatever path they were called."""

import pytest

from spotwarden.create_script.bash.evaluator.script import run_script
from spotwarden.create_script.refusal import ScriptRefused

FILES = {"a.txt": b"beside", "d/a.txt": b"below", "d/go.sh": b'cd "$(dirname "$0")"; gcloud x\n'}


def seen(text: str) -> bytes | None:
    """What gcloud would find in its folder under this name; None if that is not known."""
    run = run_script(text.encode(), files=FILES, environment={})
    try:
        return run.commands[-1].files["a.txt"]
    except ScriptRefused:
        return None


@pytest.mark.parametrize(
    "text",
    [
        'cd "$(dirname "$0")"',
        'cd -- "$(dirname -- "${BASH_SOURCE[0]}")" || exit 1',
        'HERE="$(dirname "$BASH_SOURCE")"; cd "$HERE"',
        'if true; then cd "$(dirname "$0")"; fi',
    ],
)
def test_a_script_that_goes_to_its_own_folder_stays_there(text):
    """Its files are those beside it."""
    assert seen(f"{text}\ngcloud x") == b"beside"


@pytest.mark.parametrize(
    "text",
    [
        'cd d; cd "$(dirname "$0")"',
        'cd "$(dirname "$0")/d"',
        'cd $(dirname "$0")',
        'cd "$(dirname "$0" x)"',
        'cd "$(dirname "$0.sh")"',
        'cd "$(dirname "${BASH_SOURCE[1]}")"',
        'dirname() { echo d; }; cd "$(dirname "$0")"',
    ],
)
def test_whatever_may_lead_elsewhere_is_not_known(text):
    """A relative name of the script leads from where the shell is, and a function may be of another file."""
    assert seen(f"{text}\ngcloud x") is None


def test_a_script_that_is_run_from_another_has_a_folder_of_its_own():
    """`$0` is then that script."""
    assert seen("bash d/go.sh") is None
