"""The versions of gcloud whose commands are read, oldest first; `surface_table.py` holds what each takes."""

OLDEST, NEWEST = 528, 578
VERSIONS = (OLDEST, NEWEST)


def newer(what: str, first: int, read: int) -> str:
    """Say that the gcloud whose commands are read lacks this, and what to do about it."""
    update = f"set gcloud_version to {first}" if first in VERSIONS else "update Spotwarden"
    return (
        f"{what}: gcloud {first} or newer has it, and gcloud {read} is read here; "
        f"{update}, or put it into an instance template"
    )
