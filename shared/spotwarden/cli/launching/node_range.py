"""How many nodes a job has, or how many are enough and how many it wants."""

import re

import click

MOST_NODES = 999
_RANGE = re.compile(r"(\d{1,4})(?::(\d{1,4}))?")


class NodesParam(click.ParamType[tuple[int, int]]):
    """`16`, or `8:16` for a gang that bends; gives the least and the most."""

    name = "number[:number]"

    def convert(
        self, value: str | tuple[int, int], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Read it; what is no number, or no range, fails with what it should be."""
        if isinstance(value, tuple):
            return value
        found = _RANGE.fullmatch(value)
        least, most = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= least <= most <= MOST_NODES or (found and found[2] and least == most):
            self.fail(f"{value!r}: write a number up to {MOST_NODES}, or a range such as 8:16", param, ctx)
        return least, most
