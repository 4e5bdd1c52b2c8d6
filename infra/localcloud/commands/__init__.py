"""`spotwarden local …`: start a local cloud, point clients at it, and do to it what clouds do to people."""

from localcloud.commands.main import main

__all__ = ["main"]
