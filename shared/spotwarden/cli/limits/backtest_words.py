"""A back-test as a person reads it: what it would have done wrong first."""

from collections.abc import Iterator

from spotwarden.cli.table import duration, render
from spotwarden.governance.backtest.model import Compared, Played, Replayed, ReplayedRemedy, Stopped, Sum

HEAD = (
    "POLICY", "RULE", "CASES", "UNKNOWN", "WARNINGS", "ACTED ON", "WRONG", "VM-HOURS", "GPU-HOURS", "MONEY",
)  # fmt: skip
SHOWN = 10
"""VMs that are listed one by one; `--all` lists every one."""


def told(compared: Compared, *, everything: bool) -> str:
    """One function's back-test."""
    return "\n".join(_lines(compared, everything=everything))


def _lines(compared: Compared, *, everything: bool) -> Iterator[str]:
    replayed = compared.new.replayed
    yield f"{compared.function}: {_basis(compared)}"
    for one in compared.unreadable[:1]:
        yield f"  {len(compared.unreadable)} records cannot be read; the first: {one.name}: {one.why}"
    if not replayed.sweeps:
        return
    yield from _wrong(replayed, everything=everything)
    policies = [("new", compared.new), *([("present", compared.now)] if compared.now else [])]
    rows = [_cells(_called(name, played), row) for name, played in policies for row in played.sums]
    if rows:
        yield render(HEAD, rows)
    else:
        yield (
            "  neither policy finds fault with anything" if compared.now else "  it finds fault with nothing"
        )
    yield from (_stop(one) for one in replayed.stopped[:SHOWN])
    yield from _listed([action for action in replayed.remedies if not action.wrong], everything=everything)


def _basis(compared: Compared) -> str:
    replayed = compared.new.replayed
    if replayed.first is None or replayed.last is None:
        return "no sweeps on record in this time"
    versions = ", ".join(compared.recorded_under)
    first, last = (f"{moment:%Y-%m-%d %H:%M}" for moment in (replayed.first, replayed.last))
    return f"{replayed.sweeps} sweeps from {first} to {last} UTC, recorded under policy {versions}"


def _wrong(replayed: Replayed, *, everything: bool) -> Iterator[str]:
    """The wrong kills, or how little it means that there are none."""
    wrong = [remedy for remedy in replayed.remedies if remedy.wrong]
    if not replayed.remedies:
        yield f"  policy {replayed.policy} would have acted on nothing"
        return
    if not wrong:
        yield f"  WRONG KILLS: none seen among {len(replayed.remedies)}"
        return
    yield f"  WRONG KILLS: {len(wrong)} of {len(replayed.remedies)}"
    yield from _listed(wrong, everything=everything)


def _listed(remedies: list[ReplayedRemedy], *, everything: bool) -> Iterator[str]:
    shown = remedies if everything else remedies[:SHOWN]
    yield from (_line(remedy) for remedy in shown)
    if len(shown) < len(remedies):
        yield f"  … and {len(remedies) - len(shown)} more; --all lists them"


def _line(remedy: ReplayedRemedy) -> str:
    who = ", ".join(part for part in (remedy.job, remedy.owner) if part)
    what = f"  {remedy.at:%Y-%m-%d %H:%M} {remedy.remedy.value} {remedy.target.name} {remedy.target.id}"
    about = f"{what} ({who})" if who else what
    if remedy.wrong:
        when = f" {duration((remedy.turned or remedy.seen) - remedy.at)} later" if remedy.turned else ""
        return f"{about}: {remedy.how}{when}"
    return f"{about}: {remedy.rule}, {remedy.hours:.1f} VM-hours"


def _stop(one: Stopped) -> str:
    return (
        f"  {one.at:%Y-%m-%d %H:%M} {one.rule} wanted {one.vms} VMs at once, more than the blast radius: none"
    )


def _called(name: str, played: Played) -> str:
    return f"{name} ({played.replayed.policy})"


def _cells(policy: str, row: Sum) -> tuple[str, ...]:
    return (
        policy,
        row.rule,
        str(row.cases),
        str(row.unknown),
        str(row.told),
        str(row.remedies),
        str(row.wrong),
        f"{row.vm_hours:.1f}",
        f"{row.gpu_hours:.1f}",
        row.money,
    )
