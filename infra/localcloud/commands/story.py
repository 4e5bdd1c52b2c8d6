"""`spotwarden local story`, which `./deploy.sh local` runs."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import click

from localcloud.commands.options import LIMIT
from localcloud.private import keep_private


@click.command()
@click.option(
    "--story",
    "name",
    type=click.Choice(["recovery", "governance", "handover"]),
    default="recovery",
    show_default=True,
    help="Restart of preempted jobs; warnings and stops of VMs that are no longer needed; or hand-over.",
)
@click.option("--once", is_flag=True, help="Exit after the story, also at a terminal.")
@click.option("--state", type=click.Path(path_type=Path), help="Folder for all data [default: temporary].")
@LIMIT
def story(*, name: str, once: bool, state: Path | None, limits: tuple[str, ...]) -> None:
    """Play a demo on a local cloud; fails if a step fails."""
    # The services take a second to import, which the other commands of this group are spared.
    from localcloud.serving import CannotStartError
    from localcloud.story.telling import STORIES, tell_story

    stay = not once and sys.stdin.isatty() and sys.stdout.isatty()
    with tempfile.TemporaryDirectory(prefix="spotwarden-", ignore_cleanup_errors=True) as temporary:
        folder = (state or Path(temporary)).resolve()
        try:
            code = asyncio.run(
                tell_story(folder, stay=stay, story=STORIES[name], umask=keep_private(), limits=limits)
            )
        except* CannotStartError as error:
            raise click.ClickException(str(error.exceptions[0])) from None
        except* BrokenPipeError:
            # Whoever listened has heard enough; what is left in the buffer must not fail at the end, too.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 1
    raise SystemExit(code)
