"""How results are summed up and printed."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from .market import HOUR
from .replay import Job, State

Outcome = tuple[Job, State]


@dataclass(frozen=True)
class Table:
    """Rows under a title; `note` says where figures that are not ours come from."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def show(table: Table) -> None:
    """Print it in columns."""
    lines = [table.head, *table.rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(table.head))]
    print(f"\n{table.title}")
    for line in lines:
        first, *others = (
            text.ljust(width) if at == 0 else text.rjust(width)
            for at, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        print("  " + "  ".join([first, *others]).rstrip())
    if table.note:
        print(f"  {table.note}")


FIGURES = ("runs", "done", "hours", "restarts", "asked", "USD/VM", "late")


def figures(outcomes: Sequence[Outcome]) -> list[str]:
    """What FIGURES names; the means are over the runs that ended."""
    ended = [(job, state) for job, state in outcomes if state.left <= 0]
    return [
        str(len(outcomes)),
        str(len(ended)),
        f"{mean((state.now - job.start) / HOUR for job, state in ended):.1f}",
        f"{mean(state.restarts for _, state in ended):.1f}",
        f"{mean(state.asks for _, state in ended):.0f}",
        f"{mean(state.cost for _, state in ended):,.0f}",
        str(sum(late(job, state) for job, state in outcomes)) if ended[0][0].deadline else "-",
    ]


def late(job: Job, state: State) -> bool:
    """Whether the deadline was missed by more than half a second."""
    return job.deadline is not None and (state.left > 0 or state.now > job.deadline + 0.5)
