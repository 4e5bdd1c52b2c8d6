"""A command group that imports a command only when it is called: `--help` and one command stay quick."""

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """`commands_at` maps a command's name to where it stands (`module:attribute`) and its one-line help."""

    def __init__(self, *args: Any, commands_at: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:  # noqa: ANN401 — click's own
        super().__init__(*args, **kwargs)
        self._at = commands_at

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the table."""
        del ctx
        return list(self._at)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of this name; None where there is none."""
        del ctx
        if cmd_name not in self._at:
            return None
        module, _, attribute = self._at[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a mistyped one is told which was meant."""
        near = get_close_matches(args[0], self._at, n=1) if args and args[0] not in self._at else []
        if near and not ctx.resilient_parsing:
            raise click.UsageError(f"unknown command {args[0]!r}; did you mean `{near[0]}`?", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer the commands with the table's help, importing none of them; then options, as any command."""
        named = [
            CompletionItem(name, help=text)
            for name, (_, text) in self._at.items()
            if name.startswith(incomplete)
        ]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the table's help, importing none of them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._at.items()])
