"""The request of one command, at its project."""

from typing import Any
from urllib.parse import quote

from spotwarden.create_script.gcloud.request import Request
from spotwarden.create_script.gcloud.scene import GcloudScene


def request_to(
    scene: GcloudScene, path: str, body: dict[str, Any], query: dict[str, str] | None = None
) -> Request:
    """The insert at this path below the project of the scene."""
    project = quote(scene.project, safe="")
    return Request(
        method="POST",
        path=f"/compute/{scene.track}/projects/{project}/{path}",
        query={"alt": "json"} | (query or {}),
        body=body,
    )
