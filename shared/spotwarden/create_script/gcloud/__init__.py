"""gcloud's command line → the requests that gcloud would send, without gcloud."""

from collections.abc import Sequence

from spotwarden.create_script.gcloud.request import Defaults, Note, Request, Translation
from spotwarden.create_script.request.command import SimpleCommand

__all__ = ["Defaults", "Note", "Request", "Translation", "requests", "translate"]


def translate(commands: Sequence[SimpleCommand], defaults: Defaults) -> Translation:
    """Go through the commands of a script in the order in which bash would run them.

    Every `gcloud compute instances create`, `bulk create` and `create-with-container` becomes the
    requests that gcloud sends for it; `gcloud config` and `CLOUDSDK_…` variables are followed;
    every other gcloud command is a note, and commands of other programs are passed over.

    Raises `Refused`, with the line, for what gcloud refuses and for what cannot be known without
    asking the API.
    """
    from spotwarden.create_script.gcloud.session import GcloudSession

    session = GcloudSession(defaults)
    for command in commands:
        session.read(command)
    session.end()
    return Translation(requests=tuple(session.requests), notes=tuple(session.notes))


def requests(commands: Sequence[SimpleCommand], defaults: Defaults) -> list[Request]:
    """Give the requests alone; see `translate`."""
    return list(translate(commands, defaults).requests)
