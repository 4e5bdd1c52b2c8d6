"""Whom a signed link is for: one deployment, and no other with the same keys."""

import msgspec

from spotwarden.engine.settings import Settings


def audience(settings: Settings) -> str:
    """What names this deployment: its project, its bucket and the folder in it."""
    return msgspec.json.encode((settings.project, settings.bucket, settings.layout.prefix)).decode()
