"""`spotwarden local story`, which `./deploy.sh local` runs."""

import asyncio
import sys
import tempfile
from pathlib import Path

import click


@click.command()
@click.option("--once", is_flag=True, help="End after the story, at a terminal too.")
@click.option(
    "--state", type=click.Path(path_type=Path), help="Folder to keep everything in; else a temporary one."
)
def story(*, once: bool, state: Path | None) -> None:
    """Tell how a preempted training job comes back; exits non-zero if it did not."""
    # The services take a second to import, which the other commands of this group are spared.
    from localcloud.story.telling import tell_story  # noqa: PLC0415

    stay = not once and sys.stdin.isatty() and sys.stdout.isatty()
    with tempfile.TemporaryDirectory(prefix="spotwarden-", ignore_cleanup_errors=True) as temporary:
        code = asyncio.run(tell_story((state or Path(temporary)).resolve(), stay=stay))
    raise SystemExit(code)
