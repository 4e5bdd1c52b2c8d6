"""What one version of gcloud has and another has not, in words."""

from spotwarden.model.gcloud import VERSIONS


def newer(what: str, first: int, read: int) -> str:
    """Say that the gcloud whose commands are read lacks this, and what to do about it."""
    update = f"set gcloud_version to {first}" if first in VERSIONS else "update Spotwarden"
    return (
        f"{what}: gcloud {first} or newer has it, and gcloud {read} is read here; "
        f"{update}, or put it into an instance template"
    )
